//! Laws of contact that hold for any heap, on random boxes, balls and capsules that fall onto each other and onto a floor.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use pliant_contact_sap::{Load, MaterialPoint, SolverKind, StopCriteria};
use pliant_coupling::{
    ContactForce, ContactModel, ContactSettings, Geometry, LaggedModel, Mount, SapModel,
    SimilarModel, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const DT: f64 = 2e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// Of the solver, relative to the momenta.
const SOLVED: f64 = 1e-11;

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Box,
    Ball,
    Capsule,
}

/// A body of the heap.
#[derive(Clone, Debug)]
struct Piece {
    form: Form,
    /// Lengths, m, and mass, kg.
    lengths: Vector3<f64>,
    mass: f64,
    /// From its place in the pile.
    offset: Vector3<f64>,
    turn: Vector3<f64>,
    velocity: Vector3<f64>,
    omega: Vector3<f64>,
}

/// A heap on a floor.
#[derive(Clone, Debug)]
struct Draw {
    pieces: Vec<Piece>,
    material: ContactMaterial,
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(1.0), vector(2.0)).prop_map(|(p, turn)| Isometry3::new(p, turn))
}

fn piece() -> impl Strategy<Value = Piece> {
    let form = prop::sample::select(vec![Form::Box, Form::Ball, Form::Capsule]);
    let lengths = prop::array::uniform3(0.08..0.2_f64);
    let motion = (vector(0.03), vector(2.0), vector(1.0), vector(5.0));
    (form, lengths, 0.3..3.0, motion).prop_map(|(form, lengths, mass, motion)| Piece {
        form,
        lengths: lengths.into(),
        mass,
        offset: motion.0,
        turn: motion.1,
        velocity: motion.2,
        omega: motion.3,
    })
}

fn draw() -> impl Strategy<Value = Draw> {
    let surface = (3.0..6.0_f64, 0.0..20.0, 0.05..1.2);
    let pieces = prop::collection::vec(piece(), 1..=5);
    (pieces, surface).prop_map(|(pieces, (stiffness, dissipation, friction))| Draw {
        pieces,
        material: ContactMaterial {
            stiffness: 10_f64.powf(stiffness),
            dissipation,
            friction,
            ..ContactMaterial::default()
        },
    })
}

fn model() -> impl Strategy<Value = Arc<dyn ContactModel>> {
    (0..3).prop_map(|kind| -> Arc<dyn ContactModel> {
        match kind {
            0 => Arc::new(LaggedModel::default()),
            1 => Arc::new(SapModel),
            _ => Arc::new(SimilarModel),
        }
    })
}

/// Models that are solved once. The lagged model iterates friction bounds to a tolerance, which its steps follow only up to that tolerance.
fn solved_once() -> impl Strategy<Value = Arc<dyn ContactModel>> {
    any::<bool>().prop_map(|couples| -> Arc<dyn ContactModel> {
        match couples {
            true => Arc::new(SapModel),
            false => Arc::new(SimilarModel),
        }
    })
}

impl Piece {
    fn shape(&self) -> (Shape, SpatialInertia) {
        let (l, radius) = (self.lengths, 0.5 * self.lengths.x);
        match self.form {
            Form::Box => (
                Shape::cuboid(l).unwrap(),
                SpatialInertia::solid_box(self.mass, l),
            ),
            Form::Ball => (
                Shape::sphere(radius).unwrap(),
                SpatialInertia::solid_sphere(self.mass, radius),
            ),
            Form::Capsule => (
                Shape::capsule(radius, l.y).unwrap(),
                SpatialInertia::solid_capsule(self.mass, radius, l.y),
            ),
        }
    }

    /// The `k`-th of the pile, everything turned as in `X_WR`.
    fn tree(&self, k: usize, X_WR: &Isometry3<f64>) -> RigidTree {
        let mut model = ModelBuilder::new("piece");
        model.root(Root::Floating);
        model.link(LinkSpec::new("piece", self.shape().1));
        let p = self.offset + Vector3::z() * (0.1 + 0.17 * k as f64);
        let pose = X_WR * Isometry3::new(p, self.turn);
        let (p, turn) = (pose.translation.vector, pose.rotation);
        let q = [p.x, p.y, p.z, turn.w, turn.i, turn.j, turn.k];
        let (v, omega) = (X_WR * self.velocity, X_WR * self.omega);
        let v = [omega.x, omega.y, omega.z, v.x, v.y, v.z];
        RigidTree::new(Arc::new(model.build().unwrap())).starting_at(&q, &v)
    }
}

impl Draw {
    /// The heap with its bodies in the order given, everything turned as in `X_WR`.
    fn world(&self, model: Arc<dyn ContactModel>, X_WR: &Isometry3<f64>, order: &[usize]) -> World {
        let mut builder = WorldBuilder::default();
        builder.gravity(X_WR * GRAVITY);
        builder.contact(ContactSettings {
            model,
            ..ContactSettings::default()
        });
        let floor = Mount::World(*X_WR);
        let shape = Shape::half_space();
        builder.add_geometry(Geometry::new("floor", floor, shape, self.material));
        for k in order {
            let (name, piece) = (format!("piece {k}"), &self.pieces[*k]);
            let body = builder.add_body(&name, Box::new(piece.tree(*k, X_WR)));
            let mount = Mount::Frame {
                body,
                frame: 0,
                X_FG: Isometry3::identity(),
            };
            let shape = piece.shape().0;
            builder.add_geometry(Geometry::new(&name, mount, shape, self.material));
        }
        builder.build().unwrap()
    }

    fn plain(&self, model: Arc<dyn ContactModel>) -> World {
        let order: Vec<usize> = (0..self.pieces.len()).collect();
        self.world(model, &Isometry3::identity(), &order)
    }
}

/// Takes `steps` steps and shows each to `watch`, with the states before and after it.
fn run(world: &World, steps: usize, mut watch: impl FnMut(&StepReport, &State, &State)) -> State {
    let tight = StopCriteria {
        relative_tolerance: SOLVED,
        ..StopCriteria::default()
    };
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(tight));
    let (mut state, mut next) = (world.default_state(), State::default());
    for _ in 0..steps {
        let report = stepper.step(world, &state, DT, &mut next).unwrap();
        watch(&report, &state, &next);
        std::mem::swap(&mut state, &mut next);
    }
    state
}

/// Velocity by which a step moves the point of a geometry that was at `p_WQ` at its start: of the solution, whose rotation the angular velocity
/// of the next state follows.
fn velocity_of(
    world: &World,
    before: &State,
    after: &State,
    geometry: usize,
    p_WQ: &Point3<f64>,
) -> Vector3<f64> {
    let Some(body) = world.geometries()[geometry].mount.body() else {
        return Vector3::zeros();
    };
    let [(p, turn), (p_1, turn_1)] = [before, after].map(|state| {
        let q = &state.bodies[body.0].q;
        let turn = Quaternion::new(q[3], q[4], q[5], q[6]);
        let turn = UnitQuaternion::from_quaternion(turn);
        (Vector3::from_column_slice(&q[..3]), turn)
    });
    let omega = (turn_1 * turn.inverse()).scaled_axis() / DT;
    (p_1 - p) / DT + omega.cross(&(p_WQ.coords - p))
}

/// Force along the normal and across it.
fn parts(contact: &ContactForce) -> (f64, Vector3<f64>) {
    let n = contact.normal_W.dot(&contact.force_W);
    (n, contact.force_W - contact.normal_W * n)
}

/// The heaps agree in all velocities: the solver leaves 1e-11 of momenta, the contact search places contacts of metres to 1e-10 m, which the
/// stiffest contact, 5e5 N/m, turns into 2e-7 m/s of the lightest body in a step.
const SAME: f64 = 1e-6;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_rotated_world_has_the_rotated_motion(draw in draw(), X_WR in pose(), model in solved_once()) {
        let order: Vec<usize> = (0..draw.pieces.len()).collect();
        let here = run(&draw.plain(Arc::clone(&model)), 4, |_, _, _| ());
        let there = run(&draw.world(model, &X_WR, &order), 4, |_, _, _| ());
        for (a, b) in here.bodies.iter().zip(&there.bodies) {
            for k in [0, 3] {
                let expected = X_WR * Vector3::from_column_slice(&a.v[k..k + 3]);
                let off = (Vector3::from_column_slice(&b.v[k..k + 3]) - expected).norm();
                prop_assert!(off <= SAME, "{off:e} m/s or rad/s");
            }
        }
    }

    #[test]
    fn bodies_added_in_another_order_move_the_same(
        draw in draw(),
        model in solved_once(),
        order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let order: Vec<usize> = order.into_iter().filter(|k| *k < draw.pieces.len()).collect();
        let here = run(&draw.plain(Arc::clone(&model)), 4, |_, _, _| ());
        let there = run(&draw.world(model, &Isometry3::identity(), &order), 4, |_, _, _| ());
        for (body, k) in there.bodies.iter().zip(&order) {
            let off = body.v.iter().zip(&here.bodies[*k].v).map(|(a, b)| (a - b).abs());
            let off = off.fold(0.0, f64::max);
            prop_assert!(off <= SAME, "piece {k} is {off:e} m/s or rad/s off");
        }
    }

    #[test]
    fn momentum_changes_by_the_impulses_that_are_reported(draw in draw(), model in model()) {
        let world = draw.plain(model);
        let mass: f64 = draw.pieces.iter().map(|piece| piece.mass).sum();
        let mut worst = 0.0_f64;
        let _ = run(&world, 5, |report, before, after| {
            let reported = report.contact_wrench(&Point3::origin(), |geometry| geometry.0 > 0);
            let force = reported.force + GRAVITY * mass;
            let [start, end] = [before, after].map(|state| world.energy(state).linear_momentum_W);
            let fastest = after.bodies.iter().flat_map(|body| &body.v).fold(1.0_f64, |most, v| most.max(v.abs()));
            worst = worst.max((end - start - force * DT).norm() / (mass * fastest));
        });
        // The residual of the solver, relative to the momenta of single bodies, which may cancel in the sum.
        prop_assert!(worst <= 1e2 * SOLVED, "off by {worst:e}");
    }

    #[test]
    fn contacts_do_not_pull_and_act_as_they_react(draw in draw(), model in model()) {
        let world = draw.plain(model);
        let mut faults = Vec::new();
        let _ = run(&world, 5, |report, before, after| {
            let most = report.contacts.iter().map(|c| c.force_W.norm()).fold(0.0, f64::max);
            let round_off = 1e3 * SOLVED * (most + 1.0);
            for contact in &report.contacts {
                let (n, t) = parts(contact);
                let v = velocity_of(&world, before, after, contact.a.0, &contact.p_WCa)
                    - velocity_of(&world, before, after, contact.b.0, &contact.p_WCb);
                // Friction opposes the slip.
                let power = t.dot(&v);
                if n < -round_off || power > round_off * (1.0 + v.norm()) {
                    faults.push(format!("{contact:?}: pulls by {n:e} N, or adds {power:e} W"));
                }
            }
            for pair in report.pairs() {
                let (on_a, on_b) = (pair.wrench_on_a(&Point3::origin()), pair.wrench_on_b(&Point3::origin()));
                // Sides that meet within the step have a moment of the normal force over their distance: none, along the normal.
                let off = (on_a.force + on_b.force).norm() + (on_a.torque + on_b.torque).norm();
                if off > 1e-9 * (1.0 + most) && pair.contacts.iter().all(|c| c.signed_distance <= 0.0) {
                    faults.push(format!("a pair acts and reacts differently by {off:e}"));
                }
            }
        });
        prop_assert!(faults.is_empty(), "{}", faults[0]);
    }

    #[test]
    fn friction_is_within_coulomb_s_cone_where_the_model_couples_it(draw in draw(), model in solved_once()) {
        let world = draw.plain(model);
        let mu = draw.material.friction;
        let mut worst = 0.0_f64;
        let _ = run(&world, 5, |report, _, _| {
            let most = report.contacts.iter().map(|c| c.force_W.norm()).fold(0.0, f64::max);
            for contact in &report.contacts {
                let (n, t) = parts(contact);
                worst = worst.max((t.norm() - mu * n) / (most + 1.0));
            }
        });
        prop_assert!(worst <= 1e3 * SOLVED, "{worst:e} of the largest force beyond the cone");
    }

    #[test]
    fn threads_change_no_bit(draw in draw(), model in model()) {
        let world = draw.plain(model);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&world, 4, |_, _, _| ()))
        };
        prop_assert_eq!(on(1), on(2));
    }

    #[test]
    fn a_number_that_is_not_finite_or_missing_is_an_error_wherever_it_is(
        draw in draw(),
        which in 0..7,
        places in prop::array::uniform2(any::<prop::sample::Index>()),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        missing in any::<bool>(),
    ) {
        let world = draw.plain(Arc::new(LaggedModel::default()));
        let mut state = run(&world, 2, |_, _, _| ());
        let body = places[0].index(state.bodies.len());
        let (own, control) = (&mut state.bodies[body], &mut state.controls[body]);
        control.effort = vec![0.0; 6];
        let load = Load {
            point: MaterialPoint::on_frame(0, Vector3::zeros()),
            force_W: Vector3::new(0.0, bad, 0.0),
            torque_W: Vector3::zeros(),
        };
        let spoil = |values: &mut Vec<f64>| {
            let i = places[1].index(values.len());
            if missing {
                values.remove(i);
            } else {
                values[i] = bad;
            }
        };
        match which {
            0 => spoil(&mut own.q),
            1 => spoil(&mut own.v),
            2 => spoil(&mut control.effort),
            3 => control.held = vec![None, Some(bad), None, None, None, None],
            4 => control.loads.push(load),
            5 => state.time_s = bad,
            _ if missing => drop(state.bodies.remove(body)),
            _ => drop(state.controls.remove(body)),
        }
        prop_assert!(world.check_state(&state).is_err());
        let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
        let stepped = stepper.step(&world, &state, DT, &mut State::default());
        prop_assert!(which == 5 || stepped.is_err());
    }
}
