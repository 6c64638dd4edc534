//! Headless Chromium: opens a replay, draws pictures of it, and asks the page about itself.

mod page;
mod socket;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use page::Tab;
pub use page::{PictureFormat, Window};
use socket::Socket;

/// Of opening a page: a software renderer draws a large scene in about a minute on one busy core.
const OPENING: Duration = Duration::from_secs(120);
/// Of an answer of an open page.
const ANSWER: Duration = Duration::from_secs(60);
/// Of a browser that is asked to end.
const CLOSING: Duration = Duration::from_secs(2);
/// Of a picture, beside [`OPENINGS`] times as long as its page took to open with its first picture.
const PICTURE: Duration = Duration::from_secs(5);
const OPENINGS: u32 = 3;
/// How often a picture is tried, each time in a new browser and with twice the time.
const TRIES: u32 = 3;
/// From one look at a browser that starts or ends to the next.
const PAUSE: Duration = Duration::from_millis(20);

/// A page keeps its timers and animation frames whether or not it seems to be seen, and the browser talks to nobody.
const UNDISTURBED: [&str; 9] = [
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-features=CalculateNativeWinOcclusion,IntensiveWakeUpThrottling,Translate,OptimizationHints,MediaRouter",
];

/// Why a page was not opened, or what it did not do.
///
/// ```
/// use std::io;
/// use std::path::Path;
/// use pliant::browser::{Browser, BrowserError, Window};
///
/// /// The title of a page; `None` where there is no Chromium that starts.
/// fn title(page: &Path) -> Result<Option<String>, BrowserError> {
///     let Some(browser) = Browser::find() else { return Ok(None) };
///     match browser.open(page, "", Window { size: [480, 320], scale: 1.0 }) {
///         Err(BrowserError::Start { .. }) => Ok(None),
///         page => Ok(page?.evaluate("document.title")?.as_str().map(str::to_owned)),
///     }
/// }
/// // The message has the remedy.
/// let error = BrowserError::Start { program: "chromium".into(), reason: io::ErrorKind::NotFound.into() };
/// assert!(error.to_string().contains("set PLIANT_CHROMIUM to the path of a Chromium"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// It does not start.
    #[error("{} does not start: {reason}; set PLIANT_CHROMIUM to the path of a Chromium", program.display())]
    Start {
        /// The browser.
        program: PathBuf,
        /// The error of the operating system.
        reason: io::Error,
    },
    /// It takes too long.
    #[error(
        "{} did not answer within {:.0} s; try a smaller picture, a machine with less to do, or another Chromium by PLIANT_CHROMIUM",
        program.display(), limit.as_secs_f64()
    )]
    TooSlow {
        /// The browser.
        program: PathBuf,
        /// How long it was waited for.
        limit: Duration,
    },
    /// It ended with an error.
    #[error("{} ended with {status}:\n{log}", program.display())]
    Failed {
        /// The browser.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it logged.
        log: String,
    },
    /// The page does not answer, or an expression in it fails.
    #[error("{}: {reason}", program.display())]
    Page {
        /// The browser.
        program: PathBuf,
        /// What went wrong.
        reason: io::Error,
    },
    /// A temporary file cannot be written or read.
    #[error("the temporary folder of the browser: {0}")]
    Files(#[from] io::Error),
}

/// A Chromium, which draws with the processor where there is no GPU.
///
/// ```
/// use pliant::browser::{Browser, Window};
/// use pliant::recording::{Frame, Recording};
///
/// // Without a Chromium there is nothing to show.
/// let Some(browser) = Browser::find() else { return Ok(()) };
/// let mut recording = Recording::new("an empty room", Vec::new(), Vec::new(), Vec::new())?;
/// recording.push_frame(Frame::default())?;
/// let file = std::env::temp_dir().join("pliant_browser_example.html");
/// recording.write_replay(&file)?;
/// let mut page = browser.open(&file, "theme=light", Window { size: [480, 320], scale: 1.0 })?;
/// assert_eq!(page.evaluate("document.title")?, "an empty room");
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Browser {
    program: PathBuf,
}

impl Browser {
    /// The Chromium that the environment variable `PLIANT_CHROMIUM` names, or the first of `chromium`, `chromium-browser` and
    /// `google-chrome` on the PATH; `None` without one. Nothing is started yet, and a path in the variable is not checked.
    #[must_use]
    pub fn find() -> Option<Self> {
        if let Some(path) = std::env::var_os("PLIANT_CHROMIUM").filter(|path| !path.is_empty()) {
            let program = path.into();
            return Some(Self { program });
        }
        let names = ["chromium", "chromium-browser", "google-chrome"];
        std::env::split_paths(&std::env::var_os("PATH")?)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
            .map(|program| Self { program })
    }

    /// Opens the file `page` with `settings` after its #, and waits until its first picture is drawn.
    ///
    /// Settings of a replay are joined by `&`: `t=1.5` (s), `camera=NAME`, `theme=light` or `dark`, `paused`, `still` (no controls),
    /// `moments=on`, and `patches`, `forces`, `grid` and `plots`, each `=off`.
    ///
    /// # Errors
    /// [`BrowserError`], with the remedy.
    pub fn open(
        &self,
        page: &Path,
        settings: &str,
        window: Window,
    ) -> Result<OpenPage, BrowserError> {
        let address = format!("file://{}#{settings}", std::path::absolute(page)?.display());
        self.open_address(&address, window)
    }

    /// Opens the page at `address`, a whole URL such as that of a live run, and waits until its first picture is drawn.
    ///
    /// # Errors
    /// [`BrowserError`], with the remedy.
    pub fn open_address(&self, address: &str, window: Window) -> Result<OpenPage, BrowserError> {
        let begin = Instant::now();
        let folder = Folder::new()?;
        let profile = folder.0.join("profile");
        let mut command = Command::new(&self.program);
        command
            .args([
                "--headless=new",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .args([
                "--use-gl=angle",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
            ])
            .args(UNDISTURBED)
            .args(["--remote-debugging-port=0", "--no-first-run"])
            .arg(format!("--user-data-dir={}", profile.display()));
        let [width, height] = window.size;
        command.arg(format!("--window-size={width},{height}"));
        // Chromium refuses to start as root with its sandbox.
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::uid(&fs::metadata(&folder.0)?) == 0 {
            command.arg("--no-sandbox");
        }
        let log = folder.0.join("log");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(&log)?);
        let child = command.spawn().map_err(|reason| BrowserError::Start {
            program: self.program.clone(),
            reason,
        })?;
        let mut process = Process { child, folder };
        let (port, path) = self.address(&mut process, &profile.join("DevToolsActivePort"))?;
        let tab = Socket::connect(port, &path, OPENING)
            .and_then(|socket| Tab::open(socket, address, window, OPENING));
        let mut tab = tab.map_err(|reason| self.fault(reason, OPENING))?;
        tab.wait_at_most(ANSWER);
        Ok(OpenPage {
            tab,
            browser: self.clone(),
            process,
            address: address.to_owned(),
            window,
            picture_limit: PICTURE + OPENINGS * begin.elapsed(),
            life: PageLife::ManyPictures,
        })
    }

    /// Port and path of a started browser, which writes them into a file.
    fn address(&self, process: &mut Process, file: &Path) -> Result<(u16, String), BrowserError> {
        let begin = Instant::now();
        loop {
            let text = fs::read_to_string(file).unwrap_or_default();
            let mut lines = text.lines();
            if let (Some(port), Some(path)) = (lines.next(), lines.next())
                && let Ok(port) = port.parse()
            {
                return Ok((port, path.to_owned()));
            }
            if let Some(status) = process.child.try_wait()? {
                return Err(BrowserError::Failed {
                    program: self.program.clone(),
                    status,
                    log: fs::read_to_string(process.folder.0.join("log"))?,
                });
            }
            if begin.elapsed() > ANSWER {
                return Err(self.fault(io::ErrorKind::TimedOut.into(), ANSWER));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn fault(&self, reason: io::Error, limit: Duration) -> BrowserError {
        let program = self.program.clone();
        match reason.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                BrowserError::TooSlow { program, limit }
            }
            _ => BrowserError::Page { program, reason },
        }
    }
}

/// A page in a browser of its own, which ends when this is dropped.
///
/// ```
/// use pliant::browser::{Browser, Window};
///
/// // Without a Chromium there is nothing to show.
/// let Some(browser) = Browser::find() else { return Ok(()) };
/// let file = std::env::temp_dir().join("pliant_open_page_example.html");
/// std::fs::write(&file, "<html data-state='drawn'><script>console.error('a complaint')</script></html>")?;
/// let mut page = browser.open(&file, "", Window { size: [200, 100], scale: 1.0 })?;
/// assert_eq!(page.attribute("data-state")?.as_deref(), Some("drawn"));
/// assert!(page.complaints().iter().any(|text| text.contains("a complaint")));
/// page.resize(Window { size: [300, 100], scale: 1.0 })?;
/// assert_eq!(page.evaluate("innerWidth")?, 300);
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenPage {
    // Before the process: the browser is asked to end before it is waited for.
    tab: Tab,
    browser: Browser,
    process: Process,
    address: String,
    window: Window,
    /// How long a picture may take.
    picture_limit: Duration,
    life: PageLife,
}

/// How many pictures a page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageLife {
    ManyPictures,
    /// One: some builds of Chromium no longer draw a page after its first picture.
    OnePicture,
    /// None: it has had its one.
    Spent,
}

impl OpenPage {
    /// Gives the window another size, and a replay its first view for it.
    ///
    /// # Errors
    /// A browser that does not answer.
    pub fn resize(&mut self, window: Window) -> Result<(), BrowserError> {
        let resized = self.tab.resize(window);
        resized.map_err(|reason| self.browser.fault(reason, ANSWER))?;
        self.window = window;
        self.evaluate("globalThis.replay?.resetView()").map(|_| ())
    }

    /// The value of a JavaScript expression in the page, or of the promise that it is, as JSON; null for what is not JSON.
    ///
    /// # Errors
    /// An exception in the page, or a browser that does not answer.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, BrowserError> {
        let value = self.tab.evaluate(expression);
        value.map_err(|reason| self.browser.fault(reason, ANSWER))
    }

    /// An attribute of the page's root element; `None` if it has no such attribute. A replay has `data-ready` once its first picture
    /// is drawn, and `data-error` with the reason if it cannot be shown.
    ///
    /// # Errors
    /// A browser that does not answer.
    pub fn attribute(&mut self, name: &str) -> Result<Option<String>, BrowserError> {
        let name = Value::from(name);
        let value = self.evaluate(&format!("document.documentElement.getAttribute({name})"))?;
        Ok(value.as_str().map(str::to_owned))
    }

    /// Shows a replay at time `t_s`, s, and waits until its picture is there.
    ///
    /// # Errors
    /// A page that is no replay, or a browser that does not answer.
    pub fn show(&mut self, t_s: f64) -> Result<(), BrowserError> {
        // After a picture of it was taken, a page may get no more animation frames.
        let shown = "new Promise((done) => { \
                     requestAnimationFrame(() => requestAnimationFrame(() => done(true))); \
                     setTimeout(() => done(true), 100); })";
        let shown = self.evaluate(&format!("replay.show({t_s}), {shown}"));
        shown.map(|_| ())
    }

    /// The bytes of a file with a picture of the window as it is now, of its size times its scale.
    ///
    /// # Errors
    /// A browser that does not answer.
    pub fn picture(&mut self, format: PictureFormat) -> Result<Vec<u8>, BrowserError> {
        let picture = self.tab.picture(format);
        picture.map_err(|reason| self.browser.fault(reason, ANSWER))
    }

    /// A picture, as of [`picture`](Self::picture), of a replay at time `t_s`, s. A browser that does not draw is replaced by another, which opens the
    /// page again: what was changed in it by [`evaluate`](Self::evaluate) is lost then.
    ///
    /// # Errors
    /// A page that is no replay, or three browsers that do not answer.
    pub fn picture_at(&mut self, t_s: f64, format: PictureFormat) -> Result<Vec<u8>, BrowserError> {
        if self.life == PageLife::Spent {
            self.open_again()?;
        }
        let mut limit = self.picture_limit;
        for _ in 1..TRIES {
            match self.picture_within(limit, t_s, format) {
                Err(BrowserError::TooSlow { .. }) => self.open_again()?,
                picture => return picture,
            }
            limit *= 2;
        }
        self.picture_within(limit, t_s, format)
    }

    fn picture_within(
        &mut self,
        limit: Duration,
        t_s: f64,
        format: PictureFormat,
    ) -> Result<Vec<u8>, BrowserError> {
        self.tab.wait_at_most(limit);
        let picture = self.show(t_s).and_then(|()| self.picture(format));
        self.tab.wait_at_most(ANSWER);
        if picture.is_ok() && self.life == PageLife::OnePicture {
            self.life = PageLife::Spent;
        }
        picture.map_err(|error| match error {
            BrowserError::TooSlow { program, .. } => BrowserError::TooSlow { program, limit },
            other => other,
        })
    }

    /// Replaces the browser by another with the same page, for one picture.
    fn open_again(&mut self) -> Result<(), BrowserError> {
        let mut fresh = self.browser.open_address(&self.address, self.window)?;
        fresh.life = PageLife::OnePicture;
        *self = fresh;
        Ok(())
    }

    /// Errors, exceptions and messages on the console of the page so far, in the order in which they came.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        self.tab.complaints()
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        // What does not end when asked is ended below.
        self.tab.wait_at_most(CLOSING);
        let _ = self.tab.close_browser();
        let begin = Instant::now();
        while begin.elapsed() < CLOSING {
            if !matches!(self.process.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// A browser and its temporary folder; both end with this.
struct Process {
    child: Child,
    folder: Folder,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("pliant-browser-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // An earlier program with the same number was ended before it could remove its folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the temporary folder of the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
