//! Ranges of joints that follow from their own limits and those of the joints that follow them.

use super::{JointIdx, Model};

/// A closed interval of positions, rad or m.
///
/// ```
/// use pliant_multibody::PositionRange;
///
/// let range = PositionRange { lower: 0.0, upper: 1.0 };
/// assert_eq!((range.clamp(1.5), range.is_empty()), (1.0, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionRange {
    /// Least position; −∞ without a limit.
    pub lower: f64,
    /// Largest position; ∞ without a limit.
    pub upper: f64,
}

impl PositionRange {
    /// The position of the range that is nearest to `x`; `x` if the range is empty.
    #[must_use]
    pub fn clamp(&self, x: f64) -> f64 {
        match self.is_empty() {
            true => x,
            false => x.max(self.lower).min(self.upper),
        }
    }

    /// Whether no position is in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lower > self.upper
    }

    fn intersect(&mut self, other: Self) {
        self.lower = self.lower.max(other.lower);
        self.upper = self.upper.min(other.upper);
    }
}

impl Model {
    /// The limits of each joint, without those of the joints that follow it.
    pub(crate) fn limit_range(&self, joint: JointIdx) -> PositionRange {
        let limits = &self.joint(joint).limits;
        PositionRange {
            lower: limits.lower,
            upper: limits.upper,
        }
    }

    /// For each joint, the positions at which it and all joints that follow it by a coupling of first degree are within their limits.
    ///
    /// ```
    /// # use nalgebra::Vector3;
    /// # use pliant_multibody::{CouplerLaw, JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
    /// # let mut builder = ModelBuilder::new("gripper");
    /// # for name in ["palm", "left", "right"] {
    /// #     builder.link(LinkSpec::new(name, SpatialInertia::solid_sphere(1.0, 0.1)));
    /// # }
    /// // The right finger moves twice as far as the left one, but within the same limits.
    /// for name in ["left", "right"] {
    ///     let mut joint = JointSpec::new(name, JointKind::Prismatic, "palm", name);
    ///     (joint.limits.lower, joint.limits.upper) = (0.0, 0.04);
    ///     builder.joint(joint);
    /// }
    /// builder.coupler("right", "left", CouplerLaw::linear(2.0, 0.0));
    /// let left = builder.build()?.admissible_ranges()[0];
    /// assert_eq!((left.lower, left.upper), (0.0, 0.02));
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn admissible_ranges(&self) -> Vec<PositionRange> {
        let joints = (0..self.joints.len()).map(JointIdx);
        let mut ranges: Vec<PositionRange> = joints.map(|j| self.limit_range(j)).collect();
        // Couplers are sorted: those of followers come last.
        for coupler in self.couplers.iter().rev() {
            let Some(source) = coupler.source else {
                continue;
            };
            let (follower, half) = (ranges[coupler.joint.0], 0.5 * coupler.backlash);
            let ends =
                [follower.lower - half, follower.upper + half].map(|y| coupler.law.inverse(y));
            if let [Some(a), Some(b)] = ends {
                ranges[source.0].intersect(PositionRange {
                    lower: a.min(b),
                    upper: a.max(b),
                });
            }
        }
        ranges
    }
}
