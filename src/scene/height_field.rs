//! Height fields: ground given by its heights on a grid, `shape = { height_field = { ... } }`.

use nalgebra::Point3;

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::TableReader;

/// Fewest and most heights along a side.
const SIDE: std::ops::RangeInclusive<usize> = 2..=1024;

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
            about: "heights z at equal distances, each row along x, rows along y; at least two of each. Between four of them the ground is two triangles",
        },
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: "none",
            about: "instead of `heights`: a text file with a row in each line, its numbers separated by commas or blanks, relative to the scene file",
        },
        Key {
            name: "scale",
            value: ValueKind::Number,
            unit: "",
            default: "1",
            about: "factor on the heights",
        },
        Key {
            name: "thickness",
            value: ValueKind::Positive,
            unit: "m",
            default: "1",
            about: "of the ground below its lowest point",
        },
    ],
};

/// Vertices, m, and the vertices of each triangle.
pub(crate) type Triangles = (Vec<Point3<f64>>, Vec<[u32; 3]>);

/// A height field as a scene file gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightFieldEntry {
    /// Along x and y, m.
    pub(crate) size: [f64; 2],
    pub(crate) heights: Heights,
    /// Factor on the heights.
    pub(crate) scale: f64,
    /// Below the lowest point, m.
    pub(crate) thickness: f64,
}

/// Where the heights come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heights {
    /// Rows along x, m.
    Rows(Vec<Vec<f64>>),
    /// Path of the file, as written.
    File(NamedReference),
}

impl HeightFieldEntry {
    pub(super) fn read(table: &TableReader<'_>) -> Result<Self, SceneError> {
        let item = table.required("size")?;
        let size = item.numbers::<2>()?;
        if let Some(side) = size.iter().find(|side| **side <= 0.0) {
            return Err(item.out_of_range(side, "must be positive"));
        }
        let heights = match (table.optional("heights"), table.optional("file")) {
            (Some(item), None) => Heights::Rows(rows(&item)?),
            (None, Some(item)) => Heights::File(item.reference()?),
            _ => return Err(table.conflict("give either `heights` or `file`")),
        };
        let scale = table.number("scale")?;
        if scale == 0.0 {
            let item = table.required("scale")?;
            return Err(item.out_of_range(
                scale,
                "must not be zero; level ground is a box or a half space",
            ));
        }
        Ok(Self {
            size,
            heights,
            scale,
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
        let Heights::Rows(rows) = &self.heights else {
            return None;
        };
        let (vertices, _) = self.surface(rows).ok()?;
        vertices.iter().map(|p| p.coords.norm()).reduce(f64::max)
    }

    /// The closed surface of the ground with these rows of heights.
    ///
    /// # Errors
    /// The reason why these are no rows of a grid.
    pub(crate) fn surface(&self, rows: &[Vec<f64>]) -> Result<Triangles, String> {
        check(rows)?;
        let (n_x, n_y) = (rows[0].len(), rows.len());
        let at = |k: usize, i: usize, n: usize| self.size[k] * (i as f64 / (n - 1) as f64 - 0.5);
        let point = |i: usize, j: usize, z: f64| Point3::new(at(0, i, n_x), at(1, j, n_y), z);
        let mut vertices = Vec::new();
        for (j, row) in rows.iter().enumerate() {
            vertices.extend(
                row.iter()
                    .enumerate()
                    .map(|(i, z)| point(i, j, z * self.scale)),
            );
        }
        let lowest = vertices.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let bottom = lowest - self.thickness;
        let top = |i: usize, j: usize| (j * n_x + i) as u32;
        let mut triangles = Vec::new();
        for j in 0..n_y - 1 {
            for i in 0..n_x - 1 {
                let [a, b, c, d] = [top(i, j), top(i + 1, j), top(i + 1, j + 1), top(i, j + 1)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        // The rim, counterclockwise from above.
        let rim: Vec<(usize, usize)> = (0..n_x - 1)
            .map(|i| (i, 0))
            .chain((0..n_y - 1).map(|j| (n_x - 1, j)))
            .chain((1..n_x).rev().map(|i| (i, n_y - 1)))
            .chain((1..n_y).rev().map(|j| (0, j)))
            .collect();
        let first = vertices.len() as u32;
        vertices.extend(rim.iter().map(|&(i, j)| point(i, j, bottom)));
        let centre = vertices.len() as u32;
        vertices.push(Point3::new(0.0, 0.0, bottom));
        for (k, &(i, j)) in (0..).zip(&rim) {
            let next = (k + 1) % rim.len() as u32;
            let (i_next, j_next) = rim[next as usize];
            let [a, b] = [top(i, j), top(i_next, j_next)];
            let [c, d] = [first + next, first + k];
            triangles.extend([[a, d, c], [a, c, b], [d, centre, c]]);
        }
        Ok((vertices, triangles))
    }
}

/// The rows of a text file.
///
/// # Errors
/// The line and the place in it of what is no number.
pub(crate) fn rows_of_text(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(k, line)| {
            let words = line
                .split([',', ' ', '\t', ';'])
                .filter(|word| !word.is_empty());
            words
                .enumerate()
                .map(|(i, word)| {
                    let number = word.trim().parse::<f64>();
                    number.map_err(|_| format!("line {}: entry {} is not a number", k + 1, i + 1))
                })
                .collect()
        })
        .collect()
}

fn rows(item: &Item<'_>) -> Result<Vec<Vec<f64>>, SceneError> {
    let rows = item.elements()?;
    let rows: Vec<Vec<f64>> = rows
        .iter()
        .map(Item::number_list)
        .collect::<Result<_, _>>()?;
    match check(&rows) {
        Ok(()) => Ok(rows),
        Err(reason) => {
            Err(item.out_of_range(reason, "give rows of equal length, of finite numbers"))
        }
    }
}

fn check(rows: &[Vec<f64>]) -> Result<(), String> {
    let n_x = rows.first().map_or(0, Vec::len);
    if let Some((k, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != n_x) {
        return Err(format!(
            "row {k} has {} heights, row 0 has {n_x}",
            row.len()
        ));
    }
    if !SIDE.contains(&n_x) || !SIDE.contains(&rows.len()) {
        let (least, most) = (SIDE.start(), SIDE.end());
        return Err(format!(
            "{} rows of {n_x} heights; there must be {least} to {most} of each",
            rows.len()
        ));
    }
    match rows.iter().flatten().find(|z| !z.is_finite()) {
        Some(z) => Err(format!("a height of {z}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use pliant_hydroelastic::Shape;

    use super::*;

    fn field(rows: &[Vec<f64>]) -> (HeightFieldEntry, Shape) {
        let entry = HeightFieldEntry {
            size: [3.0, 2.0],
            heights: Heights::Rows(rows.to_vec()),
            scale: 2.0,
            thickness: 0.5,
        };
        let (vertices, triangles) = entry.surface(rows).unwrap();
        let shape = Shape::mesh(&vertices, &triangles).unwrap();
        (entry, shape)
    }

    #[test]
    fn a_tilted_plane_is_a_prism() {
        // z = 2 (0.1 x + 0.05 y), 0.2 · 1.5 + 0.1 above and below its middle at the corners.
        let rows: Vec<Vec<f64>> = (0..3)
            .map(|j| {
                (0..4)
                    .map(|i| 0.1 * (f64::from(i) - 1.5) + 0.05 * (f64::from(j) - 1.0))
                    .collect()
            })
            .collect();
        let (entry, shape) = field(&rows);
        let solid = shape.mass_properties(1.0).unwrap();
        assert!(
            (solid.mass - 6.0 * (0.5 + 0.4)).abs() < 1e-12,
            "{}",
            solid.mass
        );
        let corner: f64 = nalgebra::Vector3::new(1.5, 1.0, -0.9).norm();
        assert!((entry.radius_about_origin().unwrap() - corner).abs() < 1e-12);
        let doubled: f64 = entry.scaled(2.0).radius_about_origin().unwrap();
        assert!((doubled - 2.0 * corner).abs() < 1e-12);
    }

    #[test]
    fn rows_of_text_skip_comments_and_name_what_is_no_number() {
        let rows = rows_of_text("# z\n0, 1.5\n\n 2 -3e-1\n").unwrap();
        assert_eq!(rows, [[0.0, 1.5], [2.0, -0.3]]);
        let error = rows_of_text("0 1\n2 x\n").unwrap_err();
        assert_eq!(error, "line 2: entry 2 is not a number");
    }

    #[test]
    fn ragged_short_and_infinite_rows_are_refused() {
        for (rows, reason) in [
            (
                vec![vec![0.0, 1.0], vec![0.0]],
                "row 1 has 1 heights, row 0 has 2",
            ),
            (vec![vec![0.0, 1.0]], "1 rows of 2 heights"),
            (vec![vec![0.0, f64::NAN], vec![0.0, 1.0]], "a height of NaN"),
        ] {
            assert!(check(&rows).unwrap_err().contains(reason));
        }
    }
}
