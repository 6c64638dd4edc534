//! What a recording says over time besides pictures: columns of the table, and marks of what came from outside.

use serde::Serialize;

/// A named value over time: one column of the table.
///
/// ```
/// use pliant::recording::{Observable, Recording};
///
/// // A row has a number for each column.
/// let columns = vec![Observable::new("ball.z", "m"), Observable::new("ball.speed", "m/s")];
/// let mut recording = Recording::new("a falling ball", Vec::new(), Vec::new(), columns)?;
/// recording.push_observables(0.0, &[1.0, 0.0])?;
/// assert!(recording.push_observables(0.1, &[0.95]).is_err());
/// assert_eq!(recording.column(0)?, [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable {
    /// Unique within a recording; names of one body share the part before the first dot (`box.z`, `box.speed`).
    pub name: String,
    /// Unit, as printed (`m`, `N`, `rad/s`); empty for a pure number. Columns of one unit share a plot.
    pub unit: String,
}

impl Observable {
    /// A column `name` with `unit`.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
        }
    }
}

/// What came into a run from outside: a changed parameter, or a pull on a body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct InputMark {
    /// When it began, s.
    pub(crate) from_s: f64,
    /// When it ended, s; `None` for what lasts to the end.
    pub(crate) until_s: Option<f64>,
    /// A few words.
    pub(crate) text: String,
}
