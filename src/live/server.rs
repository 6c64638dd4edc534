//! The server: one thread accepts, and one answers each connection.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::http::{AccessRules, Method, Refusal, Request, answer, head};
use super::hub::Hub;

/// A browser opens half a dozen.
const CONNECTIONS_MAX: usize = 64;
/// A request that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that runs until the program ends.
pub(super) struct Server {
    address: String,
}

impl Server {
    pub(super) fn start(hub: Arc<Hub>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let address = format!("http://127.0.0.1:{port}/{token}/");
        let rules = Arc::new(AccessRules { port, token });
        std::thread::Builder::new()
            .name("live window".into())
            .spawn(move || accept(&listener, &rules, &hub))?;
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

/// 128 random bits in hexadecimal digits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn accept(listener: &TcpListener, rules: &Arc<AccessRules>, hub: &Arc<Hub>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (rules, hub, open) = (Arc::clone(rules), Arc::clone(hub), Arc::clone(&open));
        std::thread::spawn(move || {
            // A connection that breaks concerns only the browser.
            let _ended = serve(stream, &rules, &hub);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn serve(mut stream: TcpStream, rules: &AccessRules, hub: &Hub) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let request = rules.read_request(&mut BufReader::new(stream.try_clone()?));
    match request.and_then(|request| Asked::of(request, hub)) {
        Ok(Asked::Page(page)) => {
            let html = "text/html; charset=utf-8";
            answer(&mut stream, "200 OK", html, page.as_bytes())
        }
        Ok(Asked::Stream(next)) => {
            hub.stream_begins();
            let ended = send_updates(&mut stream, hub, next);
            hub.stream_ends();
            ended
        }
        Ok(Asked::Done) => answer(&mut stream, "204 No Content", "text/plain", b""),
        Err(Refusal { status, text }) => {
            let body = format!("{text}\n");
            answer(
                &mut stream,
                status,
                "text/plain; charset=utf-8",
                body.as_bytes(),
            )
        }
    }
}

enum Asked {
    Page(Arc<str>),
    /// The messages from this number on.
    Stream(u64),
    /// A command, which has been carried out.
    Done,
}

impl Asked {
    fn of(request: Request, hub: &Hub) -> Result<Self, Refusal> {
        match (request.method, request.path.as_str()) {
            (Method::Get, "") => match hub.page(PATIENCE) {
                Some(page) => Ok(Self::Page(page)),
                None => Err(Refusal::new(
                    "503 Service Unavailable",
                    "the run has not begun yet",
                )),
            },
            (Method::Get, "stream") => {
                Ok(Self::Stream(request.last_event.map_or(0, |last| last + 1)))
            }
            (Method::Post, "command") => match hub.apply(&request.body) {
                Ok(()) => Ok(Self::Done),
                Err(text) => Err(Refusal::new("422 Unprocessable Content", text)),
            },
            _ => Err(Refusal::new("404 Not Found", "there is no such page")),
        }
    }
}

/// Frames and statuses as server-sent events, until the run ends.
fn send_updates(stream: &mut TcpStream, hub: &Hub, mut next: u64) -> io::Result<()> {
    head(stream, "200 OK", "text/event-stream", "")?;
    let mut version = 0;
    loop {
        let updates = hub.updates(next, version, Duration::from_secs(1));
        let mut text = String::new();
        for message in &updates.messages {
            text += message;
        }
        if let Some((now, status)) = &updates.status {
            version = *now;
            text += status;
        }
        // A comment line, so that a page that has gone is noticed.
        if text.is_empty() {
            text += ":\n\n";
        }
        stream.write_all(text.as_bytes())?;
        next = updates.next;
        if updates.last {
            return stream.flush();
        }
    }
}
