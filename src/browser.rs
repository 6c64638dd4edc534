//! Headless Chromium: opens a replay, and returns a picture of it and what the page says of itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A software renderer draws a large scene in about a minute on one busy core.
const PATIENCE: Duration = Duration::from_secs(240);

/// Why a page was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// It does not start.
    #[error("{} does not start: {reason}; set PLIANT_CHROMIUM to the path of a Chromium", program.display())]
    Start {
        /// The browser.
        program: PathBuf,
        /// The error of the operating system.
        reason: std::io::Error,
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
    /// A temporary file cannot be written or read.
    #[error("the temporary folder of the browser: {0}")]
    Files(#[from] std::io::Error),
}

/// A Chromium.
#[derive(Clone, Debug)]
pub struct Browser {
    program: PathBuf,
}

/// A picture of a page.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Width and height of the window, CSS pixels.
    pub window: [u32; 2],
    /// Pixels of the picture for each of these.
    pub scale: f64,
    /// Its file, `.png` or `.jpg`.
    pub file: PathBuf,
}

/// What a page said.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The document as it stands after four seconds of the page's time.
    pub document: String,
    /// The browser's log with the page's console.
    pub log: String,
}

impl Browser {
    /// `PLIANT_CHROMIUM`, or a Chromium on the PATH.
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

    /// Opens `page` with `settings` after its #, and makes a picture of it if one is asked for.
    ///
    /// # Errors
    /// [`BrowserError`], with the remedy.
    pub fn visit(
        &self,
        page: &Path,
        settings: &str,
        picture: Option<&Picture>,
    ) -> Result<Visit, BrowserError> {
        let folder = Folder::new()?;
        let [document, log] = ["document", "log"].map(|name| folder.0.join(name));
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
            .args([
                "--enable-logging=stderr",
                "--v=0",
                "--virtual-time-budget=4000",
                "--dump-dom",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.0.join("profile").display()
            ));
        let [width, height] = picture.map_or([960, 720], |picture| picture.window);
        command.arg(format!("--window-size={width},{height}"));
        if let Some(picture) = picture {
            command.arg(format!("--force-device-scale-factor={}", picture.scale));
            command.arg(format!(
                "--screenshot={}",
                std::path::absolute(&picture.file)?.display()
            ));
        }
        // Chromium refuses to start as root with its sandbox.
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::uid(&fs::metadata(&folder.0)?) == 0 {
            command.arg("--no-sandbox");
        }
        command.arg(format!(
            "file://{}#{settings}",
            std::path::absolute(page)?.display()
        ));
        command.stdin(Stdio::null());
        command.stdout(fs::File::create(&document)?);
        command.stderr(fs::File::create(&log)?);
        let status = self.finished(&mut command)?;
        let read = |path: &Path| {
            let bytes = fs::read(path)?;
            Ok::<_, BrowserError>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let visit = Visit {
            document: read(&document)?,
            log: read(&log)?,
        };
        match status.success() {
            true => Ok(visit),
            false => Err(BrowserError::Failed {
                program: self.program.clone(),
                status,
                log: visit.log,
            }),
        }
    }

    fn finished(&self, command: &mut Command) -> Result<ExitStatus, BrowserError> {
        let mut child = command.spawn().map_err(|reason| BrowserError::Start {
            program: self.program.clone(),
            reason,
        })?;
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if begin.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Err(BrowserError::TooSlow {
                    program: self.program.clone(),
                });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Visit {
    /// An attribute of the page's root element.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<String> {
        let root = &self.document[self.document.find("<html")?..];
        let root = &root[..root.find('>')?];
        let value = root.split_once(&format!(" {name}=\""))?.1;
        let value = value.split_once('"')?.0;
        let plain = value.replace("&quot;", "\"").replace("&lt;", "<");
        Some(plain.replace("&gt;", ">").replace("&amp;", "&"))
    }
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pliant-browser-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the temporary folder of the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_those_of_the_root_element() {
        let visit = Visit {
            document: "<!doctype html><html lang=\"en\" data-error=\"a &lt; &quot;b&quot; &amp;amp;\"><p data-end=\"1\">".into(),
            log: String::new(),
        };
        assert_eq!(
            visit.attribute("data-error").as_deref(),
            Some("a < \"b\" &amp;")
        );
        assert_eq!(visit.attribute("error"), None);
        assert_eq!(visit.attribute("data-end"), None);
    }
}
