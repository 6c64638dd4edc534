//! What has a shader and what has not.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyError, ContactLaw, ContactParameters, Dissipation, FrictionLimit, Lagged, Potential,
};
use pliant_hydroelastic::Shape;
use pliant_mpm::{DeviceObject, SubstepInput, SubstepLaws};

use crate::error::GpuError;

/// Links that the solver has room for.
const LINKS_MAX: usize = 256;
/// Particle and contact numbers travel in f32.
const PARTICLES_MAX: usize = 1 << 24;

pub(crate) fn check_objects(objects: &[DeviceObject]) -> Result<(), GpuError> {
    for object in objects {
        let DeviceObject { name, material, .. } = object;
        if object.is_cloth {
            return Err(GpuError::unsupported(format!("\"{name}\", a cloth,")));
        }
        if object.law.is_none() {
            return Err(GpuError::unsupported(format!(
                "the material {material} of \"{name}\""
            )));
        }
    }
    Ok(())
}

fn refused(what: impl Into<String>) -> BodyError {
    BodyError::Model(GpuError::unsupported(what).to_string())
}

pub(crate) fn check_input(
    input: &SubstepInput<'_>,
    n_particles: usize,
    n_links: usize,
) -> Result<(), BodyError> {
    let control = input.control;
    let targets = [&control.position, &control.velocity, &control.effort];
    if targets.iter().any(|x| !x.is_empty()) {
        return Err(BodyError::Unsupported { what: "actuators" });
    }
    if input.substeps == 0 {
        return Err(BodyError::Model(
            "a time step needs at least one substep".into(),
        ));
    }
    if control.held.iter().any(Option::is_some) {
        return Err(refused("a held set of particles"));
    }
    if !control.loads.is_empty() {
        return Err(refused("a load on particles"));
    }
    if n_links > LINKS_MAX {
        return Err(refused(format!("a model of {n_links} links in contact")));
    }
    if n_particles > PARTICLES_MAX {
        return Err(refused(format!("a model of {n_particles} particles")));
    }
    if !is_lagged(input.laws) {
        return Err(refused("a contact model other than `lagged`"));
    }
    for obstacle in input.obstacles {
        if shape_numbers(&obstacle.shape).is_none() {
            let name = obstacle.shape.name();
            return Err(refused(format!("contact of particles with a {name}")));
        }
    }
    Ok(())
}

/// Number of a shape in `signed_distance.wgsl`, and its sizes.
pub(crate) fn shape_numbers(shape: &Shape) -> Option<(u32, Vector3<f64>)> {
    Some(match shape {
        Shape::HalfSpace => (0, Vector3::zeros()),
        Shape::Sphere(s) => (1, Vector3::new(s.radius(), 0.0, 0.0)),
        Shape::Box(s) => (2, s.half_extents()),
        Shape::Cylinder(s) => (3, Vector3::new(s.radius(), s.half_length(), 0.0)),
        Shape::Capsule(s) => (4, Vector3::new(s.radius(), s.half_length(), 0.0)),
        _ => return None,
    })
}

/// Whether `laws` are those of `contact_law.wgsl`: tried on contacts that stick, slip, and part.
fn is_lagged(laws: &dyn SubstepLaws) -> bool {
    if laws.range_m() != 0.0 || laws.friction_limit() != FrictionLimit::LocalImplicit {
        return false;
    }
    let parameters = ContactParameters {
        time_step: 1e-3.into(),
        signed_distance: -1e-3,
        start_velocity: 0.0,
        stiffness: 1e3,
        dissipation: Dissipation::HuntCrossley(2.0),
        friction: 0.5,
        stiction_speed: 1e-3,
        inverse_inertia: 10.0,
        near_rigid: 0.1,
    };
    let (normal, n0) = (Vector3::z(), 2e-3);
    let own = Lagged::new(&parameters, normal, n0);
    let ContactLaw::Lagged(theirs) = laws.law(&parameters, normal, n0) else {
        return false;
    };
    let tried = [
        [0.0, 0.0, 0.0],
        [1e-3, 0.0, -0.1],
        [0.3, 0.2, 0.1],
        [0.0, 1.0, 2.0],
    ];
    tried
        .map(Vector3::from)
        .iter()
        .all(|v| own.impulse(v) == theirs.impulse(v))
}

#[cfg(test)]
mod tests {
    use nalgebra::Point3;
    use pliant_contact_sap::Control;
    use pliant_mpm::{LaggedLaws, Obstacle, SubstepContact, SubstepSolver};

    use super::*;

    #[test]
    fn a_shape_without_a_shader_is_named() {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let hull = Shape::convex_hull(&corners.map(Point3::from)).expect("a tetrahedron");
        let obstacles = [Obstacle {
            shape: hull,
            link: None,
            X_LG: nalgebra::Isometry3::identity(),
            surface_velocity: Vector3::zeros(),
            pairs: vec![None],
        }];
        let control = Control::default();
        let mut input = SubstepInput {
            time_step_s: 0.01,
            substeps: 1,
            gravity: Vector3::zeros(),
            control: &control,
            obstacles: &obstacles,
            contact: SubstepContact {
                stiction_speed: 1e-4,
                near_rigid: 0.1,
                solver: SubstepSolver::default(),
                tolerance: 1e-2,
                iterations_max: 100,
            },
            laws: &LaggedLaws,
        };
        let refused = check_input(&input, 1, 0).expect_err("no shader for hulls");
        assert!(refused.to_string().contains("convex hull"), "{refused}");
        input.obstacles = &[];
        check_input(&input, 1, 0).expect("nothing to touch");
    }
}
