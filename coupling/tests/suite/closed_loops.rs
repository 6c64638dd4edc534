//! Constraints that close loops of a mechanism: redundant ones, and ones in directions in which nothing can move.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::rigid_contact::solver;
use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3, Vector6};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, State, StepReport, Stepper,
    StrongImplicit, World, WorldBuilder,
};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

const G: f64 = 9.81;
const DT: f64 = 1e-3;

/// A slender rod from the origin of its link to `end`.
fn rod(mass: f64, end: Vector3<f64>) -> SpatialInertia {
    let (length, along) = (end.norm(), end.normalize());
    let across = Matrix3::identity() - along * along.transpose();
    let rotational = across * (mass * length * length / 12.0) + Matrix3::identity() * 1e-6;
    SpatialInertia::new(mass, end / 2.0, rotational)
}

/// A mechanism of rods in a plane, which stands as `X_WP`: hinges about y of the plane. Each joint has parent, child and place in the
/// parent; positions start at `q`.
struct Mechanism<'a> {
    X_WP: Isometry3<f64>,
    rods: &'a [(&'a str, f64, [f64; 3])],
    joints: &'a [(&'a str, &'a str, [f64; 3])],
    q: &'a [f64],
    held: bool,
}

impl Mechanism<'_> {
    fn build(&self) -> (WorldBuilder, BodyIdx) {
        let mut model = ModelBuilder::new("mechanism");
        model.link(LinkSpec::new("base", SpatialInertia::zero()));
        for (name, mass, end) in self.rods {
            model.link(LinkSpec::new(*name, rod(*mass, Vector3::from(*end))));
        }
        for (k, (parent, child, p)) in self.joints.iter().enumerate() {
            let place = Isometry3::translation(p[0], p[1], p[2]);
            let place = match *parent {
                "base" => self.X_WP * place,
                _ => place,
            };
            let hinge = JointSpec::new(format!("j{k}"), JointKind::Continuous, *parent, *child);
            model.joint(hinge.at(place).about(Vector3::y()));
        }
        let model = Arc::new(model.build().expect("a legal model"));
        let tree = RigidTree::new(model).starting_at(self.q, &vec![0.0; self.q.len()]);
        let mut builder = WorldBuilder::default();
        builder.gravity(self.X_WP.rotation * Vector3::new(0.0, 0.0, -G));
        let body = builder.add_body("mechanism", Box::new(tree));
        (builder, body)
    }

    /// Adds each of `constraints` and gives the world and its state.
    fn world(&self, constraints: &[(ConstraintKind, Anchorage, Anchorage)]) -> (World, State) {
        let (mut builder, body) = self.build();
        for (k, (kind, a, b)) in constraints.iter().enumerate() {
            let anchor = |at: &Anchorage| match *at {
                Ground(p) => Anchor::World(self.X_WP * Isometry3::translation(p[0], p[1], p[2])),
                Rod(frame, p) => Anchor::Frame {
                    body,
                    frame,
                    X_FA: Isometry3::translation(p[0], p[1], p[2]),
                },
            };
            builder.add_constraint(Constraint {
                name: format!("c{k}"),
                kind: *kind,
                a: anchor(a),
                b: anchor(b),
                compliance: ConstraintCompliance::NearRigid,
            });
        }
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        if self.held {
            state.controls[body.0].held = vec![Some(0.0); self.q.len()];
        }
        (world, state)
    }
}

#[derive(Clone, Copy)]
enum Anchorage {
    World([f64; 3]),
    /// Link, and point on it.
    Rod(u32, [f64; 3]),
}

use Anchorage::{Rod, World as Ground};

fn run(world: &World, state: &mut State, steps: usize, mut each: impl FnMut(&State)) -> StepReport {
    let mut stepper = StrongImplicit::new(solver());
    let (mut next, mut last) = (State::default(), None);
    for _ in 0..steps {
        let report = stepper.step(world, state, DT, &mut next);
        let report = report.expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.untrusted());
        std::mem::swap(state, &mut next);
        each(state);
        last = Some(report);
    }
    last.expect("at least one step")
}

/// Orientations of the plane of a mechanism: upright, and none of its directions along an axis of the world.
fn planes() -> [Isometry3<f64>; 2] {
    let turn = UnitQuaternion::from_euler_angles(0.7, -0.4, 1.1);
    let aslant = Isometry3::from_parts(Vector3::new(0.3, -1.2, 0.8).into(), turn);
    [Isometry3::identity(), aslant]
}

/// Two rods of 1 kg and 1 m hang 2 m apart and carry a bar of 2 kg: Σ m r² = 2/3 + 2, Σ m g r = (1 + 2) g, ω₀² = 11.036.
const PARALLELOGRAM: f64 = 3.0 * G / (2.0 / 3.0 + 2.0);

fn parallelogram(X_WP: Isometry3<f64>, q: &[f64]) -> Mechanism<'_> {
    Mechanism {
        X_WP,
        rods: &[
            ("A", 1.0, [0.0, 0.0, -1.0]),
            ("C", 2.0, [2.0, 0.0, 0.0]),
            ("B", 1.0, [0.0, 0.0, -1.0]),
        ],
        joints: &[
            ("base", "A", [0.0, 0.0, 0.0]),
            ("A", "C", [0.0, 0.0, -1.0]),
            ("base", "B", [2.0, 0.0, 0.0]),
        ],
        q,
        held: false,
    }
}

/// Mean period of an oscillation of `angle` about zero over whole periods.
fn period(angles: &[f64]) -> f64 {
    let rising = (1..angles.len()).filter(|&k| angles[k - 1] < 0.0 && angles[k] >= 0.0);
    let crossings: Vec<f64> = rising
        .map(|k| k as f64 - angles[k] / (angles[k] - angles[k - 1]))
        .collect();
    let n = crossings.len() - 1;
    (crossings[n] - crossings[0]) / n as f64 * DT
}

#[test]
fn a_parallelogram_of_four_bars_is_a_pendulum() {
    let pin = (
        ConstraintKind::Ball,
        Rod(2, [2.0, 0.0, 0.0]),
        Rod(3, [0.0, 0.0, -1.0]),
    );
    let rope = |length: f64| {
        let up = [0.0, 0.0, length - 1.0];
        (
            ConstraintKind::Distance(length),
            Rod(2, [2.0, 0.0, 0.0]),
            Rod(3, up),
        )
    };
    // Once, three times, and with a rope between the same bodies that the pin already implies.
    let redundant: [&[_]; 3] = [&[pin], &[pin, pin, pin], &[pin, rope(0.6)]];
    let a = 0.1;
    // Of a pendulum at amplitude a.
    let expected = TAU / PARALLELOGRAM.sqrt() * (1.0 + a * a / 16.0);
    for X_WP in planes() {
        for constraints in redundant {
            let q = [a, -a, a];
            let mechanism = parallelogram(X_WP, &q);
            let (world, mut state) = mechanism.world(constraints);
            let mut angles = Vec::new();
            let _ = run(&world, &mut state, 6000, |state| {
                let q = &state.bodies[0].q;
                let open = (q[0] - q[2]).abs().max((q[0] + q[1]).abs());
                assert!(open < 1e-5, "step {}: {open}", state.step);
                angles.push(q[0]);
            });
            let found = period(&angles);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
    }
}

/// Five bars, closed by a pin in one place or another: the same motion.
#[test]
fn five_bars_move_alike_wherever_their_loop_is_cut() {
    // From (0, 0) down to (0.3, -0.9), to (0.9, -1.2); from (2, 0) to (1.6, -0.8), to (0.9, -1.2).
    let ends = [
        [0.3, 0.0, -0.9],
        [0.6, 0.0, -0.3],
        [-0.4, 0.0, -0.8],
        [-0.7, 0.0, -0.4],
    ];
    for X_WP in planes() {
        let rods = [
            ("A", 1.0, ends[0]),
            ("B", 0.5, ends[1]),
            ("C", 1.5, ends[2]),
            ("D", 0.7, ends[3]),
        ];
        let mut five_bars = Mechanism {
            X_WP,
            rods: &rods,
            joints: &[
                ("base", "A", [0.0; 3]),
                ("A", "B", ends[0]),
                ("base", "C", [2.0, 0.0, 0.0]),
                ("C", "D", ends[2]),
            ],
            q: &[0.0; 4],
            held: false,
        };
        let (world, mut state) =
            five_bars.world(&[(ConstraintKind::Ball, Rod(2, ends[1]), Rod(4, ends[3]))]);
        let mut first = Vec::new();
        let _ = run(&world, &mut state, 1500, |state| {
            let q = &state.bodies[0].q;
            first.push([q[0], q[2]]);
        });
        // D goes from B's end to C's end here, and C hangs on D.
        let back = ends[3].map(|x| -x);
        let rods = [
            ("A", 1.0, ends[0]),
            ("B", 0.5, ends[1]),
            ("D", 0.7, back),
            ("C", 1.5, ends[2].map(|x| -x)),
        ];
        five_bars.rods = &rods;
        let joints = [
            ("base", "A", [0.0; 3]),
            ("A", "B", ends[0]),
            ("B", "D", ends[1]),
            ("D", "C", back),
        ];
        five_bars.joints = &joints;
        let pin = (
            ConstraintKind::Ball,
            Rod(4, ends[2].map(|x| -x)),
            Ground([2.0, 0.0, 0.0]),
        );
        let (world, mut state) = five_bars.world(&[pin]);
        let mut k = 0;
        let _ = run(&world, &mut state, 1500, |state| {
            let q = &state.bodies[0].q;
            let turn_of_c = q[0] + q[1] + q[2] + q[3];
            let [a, c] = first[k];
            assert!(
                (q[0] - a).abs() < 1e-3 && (turn_of_c - c).abs() < 1e-3,
                "step {k}: {} {a}, {turn_of_c} {c}",
                q[0]
            );
            k += 1;
        });
        assert!(first.iter().any(|[a, _]| a.abs() > 0.05), "it moves");
    }
}

/// A three-hinged arch of 2 kg and 1 kg and a bracket of 0.5 kg, welded to the world. By moments about its foot, and of its right half
/// about its top, the arch pushes the bracket with 0.75 g outwards and 1.25 g down.
#[test]
fn an_arm_that_is_welded_to_the_world_at_its_tip_stands_still() {
    for X_WP in planes() {
        for copies in [1, 2] {
            let (up, down, along) = ([0.5, 0.0, 0.5], [0.5, 0.0, -0.5], [0.5, 0.0, 0.0]);
            let arm = Mechanism {
                X_WP,
                rods: &[("A", 2.0, up), ("B", 1.0, down), ("C", 0.5, along)],
                joints: &[("base", "A", [0.0; 3]), ("A", "B", up), ("B", "C", down)],
                q: &[0.0; 3],
                held: false,
            };
            let weld = (ConstraintKind::Weld, Ground([1.5, 0.0, 0.0]), Rod(3, along));
            let (world, mut state) = arm.world(&vec![weld; copies]);
            let report = run(&world, &mut state, 500, |state| {
                let most = state.bodies[0]
                    .q
                    .iter()
                    .fold(0.0_f64, |m, q| m.max(q.abs()));
                assert!(most < 1e-5, "{most}");
            });
            let on_world: Vector3<f64> = report.constraints.iter().map(|c| c.on_a.force).sum();
            let torque: Vector3<f64> = report.constraints.iter().map(|c| c.on_a.torque).sum();
            let (on_world, torque) = (
                X_WP.rotation.inverse() * on_world,
                X_WP.rotation.inverse() * torque,
            );
            let expected = Vector3::new(0.75, 0.0, -1.75) * G;
            assert!((on_world - expected).norm() < 1e-3 * G, "{on_world}");
            assert!((torque.y + 0.75 * G).abs() < 1e-3 * G, "{torque}");
        }
    }
}

/// A pendulum whose hinge is there twice: as a joint and as a pin on the joint's axis.
#[test]
fn a_second_pin_on_the_axis_of_a_hinge_changes_nothing() {
    let bar = [0.0, 0.0, -1.0];
    let a = 0.1;
    for X_WP in planes() {
        for along_the_axis in [0.0, 0.3] {
            let at = [0.0, along_the_axis, 0.0];
            let pendulum = Mechanism {
                X_WP,
                rods: &[("A", 1.0, bar)],
                joints: &[("base", "A", [0.0; 3])],
                q: &[a],
                held: false,
            };
            let (world, mut state) =
                pendulum.world(&[(ConstraintKind::Ball, Rod(1, at), Ground(at))]);
            let mut angles = Vec::new();
            let _ = run(&world, &mut state, 4000, |state| {
                angles.push(state.bodies[0].q[0])
            });
            let expected = TAU / (1.5 * G).sqrt() * (1.0 + a * a / 16.0);
            let found = period(&angles);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
    }
}

/// A cart on a rail along x of the plane.
fn cart(builder: &mut WorldBuilder, name: &str, X_WP: &Isometry3<f64>, y: f64) -> BodyIdx {
    let mut model = ModelBuilder::new(name);
    model.link(LinkSpec::new("rail", SpatialInertia::zero()));
    model.link(LinkSpec::new(
        "cart",
        SpatialInertia::solid_sphere(1.0, 0.1),
    ));
    let slide = JointSpec::new("slide", JointKind::Prismatic, "rail", "cart");
    let place = X_WP * Isometry3::translation(0.0, y, 0.0);
    model.joint(slide.at(place).about(Vector3::x()));
    let model = Arc::new(model.build().expect("a legal model"));
    builder.add_body(
        name,
        Box::new(RigidTree::new(model).starting_at(&[0.0], &[1.0])),
    )
}

const KINDS: [ConstraintKind; 3] = [
    ConstraintKind::Ball,
    ConstraintKind::Weld,
    ConstraintKind::Distance(0.5),
];

/// Two carts side by side: what joins them acts in directions in which neither can move, and along the rail they have the same speed.
#[test]
fn carts_that_are_joined_across_their_rails_roll_on() {
    for X_WP in planes() {
        for kind in KINDS {
            for compliance in [
                ConstraintCompliance::NearRigid,
                ConstraintCompliance::Spring {
                    stiffness: 1e5,
                    relaxation_time_s: 0.01,
                },
            ] {
                let mut builder = WorldBuilder::default();
                builder.gravity(Vector3::new(0.0, 0.0, -G));
                if X_WP != Isometry3::identity() {
                    builder.gravity(Vector3::zeros());
                }
                let carts = [("left", 0.0), ("right", 0.5)]
                    .map(|(name, y)| cart(&mut builder, name, &X_WP, y));
                let reach = match kind {
                    ConstraintKind::Distance(_) => 0.0,
                    _ => 0.25,
                };
                let anchor = |body, y| Anchor::Frame {
                    body,
                    frame: 1,
                    X_FA: Isometry3::translation(0.0, y, 0.0),
                };
                for name in ["once", "twice"] {
                    builder.add_constraint(Constraint {
                        name: name.into(),
                        kind,
                        a: anchor(carts[0], reach),
                        b: anchor(carts[1], -reach),
                        compliance,
                    });
                }
                let world = builder.build().expect("a legal world");
                let mut state = world.default_state();
                let _ = run(&world, &mut state, 200, |_| {});
                for body in &state.bodies {
                    assert!((body.v[0] - 1.0).abs() < 1e-9, "{kind:?} {}", body.v[0]);
                }
            }
        }
    }
}

/// Nothing can move on either side, and the anchors are apart.
#[test]
fn constraints_between_what_stands_still_do_nothing() {
    for kind in KINDS {
        let bar = [0.0, 0.0, -1.0];
        let held = Mechanism {
            X_WP: Isometry3::identity(),
            rods: &[("A", 1.0, bar)],
            joints: &[("base", "A", [0.0; 3])],
            q: &[0.3],
            held: true,
        };
        let to_ground = (kind, Rod(1, bar), Ground([0.0, 0.0, -1.3]));
        let to_base = (kind, Rod(1, bar), Rod(0, [0.1, 0.0, -1.3]));
        let to_itself = (kind, Rod(1, bar), Rod(1, [0.0, 0.0, -0.4]));
        let (world, mut state) = held.world(&[to_ground, to_base, to_itself]);
        let report = run(&world, &mut state, 10, |_| {});
        assert_eq!(state.bodies[0].q, [0.3]);
        assert_eq!(report.constraints.len(), 3);
        for constraint in &report.constraints {
            assert_eq!(constraint.on_a.force, Vector3::zeros());
        }
    }
}

/// A free body tied to itself moves as without the tie: its parts cannot move against each other.
#[test]
fn what_ties_a_body_to_itself_does_not_hold_it() {
    let end = |tie: Option<ConstraintKind>| {
        let mut model = ModelBuilder::new("body");
        model.root(Root::Floating);
        model.link(LinkSpec::new("one", SpatialInertia::solid_sphere(1.0, 0.1)));
        model.link(LinkSpec::new("two", SpatialInertia::solid_sphere(1.0, 0.1)));
        let place = Isometry3::new(Vector3::new(0.3, 0.1, 0.2), Vector3::new(0.4, 0.5, 0.6));
        model.joint(JointSpec::new("glue", JointKind::Fixed, "one", "two").at(place));
        let model = Arc::new(model.build().expect("a legal model"));
        let q = [0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0];
        let v = [0.3, -0.7, 0.4, 0.5, 0.0, 0.0];
        let tree = RigidTree::new(model).starting_at(&q, &v);
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.0, 0.0, -G));
        let body = builder.add_body("body", Box::new(tree));
        let anchor = |frame, X_FA| Anchor::Frame { body, frame, X_FA };
        if let Some(kind) = tie {
            builder.add_constraint(Constraint {
                name: "tie".into(),
                kind,
                a: anchor(0, place * Isometry3::translation(0.0, 0.0, 0.2)),
                b: anchor(1, Isometry3::identity()),
                compliance: ConstraintCompliance::NearRigid,
            });
        }
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let _ = run(&world, &mut state, 100, |_| {});
        Vector6::from_column_slice(&state.bodies[0].v)
    };
    let free = end(None);
    for kind in KINDS {
        let tied = end(Some(kind));
        assert!((tied - free).norm() < 1e-9, "{kind:?} {tied} {free}");
    }
}

/// The weight of a ball on a thread in the first step, whatever the length of the thread: only what acts along it decides how near-rigid
/// it is, not the mobility of its middle, which is far from the ball.
#[test]
fn a_thread_of_any_length_carries_its_ball() {
    for length in [0.2, 1.0, 10.0, 100.0] {
        let mut model = ModelBuilder::new("ball");
        model.root(Root::Floating);
        model.link(LinkSpec::new(
            "ball",
            SpatialInertia::solid_sphere(1.0, 0.1),
        ));
        let model = Arc::new(model.build().expect("a legal model"));
        let mut builder = WorldBuilder::default();
        let body = builder.add_body("ball", Box::new(RigidTree::new(model)));
        let thread = builder.add_constraint(Constraint {
            name: "thread".into(),
            kind: ConstraintKind::Distance(length),
            a: Anchor::Frame {
                body,
                frame: 0,
                X_FA: Isometry3::identity(),
            },
            b: Anchor::World(Isometry3::translation(0.0, 0.0, length)),
            compliance: ConstraintCompliance::NearRigid,
        });
        let world = builder.build().expect("a legal world");
        let mut next = State::default();
        let report = StrongImplicit::new(solver())
            .step(&world, &world.default_state(), DT, &mut next)
            .expect("a step");
        let force = report.constraint(thread).expect("it holds").on_a.force;
        assert!(
            (force.z / G - 1.0).abs() < 1e-3,
            "{length} m: {} N",
            force.z
        );
    }
}
