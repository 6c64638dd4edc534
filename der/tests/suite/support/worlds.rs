//! Worlds with rods: what they are made of, how they are filled, how they are stepped.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{BodyState, SolverKind, StopCriteria};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_der::{Centreline, Closure, Material, Rayleigh, Rod, RodBuilder, Section};
use pliant_hydroelastic::{Compliance, ContactMaterial, PatchGeometry, Shape};

/// Of what soon comes to rest.
pub(crate) const DAMPED: Rayleigh = Rayleigh {
    mass: 1.0,
    stiffness: 1e-3,
};

pub(crate) fn rubber() -> Material {
    Material::isotropic(1e6, 0.49, 1100.0).unwrap()
}

/// E of [`soft`], Pa.
pub(crate) const MODULUS: f64 = 1e5;

/// The field of segments a millimetre thick or more: circles have 32 sides and more.
pub(crate) fn soft() -> Compliance {
    Compliance {
        hydroelastic_modulus: MODULUS,
        margin: 2e-5,
        mesh_resolution_hint: 2e-4,
        slab_thickness: None,
    }
}

/// A round rope of rubber, undamped.
pub(crate) fn rope(line: Centreline, radius: f64) -> RodBuilder {
    RodBuilder::new(line).section(Section::Circle { radius }, rubber())
}

/// Three turns of a helix, each a little wider than the one above.
pub(crate) fn coil(radius: f64) -> RodBuilder {
    let line = Centreline::curve(Closure::Open, 90, |s| {
        let angle = 3.0 * std::f64::consts::TAU * s;
        let r = 0.012 - 5e-4 * s;
        Point3::new(r * angle.cos(), r * angle.sin(), 0.0025 + 0.009 * s)
    });
    rope(line, radius).damping(DAMPED)
}

/// The least distance of centrelines of two edges that may touch, and which these are.
pub(crate) fn nearest_strands(rod: &Rod, state: &BodyState) -> (f64, usize, usize) {
    let x = |i: usize, s: f64| {
        let [p, q] = [i, i + 1].map(|node| rod.position(state, node).coords);
        p.lerp(&q, s)
    };
    let distance = |i: usize, j: usize| {
        let parts = |k: i32| f64::from(k) / 8.0;
        (0..=8)
            .flat_map(|k| (0..=8).map(move |l| (parts(k), parts(l))))
            .map(|(s, t)| (x(i, s) - x(j, t)).norm())
            .fold(f64::INFINITY, f64::min)
    };
    (0..rod.n_edges())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter(|(i, j)| rod.can_self_contact(*i, *j))
        .map(|(i, j)| (distance(i, j), i, j))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

/// A body that is a rod, and a geometry that is made on it.
pub(crate) fn add_rod(
    builder: &mut WorldBuilder,
    name: &str,
    rod: &Rod,
    geometry: impl FnOnce(BodyIdx) -> Geometry,
) -> (BodyIdx, GeometryIdx) {
    let body = builder.add_body(name, Box::new(rod.clone()));
    (body, builder.add_geometry(geometry(body)))
}

/// A shape that stands still, centred at `at`.
pub(crate) fn fixed(name: &str, shape: Shape, at: Vector3<f64>, of: ContactMaterial) -> Geometry {
    let mount = Mount::World(Isometry3::translation(at.x, at.y, at.z));
    Geometry::new(name, mount, shape, of)
}

/// The plane z = 0.
pub(crate) fn floor(of: ContactMaterial) -> Geometry {
    fixed("floor", Shape::half_space(), Vector3::zeros(), of)
}

/// The same with a rigid surface for patches.
pub(crate) fn hard_floor(of: ContactMaterial) -> Geometry {
    floor(of).with_patch(PatchGeometry::RigidHalfSpace)
}

/// Steps `state`, showing each report and the state after it to `watch`; every step must be trusted.
pub(crate) fn run(
    world: &World,
    state: &mut State,
    time_step_s: f64,
    seconds: f64,
    mut watch: impl FnMut(&StepReport, &State),
) {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut next = State::default();
    for _ in 0..(seconds / time_step_s).round() as usize {
        let report = stepper.step(world, state, time_step_s, &mut next).unwrap();
        assert!(report.is_trusted(), "{:?}", report.convergence.solve);
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

/// Throws every node of a body.
pub(crate) fn throw(state: &mut State, body: BodyIdx, rod: &Rod, velocity: Vector3<f64>) {
    for node in 0..rod.n_nodes() {
        let dofs = rod.node_dofs(node).unwrap();
        state.bodies[body.0].v[dofs].copy_from_slice(velocity.as_slice());
    }
}
