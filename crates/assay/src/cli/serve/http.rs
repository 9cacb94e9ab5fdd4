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
pub struct Answer {
    /// Of HTTP.
    pub status: u16,
    /// Of the body.
    pub media: &'static str,
    /// All of it.
    pub body: Vec<u8>,
}

impl Answer {
    /// A text for people.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self { status, media: "text/plain; charset=utf-8", body: (text.into() + "\n").into_bytes() }
    }
}

/// Reads a request, answers it, closes the connection.
pub fn serve(mut stream: TcpStream, port: u16, answer: impl FnOnce(&str) -> Answer) {
    let prepared = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    if prepared.is_err() {
        return;
    }
    // Browsers open connections that they do not use: nothing is answered there.
    let Some(head) = read_head(&mut stream) else { return };
    let answer = match asked(&head, port) {
        Ok(path) => answer(&path),
        Err(refusal) => refusal,
    };
    let _ = stream.write_all(&written(&answer)).and_then(|()| stream.flush());
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
fn asked(head: &str, port: u16) -> Result<String, Answer> {
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = first[..] else {
        return Err(Answer::text(400, "this is no request of HTTP/1.1"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(Answer::text(400, "this is no request of HTTP/1.1"));
    }
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_ascii_lowercase())
    };
    let hosts: Vec<String> = lines.filter_map(named).collect();
    let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    if hosts.len() != 1 || !own.contains(&hosts[0]) {
        return Err(Answer::text(403, format!("only requests to http://127.0.0.1:{port}/ are answered")));
    }
    if method != "GET" {
        return Err(Answer::text(405, "the ledger is only shown: GET"));
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    if !path.starts_with('/') {
        return Err(Answer::text(400, "a path begins with /"));
    }
    Ok(path.to_owned())
}

fn written(answer: &Answer) -> Vec<u8> {
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
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:7180\r\nHost: evil.example"), 403);
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
