//! Patches between two compliant bodies: the surface on which their pressures are equal.

use nalgebra::{Isometry3, Vector3};

use super::balance::Balance;
use super::flood::Flood;
use super::pieces::Pieces;
use super::polygon::{ON_FACE, Polygon};
use super::{bitset_culling, closed_patches};
use crate::field::Affine;
use crate::field::{OUTSIDE, PressureField, SkinFace, Tetrahedron};
use crate::pressure_bvh::Relative;

/// Finds the polygons in the frame of `second`, in which `first` lies at `X`.
///
/// The rim of a patch lies on the surface of one of the bodies, where the other's pressure equals that of the surface:
/// seeds are faces of the skin and tetrahedra of the other body at the same pressure. Closed patches without a rim
/// enclose a local maximum of one of the fields ([`closed_patches`]).
pub(crate) fn find(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(first.depth().min(second.depth()));
    flood.begin();
    let (skin_1, skin_2) = (first.skin_tree().root(), second.skin_tree().root());
    let Flood { pairs, seeds, .. } = flood;
    // If the pressure on a whole skin is lower than in all of the other field, no rim lies on it.
    if skin_1.p_max >= second.tet_tree().root().p_min {
        let tree = second.tree_up_to(skin_1.p_max);
        let corners = |f| first.skin_corners(f).map(|x| X.point(&x));
        let skin = first.skin_tree();
        skin.visit_triangle_pairs(X, tree, pairs, corners, |f, facet, t| {
            let face = first.skin(f);
            if is_rim(&facet.corners, first, face, second.functions_of(t)) {
                seeds.push((face.tet, t));
            }
        });
    }
    if skin_2.p_max >= first.tet_tree().root().p_min {
        let back = X.inverse();
        // A rim on a skin at the other field's lowest pressure also lies on the other's skin and has been found there,
        // unless that pressure continues inside.
        let tree = match skin_1.p_min >= skin_2.p_max {
            true => first.low_tree(),
            false => first.tree_up_to(skin_2.p_max),
        };
        let corners = |f| second.skin_corners(f).map(|x| back.point(&x));
        let skin = second.skin_tree();
        skin.visit_triangle_pairs(&back, tree, pairs, corners, |f, facet, t| {
            let face = second.skin(f);
            if is_rim(&facet.corners, second, face, first.functions_of(t)) {
                seeds.push((t, face.tet));
            }
        });
    }
    let Flood { stack, seeds, .. } = flood;
    closed_patches::around_peaks(first, second, X, stack, |i, j| seeds.push((i, j)));
    closed_patches::around_peaks(second, first, &X.inverse(), stack, |j, i| {
        seeds.push((i, j));
    });
    closed_patches::through_valleys(first, second, X, stack, |i, j| seeds.push((i, j)));
    run(first, second, X, flood, found);
}

/// Tests every pair of tetrahedra whose boxes and pressures overlap.
pub(crate) fn find_among_all(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(first.depth().min(second.depth()));
    flood.begin();
    let Flood { stack, seeds, .. } = flood;
    let tree = second.tet_tree();
    first
        .tet_tree()
        .visit_pairs(X, tree, stack, |i, j| seeds.push((i, j)));
    run(first, second, X, flood, found);
}

/// Whether a face of a skin, with its corners in the frame of the tetrahedron, has points inside the tetrahedron where
/// both pressures are equal.
fn is_rim(
    corners: &[Vector3<f64>; 3],
    field: &PressureField,
    face: &SkinFace,
    tet: &Tetrahedron,
) -> bool {
    let mut h = [0.0; 3];
    for k in 0..3 {
        h[k] = field.pressures()[face.corners[k] as usize] - tet.pressure.at(&corners[k]);
    }
    let tolerance = ON_FACE * h.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let (low, high) = (h[0].min(h[1]).min(h[2]), h[0].max(h[1]).max(h[2]));
    if low > tolerance || high < -tolerance {
        return false;
    }
    // Tests the two ends of the line of equal pressure; where the line runs along an edge or is undefined, the full
    // test decides.
    let (mut ends, mut n) = ([Vector3::zeros(); 2], 0);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        if h[i].abs() <= tolerance {
            return true;
        }
        if h[i] * h[j] < 0.0 && n < 2 {
            ends[n] = corners[i] + (corners[j] - corners[i]) * (h[i] / (h[i] - h[j]));
            n += 1;
        }
    }
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for side in &tet.sides {
        let (f, g) = (side.at(&ends[0]), side.at(&ends[1]));
        if f < -ON_FACE && g < -ON_FACE {
            return false;
        }
        if f < -ON_FACE {
            from = from.max(f / (f - g));
        } else if g < -ON_FACE {
            to = to.min(f / (f - g));
        }
    }
    from <= to + 1e-9
}

fn run(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    flood.run(
        |i, j| pair(first, second, X, i, j, found),
        |i, j, face| {
            let (i, j) = if face < 4 {
                (first.across(i)[face as usize], j)
            } else {
                (i, second.across(j)[face as usize - 4])
            };
            (i != OUTSIDE && j != OUTSIDE).then_some((i, j))
        },
    );
}

/// Adds the polygon of a pair of tetrahedra if it has a positive weight; returns the faces that it touches, also for
/// polygons too small to be kept.
pub(crate) fn pair(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    i: u32,
    j: u32,
    found: &mut Pieces,
) -> Option<u8> {
    let mut polygon = balanced(first, second, X, i, j)?;
    if !polygon.clip_to(&second.functions_of(j).sides, 4) {
        return None;
    }
    if !found.drops(&polygon.area_vector()) {
        push(first, second, X, (i, j), &mut polygon, found);
    }
    Some(polygon.corner_faces())
}

/// Adds the polygons of two small fields in one frame, from the pairs of [`bitset_culling::visit_pairs`].
pub(crate) fn find_in_small(first: &PressureField, second: &PressureField, found: &mut Pieces) {
    let X = Relative::new(&Isometry3::identity());
    bitset_culling::visit_pairs(first, second, |i, j| {
        let (tet_1, tet_2) = (first.functions_of(i), second.functions_of(j));
        let Some(mut polygon) = balanced(first, second, &X, i, j) else {
            return;
        };
        let normal = tet_1.pressure.gradient - tet_2.pressure.gradient;
        if !polygon.leaves_at_most(found.area_min(), &normal, &tet_2.sides)
            && polygon.clip_to(&tet_2.sides, 4)
        {
            push(first, second, &X, (i, j), &mut polygon, found);
        }
    });
}

/// The polygon in the first of two tetrahedra on which their pressures are equal.
fn balanced(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    i: u32,
    j: u32,
) -> Option<Polygon> {
    let (tet_1, tet_2) = (first.functions_of(i), second.functions_of(j));
    if tet_1.is_flat() || tet_2.is_flat() {
        return None;
    }
    let corners = first.corner_points(i).map(|x| X.point(&x));
    let pressures = first.corner_pressures(i);
    let mut h = [0.0; 4];
    for k in 0..4 {
        h[k] = pressures[k] - tet_2.pressure.at(&corners[k]);
    }
    Polygon::slice(&corners, &h)
}

/// Adds a polygon on which the pressures of two tetrahedra are equal.
fn push(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    (i, j): (u32, u32),
    polygon: &mut Polygon,
    found: &mut Pieces,
) {
    let (tet_1, tet_2) = (first.functions_of(i), second.functions_of(j));
    let gradient = X.rotation * tet_1.pressure.gradient;
    let Some(mut balance) = Balance::of_fields(&gradient, &tet_2.pressure.gradient) else {
        return;
    };
    // The pressure is taken from the softer field: near the surface of a stiff one it is a small difference of large
    // numbers.
    let pressure = if gradient.norm_squared() < tet_2.pressure.gradient.norm_squared() {
        let corner = X.point(&first.corner_points(i)[0]);
        Affine {
            gradient,
            offset: first.corner_pressures(i)[0] - gradient.dot(&corner),
        }
    } else {
        tet_2.pressure
    };
    balance.weight *= shared(polygon.common_faces(), first.across(i), second.across(j));
    let pieces = (first.piece(i), second.piece(j));
    found.push(polygon, (i, j), pieces, &balance, &pressure);
}

/// A polygon within a face is found from the tetrahedra on both sides and has half weight in each.
fn shared(common_faces: u8, across_1: &[u32; 4], across_2: &[u32; 4]) -> f64 {
    let neighbours = across_1.iter().chain(across_2);
    let twice = |(k, n): (usize, &u32)| common_faces >> k & 1 == 1 && *n != OUTSIDE;
    neighbours
        .enumerate()
        .fold(1.0, |w, x| if twice(x) { 0.5 * w } else { w })
}

impl Tetrahedron {
    /// Whether it has no significant volume.
    pub(crate) fn is_flat(&self) -> bool {
        self.sides[0].gradient == Vector3::zeros()
    }
}
