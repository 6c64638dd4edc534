//! A run with a live window, as a page talks to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A run with a window; it is ended when this is dropped.
pub(super) struct Live {
    pub(super) child: Child,
    pub(super) host: String,
    pub(super) path: String,
}

impl Drop for Live {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Live {
    pub(super) fn run(scene: &str, out: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .args(["run", scene, "--live", "--out"])
            .arg(out)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = lines
            .by_ref()
            .map(|line| line.expect("text"))
            .find_map(|line| line.strip_prefix("live: open ").map(str::to_owned))
            .expect("an address");
        // The pipe stays open and empty.
        std::thread::spawn(move || lines.for_each(drop));
        let rest = address.strip_prefix("http://").expect("a loopback address");
        let (host, path) = rest.split_once('/').expect("a path");
        Self {
            child,
            host: host.into(),
            path: format!("/{path}"),
        }
    }

    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends a request and returns status and body.
    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).expect("a status line");
        let body = answer.split_once("\r\n\r\n").expect("a head").1;
        (status.parse().expect("a number"), body.into())
    }

    pub(super) fn get(&self, path: &str, host: &str, more: &str) -> (u16, String) {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"
        ))
    }

    pub(super) fn post(&self, path: &str, origin: &str, body: &str) -> (u16, String) {
        let (host, length) = (&self.host, body.len());
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    #[track_caller]
    pub(super) fn command(&self, command: &Value) {
        let path = format!("{}command", self.path);
        let (status, body) = self.post(
            &path,
            &format!("http://{}", self.host),
            &command.to_string(),
        );
        assert_eq!(status, 204, "{command}: {body}");
    }

    pub(super) fn listen(&self) -> Events {
        let mut stream = self.connect();
        let (path, host) = (&self.path, &self.host);
        let request = format!("GET {path}stream HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut lines = BufReader::new(stream);
        let mut line = String::from("-");
        while line.trim() != "" {
            line.clear();
            lines.read_line(&mut line).expect("a head");
        }
        Events { lines }
    }

    #[cfg(unix)]
    pub(super) fn interrupt(&mut self) -> Option<i32> {
        let sent = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
        self.child.wait().expect("it ends").code()
    }
}

/// Server-sent events.
pub(super) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    /// The next event, its name and data; remarks are left out.
    pub(super) fn next(&mut self) -> (String, Value) {
        let (mut name, mut data) = (String::new(), Value::Null);
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < PATIENCE, "no event comes");
            let mut line = String::new();
            let n = self.lines.read_line(&mut line).expect("the stream goes on");
            assert!(n > 0, "the stream has ended");
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => name = value.into(),
                Some(("data", value)) => data = serde_json::from_str(value).expect("JSON"),
                None if !name.is_empty() => return (name, data),
                _ => {}
            }
        }
    }

    pub(super) fn frame(&mut self) -> Value {
        loop {
            let (name, data) = self.next();
            if name == "frame" {
                return data;
            }
        }
    }

    pub(super) fn status(&mut self) -> Value {
        loop {
            let (name, data) = self.next();
            if name == "status" {
                return data;
            }
        }
    }
}

pub(super) fn time_s(frame: &Value) -> f64 {
    use base64::Engine as _;
    let text = frame["times"].as_str().expect("times");
    let bytes = base64::prelude::BASE64_STANDARD
        .decode(text)
        .expect("base64");
    f64::from_le_bytes(bytes.try_into().expect("one time"))
}

/// The origin of a frame's grid: the position of a body, as one frame has no extent.
pub(super) fn position(frame: &Value, body: usize) -> [f64; 3] {
    let origin = frame["poses"][body]["origin"].clone();
    serde_json::from_value(origin).expect("three numbers")
}
