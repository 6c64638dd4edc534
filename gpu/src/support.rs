//! What has a shader and what has not.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyError, ContactLaw, ContactParameters, Dissipation, Lagged, Potential,
};
use pliant_mpm::{BendingModel, DeviceCloth, DeviceObject, Obstacle, SubstepInput, SubstepLaws};

use crate::error::GpuError;
use crate::shapes::{DeviceShape, Shapes};
use crate::tables::INDICES;

/// Links that the solver has room for.
const LINKS_MAX: usize = 256;

pub(crate) fn check_objects(objects: &[DeviceObject]) -> Result<(), GpuError> {
    for object in objects {
        let DeviceObject { name, material, .. } = object;
        let bends = |cloth: &DeviceCloth| cloth.forces.bending_model() == BendingModel::Plate;
        if object.cloth.as_ref().is_some_and(bends) {
            return Err(GpuError::unsupported(format!(
                "the bending of \"{name}\" as a plate (set `bending_model = \"hinges\"` to have one)"
            )));
        }
        if object.law.is_none() && object.cloth.is_none() {
            return Err(GpuError::unsupported(format!(
                "the material {material} of \"{name}\""
            )));
        }
    }
    Ok(())
}

pub(crate) fn refused(what: impl Into<String>) -> BodyError {
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
    if n_links > LINKS_MAX {
        return Err(refused(format!("a model of {n_links} links in contact")));
    }
    if n_particles > INDICES as usize {
        return Err(refused(format!("a model of {n_particles} particles")));
    }
    if !is_lagged(input.laws) {
        return Err(refused("a contact model other than `lagged`"));
    }
    Ok(())
}

/// The shapes of all obstacles.
pub(crate) fn device_shapes(
    shapes: &mut Shapes,
    obstacles: &[Obstacle],
) -> Result<Vec<DeviceShape>, BodyError> {
    let each = obstacles.iter().map(|o| shapes.of(&o.shape));
    each.map(|shape| shape.map_err(|e| BodyError::Model(e.to_string())))
        .collect()
}

/// Whether `laws` are those of `contact_law.wgsl`: tried on contacts that stick, slip, and part.
fn is_lagged(laws: &dyn SubstepLaws) -> bool {
    if laws.range_m() != 0.0 || !laws.has_iterated_bound() {
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
    use nalgebra::{Isometry3, Point3};
    use pliant_hydroelastic::{Aabb, CustomShape, Shape, SignedDistance};

    use super::*;

    /// All of space, 1 m deep.
    #[derive(Debug)]
    struct Everywhere;

    impl CustomShape for Everywhere {
        fn name(&self) -> &'static str {
            "everywhere"
        }

        fn local_aabb(&self) -> Aabb {
            Aabb::ALL
        }

        fn signed_distance(&self, _: &Point3<f64>) -> SignedDistance<f64> {
            SignedDistance {
                value: -1.0,
                gradient: Vector3::z(),
                hessian: nalgebra::Matrix3::zeros(),
            }
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    #[test]
    fn a_shape_without_a_shader_is_named() {
        let obstacles = [Obstacle {
            shape: Shape::custom(Everywhere),
            link: None,
            X_LG: Isometry3::identity(),
            surface_velocity: Vector3::zeros(),
            pairs: vec![None],
        }];
        let mut shapes = Shapes::default();
        let refused = device_shapes(&mut shapes, &obstacles).expect_err("no shader for it");
        assert!(refused.to_string().contains("everywhere"), "{refused}");
        let none = device_shapes(&mut shapes, &[]).expect("nothing to touch");
        assert!(none.is_empty());
    }
}
