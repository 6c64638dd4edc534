//! What tests of penalty forces share: a stepper, surfaces and free bodies.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, PenaltyForce, PenaltyForceSettings, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

pub(crate) const G: f64 = 9.81;
pub(crate) const FLOOR: GeometryIdx = GeometryIdx(0);

pub(crate) fn stepper() -> PenaltyForce {
    with_tolerance(1e-10)
}

pub(crate) fn with_tolerance(tolerance: f64) -> PenaltyForce {
    PenaltyForce::new(PenaltyForceSettings {
        tolerance,
        box_particles: 2,
        ..PenaltyForceSettings::default()
    })
    .expect("legal settings")
}

/// A surface whose pairs have stiffness `k` per particle.
pub(crate) fn surface(k: f64, friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 2.0 * k,
        friction,
        ..ContactMaterial::default()
    }
}

pub(crate) fn add_free_body(
    builder: &mut WorldBuilder,
    name: &str,
    shape: Shape,
    inertia: SpatialInertia,
    material: ContactMaterial,
    X_WB: Isometry3<f64>,
    v: [f64; 6],
) -> BodyIdx {
    let centred = Vector3::zeros();
    add_body_with_origin(builder, name, (shape, inertia, material), X_WB, v, centred)
}

/// The same body with the origin of its frame at `p_BO`, in the axes of its shape.
pub(crate) fn add_body_with_origin(
    builder: &mut WorldBuilder,
    name: &str,
    (shape, inertia, material): (Shape, SpatialInertia, ContactMaterial),
    X_WB: Isometry3<f64>,
    v: [f64; 6],
    p_BO: Vector3<f64>,
) -> BodyIdx {
    let X_OB = Isometry3::translation(-p_BO.x, -p_BO.y, -p_BO.z);
    let inertia = inertia.expressed_in(&X_OB);
    let turning = Vector3::new(v[0], v[1], v[2]).cross(&(X_WB.rotation * p_BO));
    let v = [
        v[0],
        v[1],
        v[2],
        v[3] + turning.x,
        v[4] + turning.y,
        v[5] + turning.z,
    ];
    let X_WB = X_WB * X_OB.inverse();
    let mut model = ModelBuilder::new(name);
    model.root(Root::Floating);
    model.link(LinkSpec::new(name, inertia));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model")))
        .starting_at(&[p.x, p.y, p.z, r.w, r.i, r.j, r.k], &v);
    let body = builder.add_body(name, Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: X_OB,
    };
    builder.add_geometry(Geometry::new(name, mount, shape, material));
    body
}
