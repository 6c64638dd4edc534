//! Height fields: ground given by its heights on a grid, `shape = { height_field = { ... } }`.

use pliant_hydroelastic::mesh::{TriMesh, generate};

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::TableReader;

pub(super) static HEIGHT_FIELD: TableSchema = TableSchema {
    name: "shape.height_field",
    keys: &[
        Key {
            name: "size",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "full lengths along x and y; centred at the origin",
        },
        Key {
            name: "heights",
            value: ValueKind::Described("list of rows of numbers"),
            unit: "m",
            default: "those of `file`",
            about: "heights z above the origin at equal distances: each row from low to high x, the rows from low to high y, at least two of each; each cell between four heights is two triangles",
        },
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: "none",
            about: "instead of `heights`: a text file with a row in each line, its numbers separated by commas, semicolons or blanks, relative to the scene file; lines that begin with `#` are comments",
        },
        Key {
            name: "scale",
            value: ValueKind::Positive,
            unit: "",
            default: "1",
            about: "factor on the heights",
        },
        Key {
            name: "thickness",
            value: ValueKind::Positive,
            unit: "m",
            default: "1",
            about: "of the ground below its lowest height",
        },
    ],
};

/// A height field as a scene file gives it.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ramp"
///     simulation = { smoke_s = 1 }
///     [[fixed]]
///     name = "ramp"
///     shape = { height_field = { size = [3, 4], heights = [[0, 1], [0, 1]], thickness = 2 } }
/// "#;
/// Scene::parse("ramp.toml", text, &SceneOptions::default())?;
/// // All rows have the same length.
/// let ragged = text.replace("[0, 1]]", "[0]]");
/// assert!(Scene::parse("ramp.toml", &ragged, &SceneOptions::default()).is_err());
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeightFieldEntry {
    /// Along x and y, m.
    size: [f64; 2],
    pub(crate) heights: Heights,
    /// Factor on the heights.
    scale: f64,
    /// Below the lowest height, m.
    thickness: f64,
}

/// Where the heights come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heights {
    /// In the scene file, m.
    Written(HeightRows),
    /// Path of a text file, as written.
    File(NamedReference),
}

/// Rows of equal length, from low to high y.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeightRows {
    heights: Vec<f64>,
    columns: usize,
}

impl HeightFieldEntry {
    pub(super) fn read(table: &TableReader<'_>) -> Result<Self, SceneError> {
        let item = table.required("size")?;
        let size = item.numbers::<2>()?;
        if let Some(side) = size.iter().find(|side| **side <= 0.0) {
            return Err(item.out_of_range(side, "must be positive"));
        }
        let heights = match (table.optional("heights"), table.optional("file")) {
            (Some(item), None) => Heights::Written(HeightRows::read(&item)?),
            (None, Some(item)) => Heights::File(item.reference()?),
            _ => return Err(table.conflict("give either `heights` or `file`")),
        };
        Ok(Self {
            size,
            heights,
            scale: table.positive_or("scale", 1.0)?,
            thickness: table.positive_or("thickness", 1.0)?,
        })
    }

    /// The same with all lengths multiplied by `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            size: self.size.map(|side| side * factor),
            heights: self.heights.clone(),
            scale: self.scale * factor,
            thickness: self.thickness * factor,
        }
    }

    /// Radius in m of a sphere about the origin that contains it; `None` if its heights are in a file.
    pub(super) fn radius_about_origin(&self) -> Option<f64> {
        let Heights::Written(rows) = &self.heights else {
            return None;
        };
        let surface = self.surface(rows).ok()?;
        surface.vertices().iter().map(|v| v.norm()).reduce(f64::max)
    }

    /// The closed surface of the ground with these heights.
    ///
    /// # Errors
    /// The reason why they are no heights of a grid.
    pub(crate) fn surface(&self, rows: &HeightRows) -> Result<TriMesh, String> {
        let heights: Vec<f64> = rows.heights.iter().map(|z| z * self.scale).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        generate::height_field(self.size, &heights, rows.columns, lowest - self.thickness)
            .map_err(|error| error.to_string())
    }
}

impl HeightRows {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let rows = item.elements()?;
        let mut read = Self::empty();
        for row in &rows {
            let heights = row.number_list()?;
            let count = heights.len();
            read.push(heights)
                .map_err(|allowed| row.out_of_range(format!("{count} numbers"), &allowed))?;
        }
        if rows.len() < 2 || read.columns < 2 {
            let value = format!("{} rows of {} numbers", rows.len(), read.columns);
            return Err(item.out_of_range(value, "must be at least 2 rows of at least 2"));
        }
        Ok(read)
    }

    /// The rows of a text file.
    ///
    /// # Errors
    /// The line, and what is wrong with it.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let mut read = Self::empty();
        for (k, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words = line.split([',', ' ', '\t', ';']).filter(|w| !w.is_empty());
            let mut row = Vec::new();
            for (i, word) in words.enumerate() {
                match word.parse::<f64>() {
                    Ok(height) if height.is_finite() => row.push(height),
                    _ => {
                        return Err(format!(
                            "line {}: entry {} is not a finite number",
                            k + 1,
                            i + 1
                        ));
                    }
                }
            }
            let count = row.len();
            read.push(row)
                .map_err(|allowed| format!("line {}: a row of {count} numbers {allowed}", k + 1))?;
        }
        Ok(read)
    }

    fn empty() -> Self {
        Self {
            heights: Vec::new(),
            columns: 0,
        }
    }

    /// Appends a row; the error says how long it must be.
    fn push(&mut self, row: Vec<f64>) -> Result<(), String> {
        if self.heights.is_empty() {
            self.columns = row.len();
        } else if row.len() != self.columns {
            return Err(format!("must be {} like the first row", self.columns));
        }
        self.heights.extend(row);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_text_skip_comments_and_name_what_is_no_number() {
        let rows = HeightRows::from_text("# z\n0, 1.5\n\n 2 -3e-1\n").unwrap();
        assert_eq!((rows.heights, rows.columns), (vec![0.0, 1.5, 2.0, -0.3], 2));
        for (text, expected) in [
            ("0 1\n2 x\n", "line 2: entry 2 is not a finite number"),
            ("0 nan\n", "line 1: entry 2 is not a finite number"),
            (
                "0 1\n\n2\n",
                "line 3: a row of 1 numbers must be 2 like the first row",
            ),
        ] {
            assert_eq!(HeightRows::from_text(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn scaled_ground_is_similar() {
        let rows = HeightRows::from_text("0 1\n2 3").unwrap();
        let ground = HeightFieldEntry {
            size: [3.0, 2.0],
            heights: Heights::Written(rows),
            scale: 0.5,
            thickness: 0.5,
        };
        // The farthest corner is at (1.5, 1) and 1.5 m high.
        let radius = ground.radius_about_origin().unwrap();
        assert!((radius - 1.5_f64.hypot(1.0).hypot(1.5)).abs() < 1e-15);
        let doubled = ground.scaled(2.0).radius_about_origin().unwrap();
        assert!((doubled - 2.0 * radius).abs() < 1e-15);
    }
}
