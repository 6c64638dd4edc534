//! A WebSocket to a program on this machine: text messages of any length (RFC 6455).

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

/// Bits of the first byte of a frame.
const FINAL: u8 = 0x80;
const OPCODE: u8 = 0x0f;
/// Bit of the second byte of a frame; every frame of a client has it.
const MASKED: u8 = 0x80;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A connection.
pub(super) struct Socket<S> {
    stream: S,
}

impl Socket<TcpStream> {
    /// Connects to `path` at a port of this machine. An answer that takes longer than `limit` is an error.
    pub(super) fn connect(port: u16, path: &str, limit: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        stream.set_nodelay(true)?;
        let mut socket = Self { stream };
        socket.shake_hands(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: cGxpYW50LXJlcGxheXM=\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ))?;
        Ok(socket)
    }

    /// The next text, if it begins before `deadline`.
    pub(super) fn receive_before(&mut self, deadline: Instant) -> io::Result<String> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.receive()
    }
}

impl<S: Read + Write> Socket<S> {
    fn shake_hands(&mut self, request: &str) -> io::Result<()> {
        self.stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            answer.push(byte[0]);
        }
        match answer.starts_with(b"HTTP/1.1 101") {
            true => Ok(()),
            false => {
                let answer = String::from_utf8_lossy(&answer);
                let first = answer.lines().next().unwrap_or_default();
                Err(io::Error::other(format!("no WebSocket: {first}")))
            }
        }
    }

    /// Sends a text.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        self.send_frame(TEXT, text.as_bytes())
    }

    fn send_frame(&mut self, opcode: u8, payload: &[u8]) -> io::Result<()> {
        let mut frame = vec![FINAL | opcode];
        match payload.len() {
            n @ 0..126 => frame.push(MASKED | n as u8),
            n @ 126..=0xffff => {
                frame.push(MASKED | 126);
                frame.extend((n as u16).to_be_bytes());
            }
            n => {
                frame.push(MASKED | 127);
                frame.extend((n as u64).to_be_bytes());
            }
        }
        // The mask protects proxies, of which there are none here: zero leaves the payload as it is.
        frame.extend([0; 4]);
        frame.extend(payload);
        self.stream.write_all(&frame)
    }

    /// The next text; waits for it.
    pub(super) fn receive(&mut self) -> io::Result<String> {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head)?;
            let length = match head[1] & !MASKED {
                126 => {
                    let mut bytes = [0; 2];
                    self.stream.read_exact(&mut bytes)?;
                    u64::from(u16::from_be_bytes(bytes))
                }
                127 => {
                    let mut bytes = [0; 8];
                    self.stream.read_exact(&mut bytes)?;
                    u64::from_be_bytes(bytes)
                }
                n => u64::from(n),
            };
            let mut payload = Vec::new();
            let read = (&mut self.stream).take(length).read_to_end(&mut payload)?;
            if (read as u64) < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match head[0] & OPCODE {
                PING => self.send_frame(PONG, &payload)?,
                CLOSE => return Err(io::ErrorKind::ConnectionAborted.into()),
                TEXT | CONTINUATION => {
                    text.extend(payload);
                    if head[0] & FINAL != 0 {
                        return String::from_utf8(text).map_err(io::Error::other);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with a given input, which keeps what is written.
    struct Script {
        input: io::Cursor<Vec<u8>>,
        output: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.input.read(buffer)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.output.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn socket(input: &[u8]) -> Socket<Script> {
        Socket {
            stream: Script {
                input: io::Cursor::new(input.to_vec()),
                output: Vec::new(),
            },
        }
    }

    /// The examples of RFC 6455, section 5.7, without masks.
    #[test]
    fn a_message_may_come_in_pieces_with_a_ping_between() {
        let mut input = vec![0x01, 0x03, b'H', b'e', b'l'];
        input.extend([0x89, 0x05]);
        input.extend(b"Hello");
        input.extend([0x80, 0x02, b'l', b'o']);
        let mut socket = socket(&input);
        assert_eq!(socket.receive().expect("a message"), "Hello");
        assert_eq!(socket.stream.output, b"\x8a\x85\0\0\0\0Hello");
    }

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for length in [0, 5, 125, 126, 0xffff, 0x10000] {
            let text = "x".repeat(length);
            let mut sender = socket(&[]);
            sender.send(&text).expect("memory takes all");
            let mut frame = sender.stream.output;
            let mask = frame.len() - length - 4;
            frame.drain(mask..mask + 4);
            frame[1] &= !MASKED;
            assert_eq!(socket(&frame).receive().expect("a message"), text);
        }
    }

    #[test]
    fn a_frame_that_ends_early_and_a_refusal_are_errors() {
        let error = socket(&[0x81, 0x05, b'H']).receive().expect_err("cut off");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let refused = socket(b"HTTP/1.1 403 Forbidden\r\n\r\n").shake_hands("");
        assert!(refused.expect_err("refused").to_string().contains("403"));
        let closed = socket(&[0x88, 0x00]).receive().expect_err("closed");
        assert_eq!(closed.kind(), io::ErrorKind::ConnectionAborted);
    }
}
