//! Writing to stdout and stderr: tables, progress.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::runner::Progress;

use super::Failure;

/// Writes `text` to stdout. A closed pipe, as with `head`, is not an error.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes `text` to stderr, which may be gone with its terminal or its pipe: a run and its results do not depend on it.
pub(super) fn say_text(text: &str) {
    let _gone = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a line to stderr, as `eprintln!`, but never ends the program.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::output::say_text(&format!("{}\n", format_args!($($text)*))) };
}
pub(super) use say;

/// Columns as wide as their widest cell, the first to the left, the others to the right unless `left` names them.
pub(super) fn table(header: &[&str], rows: &[Vec<String>], left: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .chain([header[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (column, cell) in cells.enumerate() {
            let room = " ".repeat(widths[column] - cell.chars().count());
            let to_left = column == 0 || left.contains(&column);
            line += &if to_left {
                format!("{cell}{room}  ")
            } else {
                format!("{room}{cell}  ")
            };
        }
        format!("{}\n", line.trim_end())
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A number with six significant digits.
pub(super) fn number(x: f64) -> String {
    // Without the sign of -0.
    let x = x + 0.0;
    let magnitude = x.abs();
    if x == 0.0 || (1e-3..1e6).contains(&magnitude) {
        let digits = if x == 0.0 {
            0
        } else {
            (5 - magnitude.log10().floor() as i32).clamp(0, 9)
        };
        let fixed = format!("{x:.*}", digits as usize);
        if fixed.contains('.') {
            return fixed.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        return fixed;
    }
    format!("{x:.4e}")
}

/// `1 h 02 min`, `3 min 04 s`, `5.6 s`, `42 ms`.
pub(super) fn duration(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0 if duration < Duration::from_millis(100) => {
            format!("{} ms", duration.as_millis())
        }
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

/// `1.3 h`, `4 min`, `6 s`, for estimates.
pub(super) fn rough_duration(duration: Duration) -> String {
    let s = duration.as_secs_f64();
    match s {
        0.0..1.0 => "a second".into(),
        1.0..59.5 => format!("{s:.0} s"),
        59.5..3570.0 => format!("{:.0} min", s / 60.0),
        _ => format!("{:.1} h", s / 3600.0),
    }
}

/// Width of the text: a narrow terminal.
pub(super) const COLUMNS: usize = 70;

/// Progress in at most [`COLUMNS`] characters, up to a million steps and a hundred hours.
fn progress_text(progress: &Progress) -> String {
    format!(
        "{:.0} %  {} s  {} contacts  {} iterations  {} left",
        100.0 * progress.step as f64 / progress.steps.max(1) as f64,
        number((1e3 * progress.time_s).round() / 1e3),
        progress.contacts,
        progress.iterations,
        duration(progress.remaining()),
    )
}

/// Progress of a run: one updated line on a terminal, otherwise a line from time to time.
pub(super) struct ProgressLine {
    terminal: bool,
    last: Option<Instant>,
    open: bool,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
            last: None,
            open: false,
        }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        let pause = Duration::from_millis(if self.terminal { 200 } else { 10_000 });
        let is_end = progress.step == progress.steps;
        if !is_end
            && self
                .last
                .map_or(progress.elapsed < pause, |last| last.elapsed() < pause)
        {
            return;
        }
        self.last = Some(Instant::now());
        let text = progress_text(progress);
        if self.terminal {
            say_text(&format!("\r{text:<COLUMNS$}"));
            self.open = true;
        } else {
            say!("{text}");
        }
    }

    pub(super) fn end(&mut self) {
        if self.open {
            say_text("\n");
            self.open = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_a_reader_needs() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (98.1, "98.1"),
            (-0.001234567, "-0.00123457"),
            (123456.7, "123457"),
            (0.1 + 0.2, "0.3"),
            (1.5e-7, "1.5000e-7"),
            (2e9, "2.0000e9"),
        ];
        for (x, expected) in cases {
            assert_eq!(number(x), expected);
        }
    }

    #[test]
    fn durations_are_said_in_two_units() {
        let text = |s: f64| duration(Duration::from_secs_f64(s));
        assert_eq!(
            [text(0.0423), text(5.62), text(184.0), text(3725.0)],
            ["42 ms", "5.6 s", "3 min 04 s", "1 h 02 min"]
        );
    }

    #[test]
    fn estimates_are_rough() {
        let text = |s: f64| rough_duration(Duration::from_secs_f64(s));
        assert_eq!(
            [text(0.3), text(5.62), text(59.8), text(184.0), text(4725.0)],
            ["a second", "6 s", "1 min", "3 min", "1.3 h"]
        );
    }

    #[test]
    fn progress_fits_a_narrow_terminal() {
        let progress = Progress {
            step: 499_999,
            steps: 1_000_000,
            time_s: 1234.5678,
            elapsed: Duration::from_secs(99 * 3600 + 59 * 60),
            contacts: 123_456,
            iterations: 1000,
            stop: pliant_contact_sap::StopReason::Converged,
        };
        let text = progress_text(&progress);
        assert_eq!(
            text,
            "50 %  1234.57 s  123456 contacts  1000 iterations  99 h 59 min left"
        );
        assert!(text.chars().count() <= COLUMNS, "{}", text.len());
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![
            vec!["a".into(), "1".into()],
            vec!["long".into(), "22".into()],
        ];
        assert_eq!(
            table(&["name", "n"], &rows, &[]),
            "name   n\na      1\nlong  22\n"
        );
    }
}
