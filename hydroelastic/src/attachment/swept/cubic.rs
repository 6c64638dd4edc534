//! The triple product of three vectors that are linear in time, and its roots in [0, 1].

use nalgebra::Vector3;

/// A value within this many units of round-off of zero is a root at the ends of the interval.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;
/// Halvings of an interval within [0, 1] down to round-off.
const HALVINGS: usize = 60;

/// (u × v)·w = c₀ + c₁t + c₂t² + c₃t³.
pub(super) struct Cubic {
    c: [f64; 4],
    /// Below this a value is zero.
    zero: f64,
}

type Motion = [Vector3<f64>; 2];

impl Cubic {
    /// `None` where all coefficients are zero to round-off: the vectors move within one plane.
    pub(super) fn coplanar(u: &Motion, v: &Motion, w: &Motion) -> Option<Self> {
        let rate = |x: &Motion| x[1] - x[0];
        let (d_u, d_v, d_w) = (rate(u), rate(v), rate(w));
        let triple = |a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>| a.cross(b).dot(c);
        let c = [
            triple(&u[0], &v[0], &w[0]),
            triple(&d_u, &v[0], &w[0]) + triple(&u[0], &d_v, &w[0]) + triple(&u[0], &v[0], &d_w),
            triple(&d_u, &d_v, &w[0]) + triple(&d_u, &v[0], &d_w) + triple(&u[0], &d_v, &d_w),
            triple(&d_u, &d_v, &d_w),
        ];
        let size = |x: &Motion| x[0].norm().max(x[1].norm());
        let scale = size(u) * size(v) * size(w);
        let largest = c.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let zero = ROUND_OFF * c.iter().map(|c| c.abs()).sum::<f64>().max(scale);
        (largest > 4.0 * zero).then_some(Self { c, zero })
    }

    fn value(&self, t: f64) -> f64 {
        let [c_0, c_1, c_2, c_3] = self.c;
        c_0 + t * (c_1 + t * (c_2 + t * c_3))
    }

    /// Zeros of the derivative within (0, 1), ascending.
    fn turning_points(&self) -> impl Iterator<Item = f64> {
        let (a, b, c) = (3.0 * self.c[3], 2.0 * self.c[2], self.c[1]);
        let discriminant = b * b - 4.0 * a * c;
        let mut roots = [f64::NAN; 2];
        if discriminant >= 0.0 {
            let q = -0.5 * (b + discriminant.sqrt().copysign(b));
            roots = [q / a, c / q];
            if roots[0] > roots[1] {
                roots.swap(0, 1);
            }
        }
        roots.into_iter().filter(|t| *t > 0.0 && *t < 1.0)
    }

    /// The first root in [0, 1] that `hit` accepts.
    pub(super) fn first_root<H>(&self, hit: impl Fn(f64) -> Option<H>) -> Option<H> {
        let mut from = 0.0;
        let mut ends = [0.0; 3];
        let mut n = 0;
        for t in self.turning_points().chain([1.0]) {
            ends[n] = t;
            n += 1;
        }
        for &to in &ends[..n] {
            if let Some(found) = self.root_between(from, to, &hit) {
                return Some(found);
            }
            from = to;
        }
        None
    }

    /// The root in an interval in which the cubic is monotonic.
    fn root_between<H>(&self, from: f64, to: f64, hit: &impl Fn(f64) -> Option<H>) -> Option<H> {
        let (at_from, at_to) = (self.value(from), self.value(to));
        if at_from.abs() <= self.zero
            && let Some(found) = hit(from)
        {
            return Some(found);
        }
        if (at_from < 0.0) != (at_to < 0.0) {
            let (mut low, mut high) = (from, to);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if (self.value(middle) < 0.0) == (at_from < 0.0) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            if let Some(found) = hit(high) {
                return Some(found);
            }
        }
        (at_to.abs() <= self.zero).then(|| hit(to)).flatten()
    }
}
