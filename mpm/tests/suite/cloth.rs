//! Cloth in a world, under the asynchronous and the strong-implicit stepper.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Geometry, GeometryIdx, Mount, Precision, State, StepReport,
    Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::mesh::generate;
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw, LimitReason, MaterialPoints, MpmBuilder,
    MpmSettings,
};

const G: f64 = 9.81;

/// Both steppers, with their names.
fn both() -> [(&'static str, Box<dyn Stepper>); 2] {
    [
        ("asynchronous", Box::new(stepper(Precision::Double))),
        ("strong-implicit", Box::new(implicit())),
    ]
}

/// The matrix of a cloth is not assembled.
fn implicit() -> StrongImplicit<Box<dyn ConvexContactSolver>> {
    StrongImplicit::new(SolverKind::NewtonCg.build(StopCriteria::default()))
}

fn stepper(precision: Precision) -> Asynchronous<Box<dyn ConvexContactSolver>> {
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let settings = AsynchronousSettings {
        precision,
        ..AsynchronousSettings::default()
    };
    Asynchronous::new(rigid, settings).unwrap()
}

fn step(stepper: &mut dyn Stepper, world: &World, state: &mut State, dt: f64) -> StepReport {
    let mut next = State::default();
    let report = stepper.step(world, state, dt, &mut next).unwrap();
    assert!(report.is_trusted(), "{:?}", report.untrusted());
    std::mem::swap(state, &mut next);
    report
}

/// A sheet in the plane z = 0, its centre at the origin.
fn sheet(size: [f64; 2], cells: [u32; 2], spacing: f64) -> ClothMesh {
    let surface = generate::sheet(size, cells).unwrap();
    ClothMesh::new("sheet", surface, spacing).unwrap().0
}

/// Bounds of the vertices along an axis.
fn extent(positions: &[Vector3<f64>], axis: usize) -> (f64, f64) {
    let along = positions.iter().map(|p| p[axis]);
    along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    })
}

fn vertices(state: &State, n: usize) -> Vec<Vector3<f64>> {
    let q = state.bodies[0].q.chunks_exact(3).take(n);
    q.map(Vector3::from_column_slice).collect()
}

/// A world of one cloth, some of whose vertices are held in place.
fn hung(mut spec: ClothSpec, is_held: impl Fn(&Vector3<f64>) -> bool) -> (World, Vec<u32>) {
    let each = (0_u32..).zip(&mut spec.positions);
    let held: Vec<u32> = each.filter(|(_, p)| is_held(p)).map(|(k, _)| k).collect();
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.cloth(spec);
    builder.grip("held", held.clone());
    let model = builder.build().unwrap();
    assert!(matches!(
        model.substep_limit().unwrap().reason,
        LimitReason::Cloth(_)
    ));
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    builder.add_body("cloth", Box::new(model));
    (builder.build().unwrap(), held)
}

#[test]
fn a_hanging_strip_stretches_under_its_own_weight() {
    // Δ = ρ g L²/(2E), 2.45 mm, at a mean strain of 1.2 %.
    let (length, modulus, density) = (0.2, 8e4, 1000.0);
    let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, modulus, 0.0, density, 1e-3)
        .unwrap()
        .with_damping_time(0.002)
        .unwrap();
    let mesh = sheet([0.1, length], [10, 20], 0.02);
    let mut spec = ClothSpec::new("strip", mesh.clone(), material);
    let (low, high) = extent(mesh.surface().vertices(), 1);
    // Upright: y becomes z.
    for p in &mut spec.positions {
        *p = Vector3::new(p.x, 0.0, p.y - high);
    }
    let n = spec.positions.len();
    let (world, held) = hung(spec, |p| p.z > -1e-9);
    assert_eq!(held.len(), 11);
    let expected = density * G * length * length / (2.0 * modulus);
    let mut stretches = Vec::new();
    for (name, mut stepper) in both() {
        let mut state = world.default_state();
        state.controls[0].held = vec![Some(0.0); 3];
        let mut lowest = Vec::new();
        for _ in 0..200 {
            let _ = step(stepper.as_mut(), &world, &mut state, 0.005);
            lowest.push(extent(&vertices(&state, n), 2).0);
        }
        let settled = lowest[150..].iter().sum::<f64>() / 50.0;
        let stretch = (low - high) - settled;
        assert!(
            (stretch / expected - 1.0).abs() < 0.05,
            "{name}: {stretch} for {expected}"
        );
        stretches.push(stretch);
        // Held vertices have not moved.
        let now = vertices(&state, n);
        for k in &held {
            assert_eq!(now[*k as usize].z, 0.0);
        }
    }
    let difference = (stretches[0] / stretches[1] - 1.0).abs();
    assert!(difference < 0.01, "the steppers differ by {difference}");
}

/// A strip held along two edges hangs in a catenary of its length: sag a (cosh(d/2a) − 1) with 2a sinh(d/2a) = L.
#[test]
fn a_strip_between_two_supports_hangs_in_a_catenary() {
    let (length, distance, modulus) = (0.3_f64, 0.24_f64, 3e5);
    let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, modulus, 0.0, 1000.0, 1e-3)
        .unwrap()
        .with_affine_fraction(0.0)
        .unwrap();
    let mesh = sheet([length, 0.04], [30, 4], 0.02);
    let mut spec = ClothSpec::new("strip", mesh, material);
    // From an arc of the same length: r φ = L/2, r sin φ = d/2.
    let half_angle = newton(1.0, |x| x.sin() / x - distance / length);
    let radius = 0.5 * length / half_angle;
    for p in &mut spec.positions {
        let angle = p.x / radius;
        let sag = radius * (half_angle.cos() - angle.cos());
        *p = Vector3::new(radius * angle.sin(), p.y, sag);
    }
    let n = spec.positions.len();
    let (world, held) = hung(spec, |p| p.z > -1e-9);
    assert_eq!(held.len(), 10);
    let u = newton(1.0, |x| x.sinh() / x - length / distance);
    let expected = 0.5 * distance / u * (u.cosh() - 1.0);
    let mut sags = Vec::new();
    for (name, mut stepper) in both() {
        let mut state = world.default_state();
        state.controls[0].held = vec![Some(0.0); 3];
        let mut sag = 0.0;
        for k in 0..100 {
            let _ = step(stepper.as_mut(), &world, &mut state, 0.01);
            if k >= 40 {
                sag -= extent(&vertices(&state, n), 2).0 / 60.0;
            }
        }
        assert!(
            (sag / expected - 1.0).abs() < 0.03,
            "{name}: {sag} for {expected}"
        );
        sags.push(sag);
    }
    let difference = (sags[0] / sags[1] - 1.0).abs();
    assert!(difference < 0.01, "the steppers differ by {difference}");
}

/// The root of `f` near `x`.
fn newton(mut x: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..50 {
        let slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6;
        x -= f(x) / slope;
    }
    x
}

/// Side of the draped cloth, m, and its cells along it.
const DRAPED_M: f64 = 0.24;
const DRAPED_CELLS: usize = 18;
const DRAPED_VERTICES: usize = (DRAPED_CELLS + 1) * (DRAPED_CELLS + 1);

/// A cloth that falls on a ball of 0.06 m.
fn drape(friction: f64) -> (World, MaterialPoints) {
    let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 5e4, 0.3, 1000.0, 1e-3)
        .unwrap()
        .with_affine_fraction(0.8)
        .unwrap();
    let mut spec = ClothSpec::new(
        "cloth",
        sheet([DRAPED_M; 2], [DRAPED_CELLS as u32; 2], 0.02),
        material,
    );
    for p in &mut spec.positions {
        p.z += 0.07;
    }
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.cloth(spec);
    let model = builder.build().unwrap();
    let contact = ContactMaterial {
        stiffness: 1e3,
        dissipation: 5.0,
        friction,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    let body = builder.add_body("cloth", Box::new(model.clone()));
    let mount = Mount::World(Isometry3::identity());
    let ball = Shape::sphere(0.06).unwrap();
    builder.add_geometry(Geometry::new("ball", mount, ball, contact));
    builder.add_geometry(Geometry::of_vertices("cloth", body, contact));
    (builder.build().unwrap(), model)
}

#[test]
fn a_cloth_drapes_symmetrically_over_a_ball_and_weighs_what_it_weighs() {
    let (world, model) = drape(0.6);
    let n = DRAPED_VERTICES;
    let rest = vertices(&world.default_state(), n);
    let mut ends = Vec::new();
    for (name, mut stepper) in both() {
        let mut state = world.default_state();
        let (mut carried, dt, steps) = (0.0, 0.01, 40);
        for _ in 0..steps {
            let report = step(stepper.as_mut(), &world, &mut state, dt);
            let wrench = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1));
            carried += wrench.force.z * dt;
        }
        // It hangs down on all sides and nowhere enters the ball.
        let now = vertices(&state, n);
        let (low, high) = extent(&now, 2);
        assert!(high > 0.055 && low < -0.02, "{name}: {low} to {high}");
        assert!(now.iter().all(|p| p.norm() > 0.058));
        // The mesh is the same after half a turn about z.
        let mut worst = 0.0_f64;
        for (p, x) in rest.iter().zip(&now) {
            let turned = Vector3::new(-p.x, -p.y, p.z);
            let (other, _) = (now.iter().zip(&rest))
                .min_by(|a, b| (a.1 - turned).norm().total_cmp(&(b.1 - turned).norm()))
                .unwrap();
            worst = worst.max((Vector3::new(-x.x, -x.y, x.z) - other).norm());
        }
        assert!(worst < 1e-3, "{name}: {worst} m");
        let expected_mass = 1000.0 * 1e-3 * DRAPED_M * DRAPED_M;
        // The impulse of the ball is that of the weight, and the change of momentum from rest.
        let momentum = world.energy(&state).linear_momentum_W.z;
        let impulse = momentum + expected_mass * G * dt * f64::from(steps);
        assert!(
            (carried / impulse - 1.0).abs() < 0.01,
            "{name}: {carried} of {impulse}"
        );
        let mass: f64 = model.particles(&state.bodies[0]).map(|p| p.mass).sum();
        assert!((mass / expected_mass - 1.0).abs() < 1e-12);
        ends.push(now);
    }
    let apart = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b).norm());
    let mean = apart.sum::<f64>() / n as f64;
    assert!(mean < 0.01, "the steppers differ by {mean} m on average");
}

#[test]
fn free_cloth_keeps_its_momentum() {
    let (_, model) = drape(0.0);
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("cloth", Box::new(model));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    // A bent, spinning sheet.
    for k in 0..DRAPED_VERTICES {
        let x = state.bodies[0].q[3 * k];
        let y = state.bodies[0].q[3 * k + 1];
        state.bodies[0].v[3 * k] = -2.0 * y + 0.3;
        state.bodies[0].v[3 * k + 1] = 2.0 * x;
        state.bodies[0].v[3 * k + 2] = (20.0 * x).sin();
    }
    let before = world.energy(&state).linear_momentum_W;
    for (name, mut stepper) in both() {
        let mut state = state.clone();
        for _ in 0..20 {
            let _ = step(stepper.as_mut(), &world, &mut state, 0.004);
        }
        let after = world.energy(&state).linear_momentum_W;
        let lost = (after - before).norm() / before.norm();
        // Round-off, and the tolerance of the free motion of implicit steps.
        let allowed = if name == "asynchronous" { 1e-10 } else { 1e-6 };
        assert!(lost < allowed, "{name}: {lost:e}");
    }
}

#[test]
fn a_state_without_a_particle_of_the_cloth_is_an_error() {
    let (world, _) = drape(0.0);
    let mut state = world.default_state();
    let body = &mut state.bodies[0];
    body.q.truncate(body.q.len() - 3);
    body.v.truncate(body.v.len() - 3);
    body.history.truncate(body.history.len() - 22);
    for (name, mut stepper) in both() {
        let mut next = State::default();
        let error = stepper.step(&world, &state, 0.005, &mut next).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("particles of a cloth"), "{name}: {text}");
    }
}
