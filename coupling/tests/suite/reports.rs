//! What a step says it did: forces of pairs, wrenches on bodies, reactions of joints, limits, actuators, couplers and constraints.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{PdGains, RowKind, SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, ConstraintState, Geometry,
    GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    CouplerLaw, JointKind, JointLimits, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root,
    SpatialInertia,
};

const G: f64 = 9.81;
const DT: f64 = 1e-3;

fn free_box(mass: f64, p: [f64; 3], v: [f64; 6]) -> RigidTree {
    let mut model = ModelBuilder::new("box");
    model.root(Root::Floating);
    let inertia = SpatialInertia::solid_box(mass, Vector3::repeat(0.1));
    model.link(LinkSpec::new("box", inertia));
    RigidTree::new(Arc::new(model.build().expect("a legal model")))
        .starting_at(&[p[0], p[1], p[2], 1.0, 0.0, 0.0, 0.0], &v)
}

fn add_box(builder: &mut WorldBuilder, name: &str, mass: f64, p: [f64; 3], v: [f64; 6]) -> BodyIdx {
    let body = builder.add_body(name, Box::new(free_box(mass, p, v)));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(Vector3::repeat(0.1)).expect("positive lengths");
    builder.add_geometry(Geometry::new(
        name,
        mount,
        shape,
        ContactMaterial::default(),
    ));
    body
}

fn with_floor() -> WorldBuilder {
    let mut builder = WorldBuilder::default();
    let mount = Mount::World(Isometry3::identity());
    let material = ContactMaterial::default();
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    builder
}

/// Steps `state`, keeping the stepper for what it says of joints.
fn run(
    world: &World,
    state: &mut State,
    steps: usize,
    mut watch: impl FnMut(&StepReport, &State, &State),
) -> (
    StepReport,
    StrongImplicit<Box<dyn pliant_contact_sap::ConvexContactSolver>>,
) {
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    };
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(tight));
    let (mut next, mut report) = (State::default(), StepReport::default());
    for _ in 0..steps {
        stepper
            .step_into(world, state, DT, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.convergence.solve);
        watch(&report, state, &next);
        std::mem::swap(state, &mut next);
    }
    (report, stepper)
}

#[test]
fn pairs_of_a_pile_carry_what_lies_above_and_act_as_they_react() {
    let mut builder = with_floor();
    let masses = [4.0, 2.0, 1.0];
    for (k, mass) in masses.iter().enumerate() {
        let z = 0.05 + 0.1 * k as f64;
        add_box(
            &mut builder,
            &format!("box {k}"),
            *mass,
            [0.0, 0.0, z],
            [0.0; 6],
        );
    }
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let (report, _) = run(&world, &mut state, 500, |_, _, _| {});
    let pairs: Vec<_> = report.pairs().collect();
    let keys: Vec<_> = pairs.iter().map(|pair| (pair.a.0, pair.b.0)).collect();
    assert_eq!(keys, [(0, 1), (1, 2), (2, 3)]);
    let p_WO = Point3::new(0.3, -0.2, 0.1);
    for (k, pair) in pairs.iter().enumerate() {
        assert_eq!(pair.contacts.len(), 4, "a face on a face");
        let load: f64 = masses[k..].iter().sum::<f64>() * G;
        // A is the lower one: pressed down.
        let error = (pair.force_on_a() + Vector3::new(0.0, 0.0, load)).norm();
        assert!(error < 1e-6 * load, "{k}: {}", pair.force_on_a());
        let (on_a, on_b) = (pair.wrench_on_a(&p_WO), pair.wrench_on_b(&p_WO));
        assert_eq!(on_a.force, -on_b.force);
        assert!((on_a.torque + on_b.torque).norm() < 1e-12 * load);
        // Through the middle of the boxes.
        let expected = (Point3::origin() - p_WO).cross(&on_a.force);
        assert!(
            (on_a.torque - expected).norm() < 1e-6 * load,
            "{}",
            on_a.torque
        );
        assert_eq!(report.pair(pair.b, pair.a), Some(*pair));
    }
    assert_eq!(report.pair(GeometryIdx(0), GeometryIdx(3)), None);
    // The wrench on a body is the sum over its pairs.
    let middle = GeometryIdx(2);
    let on_middle = report.contact_wrench(&p_WO, |g| g == middle);
    let from_below = pairs[1].wrench_on_b(&p_WO);
    let from_above = pairs[2].wrench_on_a(&p_WO);
    let sum = from_below.force + from_above.force;
    assert!((on_middle.force - sum).norm() < 1e-12 * G);
    assert!((on_middle.force - Vector3::new(0.0, 0.0, 2.0 * G)).norm() < 1e-5 * G);
    assert!((on_middle.torque - from_below.torque - from_above.torque).norm() < 1e-12 * G);
}

/// Newton's laws over every step of an off-centre collision: what the report says acted is what moved the boxes.
#[test]
fn impulses_of_the_report_are_the_changes_of_momentum() {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    // Fast enough to meet within a step from further away than the resting margin.
    for (name, mass, p, v) in [
        ("left", 1.0, [-0.3, 0.02, 0.01], 20.0),
        ("right", 3.0, [0.1, -0.02, 0.0], -1.0),
    ] {
        add_box(&mut builder, name, mass, p, [0.5, 1.0, -0.3, v, 0.0, 0.0]);
    }
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let (mut closed, mut speculative) = (0, 0);
    let _ = run(&world, &mut state, 50, |report, before, after| {
        for (b, body) in ["left", "right"].iter().enumerate() {
            let model = world.model(BodyIdx(b));
            let momentum = |s: &State| model.energy(&s.bodies[b], &Vector3::zeros());
            let (start, end) = (momentum(before), momentum(after));
            let wrench = report.contact_wrench(&Point3::origin(), |g| g.0 == b);
            let change = end.linear_momentum_W - start.linear_momentum_W;
            // Momenta of 20 kg m/s, solved for to 1e-9.
            assert!((wrench.force * DT - change).norm() < 1e-6, "{body}");
        }
        closed += usize::from(report.pairs().any(|pair| pair.force_on_a().norm() > 0.0));
        let apart = report.contacts.iter().filter(|c| c.p_WCa != c.p_WCb);
        speculative += apart.count();
    });
    assert!(closed > 0 && speculative > 0, "{closed} {speculative}");
}

/// A horizontal arm on a hinge that leans on its limit, one that an actuator holds up, and one held by a coupler through
/// its partner.
#[test]
fn limits_actuators_and_couplers_report_the_torque_that_they_exert() {
    let mass = 2.0;
    let arm = SpatialInertia::solid_box(mass, Vector3::new(0.4, 0.05, 0.05));
    let hinged = |arms: &[(&str, f64)]| {
        let mut model = ModelBuilder::new("arms");
        model.link(LinkSpec::new("base", SpatialInertia::zero()));
        for &(name, lower) in arms {
            // The arm's centre is 0.2 m from the hinge, so gravity turns it with m g 0.2 about y.
            let inertia = arm.expressed_in(&Isometry3::translation(0.2, 0.0, 0.0));
            model.link(LinkSpec::new(name, inertia));
            let mut joint =
                JointSpec::new(name, JointKind::Revolute, "base", name).about(-Vector3::y());
            joint.limits = JointLimits {
                lower,
                upper: 1.0,
                ..JointLimits::default()
            };
            model.joint(joint);
        }
        model
    };
    let torque = mass * G * 0.2;
    let mut builder = WorldBuilder::default();
    let leaning = hinged(&[("arm", 0.0)]).build().expect("a legal model");
    let leaning = builder.add_body("leaning", Box::new(RigidTree::new(Arc::new(leaning))));
    let driven = Arc::new(hinged(&[("arm", -1.0)]).build().expect("a legal model"));
    let hinge = driven.joint_named("arm").expect("just added");
    let gains = PdGains {
        proportional: 1e4,
        derivative: 100.0,
        effort_limit: 100.0,
    };
    let tree = RigidTree::new(driven).with_actuator(hinge, gains);
    let driven = builder.add_body("driven", Box::new(tree.expect("legal gains")));
    let mut coupled = hinged(&[("source", 0.0), ("follower", -1.0)]);
    coupled.coupler("follower", "source", CouplerLaw::linear(1.0, 0.0));
    let coupled = RigidTree::new(Arc::new(coupled.build().expect("a legal model")));
    let coupled = builder.add_body("coupled", Box::new(coupled));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let (report, stepper) = run(&world, &mut state, 1000, |_, _, _| {});
    let limit = report.row_force(leaning, RowKind::LowerLimit, 0);
    assert!(
        (limit.expect("at its limit") - torque).abs() < 1e-6 * torque,
        "{limit:?}"
    );
    let upper = report.row_force(leaning, RowKind::UpperLimit, 0);
    assert!(upper.is_none_or(|force| force == 0.0), "{upper:?}");
    let held = report.row_force(driven, RowKind::Actuator, 0);
    assert!(
        (held.expect("driven") - torque).abs() < 1e-6 * torque,
        "{held:?}"
    );
    assert_eq!(report.row_force(driven, RowKind::Coupler, 0), None);
    // The follower is held by its source, which leans on its limit for both.
    let passed_on = report.row_force(coupled, RowKind::Coupler, 1);
    let error = passed_on.expect("coupled") - torque;
    assert!(error.abs() < 1e-6 * torque, "{passed_on:?}");
    let both = report.row_force(coupled, RowKind::LowerLimit, 0);
    let error = both.expect("at its limit") - 2.0 * torque;
    assert!(error.abs() < 1e-6 * torque, "{both:?}");
    // The joint as a whole: the weight, and the torque about −y.
    for body in [leaning, driven] {
        let reactions = stepper.reactions(body).joints;
        let [reaction] = reactions.as_slice() else {
            panic!("one joint: {reactions:?}")
        };
        let weight = Vector3::new(0.0, 0.0, mass * G);
        assert!((reaction.force_W - weight).norm() < 1e-6 * weight.norm());
        let expected = Vector3::new(0.0, -torque, 0.0);
        assert!(
            (reaction.torque_W - expected).norm() < 1e-6 * torque,
            "{}",
            reaction.torque_W
        );
    }
}

#[test]
fn ties_report_what_hangs_on_them_until_they_are_released() {
    let mut builder = WorldBuilder::default();
    let kinds = [
        ConstraintKind::Ball,
        ConstraintKind::Weld,
        ConstraintKind::Distance(0.3),
    ];
    let mut x = -1.0;
    let constraints = kinds.map(|kind| {
        x += 1.0;
        let body = add_box(
            &mut builder,
            &format!("{kind:?}"),
            1.5,
            [x, 0.0, 0.0],
            [0.0; 6],
        );
        let up = match kind {
            ConstraintKind::Distance(length) => length,
            _ => 0.0,
        };
        // Welds hold off their centre, too: 0.04 m along x. Balls and ropes hold above it.
        let arm = match kind {
            ConstraintKind::Weld => Vector3::new(0.04, 0.0, 0.0),
            _ => Vector3::new(0.0, 0.0, 0.04),
        };
        let hook = Isometry3::translation(x + arm.x, 0.0, arm.z + up);
        builder.add_constraint(Constraint {
            name: format!("{kind:?}"),
            kind,
            a: Anchor::World(hook),
            b: Anchor::Frame {
                body,
                frame: 0,
                X_FA: Isometry3::translation(arm.x, arm.y, arm.z),
            },
            compliance: ConstraintCompliance::NearRigid,
        })
    });
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let (report, _) = run(&world, &mut state, 500, |_, _, _| {});
    let weight = 1.5 * G;
    for (constraint, kind) in constraints.iter().zip(kinds) {
        let held = report.constraint(*constraint).expect("it holds");
        // End A is the world's: pulled down by what hangs on it.
        let error = (held.on_a.force + Vector3::new(0.0, 0.0, weight)).norm();
        assert!(error < 1e-6 * weight, "{kind:?}: {}", held.on_a.force);
        let torque = match kind {
            ConstraintKind::Weld => {
                Vector3::new(-0.04, 0.0, 0.0).cross(&Vector3::new(0.0, 0.0, -weight))
            }
            _ => Vector3::zeros(),
        };
        let error = (held.on_a.torque - torque).norm();
        assert!(error < 1e-6 * weight, "{kind:?}: {}", held.on_a.torque);
    }
    state.constraints[constraints[1].0] = ConstraintState::Released;
    let (report, _) = run(&world, &mut state, 1, |_, _, _| {});
    assert_eq!(report.constraint(constraints[1]), None);
    assert!(report.constraint(constraints[2]).is_some());
}
