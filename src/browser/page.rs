//! A page in a browser, by the DevTools protocol: expressions in it, its pictures, and what it complained of.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use super::socket::Socket;

/// From one look at a page that is not ready to the next.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether the document is there and, of a replay, its first picture, which is drawn now if the page has had no animation frame.
const READY: &str = "document.readyState === 'complete' && (!document.getElementById('recording') || \
                     'error' in document.documentElement.dataset || (globalThis.replay && \
                     ('ready' in document.documentElement.dataset || (replay.drawNow(), true))))";

/// Lets a page change all the time: the browser waits for the next change before it takes a picture, and a page that stands still may have none. A timer
/// changes it, as animation frames may stop once a picture was taken. The spot is opaque, since Chromium leaves out what is transparent and
/// then sees no change; black, the lighter of two colours is always the other, so that no pixel differs.
const CHANGE: &str = "window.everChanging ??= (() => { \
                      const spot = document.body.appendChild(document.createElement('div')); \
                      spot.style.cssText = 'position:fixed;left:0;top:0;width:1px;height:1px;pointer-events:none;' \
                      + 'background:#000;mix-blend-mode:lighten'; \
                      let count = 0; \
                      setInterval(() => { spot.style.width = `${1 + count++ % 2}px`; }, 15); \
                      return true; })()";

/// The window of a page: its size, and how many pixels its pictures have.
///
/// ```
/// use pliant::browser::{Browser, PictureFormat, Window};
///
/// // Without a Chromium there is nothing to show.
/// let Some(browser) = Browser::find() else { return Ok(()) };
/// let file = std::env::temp_dir().join("pliant_window_example.html");
/// std::fs::write(&file, "<title>empty</title>")?;
/// let mut page = browser.open(&file, "", Window { size: [300, 200], scale: 0.5 })?;
/// assert_eq!(page.evaluate("[innerWidth, innerHeight].join()")?, "300,200");
/// // A picture of half as many pixels; a PNG says so in bytes 16 to 23.
/// let picture = page.picture(PictureFormat::Png)?;
/// assert_eq!(picture[16..24], [0, 0, 0, 150, 0, 0, 0, 100]);
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Width and height, CSS pixels.
    pub size: [u32; 2],
    /// Pixels of pictures for each of these.
    pub scale: f64,
}

/// Format of the file of a picture.
///
/// ```
/// use pliant::browser::{Browser, PictureFormat, Window};
///
/// // Without a Chromium there is nothing to show.
/// let Some(browser) = Browser::find() else { return Ok(()) };
/// let file = std::env::temp_dir().join("pliant_picture_format_example.html");
/// std::fs::write(&file, "<title>empty</title>")?;
/// let mut page = browser.open(&file, "", Window { size: [60, 40], scale: 1.0 })?;
/// assert!(page.picture(PictureFormat::Png)?.starts_with(b"\x89PNG"));
/// assert!(page.picture(PictureFormat::Jpeg)?.starts_with(b"\xff\xd8"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Without loss.
    Png,
    /// Smaller.
    Jpeg,
}

/// A page, until it is dropped.
pub(super) struct Tab {
    socket: Socket<TcpStream>,
    session: Value,
    sent: u64,
    limit: Duration,
    complaints: Vec<String>,
}

impl Tab {
    /// Opens `address` and waits until it is ready.
    pub(super) fn open(
        socket: Socket<TcpStream>,
        address: &str,
        window: Window,
        patience: Duration,
    ) -> io::Result<Self> {
        let begin = Instant::now();
        let mut tab = Self {
            socket,
            session: Value::Null,
            sent: 0,
            limit: patience,
            complaints: Vec::new(),
        };
        let target = tab.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = tab.call("Target.attachToTarget", attach)?;
        tab.session = attached["sessionId"].clone();
        tab.resize(window)?;
        for domain in ["Page", "Runtime", "Log"] {
            tab.call(&format!("{domain}.enable"), json!({}))?;
        }
        // A page in the background has no animation frames.
        tab.call("Page.bringToFront", json!({}))?;
        let focus = json!({ "enabled": true });
        tab.call("Emulation.setFocusEmulationEnabled", focus)?;
        tab.call("Page.navigate", json!({ "url": address }))?;
        let here = format!("location.href !== 'about:blank' && {READY}");
        while tab.evaluate(&here)? != Value::Bool(true) {
            if begin.elapsed() > patience {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(tab)
    }

    /// How long it waits for an answer from now on.
    pub(super) fn wait_at_most(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Gives the window another size.
    pub(super) fn resize(&mut self, window: Window) -> io::Result<()> {
        let [width, height] = window.size;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": window.scale, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics)
            .map(|_| ())
    }

    /// The value of an expression, or of the promise that it is.
    pub(super) fn evaluate(&mut self, expression: &str) -> io::Result<Value> {
        let question =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", question)?;
        match answer.get("exceptionDetails") {
            None => Ok(answer["result"]["value"].clone()),
            // A page on its way to another document.
            Some(details) if details["exception"].is_null() => Ok(Value::Null),
            Some(details) => {
                let text = details["exception"]["description"].as_str();
                Err(io::Error::other(
                    text.unwrap_or("an exception in the page").to_owned(),
                ))
            }
        }
    }

    /// The file of a picture.
    pub(super) fn picture(&mut self, format: PictureFormat) -> io::Result<Vec<u8>> {
        self.evaluate(CHANGE)?;
        let format = match format {
            PictureFormat::Png => json!({ "format": "png" }),
            PictureFormat::Jpeg => json!({ "format": "jpeg", "quality": 85 }),
        };
        let answer = self.call("Page.captureScreenshot", format)?;
        let text = answer["data"].as_str().unwrap_or_default();
        let file = BASE64_STANDARD.decode(text);
        file.map_err(|error| io::Error::other(error.to_string()))
    }

    /// Errors, exceptions and messages of the page.
    pub(super) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Asks the browser to end.
    pub(super) fn close_browser(&mut self) -> io::Result<()> {
        self.session = Value::Null;
        self.call("Browser.close", json!({})).map(|_| ())
    }

    pub(super) fn call(&mut self, method: &str, parameters: Value) -> io::Result<Value> {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        let deadline = Instant::now() + self.limit;
        self.socket.send(&message.to_string())?;
        loop {
            let text = self.socket.receive_before(deadline)?;
            let mut message: Value = serde_json::from_str(&text)?;
            if message["id"] == self.sent {
                return match message.get("error") {
                    Some(error) => Err(io::Error::other(format!("{method}: {}", error["message"]))),
                    None => Ok(message["result"].take()),
                };
            }
            self.complaints.extend(complaint(&message));
        }
    }
}

/// What a message of the browser says of an error or a warning in the page.
fn complaint(message: &Value) -> Option<String> {
    let parameters = &message["params"];
    let text = match message["method"].as_str()? {
        "Runtime.consoleAPICalled" => &parameters["args"][0]["value"],
        "Runtime.exceptionThrown" => &parameters["exceptionDetails"]["exception"]["description"],
        "Log.entryAdded" => &parameters["entry"]["text"],
        _ => return None,
    };
    Some(text.as_str().unwrap_or("a message without text").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_errors_and_exceptions_of_a_page_are_complaints() {
        let console = json!({ "method": "Runtime.consoleAPICalled", "params": { "args": [{ "value": "a" }] } });
        let thrown = json!({ "method": "Runtime.exceptionThrown", "params": { "exceptionDetails": { "exception": { "description": "b" } } } });
        let log = json!({ "method": "Log.entryAdded", "params": { "entry": { "text": "c" } } });
        assert_eq!(
            [&console, &thrown, &log].map(|message| complaint(message).expect("a text")),
            ["a", "b", "c"]
        );
        assert_eq!(complaint(&json!({ "method": "Page.loadEventFired" })), None);
    }
}
