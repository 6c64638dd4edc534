//! Couplings of joints: the position of one is a polynomial of the position of another.

use super::{JointIdx, Model};
use crate::error::MultibodyError;

/// A coupling of a joint, q_joint = p(q_source): URDF's `<mimic>`, MuJoCo's `<equality><joint>`. [`RigidTree`](crate::RigidTree)
/// makes it a constraint; the dynamics algorithms treat both joints as independent.
///
/// ```
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # use nalgebra::Vector3;
/// # let mut builder = ModelBuilder::new("gripper");
/// # for name in ["palm", "left", "right"] {
/// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
/// # }
/// # builder.joint(JointSpec::new("left slide", JointKind::Prismatic, "palm", "left").about(Vector3::y()));
/// # builder.joint(JointSpec::new("right slide", JointKind::Prismatic, "palm", "right").about(Vector3::y()));
/// use pliant_multibody::CouplerLaw;
///
/// // Two fingers that close together: q_right = −q_left.
/// builder.coupler("right slide", "left slide", CouplerLaw::linear(-1.0, 0.0));
/// let gripper = builder.build()?;
/// let coupler = gripper.couplers()[0];
/// assert_eq!(gripper.joint(coupler.source.expect("it follows")).name, "left slide");
/// let mut q = [0.02, 0.0];
/// gripper.make_admissible(&mut q);
/// assert_eq!(q, [0.02, -0.02]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupler {
    /// The coupled joint.
    pub joint: JointIdx,
    /// The joint that it follows; `None` if it is held at a constant position.
    pub source: Option<JointIdx>,
    /// Its position as a function of the position of the source.
    pub law: CouplerLaw,
    /// Width of the play: the joint moves freely within half of it on either side of that position, rad or m.
    pub backlash: f64,
}

impl Coupler {
    /// The position nearest to `position` that the coupling allows where its source is at `source`, rad or m.
    #[must_use]
    pub fn admit(&self, position: f64, source: f64) -> f64 {
        let middle = self.law.value(source);
        let half = 0.5 * self.backlash;
        position.max(middle - half).min(middle + half)
    }

    /// How far `position` is beyond what the coupling allows where its source is at `source`, with its sign.
    pub(crate) fn error(&self, position: f64, source: f64) -> f64 {
        position - self.admit(position, source)
    }
}

impl Model {
    /// Gives the coupling of a joint a play of this width, rad or m: zero makes it rigid.
    ///
    /// # Errors
    /// [`MultibodyError::Value`] if the width is negative or not finite, or the joint follows no other.
    ///
    /// ```
    /// # use pliant_multibody::{CouplerLaw, JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
    /// # let mut builder = ModelBuilder::new("gears");
    /// # for name in ["box", "pinion", "wheel"] {
    /// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_cylinder(1.0, 0.1, 0.02)));
    /// # }
    /// # builder.joint(JointSpec::new("a", JointKind::Continuous, "box", "pinion"));
    /// # builder.joint(JointSpec::new("b", JointKind::Continuous, "box", "wheel"));
    /// builder.coupler("b", "a", CouplerLaw::linear(-0.5, 0.0));
    /// let mut gears = builder.build()?;
    /// let wheel = gears.joint_named("b")?;
    /// gears.set_backlash(wheel, 0.02)?;
    /// // The wheel is at 0.1 rad, 0.01 rad from where a rigid coupling would put it: it may stay there.
    /// let mut q = [-0.22, 0.1];
    /// gears.make_admissible(&mut q);
    /// assert_eq!(q, [-0.22, 0.1]);
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn set_backlash(&mut self, joint: JointIdx, width: f64) -> Result<(), MultibodyError> {
        let fail = |allowed: &str| MultibodyError::Value {
            subject: format!("joint \"{}\"", self.joints[joint.0].name),
            quantity: "backlash".into(),
            value: width.to_string(),
            allowed: allowed.into(),
        };
        if !(width >= 0.0 && width.is_finite()) {
            return Err(fail("must be finite and not negative"));
        }
        let found = self.couplers.iter().position(|c| c.joint == joint);
        let Some(coupler) = found else {
            return Err(fail("needs a joint that follows another"));
        };
        self.couplers[coupler].backlash = width;
        Ok(())
    }
}

/// A polynomial of at most fourth degree, p(x) = c₀ + Σ c_k (x − x₀)ᵏ, in rad or m.
///
/// ```
/// use pliant_multibody::CouplerLaw;
///
/// let law = CouplerLaw { coefficients: [0.1, 2.0, 3.0, 0.0, 0.0], about: 0.5 };
/// assert!((law.value(0.7) - (0.1 + 2.0 * 0.2 + 3.0 * 0.04)).abs() < 1e-15);
/// assert!((law.slope(0.7) - (2.0 + 6.0 * 0.2)).abs() < 1e-15);
/// assert_eq!(law.inverse(0.7), None);
/// assert!((CouplerLaw::linear(2.0, 0.5).inverse(0.7).unwrap() - 0.1).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplerLaw {
    /// c₀ to c₄.
    pub coefficients: [f64; 5],
    /// x₀.
    pub about: f64,
}

impl CouplerLaw {
    /// p(x) = `multiplier` · x + `offset`. The multiplier is dimensionless between joints of one kind, otherwise in rad/m or m/rad.
    #[must_use]
    pub fn linear(multiplier: f64, offset: f64) -> Self {
        Self {
            coefficients: [offset, multiplier, 0.0, 0.0, 0.0],
            about: 0.0,
        }
    }

    /// p(x).
    #[must_use]
    pub fn value(&self, x: f64) -> f64 {
        let x = x - self.about;
        let terms = self.coefficients.iter().rev();
        terms.fold(0.0, |sum, c| sum * x + c)
    }

    /// p′(x).
    #[must_use]
    pub fn slope(&self, x: f64) -> f64 {
        let x = x - self.about;
        let powers = (1..5).rev();
        powers.fold(0.0, |sum, k| sum * x + k as f64 * self.coefficients[k])
    }

    /// The x with p(x) = `y`, if p is of first degree.
    #[must_use]
    pub fn inverse(&self, y: f64) -> Option<f64> {
        let [constant, multiplier, higher @ ..] = self.coefficients;
        let is_linear = higher == [0.0; 3] && multiplier != 0.0;
        is_linear.then(|| (y - constant) / multiplier + self.about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_of_values() {
        let law = CouplerLaw {
            coefficients: [0.3, -1.2, 0.7, 2.1, -0.4],
            about: 0.25,
        };
        for x in [-1.3, 0.0, 0.25, 0.9] {
            let h = 1e-5;
            let difference = (law.value(x + h) - law.value(x - h)) / (2.0 * h);
            assert!((difference - law.slope(x)).abs() < 1e-8);
        }
    }
}
