//! Expectations while a run goes on: each keeps the few sums of its statistic, not the rows.

use serde::{Deserialize, Serialize};

use crate::scene::{Expectation, Reduction, Window};

/// Outcome of an expectation.
///
/// ```
/// use pliant::runner::{Outcome, RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     [[observables]]
/// #     name = "ball.speed"
/// #     of = "ball"
/// #     quantity = "velocity"
/// #     [[expect]]
/// #     observable = "ball.speed"
/// #     at_s = 0.1
/// #     at_most = 0.5
/// #     source = "an example"
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // Wrongly, the scene expects that after 0.1 s the speed of a falling ball is at most 0.5 m/s.
/// let outcome = |length| -> Result<Outcome, Box<dyn std::error::Error>> {
///     let options = RunOptions { length, ..RunOptions::default() };
///     Ok(run(&scene, &options, &mut |_| {})?.summary.expectations[0].outcome)
/// };
/// assert_eq!(outcome(RunLength::Smoke)?, Outcome::Failed);
/// assert_eq!(outcome(RunLength::Until(0.05))?, Outcome::Skipped);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Within the bounds.
    Met,
    /// Out of the bounds, or without a value.
    Failed,
    /// Its time is not within that of the run, which ended before or went on from a later checkpoint.
    Skipped,
}

/// An expectation and its outcome.
///
/// ```
/// use pliant::runner::{Outcome, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// #     [[observables]]
/// #     name = "ball.z"
/// #     of = "ball"
/// #     quantity = "position"
/// #     component = "z"
/// #     [[expect]]
/// #     observable = "ball.z"
/// #     at_s = 0.1
/// #     equals = 0.95095
/// #     within = 0.006
/// #     source = "g t^2/2"
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // A ball falls from 1 m for 0.1 s; the scene expects 1 m − ½ g t² with a tolerance of 6 mm.
/// let summary = run(&scene, &RunOptions::default(), &mut |_| {})?.summary;
/// let verdict = &summary.expectations[0];
/// assert_eq!((verdict.observable.as_str(), verdict.outcome), ("ball.z", Outcome::Met));
/// assert!(summary.is_as_expected());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The observable.
    pub observable: String,
    /// The evaluated statistic: `final at 1 s`, `mean over 0.5 s .. 2 s`.
    pub measured: String,
    /// The value; null without one.
    pub found: Option<f64>,
    /// Lower bound; null without one.
    pub at_least: Option<f64>,
    /// Upper bound; null without one.
    pub at_most: Option<f64>,
    /// Outcome.
    pub outcome: Outcome,
    /// Source of the bounds.
    pub source: String,
}

/// The statistic of one expectation, up to the last row.
#[derive(Clone, Debug)]
pub(super) struct RunningStatistic {
    statistic: Statistic,
    /// Times may differ by so much from those of the expectation, s.
    slack_s: f64,
    /// Time of the first row, s.
    start_s: Option<f64>,
    /// Time of the last row, s.
    end_s: f64,
}

#[derive(Clone, Debug)]
enum Statistic {
    At(Interpolated),
    Over(Sums),
}

/// The value at one time, between the rows on either side of it.
#[derive(Clone, Copy, Debug)]
struct Interpolated {
    at_s: f64,
    /// Time and value of the last row up to the first one not before `at_s`.
    last: Option<(f64, f64)>,
    /// Whether a row has come that is not before `at_s`.
    is_past: bool,
    value: f64,
}

/// Sums over the rows of a window that have a value.
#[derive(Clone, Copy, Debug)]
struct Sums {
    from_s: f64,
    until_s: f64,
    count: u64,
    last: f64,
    min: f64,
    max: f64,
    sum: f64,
    squares: f64,
}

impl RunningStatistic {
    /// Before the first row; a run may end `slack_s` before the time of the expectation.
    pub(super) fn new(expectation: &Expectation, slack_s: f64) -> Self {
        let statistic = match expectation.window {
            Window::At(at_s) => Statistic::At(Interpolated {
                at_s,
                last: None,
                is_past: false,
                value: f64::NAN,
            }),
            Window::Span(from_s, until_s) => Statistic::Over(Sums {
                from_s: from_s.unwrap_or(f64::NEG_INFINITY) - slack_s,
                until_s: until_s.unwrap_or(f64::INFINITY) + slack_s,
                count: 0,
                last: f64::NAN,
                min: f64::NAN,
                max: f64::NAN,
                sum: 0.0,
                squares: 0.0,
            }),
        };
        Self {
            statistic,
            slack_s,
            start_s: None,
            end_s: 0.0,
        }
    }

    /// Takes the value of the observable at `time_s` into account; NaN stands for none. Times ascend.
    pub(super) fn add(&mut self, time_s: f64, value: f64) {
        self.start_s.get_or_insert(time_s);
        self.end_s = time_s;
        match &mut self.statistic {
            Statistic::At(interpolated) => interpolated.add(time_s, value),
            Statistic::Over(sums) => sums.add(time_s, value),
        }
    }

    /// The outcome of `expectation`, from which this was made.
    pub(super) fn verdict(&self, expectation: &Expectation) -> Verdict {
        let value = match &self.statistic {
            Statistic::At(interpolated) => interpolated.value,
            Statistic::Over(sums) => sums.reduced(expectation.take),
        };
        let (begin_s, needed_s) = match expectation.window {
            Window::At(at_s) => (at_s, at_s),
            Window::Span(from_s, until_s) => {
                let end_s = until_s.or(from_s).unwrap_or(0.0);
                // The last value of a window does not depend on how it begins.
                let begin_s = match expectation.take {
                    Reduction::Final => until_s.unwrap_or(f64::INFINITY),
                    _ => from_s.unwrap_or(0.0),
                };
                (begin_s, end_s)
            }
        };
        let begins_later = self
            .start_s
            .is_some_and(|start_s| begin_s < start_s - self.slack_s);
        let outcome = if begins_later || needed_s > self.end_s + self.slack_s {
            Outcome::Skipped
        } else if expectation.bounds.contain(value) {
            Outcome::Met
        } else {
            Outcome::Failed
        };
        let finite = |x: f64| x.is_finite().then_some(x);
        Verdict {
            observable: expectation.observable.name.clone(),
            measured: measured(expectation),
            found: finite(value).filter(|_| outcome != Outcome::Skipped),
            at_least: finite(expectation.bounds.least),
            at_most: finite(expectation.bounds.most),
            outcome,
            source: expectation.source.clone(),
        }
    }
}

impl Interpolated {
    /// The last row counts beyond the end, the first one before the start.
    fn add(&mut self, time_s: f64, value: f64) {
        if self.is_past {
            return;
        }
        self.is_past = time_s >= self.at_s;
        self.value = match self.last {
            Some((t0, a)) if self.is_past => {
                let u = (self.at_s - t0) / (time_s - t0);
                // At a row itself its value alone counts, since the other row may have none.
                if u == 1.0 { value } else { a + u * (value - a) }
            }
            _ => value,
        };
        self.last = Some((time_s, value));
    }
}

impl Sums {
    fn add(&mut self, time_s: f64, value: f64) {
        if value.is_nan() || time_s < self.from_s || time_s > self.until_s {
            return;
        }
        self.count += 1;
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += value;
        self.squares += value * value;
    }

    /// NaN where there is no value.
    fn reduced(&self, take: Reduction) -> f64 {
        let count = self.count as f64;
        match take {
            Reduction::Final => self.last,
            Reduction::Min => self.min,
            Reduction::Max => self.max,
            Reduction::Mean => self.sum / count,
            Reduction::Rms => (self.squares / count).sqrt(),
            Reduction::Spread => self.max - self.min,
        }
    }
}

fn measured(expectation: &Expectation) -> String {
    let take = expectation.take.word();
    match expectation.window {
        Window::At(at_s) => format!("at {at_s} s"),
        Window::Span(None, None) => format!("{take} of all"),
        Window::Span(Some(from_s), None) => format!("{take} from {from_s} s"),
        Window::Span(None, Some(until_s)) => format!("{take} until {until_s} s"),
        Window::Span(Some(from_s), Some(until_s)) => {
            format!("{take} over {from_s} s .. {until_s} s")
        }
    }
}

#[cfg(test)]
mod tests;
