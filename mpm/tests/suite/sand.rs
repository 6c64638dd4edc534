//! Failure of a block of sand between frictionless plates at its friction angle.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Exclusion, Geometry, GeometryIdx, Mount, State, Stepper, StrongImplicit, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    FrictionAngle, MpmBuilder, MpmSettings, ObjectSpec, Sampling, Sand, Wall, WallKind, fill,
};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const H: f64 = 0.025;
/// Height and length of the block, m; it is two cells wide.
const EDGE: f64 = 3.0 * H;
const WIDTH: f64 = 2.0 * H;
/// Strain rate, 1/s: so slow that the elastic trial stress of a step is 0.7% of the stress at failure.
const RATE: f64 = 0.04;
/// Final strain; sand of 30° fails at 0.6%.
const STRAIN: f64 = 0.01;
const DT: f64 = 1e-3;
/// Initial stretch in all directions: a pressure of 10 kPa.
const STRETCH: f64 = 0.996;
/// Record of a particle: C, F, two internal variables, object, id.
const RECORD: usize = 22;
const GRADIENT: std::ops::Range<usize> = 9..18;

/// A plate so heavy that its velocity is constant, with a face larger than `EDGE`.
fn plate(p_WB: Vector3<f64>, v: Vector3<f64>) -> (RigidTree, Shape) {
    let lengths = Vector3::repeat(2.0 * EDGE);
    let mut model = ModelBuilder::new("plate");
    model.root(Root::Floating);
    model.link(LinkSpec::new(
        "plate",
        SpatialInertia::solid_box(1e9, lengths),
    ));
    let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
        &[p_WB.x, p_WB.y, p_WB.z, 1.0, 0.0, 0.0, 0.0],
        &[0.0, 0.0, 0.0, v.x, v.y, v.z],
    );
    (tree, Shape::cuboid(lengths).unwrap())
}

/// σ₁/σ₃ of a block in plane strain, compressed from above and released at its side at constant volume until it has failed; the mean over
/// the last quarter of the path.
fn stress_ratio(sand: Sand) -> f64 {
    let size = Vector3::new(EDGE, WIDTH, EDGE);
    let shape = Shape::cuboid(size).unwrap();
    let pose = Isometry3::from(0.5 * size);
    let set = fill("sand", &shape, &pose, H, Sampling::default()).unwrap();
    let mut points = MpmBuilder::new(MpmSettings::new(H));
    points.object(ObjectSpec::new("sand", Arc::new(sand), 1500.0, set));
    for (p_WQ, normal_W) in [
        (Point3::origin(), Vector3::x()),
        (Point3::origin(), Vector3::y()),
        (Point3::origin(), Vector3::z()),
        (Point3::new(0.0, WIDTH, 0.0), -Vector3::y()),
    ] {
        points.wall(Wall {
            p_WQ,
            normal_W,
            kind: WallKind::Slides,
        });
    }
    let contact = ContactMaterial {
        stiffness: 1e6,
        dissipation: 0.1,
        friction: 0.0,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let sand = builder.add_body("sand", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("sand", sand, contact));
    let speed = RATE * EDGE;
    let half = 0.5 * size;
    let faces = [("side", Vector3::x(), speed), ("top", Vector3::z(), -speed)];
    let plates = faces.map(|(name, axis, v)| {
        let p_WB = half + axis * (0.5 * EDGE + EDGE);
        let (body, shape) = plate(p_WB, axis * v);
        let body = builder.add_body(name, Box::new(body));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        builder.add_geometry(Geometry::new(name, mount, shape, contact));
        body
    });
    builder.exclude(Exclusion::Bodies(plates[0], plates[1]));
    let world = builder.build().unwrap();

    let mut state = world.default_state();
    for record in state.bodies[0].history[2..].chunks_exact_mut(RECORD) {
        record[GRADIENT].iter_mut().for_each(|f| *f *= STRETCH);
    }
    let mut next = State::default();
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let steps = (STRAIN / (RATE * DT)).round() as usize;
    let (mut sum, mut count) = (0.0, 0.0);
    for step in 1..=steps {
        let report = stepper.step(&world, &state, DT, &mut next).unwrap();
        assert!(report.is_trusted(), "{:?}", report.convergence.solve);
        std::mem::swap(&mut state, &mut next);
        let moved = speed * DT * step as f64;
        let pressure = |plate: usize, axis: Vector3<f64>, other: f64| {
            let force = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(plate));
            force.force.dot(&axis) / (WIDTH * other)
        };
        let side = pressure(1, Vector3::x(), EDGE - moved);
        let top = pressure(2, Vector3::z(), EDGE + moved);
        if 4 * step > 3 * steps {
            sum += top / side;
            count += 1.0;
        }
    }
    sum / count
}

/// Mohr and Coulomb: σ₁/σ₃ = (1 + sin φ)/(1 − sin φ).
fn coulomb(degrees: f64) -> f64 {
    let sine = degrees.to_radians().sin();
    (1.0 + sine) / (1.0 - sine)
}

#[test]
fn a_block_in_plane_strain_fails_at_its_friction_angle() {
    // The cone that fits triaxial compression is wider in plane strain: sin φ' = 2√3 sin φ/(3 − sin φ), 26.5° for 20°.
    let sine = 20_f64.to_radians().sin();
    let wider = (2.0 * 3_f64.sqrt() * sine / (3.0 - sine)).asin();
    for (cone, degrees, effective) in [
        (FrictionAngle::PlaneStrain, 30.0, 30.0),
        (FrictionAngle::TriaxialCompression, 20.0, wider.to_degrees()),
    ] {
        let found = stress_ratio(
            Sand::new(Lame::from_young_poisson(1e6, 0.3).unwrap(), degrees, cone).unwrap(),
        );
        let share = found / coulomb(effective);
        eprintln!(
            "{cone:?}, {degrees}°: σ₁/σ₃ {found:.3}, {share:.4} of Coulomb's at {effective:.1}°"
        );
        assert!((share - 1.0).abs() < 0.02, "{cone:?}: {found}");
    }
}
