//! Signed separation of two convex shapes: distance when disjoint, penetration depth when overlapping.
//!
//! For a unit vector n let s(n) be the width of the slab perpendicular to n between A and B (negative if they overlap
//! along n). The signed separation is the maximum of s over all n, and its maximiser the contact normal. For disjoint
//! sets GJK finds it. For touching or overlapping sets, A is shifted along a first guess n until a small gap opens, and
//! GJK on the shifted pair gives the next n. s never decreases, and for depths small compared with the radius of
//! curvature a few rounds suffice. The normal of a resting contact is then as exact as that of a separated one, where
//! expanding-polytope methods return noise. For deep overlaps of bodies without rotational symmetry the maximum is a
//! local one: the best of those around the shapes' face normals.

use nalgebra::Vector3;

use super::box_box::best_axis;
use super::convex::{Convex, Core, PosedCore, radial};
use super::gjk::{self, Nearest, Outcome};
use super::refine::refine;

/// Normal, signed separation and witness points of two shapes, in the frame of B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separation {
    /// Unit vector from B into A.
    pub(crate) normal: Vector3<f64>,
    /// φ: negative when overlapping.
    pub(crate) distance: f64,
    pub(crate) p_A: Vector3<f64>,
    pub(crate) p_B: Vector3<f64>,
}

const LIFTS_MAX: usize = 40;

/// The separation of the rounded shapes if it is at most `reach`.
pub(crate) fn separation(
    a: &PosedCore<'_>,
    round_A: f64,
    b: &Convex<'_>,
    reach: f64,
) -> Option<Separation> {
    separation_by(a, round_A, b, reach, |guess| {
        best_candidate(a, &b.core, guess)
    })
}

/// [`separation`], but for overlapping sets the direction nearest to `outward`, the outward normal of the surface that
/// B is a piece of.
pub(crate) fn separation_along(
    a: &PosedCore<'_>,
    round_A: f64,
    b: &Convex<'_>,
    reach: f64,
    outward: &Vector3<f64>,
) -> Option<Separation> {
    separation_by(a, round_A, b, reach, |_| *outward)
}

fn separation_by(
    a: &PosedCore<'_>,
    round_A: f64,
    b: &Convex<'_>,
    reach: f64,
    start: impl Fn(Option<Vector3<f64>>) -> Vector3<f64>,
) -> Option<Separation> {
    let rounding = round_A + b.rounding;
    let scale = a.core.extent() + b.core.extent() + a.translation.norm();
    let thin = |core: &Core<'_>, round: f64| core.thickness() + round;
    let thickness = thin(&a.core, round_A)
        .min(thin(&b.core, b.rounding))
        .min(scale);
    // Below this gap the direction of v is more accurate with the pair shifted apart.
    let flat = a.core.is_polytope() && b.core.is_polytope();
    let near = if flat { 1e-7 * scale } else { 1e-4 * thickness };
    let gap = if flat {
        1e-4 * thickness.max(1e-2 * scale)
    } else {
        1e-3 * thickness
    };
    if !flat {
        // GJK needs many rounds for a slight overlap of curved sets. A candidate normal along which they nearly touch
        // decides at once; if another direction separates them after all, they are treated as disjoint.
        let likely = start(None);
        let width = slab(a, &b.core, &likely);
        if width - rounding > reach {
            return None;
        }
        if width <= near
            && width >= -0.05 * thickness
            && let Some(nearest) = lifted(a, &b.core, likely, gap, scale)
            && nearest.distance <= near
        {
            return (nearest.distance - rounding <= reach)
                .then(|| rounded(&nearest, round_A, b.rounding));
        }
    }
    let (guess, found) = match gjk::distance(a, &b.core, reach + rounding) {
        Outcome::Beyond => return None,
        Outcome::Apart(nearest) if nearest.distance > near => {
            return Some(rounded(&refine(a, &b.core, nearest), round_A, b.rounding));
        }
        Outcome::Apart(nearest) => (Some(nearest.normal), Some(nearest)),
        Outcome::Overlap => (None, None),
    };
    let nearest = lifted(a, &b.core, start(guess), gap, scale).or(found)?;
    (nearest.distance - rounding <= reach).then(|| rounded(&nearest, round_A, b.rounding))
}

fn rounded(core: &Nearest, round_A: f64, round_B: f64) -> Separation {
    Separation {
        normal: core.normal,
        distance: core.distance - round_A - round_B,
        p_A: core.p_A - core.normal * round_A,
        p_B: core.p_B + core.normal * round_B,
    }
}

/// s(n): separation of A and B along n.
pub(crate) fn slab(a: &PosedCore<'_>, b: &Core<'_>, n: &Vector3<f64>) -> f64 {
    n.dot(&(a.support(&-n) - b.support(n)))
}

fn lifted(
    a: &PosedCore<'_>,
    b: &Core<'_>,
    mut normal: Vector3<f64>,
    gap: f64,
    scale: f64,
) -> Option<Nearest> {
    let mut depth = slab(a, b, &normal);
    let mut found: Option<Nearest> = None;
    let mut last_change: Option<Vector3<f64>> = None;
    for _ in 0..LIFTS_MAX {
        let lift = normal * (gap.max(-0.1 * depth) - depth);
        let raised = a.shifted(&lift);
        let Outcome::Apart(nearest) = gjk::distance(&raised, b, f64::INFINITY) else {
            break;
        };
        let nearest = refine(&raised, b, nearest);
        let next = nearest.distance - lift.dot(&nearest.normal);
        let gain = next - depth;
        // Equal up to round-off: the later one was shifted along the better normal, so its points face each other.
        if found.is_none() || gain > -1e-15 * scale {
            found = Some(Nearest {
                normal: nearest.normal,
                distance: next,
                p_A: nearest.p_A - lift,
                p_B: nearest.p_B,
            });
        }
        // Along a curved surface the separation is of second order in the normal: the normal has to converge, too.
        let change = nearest.normal - normal;
        (normal, depth) = (nearest.normal, next.max(depth));
        if change.norm() <= 1e-11 || (gain <= 1e-15 * scale && change.norm() <= 1e-7) {
            break;
        }
        // The rounds converge like a geometric series with the ratio of depth to radius of curvature: extrapolate to
        // its limit, if that is better.
        if let Some(last) = last_change.replace(change) {
            let ratio = change.dot(&last) / last.norm_squared();
            if (0.05..0.99).contains(&ratio)
                && let Some(limit) = (normal + change * (ratio / (1.0 - ratio))).try_normalize(0.0)
            {
                let s = slab(a, b, &limit);
                if s > depth {
                    (normal, depth, last_change) = (limit, s, None);
                }
            }
        }
    }
    found
}

/// The best of the candidate normals of these kinds of shape.
fn best_candidate(a: &PosedCore<'_>, b: &Core<'_>, guess: Option<Vector3<f64>>) -> Vector3<f64> {
    let (center_A, center_B) = (a.center(), b.center());
    let apart = center_A - center_B;
    let mut best = guess
        .or_else(|| apart.try_normalize(1e-12))
        .unwrap_or_else(Vector3::z);
    let mut top = slab(a, b, &best);
    if let (Core::Box(half_A), Core::Box(half_B)) = (&a.core, b) {
        let axis = best_axis(half_A, half_B, &a.rotation, &a.translation, f64::INFINITY);
        return axis.map_or(best, |x| x.normal);
    }
    let mut consider = |n: Vector3<f64>| {
        let s = slab(a, b, &n);
        if s > top {
            (best, top) = (n, s);
        }
    };
    if guess.is_some()
        && let Some(n) = apart.try_normalize(1e-12)
    {
        consider(n);
    }
    b.candidate_normals(&center_A, &mut consider);
    let b_in_A = a.rotation.tr_mul(&(center_B - a.translation));
    a.core
        .candidate_normals(&b_in_A, |n| consider(-(a.rotation * n)));
    a.core.edge_directions(|edge_A| {
        let edge_A = a.rotation * edge_A;
        b.edge_directions(|edge_B| {
            let n = edge_A.cross(&edge_B);
            if let Some(n) = n.try_normalize(1e-6 * edge_A.norm() * edge_B.norm()) {
                consider(n);
                consider(-n);
            }
        });
    });
    // Coaxial round bodies at the same position: any direction perpendicular to the axis.
    if let Some(z) = b.axis().or_else(|| a.core.axis().map(|z| a.rotation * z)) {
        let x = radial(&apart);
        if let Some(n) = (x - z * x.dot(&z)).try_normalize(1e-6) {
            consider(n);
        }
    }
    best
}
