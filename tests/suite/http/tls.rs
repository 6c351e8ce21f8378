//! TLS, given a certificate.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto};

use super::super::support::Temp;
use super::kit::{Site, Wire, becomes, call, command, text};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/http/fixtures").join(name)
}

fn client(site: &Site) -> Wire<StreamOwned<ClientConnection, TcpStream>> {
    client_that_knows(site, "tls.crt")
}

/// A client that takes this certificate and no other.
fn client_that_knows(site: &Site, certificate: &str) -> Wire<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture(certificate)).expect("a certificate")).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    Wire::new(StreamOwned::new(connection, TcpStream::connect(site.address).expect("a connection")))
}

#[test]
fn calls_over_tls() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let (certificate, key) = (fixture("tls.crt").display().to_string(), fixture("tls.key").display().to_string());
    let site = Site::start_with(temp.path(), &["--tls-cert", &certificate, "--tls-key", &key]);
    let mut silent = site.connect();
    let mut wire = client(&site);
    for id in 0..3 {
        wire.send(call(json!(id), "read_file", json!({"path": "a.txt"})).instead("host", "localhost"));
        assert_eq!(text(&wire.answer().json()["result"]), "1: one\n");
    }
    let mut plain = site.connect();
    plain.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(plain.ends(), "nothing is said in the clear");
    silent.write(&[0x16, 0x03, 0x01]);
    client(&site).send(call(json!(1), "read_file", json!({"path": "a.txt"})));
}

/// Who is connected already stays so.
#[cfg(unix)]
#[test]
fn a_renewed_certificate_is_shown_to_whoever_connects_from_then_on() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let state = Temp::new();
    let put = |state: &Temp, name: &str| {
        for kind in ["crt", "key"] {
            state.write(&format!("tls.{kind}"), std::fs::read(fixture(&format!("{name}.{kind}"))).expect("a fixture"));
        }
    };
    put(&state, "tls");
    let at = |name: &str| state.path().join(name).display().to_string();
    let (certificate, key) = (at("tls.crt"), at("tls.key"));
    let site = Site::spawn(temp.path(), &["--tls-cert", &certificate, "--tls-key", &key], state, "127.0.0.1:0");
    let read = || call(json!(1), "read_file", json!({"path": "a.txt"})).instead("host", "localhost");
    let mut before = client(&site);
    before.send(read());
    assert_eq!(text(&before.answer().json()["result"]), "1: one\n");
    put(site.home(), "tls-renewed");
    site.signal("HUP");
    becomes("the renewed certificate is shown", || {
        let mut after = client_that_knows(&site, "tls-renewed.crt");
        after.try_write(&read().bytes()).is_ok_and(|()| text(&after.answer().json()["result"]) == "1: one\n")
    });
    before.send(read());
    assert_eq!(text(&before.answer().json()["result"]), "1: one\n", "who was connected before");
}

#[test]
fn a_certificate_that_is_none_is_refused_at_the_start() {
    let temp = Temp::new();
    let state = Temp::with(&[("nothing.pem", "")]);
    let nothing = state.path().join("nothing.pem").display().to_string();
    let (certificate, key) = (fixture("tls.crt").display().to_string(), fixture("tls.key").display().to_string());
    let another = fixture("p256.pem").display().to_string();
    for (certificate, key) in
        [(&nothing, &key), (&certificate, &nothing), (&certificate, &another), (&"/nowhere".to_owned(), &key)]
    {
        let mut command = command(temp.path(), &["--tls-cert", certificate, "--tls-key", key], &state, "127.0.0.1:0");
        assert!(!command.output().expect("the toolgate binary").status.success(), "{certificate} {key}");
    }
}
