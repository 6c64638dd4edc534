//! Pairs of tetrahedra of two small fields, such as two bricks. Pairs that cannot intersect are excluded by bit sets of
//! the vertices beyond each face.

use nalgebra::Vector3;

use super::polygon::ON_FACE;
use crate::field::{PressureField, Tetrahedron};

/// One bit for each vertex of a field.
type Vertices = u64;

/// For more tetrahedra than this on either side, a walk from intersecting skins visits fewer pairs.
const TETRAHEDRA_MAX: usize = 24;

/// Whether [`visit_pairs`] applies to this field.
pub(super) fn is_small(field: &PressureField) -> bool {
    field.tets().len() <= TETRAHEDRA_MAX && field.vertices().len() <= Vertices::BITS as usize
}

/// Visits the pairs of tetrahedra of two small fields in one frame that may have a polygon in common: all pairs except
/// those separated by a face of one of them, and those in which one pressure is everywhere above the other by more than
/// `zero` (Pa).
pub(super) fn visit_pairs(
    first: &PressureField,
    second: &PressureField,
    zero: f64,
    mut visit: impl FnMut(u32, u32),
) {
    let (root_1, root_2) = (first.tet_tree().root(), second.tet_tree().root());
    if !root_1.overlaps(&root_2) {
        return;
    }
    let mut tets_1 = [TetSets::default(); TETRAHEDRA_MAX];
    for (i, sets) in (0_u32..).zip(&mut tets_1[..first.tets().len()]) {
        *sets = TetSets {
            corners: corners_of(first, i),
            beyond: beyond(first.functions_of(i), second.vertices()),
        };
    }
    for j in 0..second.tets().len() as u32 {
        let tet_2 = second.functions_of(j);
        if tet_2.is_flat() {
            continue;
        }
        let corners_2 = corners_of(second, j);
        let beyond_2 = beyond(tet_2, first.vertices());
        let [above, below] = signs(first, tet_2, zero);
        for (i, tet_1) in (0_u32..).zip(&tets_1[..first.tets().len()]) {
            let apart = lies_in(tet_1.corners, above)
                | lies_in(tet_1.corners, below)
                | beyond_2.iter().any(|side| lies_in(tet_1.corners, *side))
                | tet_1.beyond.iter().any(|side| lies_in(corners_2, *side));
            if !apart {
                visit(i, j);
            }
        }
    }
}

/// A tetrahedron of the first field.
#[derive(Clone, Copy, Default)]
struct TetSets {
    corners: Vertices,
    /// For each of its faces, the vertices of the second field beyond it.
    beyond: [Vertices; 4],
}

fn corners_of(field: &PressureField, tet: u32) -> Vertices {
    let corners = field.tets()[tet as usize].iter();
    corners.fold(0, |set, v| set | 1 << v)
}

fn lies_in(corners: Vertices, set: Vertices) -> bool {
    corners & !set == 0
}

/// The vertices beyond each face; empty for a flat tetrahedron.
fn beyond(tet: &Tetrahedron, vertices: &[Vector3<f64>]) -> [Vertices; 4] {
    let mut sets = [0; 4];
    for (v, x) in vertices.iter().enumerate() {
        for (set, side) in sets.iter_mut().zip(&tet.sides) {
            *set |= Vertices::from(side.at(x) < -ON_FACE) << v;
        }
    }
    sets
}

/// The vertices of the first field where its pressure is above that of the tetrahedron, and those where it is below, by
/// more than `zero` (Pa).
fn signs(first: &PressureField, tet_2: &Tetrahedron, zero: f64) -> [Vertices; 2] {
    let [mut above, mut below] = [0; 2];
    let terms = first.vertices().iter().zip(first.pressures());
    for (v, (x, pressure)) in terms.enumerate() {
        let h = pressure - tet_2.pressure.at(x);
        above |= Vertices::from(h > zero) << v;
        below |= Vertices::from(h < -zero) << v;
    }
    [above, below]
}
