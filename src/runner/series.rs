//! The observables of the steps of a run.

/// Rows of values over time: those of all steps, or the last one only.
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
    kept: KeptRows,
    times_s: Vec<f64>,
    values: Vec<f64>,
}

/// The rows that a [`Series`] keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeptRows {
    /// Of every step.
    #[default]
    All,
    /// Of the last step: memory does not grow with the length of the run.
    Last,
}

impl Series {
    /// An empty series.
    pub(crate) fn new(n_columns: usize, kept: KeptRows) -> Self {
        Self {
            n_columns,
            kept,
            ..Self::default()
        }
    }

    /// Appends a row; `fill` appends one number for each column.
    pub(super) fn push(&mut self, time_s: f64, fill: impl FnOnce(&mut Vec<f64>)) {
        if self.kept == KeptRows::Last {
            self.times_s.clear();
            self.values.clear();
        }
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

    /// The value of column `column` (counted as the scene's observables) in row `row`, counted from 0 among the rows that are kept.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n_columns + column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_keeps_all_rows_or_the_last() {
        let filled = |kept| {
            let mut series = Series::new(2, kept);
            for k in 0..1000 {
                series.push(f64::from(k), |row| row.extend([f64::from(k), 1.0]));
            }
            series
        };
        let all = filled(KeptRows::All);
        assert_eq!((all.times_s().len(), all.at(7, 0)), (1000, 7.0));
        let last = filled(KeptRows::Last);
        assert_eq!((last.times_s(), last.last()), (&[999.0][..], all.last()));
        assert!(last.values.capacity() < 16, "{}", last.values.capacity());
    }
}
