//! The impulse of one contact with all other impulses held: x = γ(v_c + w(x − γ_last)).
//!
//! It minimises ½w|x − γ_last|² + v_c·x + ℓ*(x): with w at least the largest eigenvalue of the contact's inverse inertia W a majoriser of the
//! dual cost, so that every such update of Gauss-Seidel lowers it. For the lagged model normal and tangential parts separate:
//!
//! ```text
//! x_n:  v_n + w (x_n − γ_n) = v with x_n = n(v)                  closed form
//! x_t:  |t| + w μ n0 |t|/√(|t|² + ε²) = |v_t − w γ_t|            Newton, x_t = −μ n0 t/√(|t|² + ε²)
//! ```
//!
//! The normal part depends on nothing else, so that n0 = x_n costs nothing: it is Coulomb's law of this contact, which has no potential.

use nalgebra::{Matrix3, Vector3};

use super::{ContactLaw, Lagged};
use crate::local_solve::local_solve;
use crate::potential::Potential;

impl ContactLaw {
    /// The impulse x, N·s, of a contact with relative velocity `v_c` under the impulse `last`, and with the inverse inertia w I, `w` in 1/kg.
    #[must_use]
    #[inline]
    pub fn local_impulse(&self, w: f64, v_c: &Vector3<f64>, last: &Vector3<f64>) -> Vector3<f64> {
        match self {
            _ if w == 0.0 => self.impulse(v_c),
            ContactLaw::Lagged(law) => law.local_impulse(w, v_c, last),
            ContactLaw::Similar(law) => {
                local_solve(law, &Matrix3::from_diagonal_element(w), v_c, last)
            }
            ContactLaw::Sap(law) => local_solve(law, &Matrix3::from_diagonal_element(w), v_c, last),
            ContactLaw::Custom(_) => {
                local_solve(self, &Matrix3::from_diagonal_element(w), v_c, last)
            }
        }
    }
}

impl Lagged {
    #[inline]
    fn local_impulse(&self, w: f64, v_c: &Vector3<f64>, last: &Vector3<f64>) -> Vector3<f64> {
        let local = LocalVelocity::new(&self.normal, w, v_c, last);
        let n = self.normal_force.implicit_impulse(w, local.normal, 0.0);
        self.normal * n + self.local_friction(w, &local.tangential)
    }

    /// The impulse of [`ContactLaw::local_impulse`] by Coulomb's law: n0 becomes the normal part of x.
    #[must_use]
    #[inline]
    pub fn local_coulomb_impulse(
        &mut self,
        w: f64,
        v_c: &Vector3<f64>,
        last: &Vector3<f64>,
    ) -> Vector3<f64> {
        let local = LocalVelocity::new(&self.normal, w, v_c, last);
        let n = self.normal_force.implicit_impulse(w, local.normal, 0.0);
        self.set_normal_impulse(n);
        self.normal * n + self.local_friction(w, &local.tangential)
    }

    /// x_t from v_t − w γ_t.
    #[inline]
    fn local_friction(&self, w: f64, free: &Vector3<f64>) -> Vector3<f64> {
        let (bound, speed) = (self.friction_limit, free.norm());
        if bound == 0.0 || speed == 0.0 {
            return Vector3::zeros();
        }
        let slip = slip_speed(speed, w * bound, self.slip_softening);
        let softened = (slip * slip + self.slip_softening * self.slip_softening).sqrt();
        free * (-bound * slip / (softened * speed))
    }
}

/// v_c − w γ_last, the velocity of a contact without its impulse.
struct LocalVelocity {
    normal: f64,
    tangential: Vector3<f64>,
}

impl LocalVelocity {
    #[inline]
    fn new(normal: &Vector3<f64>, w: f64, v_c: &Vector3<f64>, last: &Vector3<f64>) -> Self {
        let free = v_c - last * w;
        let along = normal.dot(&free);
        Self {
            normal: along,
            tangential: free - normal * along,
        }
    }
}

/// The root t of t + a t/√(t² + ε²) = s, for s, a, ε > 0.
///
/// The left side is concave for t ≥ 0, so that Newton's method from the left of the root converges without a safeguard.
#[inline]
fn slip_speed(s: f64, a: f64, softening: f64) -> f64 {
    // Both are left of the root: the friction at its bound, and its slope at zero.
    let mut t = (s - a).max(s / (1.0 + a / softening));
    for _ in 0..30 {
        let r = (t * t + softening * softening).sqrt();
        let value = t + a * t / r - s;
        let slope = 1.0 + a * softening * softening / (r * r * r);
        let step = value / slope;
        t -= step;
        if step.abs() <= 1e-14 * s {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::law::{ContactParameters, Dissipation, Sap, Similar};

    /// Compares the impulse of every law with that at the velocity that it causes.
    fn check(w: f64, distance: f64, v: [f64; 3], last: [f64; 3]) -> Result<(), TestCaseError> {
        let p = ContactParameters {
            time_step: 1e-3.into(),
            signed_distance: distance,
            start_velocity: 0.0,
            stiffness: 1e5,
            dissipation: Dissipation::HuntCrossley(5.0),
            friction: 0.5,
            stiction_speed: 1e-3,
            inverse_inertia: w,
            near_rigid: 0.1,
        };
        let n = Vector3::new(0.6, 0.0, 0.8);
        let (v_c, last) = (Vector3::from(v), Vector3::from(last) / w);
        let lagged = ContactLaw::Lagged(Lagged::new(&p, n, 0.1 / w));
        let laws = [
            ContactLaw::Sap(Sap::new(&p, n)),
            ContactLaw::Similar(Similar::new(&p, n, 0.1 / w)),
            ContactLaw::Custom(std::sync::Arc::new(lagged.clone())),
            lagged,
        ];
        for law in laws {
            let x = law.local_impulse(w, &v_c, &last);
            let v_after = v_c + (x - last) * w;
            let apart = (law.impulse(&v_after) - x).norm();
            // Round-off of the velocity, times the stiffness.
            let round_off = 1e-15 * law.hessian(&v_after).norm() * v_c.norm();
            // The search begins at `last`.
            let size = x.norm().max(last.norm());
            prop_assert!(
                apart <= 1e-6 * size + 1e2 * round_off,
                "{law:?}: {apart:e} of {x} from {last}"
            );
        }
        Ok(())
    }

    #[test]
    fn coulombs_law_holds_whatever_the_load_before() {
        let p = ContactParameters {
            time_step: 1e-3.into(),
            signed_distance: -1e-5,
            start_velocity: 0.0,
            stiffness: 1e9,
            dissipation: Dissipation::HuntCrossley(0.0),
            friction: 0.5,
            stiction_speed: 1e-6,
            inverse_inertia: 2.0,
            near_rigid: 0.1,
        };
        // 0.5 kg arrives at 1 m/s and slides at 3 m/s: friction takes half of what the floor does.
        let v = Vector3::new(3.0, 0.0, -1.0);
        for n0 in [0.0, 0.3, 1e3] {
            let mut law = Lagged::new(&p, Vector3::z(), n0);
            let x = law.local_coulomb_impulse(2.0, &v, &Vector3::zeros());
            // ε = μ σ w n = 5e-4 m/s beside a slip of 2.5 m/s takes ½(ε/slip)² = 2e-8 of 0.25 N·s.
            assert!((x.x + 0.5 * x.z).abs() < 1e-8 && (x.z - 0.5).abs() < 0.01);
            assert!((law.impulse(&(v + x * 2.0)) - x).norm() < 1e-8);
        }
    }

    #[test]
    fn impulses_near_the_speed_of_release_are_found() {
        let v = [0.35883914652049004, -0.7613956383278982, 0.6133578363811119];
        let last = [
            0.09263002970023607,
            0.08341868753854889,
            0.030811760245892068,
        ];
        check(377.1265221630084, -0.0007645317579279622, v, last).unwrap();
    }

    proptest! {
        #[test]
        fn the_slip_speed_is_the_root(
            s in 1e-9..1e3f64, a in 1e-9..1e3f64, softening in 1e-6..1.0f64,
        ) {
            let t = slip_speed(s, a, softening);
            let left = t + a * t / t.hypot(softening);
            prop_assert!(t >= 0.0 && (left - s).abs() <= 1e-12 * s.max(a), "{t}: {left} for {s}");
        }

        #[test]
        fn every_law_has_its_impulse_at_the_velocity_that_it_causes(
            w in 1e-2..1e3f64,
            distance in -1e-3..1e-4f64,
            v in prop::array::uniform3(-1.0..1.0f64),
            last in prop::array::uniform3(-0.1..0.1f64),
        ) {
            check(w, distance, v, last)?;
        }
    }
}
