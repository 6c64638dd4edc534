//! `pliant render`: a picture of a scene or of a replay at one time, drawn by the replay player in headless Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::registry::Registry;
use crate::runner::{RunLength, RunOptions};
use crate::scene::Scene;

use super::output::number;
use super::run::{SceneSettings, run_with_progress};
use super::{Ending, Failure};

/// A software renderer draws a large scene in about a minute on one busy core.
const PATIENCE: Duration = Duration::from_secs(240);
const SIZES: std::ops::RangeInclusive<u32> = 64..=8192;

#[derive(Args)]
pub(super) struct RenderArguments {
    /// A bundled scene, the path of a scene file, or a replay (.html)
    source: String,
    /// Simulated time of the picture, s [default: the end of the scene's short run; the beginning of a replay]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    at: Option<f64>,
    /// Width and height of the picture, pixels
    #[arg(long, value_name = "WxH", default_value = "1200x800", value_parser = parse_size)]
    size: [u32; 2],
    /// Colours of the picture
    #[arg(long, value_enum, default_value = "light")]
    theme: Theme,
    /// File of the picture
    #[arg(long, value_name = "FILE", default_value = "picture.png")]
    out: PathBuf,
    #[command(flatten)]
    settings: SceneSettings,
}

#[derive(Clone, Copy, ValueEnum)]
enum Theme {
    Light,
    Dark,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x');
    let side = |text: &str| text.parse().ok().filter(|side| SIZES.contains(side));
    sides
        .and_then(|(width, height)| Some([side(width)?, side(height)?]))
        .ok_or_else(|| {
            let (least, most) = (SIZES.start(), SIZES.end());
            format!("a size is WIDTHxHEIGHT, each of {least} to {most} pixels, such as 1200x800")
        })
}

pub(super) fn main(arguments: &RenderArguments, registry: &Registry) -> Result<Ending, Failure> {
    if let Some(at_s) = arguments
        .at
        .filter(|at_s| !(at_s.is_finite() && *at_s >= 0.0))
    {
        return Err(format!("--at {at_s}: must be a time in s, zero or more").into());
    }
    if arguments
        .out
        .extension()
        .is_none_or(|ending| ending != "png")
    {
        let out = arguments.out.display();
        return Err(
            format!("--out {out}: the picture is a PNG; give a name that ends in .png").into(),
        );
    }
    let browser = browser()?;
    let folder = Folder::new()?;
    let page = folder.0.join("replay.html");
    let at_s = if arguments.source.ends_with(".html") {
        fs::copy(&arguments.source, &page)
            .map_err(|error| format!("{}: {error}", arguments.source))?;
        arguments.at.unwrap_or(0.0)
    } else {
        run_scene(arguments, registry, &folder.0)?
    };
    let picture = folder.0.join("picture.png");
    let theme = match arguments.theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    draw(
        &browser,
        &folder.0,
        &format!("still&theme={theme}&t={at_s}"),
        arguments.size,
    )?;
    let bytes = fs::read(&picture)
        .map_err(|error| format!("{} left no picture: {error}", browser.display()))?;
    fs::write(&arguments.out, bytes)
        .map_err(|error| format!("--out {}: {error}", arguments.out.display()))?;
    eprintln!("wrote {}", arguments.out.display());
    Ok(Ending::AsExpected)
}

/// Runs the scene until the time of the picture, writes its replay, and returns that time, s.
fn run_scene(
    arguments: &RenderArguments,
    registry: &Registry,
    folder: &Path,
) -> Result<f64, Failure> {
    let scene = Scene::load(&arguments.source, &arguments.settings.options(registry))?;
    let length = match arguments.at {
        // The beginning is in the recording of any run.
        Some(at_s) => RunLength::Until(at_s.max(scene.simulation.time_step_s)),
        None => RunLength::Smoke,
    };
    let options = RunOptions {
        length,
        ..RunOptions::default()
    };
    let outcome = run_with_progress(&scene, &options)?;
    for note in &outcome.notes {
        eprintln!("note: {note}");
    }
    outcome.recording.write_to(folder)?;
    let end_s = outcome.summary.simulated_s;
    let at_s = arguments.at.unwrap_or(end_s);
    if at_s > end_s + scene.simulation.time_step_s {
        let (at_s, end_s) = (number(at_s), number(end_s));
        return Err(
            format!("--at {at_s}: the run ends at {end_s} s; give a time before that").into(),
        );
    }
    Ok(at_s)
}

/// `PLIANT_CHROMIUM`, or a Chromium on the PATH.
fn browser() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("PLIANT_CHROMIUM").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            "no Chromium on the PATH: install Chromium, or set PLIANT_CHROMIUM to the path of one"
                .into()
        })
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("pliant-render-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Draws `replay.html` of the folder into `picture.png` of the folder.
fn draw(browser: &Path, folder: &Path, settings: &str, size: [u32; 2]) -> Result<(), Failure> {
    let log = folder.join("log");
    let mut command = Command::new(browser);
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
        .arg("--virtual-time-budget=4000")
        .arg(format!("--window-size={},{}", size[0], size[1]))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!(
            "--screenshot={}",
            folder.join("picture.png").display()
        ));
    // Chromium refuses to start as root with its sandbox.
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder)?) == 0 {
        command.arg("--no-sandbox");
    }
    let name = browser.display();
    let mut child = command
        .arg(format!(
            "file://{}#{settings}",
            folder.join("replay.html").display()
        ))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log)?)
        .spawn()
        .map_err(|error| {
            format!("{name} does not start: {error}; set PLIANT_CHROMIUM to the path of a Chromium")
        })?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(format!(
                "{name} did not finish within {} s; try a smaller --size",
                PATIENCE.as_secs()
            )
            .into());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        let log = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        return Err(format!("{name} ended with {status}:\n{log}").into());
    }
    Ok(())
}
