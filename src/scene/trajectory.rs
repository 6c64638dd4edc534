//! Values of joints over time from files, CSV or NumPy archives: a time column, and one column for each joint.

mod npz;

use std::collections::HashSet;
use std::path::Path;

use super::error::{SceneError, SceneFault, remedy};
use super::item::{Item, NamedReference};
use super::{budget, files};

/// Names of the time column.
const TIMES: [&str; 3] = ["time_s", "time", "t"];

/// Columns of a file, with ascending times.
#[derive(Debug)]
pub(super) struct Columns {
    /// All columns but that of the times.
    names: Vec<String>,
    /// Time (s) and one value for each name.
    rows: Vec<(f64, Vec<f64>)>,
}

impl Columns {
    /// Reads the file that `item` names.
    pub(super) fn open(item: &Item<'_>) -> Result<Self, SceneError> {
        let written = item.reference()?.name;
        let refuse = |reason: String| item.error(SceneFault::File(reason));
        let folder = Path::new(item.context.text.name()).parent();
        let (bytes, _) = files::open(folder, &written).map_err(refuse)?;
        if written.ends_with(".npz") {
            let columns = npz::columns(&bytes).and_then(Self::of_arrays);
            return columns.map_err(|reason| refuse(format!("{written}: {reason}")));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            refuse(format!(
                "{written:?} is not text; trajectories are CSV files, or NumPy archives that end in .npz"
            ))
        })?;
        Self::parse(&text).map_err(|(line, reason)| refuse(format!("{written}:{line}: {reason}")))
    }

    /// The errors are a line and what is wrong there.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_content =
            |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| is_content(line));
        let Some((head_line, head)) = lines.next() else {
            return Err((
                1,
                "the file is empty; its first line names the columns".into(),
            ));
        };
        let fields = |line: &str| -> Vec<String> {
            let unquoted = |field: &str| field.trim().trim_matches('"').trim().to_owned();
            line.split(',').map(unquoted).collect()
        };
        let mut names = fields(head);
        let Some(time) = names.iter().position(|name| TIMES.contains(&name.as_str())) else {
            // Whatever file this is, its content is not for everybody to see.
            return Err((
                head_line,
                format!(
                    "the first line names the columns, separated by commas, and one of them must be `time_s`; it is none of the {} there",
                    names.len()
                ),
            ));
        };
        let width = names.len();
        if width > budget::COLUMNS {
            let reason = format!("{width} columns, at most {} are read", budget::COLUMNS);
            return Err((head_line, reason));
        }
        names.remove(time);
        if let Some(twice) = there_twice(&names) {
            return Err((head_line, format!("two columns are called {twice:?}")));
        }
        let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
        for (line, text) in lines {
            let row = fields(text);
            if row.len() != width {
                let reason = format!("{} values for {width} columns", row.len());
                return Err((line, reason));
            }
            let mut values = Vec::with_capacity(width);
            for (column, field) in row.iter().enumerate() {
                match field.parse::<f64>() {
                    Ok(value) if value.is_finite() => values.push(value),
                    _ => {
                        let column = column + 1;
                        let reason = format!("{field:?} in column {column} is not a finite number");
                        return Err((line, reason));
                    }
                }
            }
            let time_s = values.remove(time);
            if let Some((before, _)) = rows.last()
                && time_s <= *before
            {
                let reason = format!("time {time_s} s is not later than {before} s before it");
                return Err((line, reason));
            }
            rows.push((time_s, values));
            if rows.len() * width > budget::NUMBERS {
                let reason = format!(
                    "more than {} numbers, the most that are read",
                    budget::NUMBERS
                );
                return Err((line, reason));
            }
        }
        match rows.is_empty() {
            true => Err((
                head_line,
                "there is no row below the names of the columns".into(),
            )),
            false => Ok(Self { names, rows }),
        }
    }

    /// From arrays of equal length, one of them the times; the error is what is wrong.
    fn of_arrays(mut arrays: Vec<(String, Vec<f64>)>) -> Result<Self, String> {
        let is_time = |(name, _): &(String, Vec<f64>)| TIMES.contains(&name.as_str());
        let Some(time) = arrays.iter().position(is_time) else {
            return Err(format!(
                "no array `time_s` among the {} of one dimension",
                arrays.len()
            ));
        };
        let (name, times) = arrays.remove(time);
        if times.is_empty() {
            return Err("the array of times is empty".into());
        }
        if let Some(k) = times.iter().position(|t| !t.is_finite()) {
            return Err(format!("{name}[{k}] = {} is not finite", times[k]));
        }
        let names: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
        if let Some(twice) = there_twice(&names) {
            return Err(format!("two arrays are called {twice:?}"));
        }
        for (name, values) in &arrays {
            if values.len() != times.len() {
                let (found, expected) = (values.len(), times.len());
                return Err(format!(
                    "array {name:?} has {found} values for {expected} times"
                ));
            }
            if let Some(k) = values.iter().position(|x| !x.is_finite()) {
                return Err(format!("{name}[{k}] = {} is not finite", values[k]));
            }
        }
        let ascend = |pair: &[f64]| pair[1] > pair[0];
        if let Some(k) = times.windows(2).position(|pair| !ascend(pair)) {
            return Err(format!(
                "time {} s is not later than {} s before it",
                times[k + 1],
                times[k]
            ));
        }
        let row = |(k, time_s): (usize, f64)| {
            let values = arrays.iter().map(|(_, values)| values[k]).collect();
            (time_s, values)
        };
        let rows = times.into_iter().enumerate().map(row).collect();
        Ok(Self {
            rows,
            names: arrays.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// One joint for each column, at the location of `item`.
    pub(super) fn joints(&self, item: &Item<'_>) -> Vec<NamedReference> {
        let at = item.at();
        let joint = |name: &String| NamedReference {
            name: name.clone(),
            at,
        };
        self.names.iter().map(joint).collect()
    }

    /// Times and values of the columns called like `joints`, in that order.
    pub(super) fn knots(
        &self,
        joints: &[NamedReference],
        item: &Item<'_>,
    ) -> Result<Vec<(f64, Vec<f64>)>, SceneError> {
        let column = |joint: &NamedReference| {
            let found = self.names.iter().position(|name| *name == joint.name);
            found.ok_or_else(|| {
                let fault = SceneFault::UnknownName {
                    what: "column".into(),
                    name: joint.name.clone(),
                    remedy: remedy(&joint.name, self.names.iter().map(String::as_str)),
                };
                item.context.text.error(joint.at, fault)
            })
        };
        let columns: Vec<usize> = joints.iter().map(column).collect::<Result<_, _>>()?;
        let row = |(time_s, values): &(f64, Vec<f64>)| {
            (*time_s, columns.iter().map(|k| values[*k]).collect())
        };
        Ok(self.rows.iter().map(row).collect())
    }
}

/// A name that is there twice.
fn there_twice(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_wherever_the_time_is() {
        let columns =
            Columns::parse("# of a recorder\n elbow , time_s,\"wrist\"\n1,0,2\n\n3,0.5,-4e-1\n")
                .expect("a trajectory");
        assert_eq!(columns.names, ["elbow", "wrist"]);
        assert_eq!(
            columns.rows,
            [(0.0, vec![1.0, 2.0]), (0.5, vec![3.0, -0.4])]
        );
    }

    #[test]
    fn arrays_are_columns_if_they_fit_their_times() {
        let array = |name: &str, values: &[f64]| (name.to_owned(), values.to_vec());
        let sound = vec![array("elbow", &[1.0, 2.0]), array("time", &[0.0, 0.5])];
        let columns = Columns::of_arrays(sound).expect("a trajectory");
        assert_eq!(columns.names, ["elbow"]);
        assert_eq!(columns.rows, [(0.0, vec![1.0]), (0.5, vec![2.0])]);
        let cases = [
            (vec![array("a", &[1.0])], "no array `time_s`"),
            (vec![array("t", &[])], "is empty"),
            (vec![array("t", &[f64::NAN, 1.0])], "t[0] = NaN"),
            (vec![array("t", &[f64::NEG_INFINITY, 1.0])], "t[0] = -inf"),
            (
                vec![array("t", &[0.0]), array("a", &[0.0]), array("a", &[0.0])],
                "two arrays are called",
            ),
            (
                vec![array("t", &[0.0, 1.0]), array("a", &[1.0])],
                "1 values for 2 times",
            ),
            (
                vec![array("t", &[0.0]), array("a", &[f64::NAN])],
                "a[0] = NaN",
            ),
            (
                vec![array("t", &[1.0, 1.0]), array("a", &[0.0, 0.0])],
                "time 1 s is not later than 1 s",
            ),
        ];
        for (arrays, part) in cases {
            let reason = Columns::of_arrays(arrays).expect_err(part);
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn faults_are_said_with_their_line() {
        let cases = [
            ("", 1, "is empty"),
            ("secret\n1,2\n", 1, "none of the 1 there"),
            ("t,a,a\n0,1,2\n", 1, "two columns are called \"a\""),
            ("t,a\n", 1, "no row"),
            ("t,a\n0,1\n1\n", 3, "1 values for 2 columns"),
            ("t,a\n0,1\n1,x\n", 3, "\"x\" in column 2"),
            ("t,a\n0,nan\n", 2, "\"nan\" in column 2"),
            (
                "t,a\n0,1\n# again\n0,2\n",
                4,
                "time 0 s is not later than 0 s",
            ),
        ];
        for (text, line, part) in cases {
            let (found, reason) = Columns::parse(text).expect_err(text);
            assert!(
                found == line && reason.contains(part),
                "{text:?}: {found}: {reason}"
            );
            assert!(!reason.contains("secret"), "{reason}");
        }
        let wide: Vec<String> = (0..100_000).map(|k| format!("c{k}")).collect();
        let (_, reason) = Columns::parse(&format!("t,{}\n", wide.join(","))).expect_err("wide");
        assert!(reason.contains("100001 columns"), "{reason}");
    }
}
