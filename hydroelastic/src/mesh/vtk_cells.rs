//! VTK's cell types by number.

use super::cells::CellKind;

/// The name of a cell type; "unknown cell" for undefined numbers.
pub(crate) fn name(code: u32) -> &'static str {
    match code {
        0 => "empty cell",
        1 => "vertex",
        2 => "poly-vertex",
        3 => "line",
        4 => "poly-line",
        5 => "triangle",
        6 => "triangle strip",
        7 => "polygon",
        8 => "pixel",
        9 => "quad",
        10 => "tetrahedron",
        11 => "voxel",
        12 => "hexahedron",
        13 => "wedge",
        14 => "pyramid",
        15 => "pentagonal prism",
        16 => "hexagonal prism",
        21 => "quadratic edge",
        22 => "quadratic triangle",
        23 => "quadratic quad",
        24 => "quadratic tetrahedron",
        25 => "quadratic hexahedron",
        26 => "quadratic wedge",
        27 => "quadratic pyramid",
        28..=37 => "higher-order cell",
        41 => "convex point set",
        42 => "polyhedron",
        51..=56 | 60..=67 => "parametric cell",
        68..=74 => "Lagrange cell",
        75..=81 => "Bezier cell",
        _ => "unknown cell",
    }
}

/// The kind of a cell of this type with this many corners; the error describes the problem.
pub(crate) fn kind(code: i64, n_corners: usize) -> Result<CellKind, String> {
    let known = u32::try_from(code)
        .ok()
        .filter(|code| name(*code) != "unknown cell");
    let Some(code) = known else {
        return Err(format!("{code} is not a VTK cell type"));
    };
    let (kind, corners) = match code {
        0..=4 | 21 => (CellKind::Thin, 0..=usize::MAX),
        5 => (CellKind::Triangle, 3..=3),
        6 => (CellKind::Strip, 3..=usize::MAX),
        7 => (CellKind::Polygon, 3..=usize::MAX),
        8 => (CellKind::Pixel, 4..=4),
        9 => (CellKind::Polygon, 4..=4),
        10 => (CellKind::Tet, 4..=4),
        24 => (CellKind::Tet10, 10..=10),
        22 | 23 => (CellKind::OtherSurface(code), 0..=usize::MAX),
        _ => (CellKind::OtherVolume(code), 0..=usize::MAX),
    };
    if corners.contains(&n_corners) {
        Ok(kind)
    } else {
        Err(format!(
            "a {} (type {code}) cannot have {n_corners} points",
            name(code)
        ))
    }
}
