//! Coulomb's law between particles and rigid surfaces in explicit substeps: whatever slides has T = μN in every step, and moves by it.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{FrictionLimit, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, BodyIdx, ContactSettings, Geometry, GeometryIdx,
    LaggedModel, Mount, State, Stepper, StrongImplicit, Substeps, Untrusted, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape, mesh::generate};
use pliant_mpm::{
    ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw, LinearCorotated, MaterialPoints, MpmBuilder,
    MpmSettings, ObjectSpec, Preset, Sampling, SubstepSolver, Wall, WallKind, fill,
};

use crate::support::G;
use crate::support::substepped::{BoxSpec, Substepped};

const POINTS: BodyIdx = BodyIdx(0);
/// Edge of blocks and sheets, m.
const EDGE: f64 = 0.08;

fn surface(friction: f64) -> ContactMaterial {
    ContactMaterial {
        friction,
        ..ContactMaterial::default()
    }
}

#[derive(Clone, Copy, Debug)]
struct Block {
    spacing: f64,
    youngs_modulus: f64,
    density: f64,
}

const BLOCK: Block = Block {
    spacing: 0.02,
    youngs_modulus: 5e5,
    density: 1000.0,
};

impl Block {
    /// Standing on the plane z = 0.
    fn model(self) -> MaterialPoints {
        let shape = Shape::cuboid(Vector3::repeat(EDGE)).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, 0.5 * EDGE);
        let set = fill("block", &shape, &pose, self.spacing, Sampling::default()).unwrap();
        let lame = Lame::from_young_poisson(self.youngs_modulus, 0.3).unwrap();
        let material = Arc::new(LinearCorotated::new(lame));
        let mut builder = MpmBuilder::new(MpmSettings::new(self.spacing));
        builder.object(ObjectSpec::new("block", material, self.density, set));
        builder.build().unwrap()
    }
}

fn cloth() -> MaterialPoints {
    let sheet = generate::sheet([EDGE, EDGE], [8, 8]).unwrap();
    let (mesh, _) = ClothMesh::new("sheet", sheet, 0.02).unwrap();
    let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 300.0, 1e-3).unwrap();
    let mut spec = ClothSpec::new("sheet", mesh, material);
    spec.positions.iter_mut().for_each(|p| p.z += 0.005);
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.cloth(spec);
    builder.build().unwrap()
}

/// `model` on the plane z = 0 that moves with `belt`, in gravity that slopes down along x by `angle`.
fn on_plane(model: MaterialPoints, friction: f64, angle: f64, belt: Vector3<f64>) -> World {
    on_plane_by(LaggedModel::default(), model, friction, angle, belt)
}

fn on_plane_by(
    contact: LaggedModel,
    model: MaterialPoints,
    friction: f64,
    angle: f64,
    belt: Vector3<f64>,
) -> World {
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        model: Arc::new(contact),
        ..ContactSettings::default()
    });
    builder.gravity(Vector3::new(angle.sin(), 0.0, -angle.cos()) * G);
    let mount = Mount::World(Isometry3::identity());
    let mut plane = Geometry::new("plane", mount, Shape::half_space(), surface(friction));
    plane.surface_velocity = belt;
    builder.add_geometry(plane);
    let body = builder.add_body("points", Box::new(model));
    builder.add_geometry(Geometry::of_vertices("points", body, surface(friction)));
    builder.build().unwrap()
}

/// What `steps` of a run found.
struct Found {
    /// Change of the mean velocity, m/s.
    gained: Vector3<f64>,
    /// Mean velocity over the run, m/s.
    mean: Vector3<f64>,
    /// Friction along x over the normal force, both summed.
    ratio: f64,
}

fn take(run: &mut Substepped, mass: f64, steps: usize, dt: f64) -> Found {
    let mut force = Vector3::zeros();
    let (before, start) = (run.momentum() / mass, run.centre(POINTS));
    for _ in 0..steps {
        let report = run.step(dt);
        force += (report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))).force;
    }
    Found {
        gained: run.momentum() / mass - before,
        mean: (run.centre(POINTS) - start) / (dt * steps as f64),
        ratio: -force.x / force.z,
    }
}

/// A slope of 30 degrees.
const ANGLE: f64 = std::f64::consts::FRAC_PI_6;
/// Steps in which the vibrations of the sudden load end. A body that is loaded at once sticks while it shears, and is faster by that later on.
const SETTLED: usize = 50;

/// The speed gained down a slope by Coulomb's law, within 1 %, and T/N = μ to 1e-3; or rest where μ > tan θ.
#[track_caller]
fn check_slope(name: &str, world: World, friction: f64, mass: f64, settings: AsynchronousSettings) {
    let (steps, dt) = (50, 0.004);
    let mut run = Substepped::new(world, settings);
    let _ = take(&mut run, mass, SETTLED, dt);
    let found = take(&mut run, mass, steps, dt);
    let t = dt * steps as f64;
    if friction > ANGLE.tan() {
        assert!(
            found.mean.x.abs() < 2e-3,
            "{name}, μ = {friction}: {}",
            found.mean.x
        );
        return;
    }
    // N = m (g cos θ + dv_z/dt).
    let load = G * ANGLE.cos() * t + found.gained.z;
    let expected = G * ANGLE.sin() * t - friction * load;
    let v = found.gained.x;
    eprintln!(
        "{name}, μ = {friction}: {v} for {expected}, T/N = {}",
        found.ratio
    );
    assert!(
        (v / expected - 1.0).abs() < 0.01,
        "{name}, μ = {friction}: {v} for {expected}"
    );
    assert!(
        (found.ratio - friction).abs() < 1e-3 * friction + 1e-9,
        "{name}: {}",
        found.ratio
    );
}

#[test]
fn a_block_of_any_spacing_stiffness_and_density_slides_by_coulombs_law() {
    let mass = |b: Block| b.density * EDGE.powi(3);
    let blocks = [
        BLOCK,
        Block {
            spacing: 0.01,
            ..BLOCK
        },
        Block {
            youngs_modulus: 2e4,
            ..BLOCK
        },
        Block {
            density: 30.0,
            ..BLOCK
        },
        Block {
            density: 8000.0,
            ..BLOCK
        },
    ];
    for block in blocks {
        for friction in [0.3, 0.55] {
            let world = on_plane(block.model(), friction, ANGLE, Vector3::zeros());
            let settings = AsynchronousSettings::default();
            check_slope(
                &format!("{block:?}"),
                world,
                friction,
                mass(block),
                settings,
            );
        }
    }
    for friction in [0.0, 0.1, 0.5, 0.6, 1.0] {
        let world = on_plane(BLOCK.model(), friction, ANGLE, Vector3::zeros());
        check_slope(
            "block",
            world,
            friction,
            mass(BLOCK),
            AsynchronousSettings::default(),
        );
    }
}

#[test]
fn cloth_slides_by_coulombs_law() {
    for friction in [0.0, 0.1, 0.3, 0.5, 1.0] {
        let world = on_plane(cloth(), friction, ANGLE, Vector3::zeros());
        let mass = 0.3 * EDGE * EDGE;
        check_slope(
            "cloth",
            world,
            friction,
            mass,
            AsynchronousSettings::default(),
        );
    }
}

#[test]
fn every_solver_and_length_of_substeps_has_coulombs_law() {
    let friction = 0.4;
    for solver in [SubstepSolver::NewtonCg, SubstepSolver::Majoriser] {
        let world = on_plane(BLOCK.model(), friction, ANGLE, Vector3::zeros());
        let settings = AsynchronousSettings {
            solver,
            ..AsynchronousSettings::default()
        };
        check_slope(
            &format!("{solver:?}"),
            world,
            friction,
            1000.0 * EDGE.powi(3),
            settings,
        );
    }
    for substeps in [20, 60] {
        let world = on_plane(BLOCK.model(), friction, ANGLE, Vector3::zeros());
        let settings = AsynchronousSettings {
            substeps: Substeps::Fixed(substeps),
            ..AsynchronousSettings::default()
        };
        check_slope(
            &format!("{substeps}"),
            world,
            friction,
            1000.0 * EDGE.powi(3),
            settings,
        );
    }
}

#[test]
fn plastic_dough_slides_by_coulombs_law() {
    let shape = Shape::cuboid(Vector3::repeat(EDGE)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.5 * EDGE);
    let dough = Preset::CookieDough;
    let set = fill("dough", &shape, &pose, 0.02, Sampling::default()).unwrap();
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.object(ObjectSpec::new(
        "dough",
        dough.material(),
        dough.density(),
        set,
    ));
    let model = builder.build().unwrap();
    let world = on_plane(model, 0.3, ANGLE, Vector3::zeros());
    let mass = dough.density() * EDGE.powi(3);
    check_slope("dough", world, 0.3, mass, AsynchronousSettings::default());
}

#[test]
fn a_belt_carries_a_block_along_with_mu_g_and_then_at_its_speed() {
    let (friction, belt) = (0.4, Vector3::new(0.5, 0.0, 0.0));
    let world = on_plane(BLOCK.model(), friction, 0.0, belt);
    let mut run = Substepped::new(world, AsynchronousSettings::default());
    let mass = 1000.0 * EDGE.powi(3);
    let found = take(&mut run, mass, 25, 0.004);
    let expected = friction * (G * 0.1 + found.gained.z);
    let v = found.gained.x;
    assert!((v / expected - 1.0).abs() < 0.01, "{v} for {expected}");
    let _ = take(&mut run, mass, 50, 0.004);
    let v = take(&mut run, mass, 25, 0.004).mean.x;
    assert!((v / belt.x - 1.0).abs() < 0.01, "{v}");
}

#[test]
fn a_block_thrown_along_the_floor_stops_after_v_squared_over_two_mu_g() {
    let (friction, speed) = (0.3, 0.6);
    let world = on_plane(BLOCK.model(), friction, 0.0, Vector3::zeros());
    let mut run = Substepped::new(world, AsynchronousSettings::default());
    let v = &mut run.state.bodies[POINTS.0].v;
    v.iter_mut().step_by(3).for_each(|v| *v = speed);
    let start = run.centre(POINTS).x;
    for _ in 0..80 {
        let _ = run.step(0.004);
    }
    let (way, expected) = (
        run.centre(POINTS).x - start,
        speed * speed / (2.0 * friction * G),
    );
    assert!((way / expected - 1.0).abs() < 0.01, "{way} for {expected}");
    assert!(run.momentum().x.abs() / (1000.0 * EDGE.powi(3)) < 1e-3);
}

/// A rigid box slides over a pad that sticks to a wall; both sides of their contact have the same impulse.
#[test]
fn a_rigid_box_on_a_pad_of_particles_is_slowed_by_mu_g() {
    let (friction, speed, dt, steps) = (0.3, 0.5, 0.002, 60);
    let shape = Shape::cuboid(Vector3::new(0.2, 0.12, 0.04)).unwrap();
    let pose = Isometry3::translation(0.04, 0.0, 0.02);
    let set = fill("pad", &shape, &pose, 0.02, Sampling::default()).unwrap();
    let material = LinearCorotated::new(Lame::from_young_poisson(2e6, 0.3).unwrap());
    let mut pad = MpmBuilder::new(MpmSettings::new(0.02));
    pad.object(ObjectSpec::new("pad", Arc::new(material), 1000.0, set));
    pad.wall(Wall {
        p_WQ: Point3::origin(),
        normal_W: Vector3::z(),
        kind: WallKind::Sticks,
    });
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -G));
    let body = builder.add_body("pad", Box::new(pad.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("pad", body, surface(friction)));
    let spec = BoxSpec {
        lengths: Vector3::new(0.08, 0.08, 0.02),
        mass: 1.0,
        p_WB: Vector3::new(0.0, 0.0, 0.05),
        contact: surface(friction),
    };
    let cart = spec.free(&mut builder, Vector3::new(speed, 0.0, 0.0));
    let mut run = Substepped::new(builder.build().unwrap(), AsynchronousSettings::default());
    let mut force = Vector3::zeros();
    for _ in 0..steps {
        let report = run.step(dt);
        force += (report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))).force;
    }
    let ratio = -force.x / force.z;
    assert!((ratio / friction - 1.0).abs() < 0.01, "T/N = {ratio}");
    let v = run.state.bodies[cart.0].v[3];
    let expected = speed - friction * G * dt * f64::from(steps);
    assert!((v - expected).abs() < 0.01 * speed, "{v} for {expected}");
}

#[test]
fn a_published_bound_that_glues_a_block_is_not_trusted() {
    // n0 is the force of the stiff contact at the velocity before the substep.
    let published = LaggedModel {
        friction_limit: FrictionLimit::Lagged,
    };
    let world = on_plane_by(published, BLOCK.model(), 0.3, ANGLE, Vector3::zeros());
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut stepper = Asynchronous::new(rigid, AsynchronousSettings::default()).unwrap();
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut untrusted = 0;
    for _ in 0..10 {
        let report = stepper.step(&world, &state, 0.004, &mut next).unwrap();
        let reason = report.untrusted();
        untrusted += u32::from(matches!(reason, Some(Untrusted::Friction(_))));
        std::mem::swap(&mut state, &mut next);
    }
    assert!(untrusted > 0);
}
