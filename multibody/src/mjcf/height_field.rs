//! `<hfield>`: a grid of heights as a closed surface, with walls and a floor below it.

use std::path::Path;
use std::sync::Arc;

use pliant_hydroelastic::mesh::{TriMesh, generate, read_bounded};

use super::File;
use super::defaults::Settings;
use crate::error::MultibodyError;
use crate::markup::Element;

/// Larger grids are refused: the surface has two triangles for each cell.
const NODES_MAX: usize = 4_000_000;

/// Heights on a grid, from low to high y, each row from low to high x.
#[derive(Clone, Debug, PartialEq)]
struct Grid {
    rows: usize,
    columns: usize,
    heights: Vec<f64>,
}

/// The surface of the height field `name` of `<asset>`, in the frame of the geom.
pub(super) fn surface(
    file: &File<'_>,
    name: &str,
    user: &Element,
    subject: &str,
) -> Result<Arc<TriMesh>, MultibodyError> {
    let mut assets = file.in_sections("asset").filter(|e| e.tag == "hfield");
    let Some(asset) = assets.find(|asset| asset_name(asset) == Some(name)) else {
        let text = format!("height field \"{name}\" is not defined in <asset>");
        return Err(user.error(subject, text));
    };
    let subject = format!("hfield \"{name}\"");
    let fail = |text: String| asset.error(&subject, text);
    let settings = Settings::alone(asset);
    let Some(size) = settings.numbers::<4>("size", &subject)? else {
        return Err(fail("needs size=\"X Y TOP BOTTOM\", in m".to_owned()));
    };
    if let Some(length) = size.iter().find(|length| **length <= 0.0) {
        return Err(fail(format!("size: {length} must be positive")));
    }
    let grid = match asset.attribute("file").map(str::trim) {
        Some(written) => {
            let name = file.compiler.mesh_folder.join(written);
            let path = file
                .options
                .packages
                .resolve(&name.to_string_lossy(), file.path)
                .map_err(fail)?;
            Grid::from_file(&path).map_err(fail)?
        }
        None => Grid::from_attributes(asset, &settings, &subject)?,
    };
    let [half_x, half_y, top, bottom] = size;
    let built = generate::height_field(
        [2.0 * half_x, 2.0 * half_y],
        &grid.heights_up_to(top),
        grid.columns,
        -bottom,
    );
    let surface = built.map_err(|error| fail(error.to_string()))?;
    Ok(Arc::new(surface))
}

fn asset_name(asset: &Element) -> Option<&str> {
    let stem = |file| Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let named = asset.attribute("name").map(str::trim);
    named.or_else(|| asset.attribute("file").and_then(stem))
}

impl Grid {
    fn new(rows: usize, columns: usize, heights: Vec<f64>) -> Result<Self, String> {
        if rows < 2 || columns < 2 {
            return Err(format!(
                "has {rows} rows and {columns} columns, but needs 2 of each"
            ));
        }
        let nodes = rows.saturating_mul(columns);
        if nodes > NODES_MAX {
            return Err(format!(
                "has {nodes} heights, more than {NODES_MAX}; use a coarser grid"
            ));
        }
        if heights.len() != nodes {
            return Err(format!(
                "has {} heights, but needs {rows} × {columns}",
                heights.len()
            ));
        }
        Ok(Self {
            rows,
            columns,
            heights,
        })
    }

    /// `nrow`, `ncol` and `elevation`, whose first row is the one with the largest y; flat without `elevation`.
    fn from_attributes(
        asset: &Element,
        settings: &Settings<'_>,
        subject: &str,
    ) -> Result<Self, MultibodyError> {
        let count = |name: &str| -> Result<usize, MultibodyError> {
            match settings.number(name, subject)? {
                Some(x) if x.fract() == 0.0 && (2.0..1e6).contains(&x) => Ok(x as usize),
                _ => {
                    let text = format!("needs {name}=\"N\", a whole number from 2 on, or a file");
                    Err(asset.error(subject, text))
                }
            }
        };
        let (rows, columns) = (count("nrow")?, count("ncol")?);
        let most = rows.saturating_mul(columns);
        let written = asset.numbers("elevation", most, subject)?;
        let heights = match written {
            Some(written) if written.len() == most => {
                let rows = written.chunks_exact(columns).rev();
                rows.flatten().copied().collect()
            }
            Some(written) => written,
            None => vec![0.0; most.min(NODES_MAX)],
        };
        Self::new(rows, columns, heights).map_err(|text| asset.error(subject, text))
    }

    /// MuJoCo's format: the numbers of rows and columns (int32), then the heights (float32), in native byte order.
    fn from_file(path: &Path) -> Result<Self, String> {
        let named = |text: String| format!("{}: {text}", path.display());
        let is_image = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
        if is_image {
            let text = "PNG images are not supported; write nrow, ncol and elevation, or MuJoCo's binary format";
            return Err(named(text.to_owned()));
        }
        let most = 4 * (2 + NODES_MAX as u64);
        let bytes =
            read_bounded(path, most).map_err(|error| named(format!("cannot be read: {error}")))?;
        let mut words = bytes
            .chunks_exact(4)
            .map(|word| [word[0], word[1], word[2], word[3]]);
        let mut count = || {
            words
                .next()
                .map(i32::from_le_bytes)
                .and_then(|n| usize::try_from(n).ok())
        };
        let (Some(rows), Some(columns)) = (count(), count()) else {
            return Err(named("has no numbers of rows and columns".to_owned()));
        };
        let heights: Vec<f64> = words
            .map(|word| f64::from(f32::from_le_bytes(word)))
            .collect();
        if !heights.iter().all(|height| height.is_finite()) {
            return Err(named("has a height that is not finite".to_owned()));
        }
        Self::new(rows, columns, heights).map_err(named)
    }

    /// The heights, m, scaled to lie between 0 and `top`; zero if all are equal.
    fn heights_up_to(&self, top: f64) -> Vec<f64> {
        let lowest = self.heights.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = self
            .heights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let range = if highest > lowest {
            highest - lowest
        } else {
            1.0
        };
        let heights = self.heights.iter();
        heights
            .map(|height| top * ((height - lowest) / range))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_reach_from_zero_to_the_top() {
        let grid = Grid::new(2, 3, vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0]).expect("a grid");
        assert_eq!(grid.heights_up_to(0.5), [0.0, 0.25, 0.5, 0.0, 0.25, 0.5]);
        let level = Grid::new(2, 2, vec![4.0; 4]).expect("a grid");
        assert_eq!(level.heights_up_to(0.5), [0.0; 4]);
    }

    #[test]
    fn faulty_grids_are_refused() {
        for (rows, columns, heights) in [(1, 2, 2), (2, 2, 3), (3000, 3000, 0)] {
            assert!(Grid::new(rows, columns, vec![0.0; heights]).is_err());
        }
    }
}
