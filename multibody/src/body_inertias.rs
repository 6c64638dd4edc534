//! Inertias of all bodies in world axes, shared by the dynamics algorithms.

use crate::kinematics::PositionKinematics;
use crate::model::Model;
use crate::spatial::OriginInertia;

/// Inertias of all bodies about their origins, in world axes, at q: mass (kg), first moment m c (kg m) and second moment (kg m²).
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{BodyInertias, PositionKinematics, potential_energy};
///
/// // A ball of 2 kg on an arm of 1 m that hangs down, 1 m below the world origin.
/// let (mut positions, mut inertias) = (PositionKinematics::new(&model), BodyInertias::new(&model));
/// positions.update(&model, &[std::f64::consts::FRAC_PI_2]);
/// inertias.update(&model, &positions);
/// let energy = potential_energy(&model, &positions, &inertias, &Vector3::new(0.0, 0.0, -9.81));
/// assert!((energy + 2.0 * 9.81).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyInertias {
    pub(crate) bodies: Vec<OriginInertia>,
}

impl BodyInertias {
    /// A workspace for `model`; call [`update`](Self::update) before reading it.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![OriginInertia::default(); model.n_bodies()],
        }
    }

    /// Rotates all inertias to world axes, I_W = R_WB I_B R_WBᵀ, with the poses of the last update of `positions`. Does not allocate.
    pub fn update(&mut self, model: &Model, positions: &PositionKinematics) {
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            self.bodies[i] = body.inertia_B.rotated(&positions.bodies[i].rotation);
        }
    }
}
