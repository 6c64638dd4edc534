//! Energies, momenta and the centre of mass of what moves; a fixed root's own mass counts in none of them.

use nalgebra::Vector3;

use crate::body_inertias::BodyInertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::Model;
use crate::spatial::Wrench;

/// Total linear momentum and angular momentum about the world's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// Σ m v, kg m/s.
    pub linear: Vector3<f64>,
    /// Σ (I ω + c × m v) about the world's origin, kg m²/s.
    pub angular_about_origin: Vector3<f64>,
}

/// Mass, and centre of mass in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassCentre {
    /// kg.
    pub mass: f64,
    /// m; the world's origin if there is no mass.
    pub position: Vector3<f64>,
}

/// Kinetic energy of the bodies in J; rotors behind gears are not in it.
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

/// Potential energy −Σ m g·c in J, zero at the world's origin; `gravity` in m/s² is the world's, a model it doesn't act
/// on has none.
pub fn potential_energy(
    model: &Model,
    positions: &PositionKinematics,
    inertias: &BodyInertias,
    gravity: &Vector3<f64>,
) -> f64 {
    let centre = mass_centre(model, positions, inertias);
    -centre.mass * model.gravity_from(gravity).dot(&centre.position)
}

/// Momenta of all bodies together.
pub fn momentum(
    model: &Model,
    positions: &PositionKinematics,
    velocities: &VelocityKinematics,
    inertias: &BodyInertias,
) -> Momentum {
    let mut sum = Wrench::zero();
    for i in 1..model.n_bodies() {
        let own = inertias.bodies[i].momentum(&velocities.bodies[i]);
        sum += own.about_point_seeing_it_at(&positions.bodies[i].origin);
    }
    Momentum {
        linear: sum.force,
        angular_about_origin: sum.torque,
    }
}

/// Mass and centre of mass of all bodies together.
pub fn mass_centre(
    model: &Model,
    positions: &PositionKinematics,
    inertias: &BodyInertias,
) -> MassCentre {
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
    MassCentre { mass, position }
}
