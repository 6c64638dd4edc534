//! The observables of every step, and the evaluation of expectations.

use serde::{Deserialize, Serialize};

use crate::scene::{Expectation, Reduction, Window};

/// Rows of values over time.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("rolling-sphere", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(0.05), ..RunOptions::default() };
/// let series = run(&scene, &options, &mut |_| {})?.series;
/// assert_eq!(series.last().len(), scene.observables.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Series {
    n_columns: usize,
    times_s: Vec<f64>,
    values: Vec<f64>,
}

/// Outcome of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Within the bounds.
    Met,
    /// Out of the bounds, or without a value.
    Failed,
    /// The run ended before its time.
    Skipped,
}

/// An expectation and its outcome.
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

impl Series {
    /// An empty series.
    pub fn new(n_columns: usize) -> Self {
        Self {
            n_columns,
            ..Self::default()
        }
    }

    /// Appends a row; `fill` appends one number for each column.
    pub(super) fn push(&mut self, time_s: f64, fill: impl FnOnce(&mut Vec<f64>)) {
        self.times_s.push(time_s);
        fill(&mut self.values);
        debug_assert_eq!(self.values.len(), self.n_columns * self.times_s.len());
    }

    /// The last row.
    pub fn last(&self) -> &[f64] {
        &self.values[self.values.len() - self.n_columns..]
    }

    /// Times of the rows, s.
    pub fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    /// The number of column `column` in row `row`.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n_columns + column]
    }

    /// The outcome of `expectation`; a run may end `slack_s` before its time.
    pub fn verdict(&self, expectation: &Expectation, slack_s: f64) -> Verdict {
        let end_s = self.times_s.last().copied().unwrap_or(0.0);
        let (value, needed_s) = match expectation.window {
            Window::At(at_s) => (self.interpolated(expectation.index, at_s), at_s),
            Window::Span(from_s, until_s) => {
                let from = from_s.unwrap_or(f64::NEG_INFINITY);
                let until = until_s.unwrap_or(f64::INFINITY);
                let inside = |row: &usize| {
                    let t = self.times_s[*row];
                    t >= from - slack_s && t <= until + slack_s
                };
                let rows = (0..self.times_s.len()).filter(inside);
                let values = rows
                    .map(|row| self.at(row, expectation.index))
                    .filter(|x| !x.is_nan());
                (
                    reduce(expectation.take, values),
                    until_s.or(from_s).unwrap_or(0.0),
                )
            }
        };
        let outcome = if needed_s > end_s + slack_s {
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

    /// Between the rows on either side of `at_s`; the last row beyond the end.
    fn interpolated(&self, column: usize, at_s: f64) -> f64 {
        let after = self.times_s.partition_point(|t| *t < at_s);
        if after == 0 {
            return self
                .times_s
                .first()
                .map_or(f64::NAN, |_| self.at(0, column));
        }
        if after == self.times_s.len() {
            return self.at(after - 1, column);
        }
        let (t0, t1) = (self.times_s[after - 1], self.times_s[after]);
        let (a, b) = (self.at(after - 1, column), self.at(after, column));
        let u = (at_s - t0) / (t1 - t0);
        // At a row itself its value alone counts, since the other row may have none.
        if u == 1.0 { b } else { a + u * (b - a) }
    }
}

/// NaN where there is no value.
fn reduce(take: Reduction, values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = || values.clone().count() as f64;
    match take {
        Reduction::Final => values.last().unwrap_or(f64::NAN),
        Reduction::Min => values.fold(f64::NAN, f64::min),
        Reduction::Max => values.fold(f64::NAN, f64::max),
        Reduction::Mean => values.clone().sum::<f64>() / count(),
        Reduction::Rms => (values.clone().map(|x| x * x).sum::<f64>() / count()).sqrt(),
        Reduction::Spread => {
            values.clone().fold(f64::NAN, f64::max) - values.clone().fold(f64::NAN, f64::min)
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
