//! Balls of rigid shapes on level sets: the contact is at the point of the ball nearest to the object, which is another one of the material in every step.
//!
//! The centre z of a ball of radius r is kept at the distance r, so the depth is r − φ(z) and the normal force leads through the centre: nothing bumps,
//! and nothing resists rolling. Friction acts at c = z − r n, n = ∇φ(z). Relative to the object, the material there is displaced in the step by
//!
//! ```text
//! Δc = Δz − r θ × n        θ the rotation vector of the ball relative to the object
//! ```
//!
//! so the attachment X, which is held against a centre, moves by r θ × n before it is relaxed: X' = X + r θ × n, projected on the surface. A ball that
//! rolls, Δz = r θ × n, keeps X' − z, and one at rest keeps X to the last bit. In the object's axes, with G and G_X the derivatives of Y = P(X', z),
//! B the projection's, H = ∇²φ(z), J the left Jacobian of θ, and turns ψ of both frames,
//!
//! ```text
//! δf = κ (δY − δz),   δY = G δz + G_X B (r δθ × n + r θ × H δz),   δθ = J⁻¹(θ)(ψ_ball − ψ_object)
//! ```

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_hydroelastic::{Shape, SignedDistance};

/// A ball in a step, in the axes of the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling {
    pub(super) radius: f64,
    /// θ.
    pub(super) turn: Vector3<f64>,
}

/// X' and how it depends on the centre and on the turn, in the object's frame.
pub(super) struct Rolled {
    pub(super) attachment: Point3<f64>,
    /// ∂X'/∂z and ∂X'/∂ψ, of the turn of the ball relative to the object.
    pub(super) by_centre: Matrix3<f64>,
    pub(super) by_turn: Matrix3<f64>,
    /// c − z, and its derivative by z.
    pub(super) offset: Vector3<f64>,
    pub(super) offset_by_centre: Matrix3<f64>,
}

impl Rolling {
    /// Rolls the attachment `old` along, for a ball with its centre at `z`.
    pub(super) fn roll(&self, shape: &Shape, old: &Point3<f64>, z: &Point3<f64>) -> Rolled {
        let Self { radius, turn } = *self;
        let at_centre = shape.signed_distance(z);
        let (n, hessian) = (at_centre.gradient, at_centre.hessian);
        let mut attachment = *old;
        let mut projection = Matrix3::identity();
        if turn != Vector3::zeros() {
            attachment += turn.cross(&n) * radius;
            let SignedDistance {
                value,
                gradient,
                hessian,
            } = shape.signed_distance(&attachment);
            let above = value - radius;
            projection -= gradient * gradient.transpose() + hessian * above;
            attachment -= gradient * above;
        }
        Rolled {
            attachment,
            by_centre: projection * turn.cross_matrix() * hessian * radius,
            by_turn: projection * n.cross_matrix() * inverse_left_jacobian(&turn) * -radius,
            offset: n * -radius,
            offset_by_centre: hessian * -radius,
        }
    }
}

/// J⁻¹ = 1 − ½ [θ]× + (1/t² − (1 + cos t)/(2 t sin t)) [θ]×², t = |θ|.
fn inverse_left_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let t = turn.norm();
    let factor = match t < 1e-3 {
        true => 1.0 / 12.0 + t * t / 720.0,
        false => 1.0 / (t * t) - (1.0 + t.cos()) / (2.0 * t * t.sin()),
    };
    let cross = turn.cross_matrix();
    Matrix3::identity() - cross * 0.5 + cross * cross * factor
}

#[cfg(test)]
mod tests {
    use nalgebra::UnitQuaternion;

    use super::*;

    #[test]
    fn the_inverse_jacobian_is_that_of_the_rotation_vector() {
        for turn in [
            Vector3::new(1e-5, 2e-5, -1e-5),
            Vector3::new(0.3, -0.8, 0.5),
            Vector3::new(-1.2, 0.4, 1.6),
        ] {
            let jacobian = inverse_left_jacobian(&turn);
            for k in 0..3 {
                let h = 1e-6;
                let at = |h: f64| {
                    let change = UnitQuaternion::from_scaled_axis(Vector3::ith(k, h));
                    (change * UnitQuaternion::from_scaled_axis(turn)).scaled_axis()
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!((slope - jacobian.column(k)).norm() < 1e-8, "{turn}, {k}");
            }
        }
    }

    #[test]
    fn a_ball_that_rolls_on_a_ball_takes_its_attachment_along() {
        // A ball of 0.1 m rolls without slip by 0.2 rad around one of 0.3 m: it turns by 0.2 (1 + 0.3/0.1) rad.
        let object = Shape::sphere(0.3).expect("a radius");
        let centre = |angle: f64| Point3::new(0.4 * angle.sin(), 0.0, 0.4 * angle.cos());
        let steps = 2000;
        let mut attachment = centre(0.0);
        for k in 1..=steps {
            let rolling = Rolling {
                radius: 0.1,
                turn: Vector3::y() * (0.8 / f64::from(steps)),
            };
            let z = centre(0.2 * f64::from(k) / f64::from(steps));
            attachment = rolling.roll(&object, &attachment, &z).attachment;
        }
        // Offset surface: the attachment is where the centre is.
        let off = attachment - centre(0.2);
        assert!(off.norm() < 1e-4, "{off}");
    }
}
