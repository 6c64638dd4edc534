//! Patches between two compliant bodies: the surface on which their pressures are equal.

use nalgebra::{Isometry3, Vector3};

use super::balance::Balance;
use super::flood::Flood;
use super::pieces::Pieces;
use super::polygon::{ON_FACE, Polygon};
use super::slice::{Scale, Slice};
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
    found.set_scale(Scale::of_fields(first, second));
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
    found.set_scale(Scale::of_fields(first, second));
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
/// polygons too small to be kept or shrunk to an edge or a corner: equal meshes often meet there, and the patch
/// continues beyond.
pub(crate) fn pair(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    i: u32,
    j: u32,
    found: &mut Pieces,
) -> Option<u8> {
    let in_first = slice_of_first(first, second, X, (i, j), found.scale())?;
    let Slice {
        mut polygon,
        counts,
    } = in_both(&in_first, first, second, X, (i, j), found)?;
    if counts {
        push(first, second, X, (i, j), &mut polygon, found);
    }
    Some(polygon.corner_faces())
}

/// Adds the polygons of two small fields in one frame, from the pairs of [`bitset_culling::visit_pairs`].
pub(crate) fn find_in_small(first: &PressureField, second: &PressureField, found: &mut Pieces) {
    let X = Relative::new(&Isometry3::identity());
    bitset_culling::visit_pairs(first, second, found.scale().zero, |i, j| {
        let in_first = slice_of_first(first, second, &X, (i, j), found.scale());
        let Some(in_first) = in_first.filter(|slice| slice.counts) else {
            return;
        };
        let (tet_1, tet_2) = (first.functions_of(i), second.functions_of(j));
        let normal = tet_1.pressure.gradient - tet_2.pressure.gradient;
        let sides = &tet_2.sides;
        if in_first
            .polygon
            .leaves_at_most(found.area_min(), &normal, sides)
        {
            return;
        }
        let both = in_both(&in_first, first, second, &X, (i, j), found);
        if let Some(mut slice) = both.filter(|slice| slice.counts) {
            push(first, second, &X, (i, j), &mut slice.polygon, found);
        }
    });
}

/// The polygon in the first of two tetrahedra on which their pressures are equal.
fn slice_of_first(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    (i, j): (u32, u32),
    scale: &Scale,
) -> Option<Slice> {
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
    Slice::of(&corners, &h, first.across(i), scale.zero)
}

/// The part of a slice of the first of two tetrahedra in the second. Each decides by its own corners whether a polygon
/// in one of its faces counts.
fn in_both(
    in_first: &Slice,
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    (i, j): (u32, u32),
    found: &Pieces,
) -> Option<Slice> {
    let tet_2 = second.functions_of(j);
    let mut polygon = in_first.polygon;
    if polygon.lies_beyond(&tet_2.sides) {
        return None;
    }
    let pressure_1 = pressure_of_first(first, X, i);
    let corners = second.corner_points(j);
    let pressures = second.corner_pressures(j);
    let mut h = [0.0; 4];
    for k in 0..4 {
        h[k] = pressure_1.at(&corners[k]) - pressures[k];
    }
    let scale = found.scale();
    let mut in_second = Slice::of(&corners, &h, second.across(j), scale.zero)?;
    let has_area = |slice: &Slice| slice.counts && !found.drops(&slice.polygon.area_vector());
    let counts = has_area(in_first) && has_area(&in_second);
    let remains = match counts {
        true => {
            in_second.polygon.renumber_as_second();
            let normal = pressure_1.gradient - tet_2.pressure.gradient;
            polygon.clip_to_polygon(&in_second.polygon, &normal, scale.length)
        }
        false => polygon.clip_to(&tet_2.sides, 4),
    };
    remains.then_some(Slice { polygon, counts })
}

/// The pressure in a tetrahedron of the first field, in the frame of the second.
fn pressure_of_first(first: &PressureField, X: &Relative, i: u32) -> Affine {
    let gradient = X.rotation * first.functions_of(i).pressure.gradient;
    let corner = X.point(&first.corner_points(i)[0]);
    Affine {
        gradient,
        offset: first.corner_pressures(i)[0] - gradient.dot(&corner),
    }
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
    let (pressure_1, pressure_2) = (
        pressure_of_first(first, X, i),
        second.functions_of(j).pressure,
    );
    let (gradient_1, gradient_2) = (pressure_1.gradient, pressure_2.gradient);
    let Some(balance) = Balance::of_fields(&gradient_1, &gradient_2) else {
        return;
    };
    // The pressure is taken from the softer field: near the surface of a stiff one it is a small difference of large
    // numbers.
    let pressure = match gradient_1.norm_squared() < gradient_2.norm_squared() {
        true => pressure_1,
        false => pressure_2,
    };
    let pieces = (first.piece(i), second.piece(j));
    found.push(polygon, (i, j), pieces, &balance, &pressure);
}

impl Tetrahedron {
    /// Whether it has no significant volume.
    pub(crate) fn is_flat(&self) -> bool {
        self.sides[0].gradient == Vector3::zeros()
    }
}
