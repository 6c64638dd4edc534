//! Requests of a browser: read within limits, and refused unless they come from our own page.

use std::io::{self, BufRead, Read, Write};

/// A request for a page is a few hundred bytes, and cookies of other servers on the loopback address come with it.
const HEAD_MAX: u64 = 32 << 10;
const BODY_MAX: usize = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
}

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The path after the token: empty for the page itself.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
    /// `Last-Event-ID`: the last message that the page has.
    pub(super) last_event: Option<u64>,
}

/// Why a request gets no answer but this one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: &'static str,
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn new(status: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::new("400 Bad Request", error.to_string())
    }
}

/// What a request must have.
#[derive(Clone, Debug)]
pub(super) struct AccessRules {
    pub(super) port: u16,
    pub(super) token: String,
}

impl AccessRules {
    /// Reads a request and lets it in, or says why not.
    pub(super) fn read_request(&self, stream: &mut impl BufRead) -> Result<Request, Refusal> {
        let mut head = Vec::new();
        let mut limited = stream.take(HEAD_MAX);
        while !head.ends_with(b"\r\n\r\n") {
            let before = head.len();
            limited.read_until(b'\n', &mut head)?;
            if head.len() == before {
                let text = "the head of the request is too long or ends too early";
                return Err(Refusal::new("400 Bad Request", text));
            }
        }
        let head = String::from_utf8_lossy(&head);
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (words.next(), words.next().unwrap_or_default());
        let method = match method {
            Some("GET") => Method::Get,
            Some("POST") => Method::Post,
            _ => return Err(Refusal::new("405 Method Not Allowed", "GET or POST")),
        };
        let headers: Vec<(String, &str)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
            .collect();
        let header = |wanted: &str| {
            let mut found = headers.iter().filter(|(name, _)| name == wanted);
            found.next().map(|(_, value)| *value)
        };
        self.check_source(method, header("host"), header("origin"))?;
        let path = self.check_token(target)?;
        let body = match method {
            Method::Get => Vec::new(),
            Method::Post => {
                if header("content-type") != Some("application/json") {
                    let text = "commands are application/json";
                    return Err(Refusal::new("415 Unsupported Media Type", text));
                }
                let length = header("content-length").and_then(|n| n.parse::<usize>().ok());
                let Some(length) = length.filter(|n| *n <= BODY_MAX) else {
                    let text = format!("a command has a length of at most {BODY_MAX} bytes");
                    return Err(Refusal::new("413 Content Too Large", text));
                };
                let mut body = vec![0; length];
                stream.read_exact(&mut body)?;
                body
            }
        };
        Ok(Request {
            method,
            path,
            body,
            last_event: header("last-event-id").and_then(|n| n.parse().ok()),
        })
    }

    /// A name that resolves to the loopback address must not let another site in: the host must be ours, and so must the page that asks.
    fn check_source(
        &self,
        method: Method,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> Result<(), Refusal> {
        let ours = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !host.is_some_and(|host| ours.iter().any(|our| our == host)) {
            let text = format!("this server answers to {} only", ours[0]);
            return Err(Refusal::new("421 Misdirected Request", text));
        }
        let from_us = match origin {
            Some(origin) => ours.iter().any(|our| format!("http://{our}") == origin),
            // Browsers name the origin of every command.
            None => method == Method::Get,
        };
        match from_us {
            true => Ok(()),
            false => Err(Refusal::new(
                "403 Forbidden",
                "the request comes from another page",
            )),
        }
    }

    fn check_token(&self, target: &str) -> Result<String, Refusal> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let given = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        match given {
            Some((token, rest)) if equal(token.as_bytes(), self.token.as_bytes()) => {
                Ok(rest.to_owned())
            }
            _ => Err(Refusal::new(
                "403 Forbidden",
                "open the whole address that `pliant run --live` has printed",
            )),
        }
    }
}

/// In a time that does not depend on where they differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

/// Sends an answer.
pub(super) fn answer(
    stream: &mut impl Write,
    status: &str,
    content: &str,
    body: &[u8],
) -> io::Result<()> {
    head(
        stream,
        status,
        content,
        &format!("Content-Length: {}\r\n", body.len()),
    )?;
    stream.write_all(body)?;
    stream.flush()
}

/// Sends the head of an answer. Pages load nothing from elsewhere, and nobody else may frame or read them.
pub(super) fn head(
    stream: &mut impl Write,
    status: &str,
    content: &str,
    more: &str,
) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {content}\r\n{more}Connection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
         connect-src 'self'; frame-ancestors 'none'\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> AccessRules {
        AccessRules {
            port: 4000,
            token: "secret".into(),
        }
    }

    fn status(request: &str) -> Result<Request, &'static str> {
        let admitted = rules().read_request(&mut io::Cursor::new(request.as_bytes()));
        admitted.map_err(|refusal| &refusal.status[..3])
    }

    #[test]
    fn only_our_own_page_is_let_in() {
        let post = |path: &str, host: &str, more: &str| {
            let more = format!("{more}Content-Type: application/json\r\nContent-Length: 2\r\n");
            status(&format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n{{}}"
            ))
        };
        let ours = "Origin: http://127.0.0.1:4000\r\n";
        let request = post("/secret/command", "127.0.0.1:4000", ours).expect("let in");
        assert_eq!(
            (request.path.as_str(), request.body.as_slice()),
            ("command", &b"{}"[..])
        );
        for (path, host, origin, expected) in [
            ("/secre/command", "127.0.0.1:4000", ours, "403"),
            ("/secret0/command", "127.0.0.1:4000", ours, "403"),
            ("/command", "127.0.0.1:4000", ours, "403"),
            ("/secret/command", "evil.example:4000", ours, "421"),
            ("/secret/command", "127.0.0.1", ours, "421"),
            (
                "/secret/command",
                "127.0.0.1:4000",
                "Origin: http://evil.example\r\n",
                "403",
            ),
            (
                "/secret/command",
                "127.0.0.1:4000",
                "Origin: null\r\n",
                "403",
            ),
            ("/secret/command", "127.0.0.1:4000", "", "403"),
        ] {
            assert_eq!(
                post(path, host, origin),
                Err(expected),
                "{path} {host} {origin}"
            );
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let long = format!(
            "GET /secret/ HTTP/1.1\r\nX: {}\r\n\r\n",
            "x".repeat(40 << 10)
        );
        for (text, expected) in [
            ("", "400"),
            ("GET /secret/ HTTP/1.1\r\n", "400"),
            (long.as_str(), "400"),
            (
                "PUT /secret/ HTTP/1.1\r\nHost: localhost:4000\r\n\r\n",
                "405",
            ),
            (
                "POST /secret/command HTTP/1.1\r\nHost: localhost:4000\r\nOrigin: http://localhost:4000\r\n\
                 Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
                "415",
            ),
            (
                "POST /secret/command HTTP/1.1\r\nHost: localhost:4000\r\nOrigin: http://localhost:4000\r\n\
                 Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{}",
                "413",
            ),
        ] {
            assert_eq!(status(text), Err(expected), "{text}");
        }
    }
}
