//! The normal impulse of compliant contact as a function of the normal velocity, and its antiderivative.

use super::validity::{Fault, at_least_zero, finite};

/// n(v_n) = δt (f0 − c v_n)₊ (1 − d v_n)₊: elastic force at the end of the step, times dissipation.
///
/// Hunt-Crossley: c = θ_vq δt k and d the dissipation; Kelvin-Voigt: c = (θ_vq δt + τ)k and d = 0. f0 = −kφ is the elastic
/// force at the coasted distance φ ([`TimeStep::coasted`](crate::TimeStep::coasted)); it is negative for a speculative contact.
/// n is non-increasing, so its antiderivative is concave and the cost convex.
///
/// Stored as a polynomial in x = v̂ − v_n, with v̂ = min(f0/c, 1/d) the release velocity,
///
/// ```text
/// n = (a + s x)(g + d x),    a = δt(f0 − c v̂) ≥ 0,  s = δt c,  g = 1 − d v̂ ≥ 0
/// ```
///
/// whose coefficients are all non-negative: no digits cancel, and n ≥ 0, −n' ≥ 0, ∫n ≥ 0 hold in floating point.
///
/// Source: Castro, Han, Masterjohn (2023), "Irrotational Contact Fields", section III.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let contact = ContactParameters {
/// #     time_step: 0.01.into(), signed_distance: -1e-3, start_velocity: 0.0, stiffness: 1e4, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 0.5,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // 1 mm deep at k = 10 kN/m and δt = 10 ms: 0.1 N·s at rest, none where the step ends the contact, at 1 mm/δt.
/// let law = contact.normal_force();
/// assert!((law.impulse(0.0) - 0.1).abs() < 1e-15);
/// assert!((law.release_velocity() - 0.1).abs() < 1e-15 && law.impulse(0.1) == 0.0);
/// assert!((law.energy(0.0) - 0.5 * 0.1 * 0.1).abs() < 1e-15); // a triangle: ½ n v̂
/// // 2 kg at −1 m/s meet it: the impulse is that of the velocity after the step, v = −1 + n/m.
/// let n = law.implicit_impulse(0.5, -1.0, 0.0);
/// assert!((n - law.impulse(-1.0 + 0.5 * n)).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalForce {
    /// v̂, m/s; −∞ for a contact without stiffness.
    release: f64,
    /// a, N·s.
    preload: f64,
    /// s, kg.
    slope: f64,
    /// g.
    damping_at_release: f64,
    /// d, s/m.
    dissipation: f64,
}

impl NormalForce {
    /// From f0 (N), c (N·s/m) and d (s/m).
    #[must_use]
    pub(crate) fn new(time_step_s: f64, f0: f64, c: f64, d: f64) -> Self {
        // These comparisons pass NaN on to validation.
        let positive_part = |x: f64| if x < 0.0 { 0.0 } else { x };
        let d = d + 0.0; // −0 would give 1/d = −∞
        let (by_elasticity, by_dissipation) = (f0 / c, 1.0 / d);
        let (release, preload, damping_at_release) = if c == 0.0 {
            (f64::NEG_INFINITY, 0.0, 0.0)
        } else if by_elasticity <= by_dissipation {
            (by_elasticity, 0.0, positive_part(1.0 - d * by_elasticity))
        } else {
            let preload = time_step_s * (f0 - c * by_dissipation);
            (by_dissipation, positive_part(preload), 0.0)
        };
        Self {
            release,
            preload,
            slope: time_step_s * c,
            damping_at_release,
            dissipation: d,
        }
    }

    /// That of the same contact with `share` of its stiffness: a and s are proportional to k, g and d are independent of it.
    pub(super) fn with_stiffness_times(self, share: f64) -> Self {
        Self {
            preload: share * self.preload,
            slope: share * self.slope,
            ..self
        }
    }

    /// v̂: at and above this normal velocity the impulse is zero; −∞ without stiffness.
    #[must_use]
    #[inline]
    pub fn release_velocity(&self) -> f64 {
        self.release
    }

    /// n(v_n), N·s.
    #[must_use]
    #[inline]
    pub fn impulse(&self, v_n: f64) -> f64 {
        if v_n >= self.release {
            return 0.0;
        }
        let x = self.release - v_n;
        (self.preload + self.slope * x) * (self.damping_at_release + self.dissipation * x)
    }

    /// −n'(v_n) ≥ 0, kg.
    #[must_use]
    #[inline]
    pub fn stiffness(&self, v_n: f64) -> f64 {
        if v_n >= self.release {
            return 0.0;
        }
        let x = self.release - v_n;
        self.slope * (self.damping_at_release + self.dissipation * x)
            + self.dissipation * (self.preload + self.slope * x)
    }

    /// −n' at the release velocity, from below, kg.
    #[must_use]
    #[inline]
    pub(crate) fn stiffness_at_release(&self) -> f64 {
        self.slope * self.damping_at_release + self.dissipation * self.preload
    }

    /// A bound of −n' for all normal velocities from the second number on, which is below `v_n`: its value at one and a half times the
    /// present slope. Without dissipation the slope is constant, and the second number −∞.
    pub(super) fn majorant(&self, v_n: f64) -> (f64, f64) {
        let curving = self.slope * self.dissipation;
        if curving == 0.0 {
            return (self.stiffness_at_release(), f64::NEG_INFINITY);
        }
        let x = (self.release - v_n).max(0.0);
        let slope = self.stiffness_at_release() + 2.0 * curving * x;
        (1.5 * slope, self.release - x - 0.25 * slope / curving)
    }

    /// ∫ n dv from v_n to v̂, J: non-negative, zero when released.
    #[must_use]
    #[inline]
    pub fn energy(&self, v_n: f64) -> f64 {
        if v_n >= self.release {
            return 0.0;
        }
        let x = self.release - v_n;
        let (a, s, g, d) = self.coefficients();
        x * (a * g + x * (0.5 * (a * d + s * g) + x * (s * d / 3.0)))
    }

    /// The impulse n(v) at the root of v − v_ref = w (n(v) − n_prev): a local implicit solve.
    ///
    /// `w` (1/kg) is the inverse effective mass of the contact, `v_ref` (m/s) its normal velocity if the impulse stays at `n_prev`
    /// (N·s). The left side grows and the right side falls with v, so the root is unique.
    #[must_use]
    pub fn implicit_impulse(&self, w: f64, v_ref: f64, n_prev: f64) -> f64 {
        let v_free = v_ref - w * n_prev;
        if v_free >= self.release {
            return 0.0;
        }
        // With x = v̂ − v: w s d x² + (1 + w(a d + s g)) x − (v̂ − v_free − w a g) = 0. One of a and g is zero.
        let (a, s, g, d) = self.coefficients();
        let p = w * s * d;
        let q = 1.0 + w * (a * d + s * g);
        let r = self.release - v_free;
        let x = 2.0 * r / (q + (q * q + 4.0 * p * r).sqrt());
        self.impulse(self.release - x)
    }

    fn coefficients(&self) -> (f64, f64, f64, f64) {
        (
            self.preload,
            self.slope,
            self.damping_at_release,
            self.dissipation,
        )
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        at_least_zero("stiffness × time step² (kg)", self.slope)?;
        at_least_zero("Hunt-Crossley dissipation (s/m)", self.dissipation)?;
        if self.release != f64::NEG_INFINITY {
            finite("release velocity, from signed distance (m/s)", self.release)?;
        }
        at_least_zero("preload, from signed distance (N·s)", self.preload)?;
        finite("dissipation at release", self.damping_at_release)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_stiffness_at_release_is_the_limit_from_below() {
        // Released by elasticity and by dissipation.
        for f0 in [2.0, 400.0] {
            let law = NormalForce::new(0.01, f0, 10.0, 0.1);
            let below = law.release_velocity() - 1e-9;
            let limit = law.stiffness(below);
            assert!((law.stiffness_at_release() - limit).abs() < 1e-7 * limit);
            let line = law.stiffness_at_release() * 1e-9;
            assert!((law.impulse(below) - line).abs() < 1e-7 * line);
        }
    }

    use super::*;
    use nalgebra::{Matrix1, SVector, Vector1};

    use crate::conformance::check_potential;
    use crate::potential::Potential;

    impl Potential<1> for NormalForce {
        fn cost(&self, v: &Vector1<f64>) -> f64 {
            self.energy(v.x)
        }
        fn impulse(&self, v: &Vector1<f64>) -> Vector1<f64> {
            Vector1::new(NormalForce::impulse(self, v.x))
        }
        fn hessian(&self, v: &Vector1<f64>) -> Matrix1<f64> {
            Matrix1::new(self.stiffness(v.x))
        }
    }

    #[track_caller]
    fn check(f0: f64, c: f64, d: f64) {
        let law = NormalForce::new(0.01, f0, c, d);
        let mut samples: Vec<SVector<f64, 1>> = [-30.0, -1.0, -1e-6, 0.0, 1e-6, 0.3, 5.0]
            .map(Vector1::new)
            .to_vec();
        let hat = law.release_velocity();
        if hat.is_finite() {
            for offset in [-1e-3, -1e-9, 0.0, 1e-9, 1e-3] {
                samples.push(Vector1::new(hat + offset));
            }
        }
        check_potential(&law, &samples).unwrap();
        // The formula of the definition, where its terms do not cancel.
        for v in samples.iter().map(|v| v.x) {
            let plain = 0.01 * (f0 - c * v).max(0.0) * (1.0 - d * v).max(0.0);
            let scale = 0.01 * (f0.abs() + c * v.abs()) * (1.0 + d * v.abs());
            let found = NormalForce::impulse(&law, v);
            assert!(
                (found - plain).abs() <= 8.0 * f64::EPSILON * scale,
                "v = {v}: {found}, {plain}"
            );
            assert!(law.energy(v) >= 0.0 && law.stiffness(v) >= 0.0 && found >= 0.0);
        }
    }

    #[test]
    fn impulse_is_the_derivative_of_energy_in_every_regime() {
        check(10.0, 1e4, 0.0); // closed, elastic
        check(10.0, 1e4, 50.0); // released by elasticity
        check(1e4, 1e3, 50.0); // released by dissipation
        check(1e3, 50.0 * 1e3, 50.0); // both at the same velocity
        check(-10.0, 1e4, 50.0); // open at the start
        check(0.0, 1e4, 0.2); // touching
        check(1e8, 1e12, 1e3); // stiff
        check(0.0, 0.0, 3.0); // no stiffness
    }

    #[test]
    fn without_stiffness_there_is_no_impulse() {
        let law = NormalForce::new(0.01, -0.0, 0.0, 0.0);
        assert_eq!(NormalForce::impulse(&law, -1e3), 0.0);
        assert_eq!(law.energy(-1e3), 0.0);
        assert_eq!(law.implicit_impulse(1.0, -1e3, 0.0), 0.0);
        law.validate().unwrap();
    }

    #[test]
    fn implicit_impulse_solves_its_equation() {
        for (f0, c, d) in [
            (10.0, 1e4, 0.0),
            (1e4, 1e3, 50.0),
            (-300.0, 1e5, 20.0),
            (5.0, 1e9, 1.0),
        ] {
            let law = NormalForce::new(0.01, f0, c, d);
            for (w, v_ref, n_prev) in [
                (1.0, -1.0, 0.0),
                (1e-3, -30.0, 2.0),
                (50.0, 0.0, 0.3),
                (2.0, -9.0, 0.0),
            ] {
                let n = law.implicit_impulse(w, v_ref, n_prev);
                let v = v_ref + w * (n - n_prev);
                let again = NormalForce::impulse(&law, v);
                // v carries round-off eps·|w n|, which the stiffness amplifies.
                let scale = n + law.stiffness(v) * (v_ref.abs() + w * (n + n_prev));
                assert!(
                    (n - again).abs() <= 16.0 * f64::EPSILON * scale,
                    "{n} {again}"
                );
            }
        }
    }

    #[test]
    fn bad_numbers_are_reported_by_name() {
        assert!(
            NormalForce::new(0.01, f64::NAN, 1e4, 50.0)
                .validate()
                .is_err()
        );
        assert!(NormalForce::new(0.01, 1.0, -1e4, 50.0).validate().is_err());
        assert!(NormalForce::new(0.01, 1.0, 1e4, -1.0).validate().is_err());
        assert!(
            NormalForce::new(0.01, 1.0, 1e4, f64::NAN)
                .validate()
                .is_err()
        );
        assert!(
            NormalForce::new(f64::NAN, 1.0, 1e4, 0.0)
                .validate()
                .is_err()
        );
    }
}
