//! The local solve of one constraint: its impulse with all others held.

use nalgebra::{SMatrix, SVector};

use crate::potential::Potential;

/// The impulse x of one constraint with all others held: x = γ(v̂ + W x), from v_c = v̂ + W `last`.
///
/// Minimises ½xᵀWx + ℓ(v̂ + Wx) by Newton's method with backtracking; its step is (I + G W)Δx = γ − x.
pub(crate) fn local_solve<const M: usize>(
    law: &impl Potential<M>,
    w: &SMatrix<f64, M, M>,
    v_c: &SVector<f64, M>,
    last: &SVector<f64, M>,
) -> SVector<f64, M> {
    let v_hat = v_c - w * last;
    let merit = |x: &SVector<f64, M>| {
        let w_x = w * x;
        0.5 * x.dot(&w_x) + law.cost(&(v_hat + w_x))
    };
    let mut x = *last;
    let mut value = merit(&x);
    // Newton's method takes a few iterations; the next sweep continues from an unconverged impulse.
    for _ in 0..50 {
        let v = v_hat + w * x;
        let gap = law.impulse(&v) - x;
        if gap.norm() <= 1e-12 * x.norm() {
            break;
        }
        let system = SMatrix::<f64, M, M>::identity() + law.hessian(&v) * w;
        let Some(step) = eliminate(system, gap) else {
            break;
        };
        let slope = -gap.dot(&(w * step));
        if slope >= 0.0 {
            break;
        }
        let mut alpha = 1.0;
        let mut next = merit(&(x + step));
        while next > value + 1e-4 * alpha * slope && alpha > 1e-10 {
            alpha *= 0.5;
            next = merit(&(x + step * alpha));
        }
        if next > value {
            break;
        }
        x += step * alpha;
        value = next;
    }
    x
}

/// x of A x = b by elimination with row pivoting; `None` if A is singular.
fn eliminate<const M: usize>(
    mut a: SMatrix<f64, M, M>,
    mut b: SVector<f64, M>,
) -> Option<SVector<f64, M>> {
    for j in 0..M {
        let pivot = (j..M).max_by(|&p, &q| a[(p, j)].abs().total_cmp(&a[(q, j)].abs()))?;
        if a[(pivot, j)] == 0.0 {
            return None;
        }
        a.swap_rows(j, pivot);
        b.swap_rows(j, pivot);
        for i in j + 1..M {
            let factor = a[(i, j)] / a[(j, j)];
            for k in j + 1..M {
                a[(i, k)] -= factor * a[(j, k)];
            }
            b[i] -= factor * b[j];
        }
    }
    for j in (0..M).rev() {
        for k in j + 1..M {
            b[j] -= a[(j, k)] * b[k];
        }
        b[j] /= a[(j, j)];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Vector3};

    use super::*;
    use crate::law::{ContactLaw, ContactParameters, Dissipation, Lagged, Sap, Similar};

    #[test]
    fn a_single_constraint_is_solved_to_round_off() {
        let w = Matrix3::new(2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.7);
        for (friction, v_t) in [(0.0, 0.3), (0.5, 0.0), (0.5, 1e-4), (2.0, 1.0)] {
            let p = ContactParameters {
                time_step: 1e-2.into(),
                signed_distance: -1e-3,
                start_velocity: 0.0,
                stiffness: 1e9,
                dissipation: Dissipation::HuntCrossley(5.0),
                friction,
                stiction_speed: 1e-4,
                inverse_inertia: w.norm() / 3.0,
                near_rigid: 1.0,
            };
            let n = Vector3::z();
            let laws = [
                ContactLaw::Lagged(Lagged::new(&p, n, 0.2)),
                ContactLaw::Similar(Similar::new(&p, n, 0.2)),
                ContactLaw::Sap(Sap::new(&p, n)),
            ];
            for law in laws {
                let v_c = Vector3::new(v_t, -0.5 * v_t, -1.0);
                let x = local_solve(&law, &w, &v_c, &Vector3::zeros());
                let gap = law.impulse(&(v_c + w * x)) - x;
                assert!(gap.norm() < 1e-9 * x.norm(), "{law:?}: {gap} {x}");
            }
        }
    }

    #[test]
    fn elimination_pivots() {
        let a = Matrix3::new(0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.0, -1.0);
        let x = Vector3::new(1.0, -2.0, 3.0);
        let found = eliminate(a, a * x).expect("regular");
        assert!((found - x).norm() < 1e-14);
        assert!(eliminate(Matrix3::zeros(), x).is_none());
    }
}
