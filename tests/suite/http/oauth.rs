//! Tokens of an authorization server: what is signed by it, for this server, and in date, lets in as far as it says.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value, json};

use super::super::support::Temp;
use super::kit::{Answer, Ask, Site, call, modern, text};

const RESOURCE: &str = "http://127.0.0.1:8765/mcp";

fn pem(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/http/fixtures").join(name)).expect("a key")
}

/// A key, and under which name and algorithm its issuer has it.
#[derive(Clone)]
struct Key {
    key: EncodingKey,
    algorithm: Algorithm,
    id: &'static str,
}

impl Key {
    fn ed25519(id: &'static str) -> Self {
        Key { key: EncodingKey::from_ed_pem(&pem("ed25519.pem")).expect("a key"), algorithm: Algorithm::EdDSA, id }
    }

    fn p256(id: &'static str) -> Self {
        Key { key: EncodingKey::from_ec_pem(&pem("p256.pem")).expect("a key"), algorithm: Algorithm::ES256, id }
    }

    fn rsa(id: &'static str) -> Self {
        Key { key: EncodingKey::from_rsa_pem(&pem("rsa.pem")).expect("a key"), algorithm: Algorithm::RS256, id }
    }

    fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public key");
        jwk.common.key_id = Some(self.id.to_owned());
        json!(jwk)
    }

    fn sign(&self, claims: &Value) -> String {
        self.sign_as(claims, |_| ())
    }

    fn sign_as(&self, claims: &Value, change: impl FnOnce(&mut Header)) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.id.to_owned());
        header.typ = Some("at+jwt".to_owned());
        change(&mut header);
        encode(&header, claims, &self.key).expect("a token")
    }
}

/// An authorization server, as far as a resource server sees it.
struct IdServer {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    asked: Arc<AtomicUsize>,
}

impl IdServer {
    fn start(keys: &[&Key]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let keys = Arc::new(Mutex::new(keys.iter().map(|key| key.public()).collect()));
        let asked = Arc::new(AtomicUsize::new(0));
        let server = IdServer { url: url.clone(), keys: Arc::clone(&keys), asked: Arc::clone(&asked) };
        spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                let _ = stream.read_line(&mut line);
                let mut rest = String::new();
                while stream.read_line(&mut rest).is_ok_and(|read| read > 2) {
                    rest.clear();
                }
                let (status, body) = match line.split(' ').nth(1) {
                    Some("/.well-known/oauth-authorization-server") => {
                        (200, json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
                    }
                    Some("/keys") => {
                        asked.fetch_add(1, Ordering::SeqCst);
                        (200, json!({"keys": *keys.lock().expect("a lock")}))
                    }
                    _ => (404, Value::Null),
                };
                let body = body.to_string();
                let head =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                let _ = stream.get_mut().write_all(format!("{head}{body}").as_bytes());
            }
        });
        server
    }

    fn claims(&self, scope: &str) -> Value {
        json!({"iss": self.url, "aud": RESOURCE, "sub": "alice", "scope": scope, "exp": get_current_timestamp() + 600})
    }

    fn site(&self, root: &Temp, more: &str) -> Site {
        let config = format!("[http.oauth]\nissuer = \"{}\"\nresource = \"{RESOURCE}\"\n{more}", self.url);
        Site::configured(root.path(), &config, &[])
    }
}

fn read() -> Ask {
    call(json!(1), "read_file", json!({"path": "a.txt"}))
}

fn files() -> Temp {
    Temp::with(&[("a.txt", "one\n")])
}

fn challenge(answer: &Answer) -> &str {
    answer.header("www-authenticate").unwrap_or_else(|| panic!("no challenge: {answer:?}"))
}

#[test]
fn a_client_finds_out_where_to_get_a_token_and_is_let_in_with_it() {
    let key = Key::ed25519("one");
    let issuer = IdServer::start(&[&key]);
    let temp = files();
    let site = issuer.site(&temp, "");
    let refused = site.send(read());
    let metadata = "http://127.0.0.1:8765/.well-known/oauth-protected-resource/mcp";
    assert_eq!(refused.status, 401);
    assert_eq!(
        challenge(&refused),
        format!("Bearer resource_metadata=\"{metadata}\", scope=\"files:read files:write\"")
    );
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let found = site.send(Ask::get(path)).json();
        assert_eq!(found["resource"], RESOURCE, "{path}: {found}");
        assert_eq!(found["authorization_servers"], json!([issuer.url]));
        assert_eq!(found["scopes_supported"], json!(["files:read", "files:write"]));
    }
    let token = key.sign(&issuer.claims("files:read files:write"));
    assert_eq!(text(&site.send(read().token(&token)).json()["result"]), "1: one\n");
}

#[test]
fn a_token_that_is_not_good_is_not_accepted() {
    let (key, other) = (Key::ed25519("one"), Key::p256("other"));
    let issuer = IdServer::start(&[&key, &Key::rsa("rsa")]);
    let temp = files();
    let site = issuer.site(&temp, "");
    let claims = || issuer.claims("files:read");
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        claims
    };
    let without = |name: &str| {
        let mut claims = claims();
        claims.as_object_mut().expect("an object").remove(name);
        claims
    };
    let now = get_current_timestamp();
    let good = key.sign(&claims());
    let secret = Key {
        key: EncodingKey::from_secret(key.public()["x"].as_str().expect("x").as_bytes()).expect("a key"),
        algorithm: Algorithm::HS256,
        id: "one",
    };
    let none = format!("eyJhbGciOiJub25lIn0.{}.", good.split('.').nth(1).expect("claims"));
    let mut forged: Vec<String> = good.split('.').map(str::to_owned).collect();
    forged[1] = key.sign(&with("sub", json!("mallory"))).split('.').nth(1).expect("claims").to_owned();
    for (what, token) in [
        ("another issuer", key.sign(&with("iss", json!("https://evil.example")))),
        ("another audience", key.sign(&with("aud", json!("https://other.example/mcp")))),
        ("no audience", key.sign(&without("aud"))),
        ("no issuer", key.sign(&without("iss"))),
        ("no subject", key.sign(&without("sub"))),
        ("no end", key.sign(&without("exp"))),
        ("out of date", key.sign(&with("exp", json!(now - 120)))),
        ("not yet good", key.sign(&with("nbf", json!(now + 600)))),
        ("a key that is not the issuer's", other.sign(&claims())),
        ("a key under the name of another", Key { id: "one", ..other.clone() }.sign(&claims())),
        ("a public key as a secret", secret.sign(&claims())),
        ("no signature", none),
        ("claims of another token", forged.join(".")),
        ("an ID token", key.sign_as(&claims(), |header| header.typ = Some("id+jwt".to_owned()))),
        ("the name of who sits at the machine", key.sign(&with("sub", json!("local")))),
        ("a name with a line end", key.sign(&with("sub", json!("a\nb")))),
        ("no token", "a.b.c".to_owned()),
        ("half a token", good[..good.len() / 2].to_owned()),
        ("no dots", "x".repeat(40)),
    ] {
        let answer = site.send(read().token(&token));
        assert_eq!(answer.status, 401, "{what}: {answer:?}");
        assert!(
            challenge(&answer).starts_with("Bearer error=\"invalid_token\", resource_metadata="),
            "{what}: {answer:?}"
        );
    }
    for (what, token) in [
        ("as it should be", good),
        ("several audiences", key.sign(&with("aud", json!(["https://other.example", RESOURCE])))),
        ("without a key's name", key.sign_as(&claims(), |header| header.kid = None)),
        ("of no named kind", key.sign_as(&claims(), |header| header.typ = None)),
        ("another kind of key", Key::rsa("rsa").sign(&claims())),
        ("a clock that is a little ahead", key.sign(&with("exp", json!(now - 10)))),
    ] {
        assert_eq!(site.send(read().token(&token)).status, 200, "{what}");
    }
}

#[test]
fn scopes_say_how_far_a_token_lets_in() {
    let key = Key::p256("one");
    let issuer = IdServer::start(&[&key]);
    let temp = files();
    let site = issuer.site(&temp, "algorithms = [\"ES256\"]\n");
    let write = || call(json!(1), "write_file", json!({"path": "b.txt", "content": "x"}));
    let listed = |token: &str| {
        let tools = site.send(modern(json!(1), "tools/list", json!({})).token(token)).json();
        tools["result"]["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == "write_file")
    };
    let mut scp = issuer.claims("");
    scp["scp"] = json!(["files:read"]);
    for (claims, reads, writes) in [
        (issuer.claims("openid"), 403, 403),
        (issuer.claims("files:read"), 200, 403),
        (issuer.claims("files:write"), 200, 200),
        (scp, 200, 403),
    ] {
        let token = key.sign(&claims);
        assert_eq!(site.send(read().token(&token)).status, reads, "{claims}");
        let answer = site.send(write().token(&token));
        assert_eq!(answer.status, writes, "{claims}");
        assert_eq!(listed(&token), writes == 200, "{claims}");
        if writes == 403 {
            let said = challenge(&answer);
            assert!(
                said.contains("error=\"insufficient_scope\", scope=\"files:read files:write\", resource_metadata="),
                "{said}"
            );
        }
        assert_eq!(site.modern("server/discover", json!({})).status, 401, "but only with a token");
    }
    let rsa = Key::rsa("rsa");
    assert_eq!(
        site.send(read().token(&rsa.sign(&issuer.claims("files:read")))).status,
        401,
        "not an algorithm of the list"
    );
}

#[test]
fn keys_are_kept_and_fetched_again_when_the_issuer_has_new_ones() {
    let (old, new) = (Key::ed25519("old"), Key::p256("new"));
    let issuer = IdServer::start(&[&old]);
    let temp = files();
    let site = issuer.site(&temp, "");
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 0, "nothing is fetched before it is needed");
    let claims = issuer.claims("files:read");
    for _ in 0..10 {
        assert_eq!(site.send(read().token(&old.sign(&claims))).status, 200);
    }
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1);
    // Names that are made up do not make the server ask again and again.
    for _ in 0..10 {
        let made_up = old.sign_as(&claims, |header| header.kid = Some("made up".to_owned()));
        assert_eq!(site.send(read().token(&made_up)).status, 401);
    }
    assert!(issuer.asked.load(Ordering::SeqCst) <= 2);
    *issuer.keys.lock().expect("a lock") = vec![new.public()];
    let fresh = issuer.site(&temp, "");
    assert_eq!(fresh.send(read().token(&new.sign(&claims))).status, 200);
    assert_eq!(fresh.send(read().token(&old.sign(&claims))).status, 401);
}

#[test]
fn keys_may_lie_in_a_file() {
    let key = Key::ed25519("one");
    let temp = files();
    let state = Temp::with(&[
        ("toolgate/keys.json", &json!({"keys": [{"kty": "odd"}, key.public()]}).to_string()),
        (
            "toolgate/toolgate.toml",
            &format!(
                "[http.oauth]\nissuer = \"https://id.example\"\nresource = \"{RESOURCE}\"\njwks_file = \"keys.json\"\n"
            ),
        ),
    ]);
    let site = Site::spawn(temp.path(), &[], state, "127.0.0.1:0");
    let claims = json!({"iss": "https://id.example", "aud": RESOURCE, "sub": "alice", "scope": "files:read", "exp": get_current_timestamp() + 600});
    assert_eq!(site.send(read().token(&key.sign(&claims))).status, 200);
    assert_eq!(site.send(read().token(&Key::p256("one").sign(&claims))).status, 401);
}

#[test]
fn an_issuer_that_cannot_be_reached_lets_nobody_in() {
    let key = Key::ed25519("one");
    let temp = files();
    let config = format!("[http.oauth]\nissuer = \"http://127.0.0.1:9\"\nresource = \"{RESOURCE}\"\n");
    let site = Site::configured(temp.path(), &config, &[]);
    let claims = json!({"iss": "http://127.0.0.1:9", "aud": RESOURCE, "sub": "alice", "scope": "files:read", "exp": get_current_timestamp() + 600});
    for _ in 0..3 {
        assert_eq!(site.send(read().token(&key.sign(&claims))).status, 401);
    }
    assert_eq!(site.send(Ask::get("/healthz")).status, 200);
}
