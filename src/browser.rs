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

/// A software renderer draws a large scene in about a minute on one busy core.
const PATIENCE: Duration = Duration::from_secs(240);
/// From one look at a browser that starts or ends to the next.
const PAUSE: Duration = Duration::from_millis(20);

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
    #[error("{} did not finish within {} s; try a smaller picture", program.display(), PATIENCE.as_secs())]
    TooSlow {
        /// The browser.
        program: PathBuf,
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
        let tab = Socket::connect(port, &path, PATIENCE)
            .and_then(|socket| Tab::open(socket, address, window, PATIENCE));
        Ok(OpenPage {
            tab: tab.map_err(|reason| self.fault(reason))?,
            browser: self.clone(),
            process,
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
            if begin.elapsed() > PATIENCE {
                return Err(self.fault(io::ErrorKind::TimedOut.into()));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn fault(&self, reason: io::Error) -> BrowserError {
        let program = self.program.clone();
        match reason.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                BrowserError::TooSlow { program }
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
}

impl OpenPage {
    /// Gives the window another size, and a replay its first view for it.
    ///
    /// # Errors
    /// A browser that does not answer.
    pub fn resize(&mut self, window: Window) -> Result<(), BrowserError> {
        let resized = self.tab.resize(window);
        resized.map_err(|reason| self.browser.fault(reason))?;
        self.evaluate("globalThis.replay?.resetView()").map(|_| ())
    }

    /// The value of a JavaScript expression in the page, or of the promise that it is, as JSON; null for what is not JSON.
    ///
    /// # Errors
    /// An exception in the page, or a browser that does not answer.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, BrowserError> {
        let value = self.tab.evaluate(expression);
        value.map_err(|reason| self.browser.fault(reason))
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
        picture.map_err(|reason| self.browser.fault(reason))
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
        let _ = self.tab.close_browser();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
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
