//! As much of HTTP/1.1 as a browser on this machine needs: GET, one request for each connection.
//!
//! Method: written out, 120 lines without tests. The small synchronous servers of the registry do more (keep-alive, chunks,
//! TLS) and have had no release in years, or bring an async runtime.
//! What is refused: other methods, and every Host that is not this address. A page of somebody else's whose name is made to
//! resolve to 127.0.0.1 (DNS rebinding) sends its own name there, so it reads nothing.
//! Source: RFC 9110, RFC 9112. Checked by: the tests below, and `tests/serve.rs` over a real socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head of a request.
const MOST_BYTES: usize = 16 * 1024;
/// How long a request may take to come, and its answer to go.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// Of HTTP.
    pub status: u16,
    /// Of the body.
    pub media: &'static str,
    /// All of it.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// A text for people.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self { status, media: "text/plain; charset=utf-8", body: (text.into() + "\n").into_bytes() }
    }
}

/// Reads a request, answers it, closes the connection.
pub fn serve(mut stream: TcpStream, port: u16, answer: impl FnOnce(&str) -> HttpResponse) {
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    // Browsers open connections that they do not use: nothing is answered there.
    let Some(head) = read_head(&mut stream) else { return };
    let answer = match asked(&head, port) {
        Ok(path) => answer(&path),
        Err(refusal) => refusal,
    };
    let _ = send(&mut stream, &written(&answer), PATIENCE);
}

/// Sends everything within this time: whoever reads a byte now and then would hold one of the few places for ever.
fn send(stream: &mut TcpStream, bytes: &[u8], patience: Duration) -> std::io::Result<()> {
    let deadline = Instant::now() + patience;
    let mut rest = bytes;
    while !rest.is_empty() {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_write_timeout(Some(left.ok_or(std::io::ErrorKind::TimedOut)?))?;
        rest = match stream.write(rest) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(count) => &rest[count..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => rest,
            Err(error) => return Err(error),
        };
    }
    stream.flush()
}

/// The head of a request, to its empty line; none where it does not come, or is too long.
fn read_head(stream: &mut TcpStream) -> Option<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut part = [0; 2048];
    while bytes.len() < MOST_BYTES {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&part[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            return String::from_utf8(bytes[..end].to_vec()).ok();
        }
    }
    None
}

/// The path that is asked for, or why nothing is given.
fn asked(head: &str, port: u16) -> Result<String, HttpResponse> {
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = first[..] else {
        return Err(HttpResponse::text(400, "this is not an HTTP/1.1 request"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(HttpResponse::text(400, "this is not an HTTP/1.1 request"));
    }
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_ascii_lowercase())
    };
    let hosts: Vec<String> = lines.filter_map(named).collect();
    let names = ["127.0.0.1", "localhost"];
    // Clients leave the port of http away.
    let own = |host: &str| match host.strip_suffix(&format!(":{port}")) {
        Some(name) => names.contains(&name),
        None => port == 80 && names.contains(&host),
    };
    if hosts.len() != 1 || !own(&hosts[0]) {
        return Err(HttpResponse::text(
            403,
            format!("only requests to http://127.0.0.1:{port}/ are answered"),
        ));
    }
    if method != "GET" {
        return Err(HttpResponse::text(405, "the ledger is read-only: use GET"));
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    if !path.starts_with('/') {
        return Err(HttpResponse::text(400, "a path must start with /"));
    }
    Ok(path.to_owned())
}

fn written(answer: &HttpResponse) -> Vec<u8> {
    let reason = match answer.status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        _ => "Internal Server Error",
    };
    let allow = if answer.status == 405 { "Allow: GET\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Connection: close\r\nCache-Control: \
         no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: \
         same-origin\r\nContent-Security-Policy: frame-ancestors 'none'\r\n\r\n",
        answer.status,
        answer.media,
        answer.body.len()
    );
    [head.as_bytes(), &answer.body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> u16 {
        asked(head, 7180).map_or_else(|answer| answer.status, |_| 200)
    }

    #[test]
    fn only_this_address_is_answered() {
        for own in ["127.0.0.1:7180", "localhost:7180", "LOCALHOST:7180"] {
            assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: {own}")), 200, "{own}");
        }
        for other in [
            "evil.example",
            "evil.example:7180",
            "127.0.0.1",
            "127.0.0.1:7181",
            "localhost.evil.example:7180",
            "",
        ] {
            assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: {other}")), 403, "{other}");
        }
        assert_eq!(status("GET / HTTP/1.1"), 403);
        let plain = |host: &str| asked(&format!("GET / HTTP/1.1\r\nHost: {host}"), 80).is_ok();
        assert!(plain("localhost") && plain("127.0.0.1") && plain("127.0.0.1:80"));
        assert!(!plain("evil.example") && !plain("evil.example:80"));
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:7180\r\nHost: evil.example"), 403);
    }

    #[test]
    fn a_reader_that_does_not_read_is_left() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let large = vec![0; 64 << 20];
        assert!(send(&mut stream, &large, Duration::from_millis(50)).is_err());
        drop(reader);
    }

    #[test]
    fn only_get_is_understood() {
        let host = "Host: 127.0.0.1:7180";
        for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get"] {
            assert_eq!(status(&format!("{method} / HTTP/1.1\r\n{host}")), 405, "{method}");
        }
        for line in ["GET /", "GET / HTTP/2", "GET  / HTTP/1.1", "", "GET http://x/ HTTP/1.1"] {
            assert_eq!(status(&format!("{line}\r\n{host}")), 400, "{line}");
        }
        assert_eq!(asked(&format!("GET /sweep/1?x=2 HTTP/1.1\r\n{host}"), 7180), Ok("/sweep/1".into()));
    }
}
