//! The tree passes the conformance checks of a body of the contact problem.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Isometry3, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{
    Assembled, BodyError, DeformableModel, Load, MaterialPoint, PdGains, Primitive, StepInput,
    Surface,
};
use pliant_multibody::{
    CouplerLaw, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, RigidTree, Root,
};

use super::test_bench::{DOWN, brick};

/// One joint of every kind, in two branches, with springs, dampers and a rotor.
pub(crate) fn tree_of_all_joints(root: Root) -> Arc<Model> {
    let mut builder = ModelBuilder::new("tree_of_all_joints");
    builder.root(root);
    builder.link(LinkSpec::new(
        "root",
        brick(3.0, Vector3::new(0.02, 0.0, -0.1)),
    ));
    let kinds = [
        ("planar", JointKind::Planar, "root"),
        ("ball", JointKind::Ball, "planar"),
        ("slide", JointKind::Prismatic, "ball"),
        ("hinge", JointKind::Revolute, "root"),
        ("wheel", JointKind::Continuous, "hinge"),
        ("glued", JointKind::Fixed, "wheel"),
        ("loose", JointKind::Floating, "glued"),
        ("thread", JointKind::Screw { lead: 0.4 }, "ball"),
    ];
    for (i, (name, kind, parent)) in kinds.into_iter().enumerate() {
        let offset = Vector3::new(0.1, 0.03 * i as f64, -0.05);
        builder.link(LinkSpec::new(name, brick(0.5 + 0.1 * i as f64, offset)));
        let at = Isometry3::new(offset * 2.0, Vector3::new(0.3, 0.1 * i as f64, -0.2));
        let mut joint = JointSpec::new(name, kind, parent, name).at(at);
        joint.axis = Vector3::new(0.2, 1.0, -0.4);
        joint.passive.damping = 0.3;
        if kind.n_v() == 1 {
            joint.passive.spring_stiffness = 40.0;
            joint.passive.spring_rest = 0.1;
            joint.passive.dry_friction = 0.1;
            joint.drive.rotor_inertia = 1e-3;
            joint.drive.gear_ratio = 20.0;
        }
        builder.joint(joint);
    }
    builder.coupler("wheel", "hinge", CouplerLaw::linear(0.7, 0.0));
    Arc::new(builder.build().expect("a legal model"))
}

/// A state in motion, without symmetry.
pub(crate) fn moving(model: &Arc<Model>) -> RigidTree {
    let v: Vec<f64> = (0..model.n_v())
        .map(|k| (1.3 * k as f64 + 0.4).sin())
        .collect();
    let mut q = model.neutral_positions();
    model.integrate(&model.neutral_positions(), &v, 0.7, &mut q);
    let slide = model.joint_named("slide").expect("there is one");
    let gains = PdGains {
        proportional: 200.0,
        derivative: 5.0,
        effort_limit: 30.0,
    };
    RigidTree::new(model.clone())
        .with_actuator(slide, gains)
        .expect("legal gains")
        .starting_at(&q, &v)
}

#[test]
fn a_tree_of_all_joint_kinds_conforms_free_and_held() {
    for root in [
        Root::Fixed(Isometry3::translation(0.1, 0.2, 0.3)),
        Root::Floating,
    ] {
        let model = tree_of_all_joints(root);
        let tree = moving(&model);
        let mut control = tree.default_control();
        let joint = |name: &str| model.joint(model.joint_named(name).expect("there is one"));
        for hold in ["", "hinge", "ball", "planar"] {
            if !hold.is_empty() {
                for k in joint(hold).dofs() {
                    control.held[k] = Some(0.3 + 0.1 * k as f64);
                }
            }
            control.effort[0] = 0.7;
            control.loads = vec![Load {
                point: MaterialPoint::on_frame(3, Vector3::new(0.1, 0.2, 0.3)),
                force_W: Vector3::new(1.0, -2.0, 3.0),
                torque_W: Vector3::new(0.1, 0.0, -0.3),
            }];
            let input = StepInput {
                time_step: 1e-2.into(),
                gravity: DOWN,
                control: &control,
            };
            check_body(&tree, &tree.default_state(), &input).unwrap();
            check_explicit(&tree, &input);
            check_start_surface(&tree, &input);
        }
    }
}

/// The explicit velocity solves A v = b.
#[track_caller]
fn check_explicit(tree: &RigidTree, input: &StepInput<'_>) {
    let mut step = tree.new_step();
    step.begin(&tree.default_state(), input)
        .expect("a legal state");
    step.linearise_start(&mut Vec::new()).expect("always");
    let n = step.start_velocity().len();
    let Some(Assembled::Dense(a)) = step.dynamics().assembled() else {
        panic!("a tree's A is dense")
    };
    let a = DMatrix::from_column_slice(n, n, a);
    let b = DVector::from_column_slice(step.dynamics().right_hand_side());
    let expected = a.cholesky().expect("positive definite").solve(&b);
    let mut v = vec![f64::NAN; n];
    let explicit = step.as_explicit().expect("offered");
    explicit.explicit_velocity(&mut v).expect("never fails");
    let error = (DVector::from_vec(v) - &expected).norm();
    assert!(error < 1e-11 * expected.norm(), "{error}");
}

#[track_caller]
fn check_start_surface(tree: &RigidTree, input: &StepInput<'_>) {
    let mut step = tree.new_step();
    step.begin(&tree.default_state(), input)
        .expect("a legal state");
    let (mut of_step, mut of_model) = (Surface::default(), Surface::default());
    let motion = step.as_surface().expect("offered");
    motion.start_surface(&mut of_step);
    tree.surface(&tree.default_state(), &mut of_model);
    assert_eq!(of_step, of_model);
}

#[test]
fn errors_of_states_and_controls_name_the_entry() {
    let model = tree_of_all_joints(Root::Floating);
    let tree = moving(&model);
    let state = tree.default_state();
    let good = tree.default_control();
    let load = |frame| Load {
        point: MaterialPoint::on_frame(frame, Vector3::zeros()),
        force_W: Vector3::zeros(),
        torque_W: Vector3::zeros(),
    };
    let mut cases = vec![(good.clone(), "control.position"); 6];
    cases[0].0.position.pop();
    cases[1].0.effort[2] = f64::NAN;
    cases[1].1 = "control.effort[2]";
    cases[2].0.held[3] = Some(f64::INFINITY);
    cases[2].1 = "control.held[3]";
    cases[3].0.loads = vec![load(0), load(99)];
    cases[3].1 = "control.loads[1]";
    cases[4].0.loads = vec![load(0)];
    cases[4].0.loads[0].point.primitive = Primitive::Vertex(0);
    cases[4].1 = "no other primitives";
    cases[5].0.loads = vec![load(0)];
    cases[5].0.loads[0].torque_W.y = f64::NAN;
    cases[5].1 = "control.loads[0]";
    for (control, entry) in &cases {
        let input = StepInput {
            time_step: 1e-2.into(),
            gravity: DOWN,
            control,
        };
        let error: BodyError = tree.new_step().begin(&state, &input).expect_err("rejected");
        assert!(error.to_string().contains(entry), "{error}");
    }
}
