//! A is positive definite to round-off in every state, and water at rest in a vessel stays at rest.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Point3, Rotation3, Vector3};
use pliant_constitutive::{FixedCorotated, Lame, NeoHookean};
use pliant_contact_sap::{
    BodyState, BodyStep, DeformableModel, SolverKind, StepInput, StopCriteria,
};
use pliant_coupling::{
    Exclusion, Geometry, Mount, State, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, MaterialPoints, MpmBuilder,
    MpmSettings, ObjectSpec, ParticleSet, Sampling, Sand, Tension, fill,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const H: f64 = 0.05;

pub(crate) fn material(number: usize) -> Arc<dyn Material> {
    let solid = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.4).unwrap());
    let liquid = Liquid::new(2e4, 7.0).unwrap();
    match number {
        0 => Arc::new(solid),
        1 => Arc::new(solid.with_yield_stress(2e3).unwrap()),
        2 => Arc::new(FixedCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap()).unwrap()),
        3 => Arc::new(NeoHookean::new(Lame::from_young_poisson(1e5, 0.3).unwrap()).unwrap()),
        4 => {
            Arc::new(HenckyVonMises::new(Lame::from_young_poisson(1e5, 0.3).unwrap(), 2e3).unwrap())
        }
        5 => Arc::new(
            Sand::new(
                Lame::from_young_poisson(1e6, 0.3).unwrap(),
                30.0,
                FrictionAngle::PlaneStrain,
            )
            .unwrap(),
        ),
        6 => Arc::new(liquid),
        7 => Arc::new(liquid.with_viscosity(0.01).unwrap()),
        _ => Arc::new(liquid.with_tension(Tension::Full)),
    }
}

pub(crate) const MATERIALS: usize = 9;

/// Record of a particle: C and F, two internal variables, object, id.
const RECORD: usize = 22;

/// Particles of one material at `positions` in units of cells.
fn model(material: Arc<dyn Material>, positions: &[[f64; 3]]) -> MaterialPoints {
    let set = ParticleSet {
        points: positions.iter().map(|p| Point3::from(*p) * H).collect(),
        particle_volume: (0.5 * H).powi(3),
    };
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(ObjectSpec::new("matter", material, 1000.0, set));
    builder.build().unwrap()
}

/// Cholesky's factors of A, its rows and columns scaled to ones on the diagonal.
fn is_positive_definite(step: &dyn BodyStep) -> bool {
    let dynamics = step.dynamics();
    let n = dynamics.n_dofs();
    let mut a = DMatrix::zeros(n, n);
    for k in 0..n {
        let e = DVector::from_fn(n, |i, _| f64::from(u8::from(i == k)));
        dynamics.apply(e.as_slice(), a.column_mut(k).as_mut_slice());
    }
    let mut blocks = true;
    dynamics.diagonal_blocks().for_each(n, |block| {
        blocks &= Matrix3::from_column_slice(block.values)
            .cholesky()
            .is_some();
    });
    let scale = a.diagonal().map(|d| 1.0 / d.sqrt());
    let scaled = DMatrix::from_fn(n, n, |i, j| a[(i, j)] * scale[i] * scale[j]);
    blocks && scaled.cholesky().is_some()
}

/// Whether A is positive definite in a step from `state`, and the state after a step whose nodes have velocities `pushed`.
fn check(model: &MaterialPoints, state: &BodyState, dt: f64, pushed: &[f64]) -> (bool, BodyState) {
    let control = model.default_control();
    let input = StepInput {
        time_step: dt.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let mut step = model.new_step();
    step.begin(state, &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    let sound = is_positive_definite(step.as_ref());
    let n = step.start_velocity().len();
    let v: Vec<f64> = pushed.iter().copied().cycle().take(n).collect();
    let mut next = BodyState::default();
    let _ = step.advance(&v, &mut next).unwrap();
    (sound, next)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_law_has_a_positive_definite_matrix_in_every_reachable_state(
        number in 0..MATERIALS,
        places in prop::collection::vec(prop::array::uniform3(0.0..1.5_f64), 1..5),
        turn in prop::array::uniform3(-3.0..3.0_f64),
        stretches in prop::array::uniform3(-2.9..1.2_f64),
        ratio in -2.3..0.0_f64,
        speed in prop::array::uniform4(-30.0..30.0_f64),
        pushed in prop::collection::vec(-40.0..40.0_f64, 17),
        long in any::<bool>(),
    ) {
        let material = material(number);
        let is_liquid = material.name() == "liquid";
        let model = model(material, &places);
        let mut state = model.default_state();
        state.v.iter_mut().zip(speed.iter().cycle()).for_each(|(v, s)| *v = *s);
        let turn = Rotation3::from_euler_angles(turn[0], turn[1], turn[2]);
        let f = turn.matrix() * Matrix3::from_diagonal(&Vector3::from(stretches).map(f64::exp));
        for record in state.history[2..].chunks_exact_mut(RECORD) {
            record[..9].iter_mut().zip(speed.iter().cycle()).for_each(|(c, s)| *c = s / H);
            if is_liquid {
                record[18] = ratio.exp();
            } else {
                record[9..18].copy_from_slice(f.as_slice());
            }
        }
        let dt = if long { 0.01 } else { 0.001 };
        for round in 0..3 {
            let (sound, next) = check(&model, &state, dt, &pushed);
            prop_assert!(sound, "in round {round}");
            state = next;
        }
    }
}

/// Warnings about free motions that have not converged, in one step from each of `n` random extreme states of a law.
fn unconverged_free_motions(number: usize, n: usize) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
    let is_liquid = material(number).name() == "liquid";
    let mut lost = Vec::new();
    for _ in 0..n {
        let places: Vec<[f64; 3]> = (0..rng.random_range(1..6))
            .map(|_| [(); 3].map(|()| rng.random_range(0.0..1.5)))
            .collect();
        let model = model(material(number), &places);
        let mut state = model.default_state();
        let speed = [(); 4].map(|()| rng.random_range(-30.0..30.0));
        let each = state.v.iter_mut().zip(speed.iter().cycle());
        each.for_each(|(v, s)| *v = *s);
        let turn = [(); 3].map(|()| rng.random_range(-3.0..3.0));
        let turn = Rotation3::from_euler_angles(turn[0], turn[1], turn[2]);
        let stretches = Vector3::from_fn(|_, _| rng.random_range(-2.9..1.2_f64).exp());
        let f = turn.matrix() * Matrix3::from_diagonal(&stretches);
        let ratio = rng.random_range(-2.3..0.0_f64).exp();
        for record in state.history[2..].chunks_exact_mut(RECORD) {
            let each = record[..9].iter_mut().zip(speed.iter().cycle());
            each.for_each(|(c, s)| *c = s / H);
            if is_liquid {
                record[18] = ratio;
            } else {
                record[9..18].copy_from_slice(f.as_slice());
            }
        }
        let control = model.default_control();
        let input = StepInput {
            time_step: [0.01, 0.001][rng.random_range(0..2)].into(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            control: &control,
        };
        let mut step = model.new_step();
        step.begin(&state, &input).unwrap();
        step.linearise_start(&mut Vec::new()).unwrap();
        let rest = vec![0.0; step.start_velocity().len()];
        let report = step.advance(&rest, &mut BodyState::default()).unwrap();
        let said = report.warnings.into_iter();
        lost.extend(said.filter(|words| words.contains("free motion")));
    }
    lost
}

/// With projected tangents alone, 389 of 1200 states of the four general solids had not converged after 30 iterations.
#[test]
fn the_free_motion_of_any_state_converges() {
    for number in 2..MATERIALS {
        let lost = unconverged_free_motions(number, 300);
        let name = material(number).name();
        assert!(lost.is_empty(), "{name}: {} lost, {}", lost.len(), lost[0]);
    }
}

/// A state from the test above: particles compressed to a tenth that approach each other, where the unmodified equation of state has 10¹⁹
/// times its stiffness at rest.
#[test]
fn the_free_motion_of_a_liquid_under_extreme_compression_converges() {
    let places = [
        [0.6745, 0.0, 0.0],
        [0.3552, 1.0842, 0.3667],
        [0.0673, 1.1206, 0.4485],
        [0.8536, 0.0, 0.9744],
    ];
    let pushed = [
        -5.707, -20.24, 0.0, 0.0, 0.0, -33.81, 37.93, 35.69, -34.90, 6.976, 18.33, -38.34, 31.58,
        15.17, -39.10, -34.66, 18.58,
    ];
    let model = model(material(6), &places);
    let mut state = model.default_state();
    for round in 0..6 {
        let (sound, next) = check(&model, &state, 0.001, &pushed);
        assert!(sound, "in round {round}");
        state = next;
    }
}

/// Water `depth` deep in a vessel of plates.
fn vessel(h: f64, side: f64, depth: f64) -> (World, MaterialPoints) {
    let shape = Shape::cuboid(Vector3::new(side, side, depth)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.5 * depth);
    let sampling = Sampling::default();
    let set = fill("water", &shape, &pose, h, sampling).unwrap();
    let liquid = Liquid::for_depth(depth, 1000.0, 9.81).unwrap();
    let liquid = liquid.with_viscosity(0.01).unwrap();
    let mut points = MpmBuilder::new(MpmSettings::new(h));
    points.object(ObjectSpec::new("water", Arc::new(liquid), 1000.0, set));
    let points = points.build().unwrap();
    let contact = ContactMaterial {
        stiffness: 1e5,
        dissipation: 10.0,
        friction: 0.1,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let wall = 0.01;
    let (out, high) = (side + 2.0 * wall, 0.2);
    let mut plate = |name: &str, size: [f64; 3], at: [f64; 3]| {
        let shape = Shape::cuboid(size.into()).unwrap();
        let mount = Mount::World(Isometry3::translation(at[0], at[1], at[2]));
        builder.add_geometry(Geometry::new(name, mount, shape, contact));
    };
    plate("bottom", [out, out, wall], [0.0, 0.0, -0.5 * wall]);
    let beside = 0.5 * (side + wall);
    plate("left", [wall, out, high], [-beside, 0.0, 0.5 * high]);
    plate("right", [wall, out, high], [beside, 0.0, 0.5 * high]);
    plate("front", [side, wall, high], [0.0, -beside, 0.5 * high]);
    plate("back", [side, wall, high], [0.0, beside, 0.5 * high]);
    let body = builder.add_body("water", Box::new(points.clone()));
    builder.add_geometry(Geometry::of_vertices("water", body, contact));
    builder.exclude(Exclusion::Bodies(body, body));
    (builder.build().unwrap(), points)
}

/// Separated liquid needs a stiffness when contact compresses it. Without it, walls compress it to a fraction of its volume in one step, and
/// the pressure of the next is hundreds of times the hydrostatic one.
#[test]
fn water_at_rest_in_a_vessel_stays_at_rest() {
    let (depth, h) = (0.05, 0.01);
    let fall = (2.0_f64 * 9.81 * 0.25 * h).sqrt();
    let (world, points) = vessel(h, 0.04, depth);
    let mut state = world.default_state();
    let mut next = State::default();
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    for _ in 0..20 {
        let report = stepper.step(&world, &state, 0.01, &mut next).unwrap();
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        std::mem::swap(&mut state, &mut next);
        let water: Vec<_> = points.particles(&state.bodies[0]).collect();
        let pressure = water.iter().map(|p| p.pressure).fold(0.0, f64::max);
        assert!(pressure < 5.0 * 1000.0 * 9.81 * depth, "{pressure} Pa");
        let most = water.iter().map(|p| p.v_WP.norm()).fold(0.0, f64::max);
        // Particles start at most a quarter of a cell from the plates: no faster than a fall over this distance, and a part of it for what
        // they keep beside the velocity of the grid: 1.15 is found.
        assert!(most < 1.5 * fall, "{most} m/s");
        let middle = water.iter().map(|p| p.p_WP.z).sum::<f64>() / water.len() as f64;
        assert!((middle - 0.5 * depth).abs() < 0.1 * depth, "{middle}");
    }
}
