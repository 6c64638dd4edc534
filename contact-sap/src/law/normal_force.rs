//! The normal impulse of compliant contact as a function of the normal velocity, and its antiderivative.

/// n(v_n) = δt (f0 − c v_n)₊ (1 − d v_n)₊: elastic force at the end of the step, times dissipation.
///
/// Hunt-Crossley: c = δt k and d the dissipation; Kelvin-Voigt: c = (δt + τ)k and d = 0. f0 = −kφ0 is the elastic force
/// at the start of the step and may be negative: a contact that is not closed yet. n is non-increasing, so its
/// antiderivative is concave and the cost convex.
///
/// Source: Castro, Han, Masterjohn (2023), "Irrotational Contact Fields", section III.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalForce {
    pub(crate) time_step_s: f64,
    pub(crate) elastic_force: f64,
    pub(crate) slope: f64,
    pub(crate) dissipation: f64,
}

impl NormalForce {
    /// v̂: at and above this normal velocity the impulse is zero.
    #[must_use]
    #[inline]
    pub fn release_velocity(&self) -> f64 {
        let by_dissipation = 1.0 / self.dissipation;
        if self.slope > 0.0 {
            by_dissipation.min(self.elastic_force / self.slope)
        } else if self.elastic_force > 0.0 {
            by_dissipation
        } else {
            f64::NEG_INFINITY
        }
    }

    /// n(v_n), N·s.
    #[must_use]
    #[inline]
    pub fn impulse(&self, v_n: f64) -> f64 {
        if v_n >= self.release_velocity() {
            return 0.0;
        }
        self.time_step_s * (self.elastic_force - self.slope * v_n) * (1.0 - self.dissipation * v_n)
    }

    /// −n'(v_n) ≥ 0, kg.
    #[must_use]
    #[inline]
    pub fn stiffness(&self, v_n: f64) -> f64 {
        if v_n >= self.release_velocity() {
            return 0.0;
        }
        self.time_step_s
            * (self.slope * (1.0 - self.dissipation * v_n)
                + self.dissipation * (self.elastic_force - self.slope * v_n))
    }

    /// ∫ n dv from v_n to v̂, J: non-negative, zero when released.
    #[must_use]
    #[inline]
    pub fn energy(&self, v_n: f64) -> f64 {
        let v_hat = self.release_velocity();
        if v_n >= v_hat {
            return 0.0;
        }
        // With x = v̂ − v > 0 and the factors written about v̂ no large terms cancel:
        // n = δt (f̂ + c x)(ĝ + d x), f̂ = f0 − c v̂ ≥ 0, ĝ = 1 − d v̂ ≥ 0.
        let x = v_hat - v_n;
        let f = (self.elastic_force - self.slope * v_hat).max(0.0);
        let g = (1.0 - self.dissipation * v_hat).max(0.0);
        let (c, d) = (self.slope, self.dissipation);
        self.time_step_s * x * (f * g + 0.5 * x * (f * d + g * c) + x * x * c * d / 3.0)
    }

    /// The impulse n(v) at the root of v − v_ref = w (n(v) − n_prev): the contact solved alone, implicitly.
    ///
    /// `w` (1/kg) is the inverse inertia that the contact feels, `v_ref` (m/s) the normal velocity it would have if
    /// its impulse stayed at `n_prev` (N·s). The left side grows and the right side falls with v, so the root is unique.
    #[must_use]
    pub fn implicit_impulse(&self, w: f64, v_ref: f64, n_prev: f64) -> f64 {
        let v_free = v_ref - w * n_prev;
        if v_free >= self.release_velocity() {
            return 0.0;
        }
        // a v² − b v + c0 = 0, the smaller root.
        let wdt = w * self.time_step_s;
        let a = wdt * self.slope * self.dissipation;
        let b = wdt * (self.slope + self.elastic_force * self.dissipation) + 1.0;
        let c0 = wdt * self.elastic_force + v_free;
        let root = (b * b - 4.0 * a * c0).max(0.0).sqrt();
        let v = if b >= 0.0 {
            2.0 * c0 / (b + root)
        } else {
            0.5 * (b - root) / a
        };
        self.impulse(v)
    }
}
