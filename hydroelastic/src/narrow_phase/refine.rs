//! Newton refinement of the nearest points of two disjoint convex sets.
//!
//! For disjoint convex sets
//!
//! ```text
//! distance(A, B) = min over x of φ_A(x) + φ_B(x)
//! ```
//!
//! and the minimum is attained on the whole segment between the nearest points, where ∇φ_A = −∇φ_B is the normal. Both
//! terms are convex and have closed-form Hessians (for faces, edges, corners and curved sides), so Newton converges in
//! a few steps however small the gap is compared with the curvature, where GJK and alternating projections converge
//! slowly.

use nalgebra::Matrix3;

use super::convex::{Core, PosedCore};
use super::gjk::Nearest;

const ROUNDS_MAX: usize = 30;

/// Refines `coarse`. Two polytopes are returned unchanged: GJK terminates at their features.
pub(crate) fn refine(a: &PosedCore<'_>, b: &Core<'_>, coarse: Nearest) -> Nearest {
    if a.core.is_polytope() && b.is_polytope() {
        return coarse;
    }
    let extent = a.core.extent() + b.extent();
    let round_off = 4.0 * f64::EPSILON * (extent + a.translation.norm());
    let mut best = coarse;
    let mut best_slope = f64::INFINITY;
    let mut x = (coarse.p_A + coarse.p_B) * 0.5;
    let mut best_x = x;
    for _ in 0..ROUNDS_MAX {
        let (phi_A, phi_B) = (a.distance_from(&x), b.distance_from(&x));
        let distance = phi_A.value + phi_B.value;
        let slope = phi_A.gradient + phi_B.gradient;
        // The sum must decrease; where it is flat to round-off, its slope must.
        let better = distance < best.distance - round_off
            || distance <= best.distance + round_off && slope.norm() < best_slope;
        if best_slope.is_finite() && !better {
            // Too far across a kink of the Hessian: backtrack.
            x = best_x + (x - best_x) * 0.25;
            if (x - best_x).norm() <= round_off {
                break;
            }
            continue;
        }
        let Some(normal) = (phi_B.gradient - phi_A.gradient).try_normalize(1e-3) else {
            break;
        };
        best = Nearest {
            normal,
            distance,
            p_A: x - phi_A.gradient * phi_A.value,
            p_B: x - phi_B.gradient * phi_B.value,
        };
        (best_slope, best_x) = (slope.norm(), x);
        // The sum is convex: it cannot fall by more than slope times distance to the minimum.
        if best_slope <= 1e-10 {
            break;
        }
        // Regularised so that a step is not longer than the shapes: flat features are bounded. Vanishes with the slope.
        let curvature = phi_A.hessian + phi_B.hessian;
        let floor = best_slope / extent;
        let Some(factor) = (curvature + Matrix3::identity() * floor).cholesky() else {
            break;
        };
        let step = factor.solve(&slope);
        // The sum is constant along the normal: use the midpoint, where both gradients are best defined.
        let along = 0.5 * (phi_A.value - phi_B.value) + normal.dot(&step);
        x += normal * along - step;
    }
    best
}
