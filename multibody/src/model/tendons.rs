//! Fixed tendons: linear combinations of joint positions with limits, springs and drives of their own.

use super::{JointIdx, Model, PositionRange};
use crate::joint::DriveGains;

/// A fixed tendon, whose length is L = Σ c q over joints of one degree of freedom. [`RigidTree`](crate::RigidTree) makes its limits, its
/// spring and its drive rows of the contact problem; the dynamics algorithms leave it out.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{RobotOptions, parse_robot};
///
/// let mjcf = br#"<mujoco><compiler angle="radian"/><worldbody>
///     <body><joint name="a"/><geom size="0.1"/></body><body><joint name="b"/><geom size="0.1"/></body>
///   </worldbody><tendon><fixed name="mean" range="-1 1"><joint joint="a" coef="0.5"/><joint joint="b" coef="0.5"/></fixed></tendon></mujoco>"#;
/// let model = parse_robot(mjcf, Path::new("two.xml"), &RobotOptions::default())?.model;
/// let mean = &model.tendons()[0];
/// assert!((mean.length(&model, &[0.2, 0.4]) - 0.3).abs() < 1e-15);
/// assert_eq!(mean.limits.upper, 1.0);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Its name, unique among the tendons and joints of the model.
    pub name: String,
    /// The joints and their coefficients c.
    pub terms: Vec<(JointIdx, f64)>,
    /// Limits of the length.
    pub limits: PositionRange,
    /// Spring and damper along the length.
    pub spring: TendonSpring,
    /// Its drive, which a control moves.
    pub drive: TendonDrive,
}

/// A spring that is slack in a range of lengths, and a damper: −k (L − clamp(L, rest)) − d L̇.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonSpring {
    /// k, N per unit of length.
    pub stiffness: f64,
    /// d, N s per unit of length.
    pub damping: f64,
    /// Lengths without force.
    pub rest: PositionRange,
}

impl Default for TendonSpring {
    /// No spring and no damper.
    fn default() -> Self {
        Self {
            stiffness: 0.0,
            damping: 0.0,
            rest: PositionRange {
                lower: 0.0,
                upper: 0.0,
            },
        }
    }
}

/// The drive of a tendon. A joint moves by c times the force along the length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonDrive {
    /// Gains on the length, if the file gives them.
    pub gains: Option<DriveGains>,
    /// Largest force, N.
    pub effort_limit: f64,
}

impl Default for TendonDrive {
    /// No gains and no limit.
    fn default() -> Self {
        Self {
            gains: None,
            effort_limit: f64::INFINITY,
        }
    }
}

/// Index of a tendon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TendonIdx(pub usize);

impl Tendon {
    /// L at the positions `q` of `model`.
    ///
    /// # Panics
    /// If `q` is too short.
    #[must_use]
    pub fn length(&self, model: &Model, q: &[f64]) -> f64 {
        let terms = self.terms.iter();
        terms
            .map(|(joint, c)| c * q[model.joint(*joint).q_start])
            .sum()
    }
}

impl Model {
    /// The fixed tendons.
    pub fn tendons(&self) -> &[Tendon] {
        &self.tendons
    }

    /// The tendon with this name.
    pub fn tendon_named(&self, name: &str) -> Option<TendonIdx> {
        let found = self.tendons.iter().position(|tendon| tendon.name == name);
        found.map(TendonIdx)
    }

    /// Potential energy of the springs of tendons at the positions `q`, J.
    pub fn tendon_energy(&self, q: &[f64]) -> f64 {
        let energy = |tendon: &Tendon| {
            let length = tendon.length(self, q);
            let stretch = length - tendon.spring.rest.clamp(length);
            0.5 * tendon.spring.stiffness * stretch * stretch
        };
        self.tendons.iter().map(energy).sum()
    }

    /// Number of controls of each kind (position, velocity, effort): one for each degree of freedom, then one for each tendon.
    pub fn n_controls(&self) -> usize {
        self.n_v() + self.tendons.len()
    }

    /// Index of the control of a tendon.
    pub fn control_of_tendon(&self, TendonIdx(tendon): TendonIdx) -> usize {
        self.n_v() + tendon
    }
}
