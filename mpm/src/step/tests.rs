mod cloth;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Isometry3, Point3, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{
    BodyState, BodyStep, CgLimits, CgStop, ConjugateGradients, Control, DeformableModel, Load,
    MaterialPoint, ResidualNorm, StepInput,
};
use pliant_hydroelastic::Shape;

use super::*;
use crate::block_jacobi::BlockJacobi;
use crate::free_motion::FreeMotionSettings;
use crate::material::{LinearCorotated, Liquid, Material};
use crate::model::{
    MpmBuilder, MpmSettings, ObjectIdx, ObjectSpec, RotationTarget, Sink, Source, Wall, WallKind,
};
use crate::random::Random;
use crate::{MaterialPoints, ParticleSet, Sampling, fill};

const H: f64 = 0.05;

fn cube(edge: f64, p_WC: Vector3<f64>) -> ParticleSet {
    let shape = Shape::cuboid(Vector3::repeat(edge)).unwrap();
    let pose = Isometry3::translation(p_WC.x, p_WC.y, p_WC.z);
    fill("cube", &shape, &pose, H, Sampling::default()).unwrap()
}

fn solid(e: f64) -> Arc<dyn Material> {
    Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(e, 0.3).unwrap(),
    ))
}

fn perturbed(model: &MaterialPoints, size: f64) -> BodyState {
    let mut random = Random::new(23);
    let mut state = model.default_state();
    let header = state.history.len() % 22;
    state
        .q
        .iter_mut()
        .for_each(|q| *q += 0.1 * H * random.unit());
    state
        .v
        .iter_mut()
        .for_each(|v| *v += size * (random.unit() - 0.3));
    for record in state.history[header..].chunks_exact_mut(22) {
        record[..9]
            .iter_mut()
            .for_each(|c| *c += size * (random.unit() - 0.5));
        record[9..18]
            .iter_mut()
            .for_each(|f| *f += 0.02 * (random.unit() - 0.5));
    }
    state
}

fn input(control: &Control, dt: f64) -> StepInput<'_> {
    StepInput {
        time_step: dt.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control,
    }
}

/// Takes a step without constraints.
fn step_freely(step: &mut dyn BodyStep, state: &mut BodyState, input: &StepInput<'_>) {
    step.begin(state, input).unwrap();
    linearise(step);
    let dynamics = step.dynamics();
    let n = dynamics.n_dofs();
    let mut diagonal = Vec::new();
    dynamics
        .diagonal_blocks()
        .for_each(n, |b| diagonal.extend_from_slice(b.values));
    let mut preconditioner = BlockJacobi::default();
    preconditioner.factor(&diagonal);
    let mut v = step.start_velocity().to_vec();
    let mut system = (
        |x: &[f64], y: &mut [f64]| dynamics.apply(x, y),
        |r: &[f64], z: &mut [f64]| preconditioner.apply(r, z),
    );
    let limits = CgLimits {
        norm: ResidualNorm::Preconditioned,
        relative_residual: 1e-11,
        iterations_max: 5000,
    };
    let b = dynamics.right_hand_side();
    let report = ConjugateGradients::default().improve(&mut system, limits, b, &mut v);
    assert_eq!(report.stop, CgStop::Converged);
    let mut next = BodyState::default();
    let _ = step.advance(&v, &mut next).unwrap();
    *state = next;
}

#[test]
fn material_points_are_a_body() {
    let materials: [Arc<dyn Material>; 3] = [
        solid(1e5),
        Arc::new(NeoHookean::new(Lame::from_young_poisson(1e4, 0.3).unwrap()).unwrap()),
        Arc::new(Liquid::new(1e4, 7.0).unwrap().with_viscosity(1.0).unwrap()),
    ];
    for (k, material) in materials.into_iter().enumerate() {
        let mut builder = MpmBuilder::new(MpmSettings::new(H));
        builder.object(ObjectSpec::new(
            "soft",
            material,
            800.0,
            cube(0.1, Vector3::new(0.02, 0.01, 0.3)),
        ));
        builder.object(ObjectSpec::new(
            "other",
            solid(3e4),
            500.0,
            cube(0.05, Vector3::new(0.1, 0.0, 0.3)),
        ));
        if k == 0 {
            builder.wall(Wall {
                p_WQ: Point3::new(0.0, 0.0, 0.25),
                normal_W: Vector3::z(),
                kind: WallKind::Slides,
            });
        }
        let model = builder.build().unwrap();
        let mut control = model.default_control();
        for loaded in [false, true] {
            if loaded {
                control.loads.push(Load {
                    point: MaterialPoint::on_vertex(4),
                    force_W: Vector3::new(0.1, -0.2, 0.05),
                    torque_W: Vector3::zeros(),
                });
            }
            check_body(&model, &perturbed(&model, 0.5), &input(&control, 0.005)).unwrap();
        }
    }
}

#[test]
fn momenta_are_conserved_in_free_flight_and_free_fall_is_exact() {
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(ObjectSpec::new(
        "cube",
        solid(1e5),
        800.0,
        cube(0.1, Vector3::new(0.01, 0.02, 0.0)),
    ));
    let model = builder.build().unwrap();
    // Undeformed material falls without deformation.
    let control = Control::default();
    let mut state = model.default_state();
    let start = model.energy(&state, &Vector3::zeros());
    let mass = 800.0 * 1e-3;
    let mut step = model.new_step();
    let (dt, steps) = (0.01, 20);
    let positions = state.q.clone();
    for _ in 0..steps {
        step_freely(step.as_mut(), &mut state, &input(&control, dt));
    }
    let end = model.energy(&state, &Vector3::zeros());
    let gained = end.linear_momentum_W - start.linear_momentum_W;
    let expected = Vector3::new(0.0, 0.0, -9.81 * mass * dt * f64::from(steps));
    assert!(
        (gained - expected).norm() < 1e-10 * expected.norm(),
        "{gained}"
    );
    let way = -9.81 * dt * dt * f64::from(steps * (steps + 1)) / 2.0;
    for (now, then) in state.q.chunks_exact(3).zip(positions.chunks_exact(3)) {
        assert!((now[2] - then[2] - way).abs() < 1e-9 && (now[0] - then[0]).abs() < 1e-9);
    }
    let stretched = state.history[2..].chunks_exact(22).map(|r| {
        (0..9)
            .map(|k| (r[9 + k] - f64::from(u8::from(k % 4 == 0))).abs())
            .fold(0.0, f64::max)
    });
    assert!(stretched.fold(0.0, f64::max) < 1e-9);
    // Deformed material conserves its momenta without gravity; R₀ V at the start commutes with stress to second order.
    let mut state = perturbed(&model, 0.2);
    let before = model.energy(&state, &Vector3::zeros());
    let still = StepInput {
        gravity: Vector3::zeros(),
        ..input(&control, 0.002)
    };
    for _ in 0..10 {
        step_freely(step.as_mut(), &mut state, &still);
    }
    let after = model.energy(&state, &Vector3::zeros());
    let drift = (after.linear_momentum_W - before.linear_momentum_W).norm();
    assert!(
        drift < 1e-11 * before.linear_momentum_W.norm().max(mass * 0.1),
        "{drift:e}"
    );
}

#[test]
fn a_held_set_moves_as_prescribed_and_moves_the_rest() {
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    let set = cube(0.2, Vector3::zeros());
    let top: Vec<u32> = (0..set.points.len() as u32)
        .filter(|k| set.points[*k as usize].z > 0.04)
        .collect();
    builder.object(ObjectSpec::new("cube", solid(1e5), 800.0, set));
    builder.grip("top", top.clone());
    let model = builder.build().unwrap();
    let mut control = model.default_control();
    control.held = vec![Some(0.0), Some(0.0), Some(0.1)];
    let mut state = model.default_state();
    let mut step = model.new_step();
    let start = state.q.clone();
    for _ in 0..50 {
        step_freely(step.as_mut(), &mut state, &input(&control, 0.01));
    }
    let rise = |p: u32| state.q[3 * p as usize + 2] - start[3 * p as usize + 2];
    let highest = *top
        .iter()
        .max_by(|a, b| start[3 * **a as usize + 2].total_cmp(&start[3 * **b as usize + 2]))
        .unwrap();
    assert!((rise(highest) - 0.05).abs() < 1e-3, "{}", rise(highest));
    assert!((0..model.particles(&state).count() as u32).all(|p| rise(p) > 0.02));
    control.held = vec![None; 2];
    assert!(step.begin(&state, &input(&control, 0.01)).is_err());
}

#[test]
fn sources_add_particles_and_sinks_remove_them() {
    let water: Arc<dyn Material> = Arc::new(Liquid::new(1e4, 7.0).unwrap());
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    let tap = ParticleSet {
        points: Vec::new(),
        particle_volume: (0.5 * H).powi(3),
    };
    let object = builder.object(ObjectSpec::new("water", water, 1000.0, tap));
    builder.source(Source {
        object,
        points: vec![Point3::new(0.0, 0.0, 1.0), Point3::new(0.5 * H, 0.0, 1.0)],
        velocity_W: Vector3::new(0.0, 0.0, -1.0),
        start_s: 0.0,
        interval_s: 0.025,
        batches: 20,
    });
    builder.sink(Sink {
        shape: Shape::half_space(),
        X_WS: Isometry3::translation(0.0, 0.0, 0.6),
    });
    let model = builder.build().unwrap();
    let mut state = model.default_state();
    assert_eq!(model.particles(&state).count(), 2);
    let control = Control::default();
    let mut step = model.new_step();
    let mut most = 0;
    for _ in 0..200 {
        step_freely(step.as_mut(), &mut state, &input(&control, 0.005));
        let seen: Vec<_> = model.particles(&state).collect();
        most = most.max(seen.len());
        assert!(
            seen.iter()
                .all(|p| p.p_WP.z >= 0.6 && p.object == ObjectIdx(0))
        );
        assert!(seen.windows(2).all(|w| w[0].id < w[1].id));
        if seen.is_empty() {
            break;
        }
    }
    assert!(most > 10 && most < 40, "{most}");
    assert_eq!(model.particles(&state).count(), 0);
    // A step without particles.
    step_freely(step.as_mut(), &mut state, &input(&control, 0.005));
}

#[test]
fn errors_name_the_particle() {
    let mut settings = MpmSettings::new(H);
    settings.bounds = Some([Point3::new(-1.0, -1.0, -1.0), Point3::new(1.0, 1.0, 1.0)]);
    let mut builder = MpmBuilder::new(settings);
    builder.object(ObjectSpec::new(
        "dough",
        solid(1e5),
        800.0,
        cube(0.1, Vector3::zeros()),
    ));
    let model = builder.build().unwrap();
    let control = Control::default();
    let mut step = model.new_step();
    let mut check_message = |state: &BodyState, words: [&str; 2]| {
        let text = step
            .begin(state, &input(&control, 0.01))
            .unwrap_err()
            .to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    };
    let mut state = model.default_state();
    state.q[3 * 7] = 1.5;
    check_message(&state, ["particle 7 of \"dough\"", "left the bounds"]);
    let mut state = model.default_state();
    state.v[3 * 5] = f64::NAN;
    check_message(&state, ["velocity of particle 5 of \"dough\"", "NaN"]);
    let mut state = model.default_state();
    state.history.pop();
    check_message(&state, ["history", "entries"]);
    let mut state = model.default_state();
    state.history[2 + 20] = 3.0;
    check_message(&state, ["particle 0", "object 3"]);
    // A velocity that carries it out of its bounds within a step.
    let state = model.default_state();
    step.begin(&state, &input(&control, 0.01)).unwrap();
    let away = vec![1e3; step.start_velocity().len()];
    let text = step
        .advance(&away, &mut BodyState::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("of \"dough\" left the bounds"), "{text}");
    // Loads that particles do not support.
    let mut control = Control::default();
    control.loads.push(Load {
        point: MaterialPoint::on_vertex(100_000),
        force_W: Vector3::x(),
        torque_W: Vector3::zeros(),
    });
    assert!(step.begin(&state, &input(&control, 0.01)).is_err());
}

#[test]
fn invalid_models_are_rejected_by_name() {
    let build = |change: &dyn Fn(&mut MpmBuilder, ObjectSpec)| {
        let mut builder = MpmBuilder::new(MpmSettings::new(H));
        change(
            &mut builder,
            ObjectSpec::new("dough", solid(1e5), 800.0, cube(0.1, Vector3::zeros())),
        );
        builder.build().map(|_| ()).unwrap_err().to_string()
    };
    assert!(build(&|_, _| ()).contains("needs particles"));
    let message = build(&|b, mut o| {
        o.density = -1.0;
        b.object(o);
    });
    assert!(message.contains("dough: density = -1"), "{message}");
    let message = build(&|b, o| {
        b.object(o);
        b.grip("hand", vec![1_000_000]);
    });
    assert!(message.contains("hand: particle"), "{message}");
    let message = build(&|b, o| {
        b.object(o);
        b.wall(Wall {
            p_WQ: Point3::origin(),
            normal_W: Vector3::new(1.0, 0.0, 1.0).normalize(),
            kind: WallKind::Slides,
        });
    });
    assert!(message.contains("wall"), "{message}");
    assert!(
        MpmBuilder::new(MpmSettings::new(-1.0))
            .build()
            .unwrap_err()
            .to_string()
            .contains("spacing")
    );
}

#[test]
fn a_step_does_not_depend_on_the_number_of_threads() {
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    let shape = Shape::cuboid(Vector3::new(0.2, 0.2, 0.1)).unwrap();
    let set = fill(
        "cube",
        &shape,
        &Isometry3::identity(),
        0.02,
        Sampling::default(),
    )
    .unwrap();
    assert!(set.points.len() > 3000);
    builder.object(ObjectSpec::new("cube", solid(1e5), 800.0, set));
    let model = builder.build().unwrap();
    let start = perturbed(&model, 0.3);
    let control = Control::default();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut state = start.clone();
            step_freely(
                model.new_step().as_mut(),
                &mut state,
                &input(&control, 0.005),
            );
            state
        })
    };
    assert!(run(1) == run(4));
}

#[test]
fn the_free_motion_of_a_quadratic_step_solves_its_linear_system() {
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(ObjectSpec::new(
        "cube",
        solid(1e5),
        800.0,
        cube(0.1, Vector3::zeros()),
    ));
    let model = builder.build().unwrap();
    let mut step = MpmStep::new(Arc::clone(&model.parts));
    let control = Control::default();
    let state = perturbed(&model, 0.1);
    step.begin(&state, &input(&control, 0.005)).unwrap();
    linearise(&mut step);
    assert_eq!(step.report.newton_iterations, 0);
    let n = step.n_dofs();
    let mut a = DMatrix::zeros(n, n);
    for k in 0..n {
        let e = DVector::from_fn(n, |i, _| f64::from(u8::from(i == k)));
        Dynamics::apply(&step, e.as_slice(), a.column_mut(k).as_mut_slice());
    }
    step.find_free_motion(&FreeMotionSettings::default())
        .unwrap();
    assert!(step.report.newton_iterations <= 2, "{:?}", step.report);
    let v = DVector::from_column_slice(&step.velocity);
    let off = &a * &v - DVector::from_column_slice(step.right_hand_side());
    assert!(step.system.impulse_norm(off.as_slice()) <= step.report.tolerance);
}

/// A cube that rotated by `angle` about z in its last step.
fn rotating(target: RotationTarget, angle: f64) -> (MpmStep, BodyState) {
    let mut settings = MpmSettings::new(H);
    settings.rotation_target = target;
    let mut builder = MpmBuilder::new(settings);
    let mut spec = ObjectSpec::new("cube", solid(1e5), 800.0, cube(0.1, Vector3::zeros()));
    spec.angular_velocity_W = Vector3::new(0.0, 0.0, angle / 0.005);
    builder.object(spec);
    let model = builder.build().unwrap();
    (
        MpmStep::new(Arc::clone(&model.parts)),
        model.default_state(),
    )
}

fn linearise(step: &mut dyn BodyStep) {
    step.linearise_start(&mut Vec::new()).unwrap();
}

#[test]
fn the_target_does_not_follow_a_rotation_that_contact_stops() {
    let control = Control::default();
    let (mut step, state) = rotating(RotationTarget::End, 0.2);
    step.begin(&state, &input(&control, 0.005)).unwrap();
    linearise(&mut step);
    let started = step.start_velocity().to_vec();
    assert!(LaggedTerms::residual(&mut step, &started) < 0.2);
    // Held in place.
    let held = vec![0.0; started.len()];
    assert!(LaggedTerms::residual(&mut step, &held) > 1.0);
    let predicted = step.right_hand_side().to_vec();
    step.update();
    assert!(LaggedTerms::residual(&mut step, &held) == 0.0);
    // Rest strains are those of a cube that does not rotate, and A is unchanged.
    let (mut still, _) = rotating(RotationTarget::Start, 0.2);
    still.begin(&state, &input(&control, 0.005)).unwrap();
    linearise(&mut still);
    assert!(step.right_hand_side() == still.right_hand_side());
    assert!(step.right_hand_side() != predicted);
    assert!(step.matrix.matrix == still.matrix.matrix);
}

#[test]
fn a_rotation_that_starts_in_the_step_is_taken_from_the_free_motion() {
    // Material at rest that its surroundings set in rotation: C is less than a third of the gradient of the velocities.
    let control = Control::default();
    let (mut step, mut state) = rotating(RotationTarget::End, 0.3);
    let header = state.history.len() % 22;
    for record in state.history[header..].chunks_exact_mut(22) {
        record[..9].iter_mut().for_each(|c| *c *= 0.3);
    }
    step.begin(&state, &input(&control, 0.005)).unwrap();
    linearise(&mut step);
    let off = |step: &mut MpmStep| {
        let v = step.free_velocity();
        LaggedTerms::residual(step, &v)
    };
    let before = off(&mut step);
    assert!(step.update_in_free_motion().unwrap().is_none());
    let after = off(&mut step);
    eprintln!("{before} times the tolerance before, {after} after");
    assert!(before > 1.0 && after < 0.3 * before);
}
