//! Relaxation on a level set.
//!
//! ```text
//! n = ∇φ(Z)    d = −φ(Z)    W = Z + d n    r = X − W    l = |r|    τ = r/l
//! separate    d ≤ 0         no force
//! stick       l ≤ μ d       Y = X
//! slip        otherwise     K = W + s r,   s = μ d/l,   Y = K − φ(K)∇φ(K)
//! ```
//!
//! With A = I − n nᵀ − φ(Z)∇²φ(Z) and B the same at K, the derivatives in slip are
//!
//! ```text
//! ∂Y/∂Z = B ((1 − s) A − μ τ nᵀ + s τ τᵀA)        ∂Y/∂X = s B (I − τ τᵀ)
//! ```
//!
//! Thin shapes: where ∇φ(Z) points against ∇φ(X), the particle has passed the middle of the shape, and the surface nearest to it is that of the other
//! side. n and d are then those of the tangential plane at X, so that the particle is pulled back to the side that it came from, also from beyond.
//!
//! With anisotropic friction l = √(rᵀM r), and τᵀ in τ τᵀ is the derivative of l by r. On a plane without it they are τ τᵀ + (1 − s) b bᵀ − μ τ nᵀ with b = n × τ, and s b bᵀ.
//!
//! Source: Ding, Schroeder (2020), sections 2.1.1 and 2.1.2; derivatives: `docs/theory/ding-2020.md`.

use nalgebra::{Matrix3, Point3, RealField, Vector3};

use super::exact_slide::{OnSegment, exact_slide};
use super::friction::SlidingFriction;
use crate::signed_distance::SignedDistance;

/// What an attachment does when its particle moves.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Branch, Shape, Slide, SlidingFriction, relax_on_level_set};
///
/// // With μ = 0.5, a particle 1 mm below the plane z = 0 holds attachments up to 0.5 mm away.
/// let floor = Shape::half_space();
/// let branch = |attachment: f64, particle: f64| {
///     let (old, new) = (Point3::new(attachment, 0.0, 0.0), Point3::new(0.0, 0.0, particle));
///     relax_on_level_set(|p| floor.signed_distance(p), SlidingFriction::coulomb(0.5), Slide::Planar, &old, &new).branch
/// };
/// assert_eq!(branch(0.4e-3, -1e-3), Branch::Stick);
/// assert_eq!(branch(0.6e-3, -1e-3), Branch::Slip);
/// assert_eq!(branch(0.4e-3, 1e-3), Branch::Separate);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Branch {
    /// The particle is outside: no force.
    #[default]
    Separate,
    /// The attachment stays: static friction.
    Stick,
    /// It slides to the friction cone: dynamic friction.
    Slip,
}

/// How far an attachment slides.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Shape, Slide, SlidingFriction, relax_on_level_set};
///
/// // A particle 1 cm below the top of a ball of 10 cm drags an attachment with μ = 0.5. The force on it is Y − Z times a stiffness.
/// let ball = Shape::sphere(0.1)?;
/// let (old, particle) = (Point3::new(0.08, 0.0, 0.06), Point3::new(0.0, 0.0, 0.09));
/// let friction_per_normal_force = |slide| {
///     let friction = SlidingFriction::coulomb(0.5);
///     let relaxed = relax_on_level_set(|p| ball.signed_distance(p), friction, slide, &old, &particle);
///     let pull = relaxed.attachment - particle;
///     let normal_part = pull.dot(&relaxed.normal);
///     (pull - relaxed.normal * normal_part).norm() / normal_part
/// };
/// assert!((friction_per_normal_force(Slide::Exact) - 0.5).abs() < 1e-9);
/// assert!((0.4..0.49).contains(&friction_per_normal_force(Slide::Planar)));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slide {
    /// s of the tangential plane at W, as published. On a sphere of radius R friction is about d/R (1 + μ²/2) below the cone from outside, and
    /// as much above it in a bowl.
    #[default]
    Planar,
    /// The largest s with the force in the cone at Y.
    Exact,
}

/// A relaxed attachment Y = P(X, Z) and its derivatives, in the frame of the level set. The force on the particle is a stiffness (N/m)
/// times Y − Z.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Shape, Slide, SlidingFriction, relax_on_level_set};
///
/// // On a plane an attachment behind the particle, in direction −x, slides to Y = Z + d n − μ d x.
/// let floor = Shape::half_space();
/// let (old, particle) = (Point3::new(-0.01, 0.0, 0.0), Point3::new(0.0, 0.0, -0.001));
/// let friction = SlidingFriction::coulomb(0.5);
/// let relaxed = relax_on_level_set(|p| floor.signed_distance(p), friction, Slide::Planar, &old, &particle);
/// assert!((relaxed.attachment - Point3::new(-0.5e-3, 0.0, 0.0)).norm() < 1e-15);
/// // It follows the particle along x, and moves by μ where the particle rises by 1, since d = −z.
/// assert!((relaxed.by_particle[(0, 0)] - 1.0).abs() < 1e-12);
/// assert!((relaxed.by_particle[(0, 2)] - 0.5).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxed<T: RealField + Copy> {
    /// Whether the particle is outside, or its attachment sticks or slips.
    pub branch: Branch,
    /// Y, m, on the surface; in [`Branch::Stick`] X bit for bit, in [`Branch::Separate`] the particle itself.
    pub attachment: Point3<T>,
    /// Unit normal of the surface at Y, outwards.
    pub normal: Vector3<T>,
    /// The rule that s follows: [`Slide::Planar`] also where an exact s has no derivative.
    pub slide: Slide,
    /// ∂Y/∂Z, by the position of the particle.
    pub by_particle: Matrix3<T>,
    /// ∂Y/∂X, by the old attachment.
    pub by_attachment: Matrix3<T>,
}

/// Relaxes the attachment X = `attachment` of the particle Z = `particle` on the level set `distance`, all in one frame.
///
/// Derivatives are exact for any twice differentiable `distance`, also where its gradient is not quite a unit vector. A particle past the middle of a
/// thin shape, and anisotropic friction, follow [`Slide::Planar`].
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Branch, Shape, Slide, SlidingFriction, relax_on_level_set};
///
/// // 1 mm below the plane z = 0 an attachment slides up to μ times 1 mm.
/// let floor = Shape::half_space();
/// let (old, particle) = (Point3::new(0.01, 0.0, 0.0), Point3::new(0.0, 0.0, -0.001));
/// let friction = SlidingFriction::coulomb(0.5);
/// let relaxed = relax_on_level_set(|p| floor.signed_distance(p), friction, Slide::Planar, &old, &particle);
/// assert_eq!(relaxed.branch, Branch::Slip);
/// assert!((relaxed.attachment.x - 0.5e-3).abs() < 1e-18);
/// ```
pub fn relax_on_level_set<T: RealField + Copy>(
    distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
    friction: SlidingFriction<T>,
    slide: Slide,
    attachment: &Point3<T>,
    particle: &Point3<T>,
) -> Relaxed<T> {
    let Side {
        at: at_particle,
        foot_by_attachment,
        depth_by_attachment,
        slide,
    } = Side::of(&distance, slide, attachment, particle);
    let slide = match friction.axis {
        Some(_) => Slide::Planar,
        None => slide,
    };
    let depth = -at_particle.value;
    if depth.partial_cmp(&T::zero()) != Some(std::cmp::Ordering::Greater) {
        return Relaxed {
            branch: Branch::Separate,
            attachment: *particle,
            normal: at_particle.gradient,
            slide,
            by_particle: Matrix3::identity(),
            by_attachment: Matrix3::zeros(),
        };
    }
    let n = at_particle.gradient;
    let foot = particle + n * depth;
    let foot_by_particle = projection(&at_particle);
    let r = attachment - foot;
    let length = friction.length(&r);
    let sticks = match slide {
        _ if friction.sticking <= T::zero() => false,
        Slide::Planar => length <= friction.sticking * depth,
        Slide::Exact => {
            let cone = OnSegment::at_attachment(&distance, attachment, particle);
            cone.is_within(friction.sticking)
        }
    };
    if sticks {
        return Relaxed {
            branch: Branch::Stick,
            attachment: *attachment,
            normal: distance(attachment).gradient,
            slide,
            by_particle: Matrix3::zeros(),
            by_attachment: Matrix3::identity(),
        };
    }
    let mu = friction.sliding;
    // Without friction Y = W; nor has r a direction at depths whose squares underflow.
    let (tau, slope, planar) = match friction.sticking > T::zero() && length * length > T::zero() {
        true => (
            r / length,
            friction.length_slope(&r, length),
            (mu * depth / length).min(T::one()),
        ),
        false => (Vector3::zeros(), Vector3::zeros(), T::zero()),
    };
    if slide == Slide::Exact && planar > T::zero() {
        let segment = OnSegment::new(&distance, foot, r, *particle);
        if let Some(found) = exact_slide(&segment, mu, planar, &at_particle) {
            return found;
        }
    }
    let along = tau * slope.transpose();
    let at_chord = distance(&(foot + r * planar));
    let to_surface = projection(&at_chord);
    let left = Matrix3::identity() - foot_by_attachment;
    Relaxed {
        branch: Branch::Slip,
        attachment: foot + r * planar - at_chord.gradient * at_chord.value,
        normal: at_chord.gradient,
        slide: Slide::Planar,
        by_particle: to_surface
            * (foot_by_particle * (T::one() - planar) - tau * n.transpose() * mu
                + along * foot_by_particle * planar),
        by_attachment: to_surface
            * (foot_by_attachment + left * planar - along * left * planar
                + tau * depth_by_attachment.transpose() * mu),
    }
}

/// φ on the side of the shape that the attachment is on, with ∂W/∂X and ∂d/∂X: not zero for the tangential plane at X.
struct Side<T: RealField + Copy> {
    at: SignedDistance<T>,
    foot_by_attachment: Matrix3<T>,
    depth_by_attachment: Vector3<T>,
    slide: Slide,
}

impl<T: RealField + Copy> Side<T> {
    fn of(
        distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
        slide: Slide,
        attachment: &Point3<T>,
        particle: &Point3<T>,
    ) -> Self {
        let nearest = distance(particle);
        let SignedDistance {
            gradient: normal,
            hessian,
            ..
        } = distance(attachment);
        let way = particle - attachment;
        let above = way.dot(&normal);
        if above < T::zero() && nearest.gradient.dot(&normal) < T::zero() {
            let depth_by_attachment = normal - hessian * way;
            return Self {
                at: SignedDistance::flat(above, normal),
                foot_by_attachment: normal * depth_by_attachment.transpose() - hessian * above,
                depth_by_attachment,
                slide: Slide::Planar,
            };
        }
        Self {
            at: nearest,
            foot_by_attachment: Matrix3::zeros(),
            depth_by_attachment: Vector3::zeros(),
            slide,
        }
    }
}

/// φ at a particle, on the side of the shape that its attachment is on: of the tangential plane at the attachment where the particle has passed the
/// middle of the shape.
pub fn distance_on_side_of<T: RealField + Copy>(
    attachment: &Point3<T>,
    distance: impl Fn(&Point3<T>) -> SignedDistance<T>,
    particle: &Point3<T>,
) -> SignedDistance<T> {
    Side::of(distance, Slide::Planar, attachment, particle).at
}

/// ∂(p − φ∇φ)/∂p = I − n nᵀ − φ∇²φ.
pub(super) fn projection<T: RealField + Copy>(at: &SignedDistance<T>) -> Matrix3<T> {
    Matrix3::identity() - at.gradient * at.gradient.transpose() - at.hessian * at.value
}

#[cfg(test)]
mod tests;
