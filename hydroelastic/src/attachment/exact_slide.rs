//! The largest s in [0, 1] with the force in the friction cone of the curved surface.
//!
//! ```text
//! Y(s) = K − φ(K) n,   K = W + s r,   n = ∇φ(K),   a = (Y − Z)·n
//! g(s) = a² − |Y − Z|²/(1 + μ²) ≥ 0  and  a > 0      ⇔      f at Y is in the cone
//! ```
//!
//! g(0) ≥ 0; where g(1) < 0 the root is bracketed, and the side of the bracket within the cone is used. The derivative follows from the implicit
//! function theorem: with B = ∂Y/∂K and dg = g_K dK + g_Z dZ,
//!
//! ```text
//! g_K = 2a (nᵀB + (Y − Z)ᵀ∇²φ) − 2/(1 + μ²) (Y − Z)ᵀB        g_Z = −2a nᵀ + 2/(1 + μ²) (Y − Z)ᵀ
//! ds = −(g_K ((1 − s) A dZ + s dX) + g_Z dZ)/(g_K r)
//! ```

use nalgebra::{Matrix3, Point3, RealField, RowVector3, Vector3};

use super::level_set::{Branch, Relaxed, Slide, projection};
use crate::signed_distance::SignedDistance;

/// The bracket of the root shrinks at least by half in every second round.
const ROUNDS_MAX: usize = 200;

/// Points Y(s) along the chord from W to X.
pub(super) struct OnSegment<'a, T: RealField + Copy, D> {
    distance: &'a D,
    foot: Point3<T>,
    r: Vector3<T>,
    particle: Point3<T>,
}

/// The force at a point of the surface.
pub(super) struct Pull<T: RealField + Copy> {
    /// At K.
    at: SignedDistance<T>,
    /// Y.
    attachment: Point3<T>,
    /// Y − Z.
    pull: Vector3<T>,
    /// (Y − Z)·n.
    normal_part: T,
}

impl<T: RealField + Copy> Pull<T> {
    fn new(at: SignedDistance<T>, attachment: Point3<T>, particle: &Point3<T>) -> Self {
        let pull = attachment - particle;
        Self {
            normal_part: pull.dot(&at.gradient),
            at,
            attachment,
            pull,
        }
    }

    /// g, negative also where the force would pull inwards.
    fn excess(&self, mu: T) -> T {
        let share = self.pull.norm_squared() / (T::one() + mu * mu);
        if self.normal_part > T::zero() {
            self.normal_part * self.normal_part - share
        } else {
            -share
        }
    }

    pub(super) fn is_within(&self, mu: T) -> bool {
        self.excess(mu) >= T::zero()
    }
}

impl<'a, T: RealField + Copy, D: Fn(&Point3<T>) -> SignedDistance<T>> OnSegment<'a, T, D> {
    pub(super) fn new(
        distance: &'a D,
        foot: Point3<T>,
        r: Vector3<T>,
        particle: Point3<T>,
    ) -> Self {
        Self {
            distance,
            foot,
            r,
            particle,
        }
    }

    /// The force with the attachment where it is.
    pub(super) fn at_attachment(
        distance: &D,
        attachment: &Point3<T>,
        particle: &Point3<T>,
    ) -> Pull<T> {
        Pull::new(distance(attachment), *attachment, particle)
    }

    fn at(&self, s: T) -> Pull<T> {
        let chord = self.foot + self.r * s;
        let at = (self.distance)(&chord);
        let attachment = chord - at.gradient * at.value;
        Pull::new(at, attachment, &self.particle)
    }
}

/// The attachment at the largest s, searched from `planar`; `None` where g jumps over zero or has no slope there.
pub(super) fn exact_slide<T: RealField + Copy, D: Fn(&Point3<T>) -> SignedDistance<T>>(
    segment: &OnSegment<'_, T, D>,
    mu: T,
    planar: T,
    at_particle: &SignedDistance<T>,
) -> Option<Relaxed<T>> {
    let two = T::one() + T::one();
    let half = T::one() / two;
    let (mut low, mut high) = (T::zero(), T::one());
    let mut g_low = segment.at(low).excess(mu);
    let mut g_high = segment.at(high).excess(mu);
    if g_low < T::zero() || g_high >= T::zero() {
        return None;
    }
    let mut s = planar;
    for round in 0..ROUNDS_MAX {
        let g = segment.at(s).excess(mu);
        if g >= T::zero() {
            (low, g_low) = (s, g);
        } else {
            (high, g_high) = (s, g);
        }
        if high - low <= T::default_epsilon() * two * high {
            break;
        }
        // Regula falsi, and bisection in every second round.
        s = if round % 2 == 0 && g_low > g_high {
            low + (high - low) * (g_low / (g_low - g_high))
        } else {
            low + (high - low) * half
        };
        if s <= low || s >= high {
            s = low + (high - low) * half;
        }
    }
    let s = low;
    let Pull {
        at,
        attachment,
        pull,
        normal_part,
    } = segment.at(s);
    let to_surface = projection(&at);
    let share = two / (T::one() + mu * mu);
    let (normal, pull) = (at.gradient.transpose(), pull.transpose());
    let by_chord: RowVector3<T> =
        (normal * to_surface + pull * at.hessian) * (two * normal_part) - pull * to_surface * share;
    let by_particle_only = pull * share - normal * (two * normal_part);
    let slope = (by_chord * segment.r).x;
    let size = segment.r.norm() * pull.norm();
    if slope.abs() <= T::default_epsilon().sqrt() * size {
        return None;
    }
    let carried = projection(at_particle) * (T::one() - s);
    let s_by_particle = (by_chord * carried + by_particle_only) / -slope;
    let s_by_attachment = by_chord * (-s / slope);
    Some(Relaxed {
        branch: Branch::Slip,
        attachment,
        normal: at.gradient,
        slide: Slide::Exact,
        by_particle: to_surface * (carried + segment.r * s_by_particle),
        by_attachment: to_surface * (Matrix3::identity() * s + segment.r * s_by_attachment),
    })
}
