//! A video of a replay: an animated GIF.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use gif::{Encoder, Frame, Repeat};

use super::png::Pixels;
use crate::browser::{OpenPage, PictureFormat};

/// Hundredths of a second from one frame to the next: 20 frames per second.
const DELAY: u16 = 5;
/// More make a file that few programs show.
pub(super) const FRAMES_MAX: usize = 1200;
/// Of the search for the 256 colours of a frame, 1 (best) to 30 (fastest).
const COLOR_SPEED: i32 = 10;

/// The times of the frames of a video from 0 to `end_s`, s, with `speed` simulated seconds per second.
pub(super) fn times(end_s: f64, speed: f64) -> Result<Vec<f64>, String> {
    let step_s = speed * f64::from(DELAY) / 100.0;
    let n = (end_s / step_s + 1e-9).floor() as usize + 1;
    if n > FRAMES_MAX {
        let least = end_s / (FRAMES_MAX as f64 - 1.0) * 100.0 / f64::from(DELAY);
        return Err(format!(
            "the video has {n} frames, the limit is {FRAMES_MAX}; give `--speed {least:.3}` or more, or an earlier end with `--at`"
        ));
    }
    Ok((0..n).map(|k| k as f64 * step_s).collect())
}

/// Draws the replay at these times into a GIF that repeats.
pub(super) fn write(page: &mut OpenPage, times: &[f64], file: &Path) -> Result<(), String> {
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut encoder: Option<Encoder<BufWriter<File>>> = None;
    for t_s in times {
        let picture = page.picture_at(*t_s, PictureFormat::Png);
        let picture = picture.map_err(|error| error.to_string())?;
        let pixels = Pixels::read(&picture).ok_or("the browser's picture is not a plain PNG")?;
        let side = |n: usize| u16::try_from(n).map_err(|error| fault(&error));
        let (width, height) = (side(pixels.width)?, side(pixels.height)?);
        let into = match &mut encoder {
            Some(encoder) => encoder,
            None => {
                let out = BufWriter::new(File::create(file).map_err(|error| fault(&error))?);
                let mut first = Encoder::new(out, width, height, &[]).map_err(|e| fault(&e))?;
                first.set_repeat(Repeat::Infinite).map_err(|e| fault(&e))?;
                encoder.insert(first)
            }
        };
        let mut frame = Frame::from_rgb_speed(width, height, &pixels.rgb, COLOR_SPEED);
        frame.delay = DELAY;
        into.write_frame(&frame).map_err(|error| fault(&error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_evenly_spaced_from_the_beginning_to_the_end() {
        assert_eq!(times(0.1, 1.0).expect("few"), [0.0, 0.05, 0.1]);
        assert_eq!(times(0.12, 2.0).expect("few"), [0.0, 0.1]);
        assert_eq!(times(0.0, 1.0).expect("one"), [0.0]);
        let error = times(100.0, 1.0).expect_err("2001 frames");
        assert!(error.contains("--speed 1.668"), "{error}");
        assert!(times(100.0, 1.669).is_ok());
    }
}
