//! A toy authorization server, to try toolgate's OAuth mode on one machine: it publishes a key and prints tokens.
//! Everybody has its private key, so use it for nothing else.
//!
//! ```console
//! $ cargo run --example issuer -- 9000 http://127.0.0.1:8765/mcp
//! ```
//!
//! Put the table that it prints into `toolgate.toml` in some folder, and show one of the tokens to a server of that folder:
//!
//! ```console
//! $ toolgate trust DIR                                         # only then does what it says of HTTP count
//! $ toolgate serve DIR --http 127.0.0.1:8765
//! $ curl -i http://127.0.0.1:8765/mcp                          # 401, and where to find this server
//! $ npx @modelcontextprotocol/inspector --cli http://127.0.0.1:8765/mcp --header "Authorization: Bearer TOKEN" \
//!       --method tools/list
//! ```

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value, json};

const KEY: &[u8] = include_bytes!("../tests/suite/http/fixtures/ed25519.pem");
const HOUR: u64 = 60 * 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().as_deref().unwrap_or("9000").parse()?;
    let resource = arguments.next().unwrap_or_else(|| "http://127.0.0.1:8765/mcp".to_owned());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let issuer = format!("http://{}", listener.local_addr()?);

    let key = EncodingKey::from_ed_pem(KEY)?;
    println!("[http.oauth]\nissuer = \"{issuer}\"\nresource = \"{resource}\"\n");
    for scope in ["files:read", "files:read files:write"] {
        let claims = json!({
            "iss": issuer, "aud": resource, "sub": "alice", "scope": scope, "exp": get_current_timestamp() + HOUR,
        });
        let header =
            Header { typ: Some("at+jwt".to_owned()), kid: Some("toy".to_owned()), ..Header::new(Algorithm::EdDSA) };
        println!("# for an hour: {scope}\n{}\n", encode(&header, &claims, &key)?);
    }
    let mut public = Jwk::from_encoding_key(&key, Algorithm::EdDSA)?;
    public.common.key_id = Some("toy".to_owned());

    for stream in listener.incoming() {
        let mut stream = BufReader::new(stream?);
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let (status, body) = match line.split(' ').nth(1) {
            Some("/.well-known/oauth-authorization-server") => {
                ("200 OK", json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}))
            }
            Some("/keys") => ("200 OK", json!({"keys": [public]})),
            _ => ("404 Not Found", Value::Null),
        };
        // The rest of the request says nothing that matters here.
        while stream.read_line(&mut line)? > 2 {}
        let body = body.to_string();
        let length = body.len();
        write!(stream.get_mut(), "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")?;
    }
    Ok(())
}
