//! Energy, momentum and centre of mass of the moving bodies; the mass of a fixed root is not included.

use nalgebra::Vector3;

use crate::body_inertias::BodyInertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::Model;
use crate::spatial::Wrench;

/// Total linear momentum, and angular momentum about the world origin, world axes.
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
/// use pliant_multibody::{Workspace, momentum};
///
/// // A ball of 2 kg on a level arm of 1 m that turns at 3 rad/s about y: it moves down at 3 m/s.
/// let mut workspace = Workspace::new(&model);
/// workspace.update(&model, &[0.0], &[3.0]);
/// let found = momentum(&model, &workspace.positions, &workspace.velocities, &workspace.inertias);
/// assert!((found.linear - Vector3::new(0.0, 0.0, -6.0)).norm() < 1e-12);
/// assert!((found.angular_about_origin.y - 2.008 * 3.0).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// Σ m v, kg m/s.
    pub linear: Vector3<f64>,
    /// Σ (I ω + c × m v) about the world origin, kg m²/s.
    pub angular_about_origin: Vector3<f64>,
}

/// Mass and centre of mass, world frame.
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
/// use pliant_multibody::{Workspace, centre_of_mass};
///
/// // A ball of 2 kg on an arm of 1 m that hangs down: a rotation of +90° about y takes x to −z.
/// let mut workspace = Workspace::new(&model);
/// workspace.update_positions(&model, &[std::f64::consts::FRAC_PI_2]);
/// let found = centre_of_mass(&model, &workspace.positions, &workspace.inertias);
/// assert_eq!(found.mass, 2.0);
/// assert!((found.position - Vector3::new(0.0, 0.0, -1.0)).norm() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentreOfMass {
    /// Mass, kg.
    pub mass: f64,
    /// Position, m; the world origin if there is no mass.
    pub position: Vector3<f64>,
}

/// Kinetic energy Σ ½ (ω·I ω + 2 v·(ω × m c) + m v·v) = ½ vᵀM v of the bodies, J, without rotors. `velocities` and `inertias` are
/// those of updates at the same q.
pub fn kinetic_energy(
    model: &Model,
    velocities: &VelocityKinematics,
    inertias: &BodyInertias,
) -> f64 {
    let energy = |i: usize| {
        inertias.bodies[i]
            .momentum(&velocities.bodies[i])
            .power(&velocities.bodies[i])
    };
    0.5 * (1..model.n_bodies()).map(energy).sum::<f64>()
}

/// Potential energy −Σ m g·c, J, zero at the world origin. `gravity` (m/s²) is that of the world; the energy is zero for a
/// model with gravity disabled, and weight that is carried for a link has none.
pub fn potential_energy(
    model: &Model,
    positions: &PositionKinematics,
    inertias: &BodyInertias,
    gravity: &Vector3<f64>,
) -> f64 {
    let centre = centre_of_mass(model, positions, inertias);
    let moment = centre.position * centre.mass - model.compensated_moment(positions);
    -model.gravity_from(gravity).dot(&moment)
}

/// Total momentum of all bodies: linear, and angular about the world origin, world axes.
pub fn momentum(
    model: &Model,
    positions: &PositionKinematics,
    velocities: &VelocityKinematics,
    inertias: &BodyInertias,
) -> Momentum {
    let mut sum = Wrench::zero();
    for i in 1..model.n_bodies() {
        let own = inertias.bodies[i].momentum(&velocities.bodies[i]);
        sum += own.shifted_back(&positions.bodies[i].origin);
    }
    Momentum {
        linear: sum.force,
        angular_about_origin: sum.torque,
    }
}

/// Total mass (kg) and centre of mass (m, world frame) of all bodies.
pub fn centre_of_mass(
    model: &Model,
    positions: &PositionKinematics,
    inertias: &BodyInertias,
) -> CentreOfMass {
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    for i in 1..model.n_bodies() {
        mass += inertias.bodies[i].mass;
        moment += inertias.bodies[i].moment + positions.bodies[i].origin * inertias.bodies[i].mass;
    }
    let position = if mass > 0.0 {
        moment / mass
    } else {
        Vector3::zeros()
    };
    CentreOfMass { mass, position }
}
