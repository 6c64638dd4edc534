//! `pliant render`: a picture of a scene or of a replay at one time, or a video of it, drawn by the replay player in headless Chromium.

mod png;
mod video;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::browser::{Browser, BrowserError, OpenPage, PictureFormat, Window};
use crate::registry::Registry;
use crate::runner::{RunLength, RunOptions};
use crate::scene::Scene;

use super::notes::Notes;
use super::output::{COLUMNS, number, say, say_text};
use super::run::{SceneSettings, run_with_progress};
use super::{Ending, Failure};

const SIZES: std::ops::RangeInclusive<u32> = 64..=8192;

#[derive(Args)]
pub(super) struct RenderArguments {
    /// A bundled scene, the path of a scene file, or a replay (.html)
    source: String,
    /// Simulated time of the picture or of the end of the video, s [default: the end of the scene's short run; of a replay its beginning, or its end for a video]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    at: Option<f64>,
    /// Make a video from the beginning on: an animated GIF of 20 frames per second
    #[arg(long)]
    video: bool,
    /// Simulated seconds per second of the video
    #[arg(long, value_name = "X", default_value = "1", requires = "video")]
    speed: f64,
    /// Width and height of the picture, pixels [default: 1200x800; 600x400 for a video]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Camera of the scene [default: the first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// Colours of the picture
    #[arg(long, value_enum, default_value = "light")]
    theme: Theme,
    /// File of the picture or video [default: picture.png, video.gif]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
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
    if !(arguments.speed.is_finite() && arguments.speed > 0.0) {
        let speed = arguments.speed;
        return Err(format!("--speed {speed}: must be a number greater than 0").into());
    }
    let product = match arguments.video {
        true => Product::Video,
        false => Product::Picture,
    };
    let (name, ending, size) = match product {
        Product::Picture => ("picture.png", "png", [1200, 800]),
        Product::Video => ("video.gif", "gif", [600, 400]),
    };
    let out = arguments.out.clone().unwrap_or_else(|| name.into());
    if out.extension().is_none_or(|found| found != ending) {
        let (out, kind) = (out.display(), ending.to_uppercase());
        let what = match product {
            Product::Picture => "picture",
            Product::Video => "video",
        };
        return Err(format!(
            "--out {out}: the {what} is a {kind}; give a name that ends in .{ending}"
        )
        .into());
    }
    let browser = Browser::find().ok_or(
        "no Chromium on the PATH: install Chromium, or set PLIANT_CHROMIUM to the path of one",
    )?;
    let (page, at_s) = if arguments.source.ends_with(".html") {
        let page = PathBuf::from(&arguments.source);
        fs::metadata(&page).map_err(|error| format!("{}: {error}", arguments.source))?;
        (page, arguments.at)
    } else {
        let page = out.with_extension("partial.html");
        let end_s = run_scene(arguments, registry, &page)?;
        (page, Some(arguments.at.unwrap_or(end_s)))
    };
    let theme = match arguments.theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    let camera = match &arguments.camera {
        Some(name) => format!("&camera={}", encoded(name)),
        None => String::new(),
    };
    let settings = format!("still&theme={theme}&t={}{camera}", at_s.unwrap_or(0.0));
    let window = Window {
        size: arguments.size.unwrap_or(size),
        scale: 1.0,
    };
    // Beside its place, so that nothing is left of what fails.
    let unfinished = out.with_extension(format!("partial.{ending}"));
    let drawn = browser
        .open(&page, &settings, window)
        .map_err(|error| error.to_string())
        .and_then(|mut page| match product {
            Product::Picture => {
                check_replay(&mut page, &arguments.source, at_s)?;
                let picture = page.picture_at(at_s.unwrap_or(0.0), PictureFormat::Png);
                let picture = picture.map_err(|error| error.to_string())?;
                fs::write(&unfinished, picture).map_err(|error| error.to_string())
            }
            Product::Video => {
                let end_s = check_replay(&mut page, &arguments.source, at_s)?;
                let times = video::times(at_s.unwrap_or(end_s), arguments.speed)?;
                video::write(&mut page, &times, &unfinished)
            }
        });
    if !arguments.source.ends_with(".html") {
        fs::remove_file(&page)?;
    }
    if let Err(reason) = drawn {
        // Only there if the drawing came that far.
        let _ = fs::remove_file(&unfinished);
        return Err(reason.into());
    }
    fs::rename(&unfinished, &out).map_err(|error| format!("--out {}: {error}", out.display()))?;
    say!("wrote {}", out.display());
    Ok(Ending::AsExpected)
}

/// What is made of a replay.
#[derive(Clone, Copy)]
enum Product {
    Picture,
    Video,
}

/// A name in an address: everything but letters and digits by its bytes.
fn encoded(name: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(encode).collect()
}

/// Checks that the page is a replay that plays and reaches the time asked for, and returns its end, s.
fn check_replay(page: &mut OpenPage, source: &str, at_s: Option<f64>) -> Result<f64, String> {
    let text = |error: BrowserError| error.to_string();
    if let Some(error) = page.attribute("data-error").map_err(text)? {
        return Err(format!("{source}: the replay cannot be played: {error}"));
    }
    let end_s = page.attribute("data-end").map_err(text)?;
    let end_s: f64 = end_s
        .and_then(|end| end.parse().ok())
        .ok_or_else(|| format!("{source} is not a replay of pliant; `pliant run` writes one"))?;
    // Times of frames are rounded in a replay.
    match at_s {
        Some(at_s) if at_s > end_s * (1.0 + 1e-6) => {
            let (at_s, end_s) = (number(at_s), number(end_s));
            Err(format!(
                "--at {at_s}: {source} ends at {end_s} s; give a time before that"
            ))
        }
        _ => Ok(end_s),
    }
}

/// Runs the scene until the time of the picture, writes its replay to `page`, and returns how far it came, s.
fn run_scene(
    arguments: &RenderArguments,
    registry: &Registry,
    page: &Path,
) -> Result<f64, Failure> {
    let mut scene = Scene::load(&arguments.source, &arguments.settings.options(registry))?;
    super::packages::add_packages(&mut scene, &arguments.settings.packages);
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
    say_text(&Notes::of(&outcome.notes).text(COLUMNS));
    outcome.recording.write_replay(page)?;
    Ok(outcome.summary.simulated_s)
}
