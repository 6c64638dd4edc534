//! `pliant render`: a picture of a scene or of a replay at one time, drawn by the replay player in headless Chromium.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::browser::{Browser, BrowserError, OpenPage, PictureFormat, Window};
use crate::registry::Registry;
use crate::runner::{RunLength, RunOptions};
use crate::scene::Scene;

use super::notes::Notes;
use super::output::number;
use super::run::{SceneSettings, run_with_progress};
use super::{Ending, Failure};

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
    /// Camera of the scene [default: the first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
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
    let browser = Browser::find().ok_or(
        "no Chromium on the PATH: install Chromium, or set PLIANT_CHROMIUM to the path of one",
    )?;
    let (page, at_s) = if arguments.source.ends_with(".html") {
        let page = PathBuf::from(&arguments.source);
        fs::metadata(&page).map_err(|error| format!("{}: {error}", arguments.source))?;
        (page, arguments.at.unwrap_or(0.0))
    } else {
        run_scene(arguments, registry)?
    };
    let theme = match arguments.theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    let camera = match &arguments.camera {
        Some(name) => format!("&camera={}", encoded(name)),
        None => String::new(),
    };
    let settings = format!("still&theme={theme}&t={at_s}{camera}");
    let window = Window {
        size: arguments.size,
        scale: 1.0,
    };
    let drawn = browser
        .open(&page, &settings, window)
        .map_err(|error| error.to_string())
        .and_then(|mut page| draw(&mut page, &arguments.source, at_s));
    if !arguments.source.ends_with(".html") {
        fs::remove_file(&page)?;
    }
    fs::write(&arguments.out, drawn?)
        .map_err(|error| format!("--out {}: {error}", arguments.out.display()))?;
    eprintln!("wrote {}", arguments.out.display());
    Ok(Ending::AsExpected)
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

/// The picture of a replay that plays and reaches the time of the picture.
fn draw(page: &mut OpenPage, source: &str, at_s: f64) -> Result<Vec<u8>, String> {
    let text = |error: BrowserError| error.to_string();
    if let Some(error) = page.attribute("data-error").map_err(text)? {
        return Err(format!("{source}: the replay cannot be played: {error}"));
    }
    let end_s = page.attribute("data-end").map_err(text)?;
    let end_s: f64 = end_s
        .and_then(|end| end.parse().ok())
        .ok_or_else(|| format!("{source} is not a replay of pliant; `pliant run` writes one"))?;
    // Times of frames are rounded in a replay.
    if at_s > end_s * (1.0 + 1e-6) {
        let (at_s, end_s) = (number(at_s), number(end_s));
        return Err(format!(
            "--at {at_s}: {source} ends at {end_s} s; give a time before that"
        ));
    }
    page.picture(PictureFormat::Png).map_err(text)
}

/// Runs the scene until the time of the picture, and returns its replay beside the picture and that time, s.
fn run_scene(arguments: &RenderArguments, registry: &Registry) -> Result<(PathBuf, f64), Failure> {
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
    for note in Notes::of(&outcome.notes).all() {
        eprintln!("note: {note}");
    }
    let page = arguments.out.with_extension("partial.html");
    outcome.recording.write_replay(&page)?;
    Ok((page, arguments.at.unwrap_or(outcome.summary.simulated_s)))
}
