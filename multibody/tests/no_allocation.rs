//! The algorithms and the steps of a tree do not allocate after the first few calls: every allocation of this thread is
//! counted.

use std::path::Path;
use std::sync::Arc;

use allocation_counter::measure;
use nalgebra::{DMatrix, Point3, Vector3};
use pliant_contact_sap::{
    BlockFactors, BodyState, ConstraintSet, Control, DeformableModel, Integration, Interpolation,
    Load, MaterialPoint, ParticipantIdx, PdGains, RowIdx, RowKind, Rows, StepInput, Surface,
    TimeStep,
};
use pliant_multibody::RobotOptions;
use pliant_multibody::urdf::read_urdf;
use pliant_multibody::{
    ForwardDynamicsInput, HeldDofs, LinkIdx, Model, RigidTree, Root, Workspace, bias_forces,
    constrained_forward_dynamics, forward_dynamics, inverse_dynamics, mass_matrix, point_jacobian,
    read_robot,
};

/// Number of allocations of `job`.
fn allocations_of(job: impl FnOnce()) -> u64 {
    measure(job).count_total
}

fn load(name: &str, root: Root) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../robots")
        .join(name);
    let options = RobotOptions {
        root,
        ..RobotOptions::default()
    };
    let loaded = read_urdf(path, &options).unwrap_or_else(|error| panic!("{error}"));
    loaded.model
}

#[test]
fn dynamics_and_jacobians_do_not_allocate() {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    for root in [RobotOptions::default().root, Root::Floating] {
        let model = load("arm7.urdf", root);
        let n_v = model.n_v();
        let q = model.neutral_positions();
        let v: Vec<f64> = (0..n_v).map(|k| 0.1 * k as f64).collect();
        let (mut out, mut mass) = (vec![0.0; n_v], DMatrix::zeros(n_v, n_v));
        let mut jacobian = DMatrix::zeros(6, n_v);
        let held = HeldDofs::of(&model, [pliant_multibody::DofIdx(n_v - 2)]);
        let tip = LinkIdx(model.links().len() - 1);
        let mut w = Workspace::new(&model);
        let requests = allocations_of(|| {
            inverse_dynamics(&model, &q, &v, &v, &gravity, &mut w, &mut out);
            bias_forces(&model, &q, &v, &gravity, &mut w, &mut out);
            forward_dynamics(&model, &q, &v, &v, &gravity, &mut w, &mut out);
            let input = ForwardDynamicsInput {
                tau: &v,
                external: &[],
                diagonal: &v,
                held: &held,
                held_acceleration: &v,
                gravity,
            };
            constrained_forward_dynamics(&model, &input, &mut w, &mut out);
            mass_matrix(&model, &q, &mut w, &mut mass);
            let place = w.positions.link_position(&model, tip);
            point_jacobian(&model, &w.positions, tip, &place, &mut jacobian);
        });
        assert_eq!(requests, 0);
    }
}

#[test]
fn steps_of_an_arm_with_actuators_do_not_allocate() {
    let model = Arc::new(load("arm7.urdf", RobotOptions::default().root));
    let mut tree = RigidTree::new(model.clone());
    let gains = PdGains {
        proportional: 300.0,
        derivative: 10.0,
        effort_limit: f64::INFINITY,
    };
    for joint in model.joints().iter().filter(|j| j.kind.n_v() == 1) {
        let joint = model.joint_named(&joint.name).expect("its own name");
        tree = tree.with_actuator(joint, gains).expect("legal gains");
    }
    let mut control = tree.default_control();
    control.held[3] = Some(0.1);
    control.loads.push(Load {
        point: MaterialPoint::on_frame(5, Vector3::new(0.1, 0.0, 0.0)),
        force_W: Vector3::new(0.0, 0.0, -3.0),
        torque_W: Vector3::zeros(),
    });
    let (mut state, mut next) = (tree.default_state(), BodyState::default());
    let mut step = tree.new_step();
    let mut factors = BlockFactors::default();
    let mut set = ConstraintSet::default();
    let (mut surface, mut rows, mut interpolation) =
        (Surface::default(), Rows::default(), Interpolation::Twist);
    let mut kept = Control::default();
    let (mut linearised_at, mut v) = (Vec::new(), Vec::new());
    let tip = MaterialPoint::on_frame(7, Vector3::new(0.0, 0.0, 0.1));
    let mut take = |factor: bool, integration: Integration| {
        kept.clone_from(&control);
        let input = StepInput {
            time_step: TimeStep {
                length_s: 1e-3,
                integration,
            },
            gravity: Vector3::new(0.0, 0.0, -9.81),
            control: &kept,
        };
        step.begin(&state, &input).expect("a legal state");
        step.linearise_start(&mut linearised_at).expect("always");
        if factor {
            let dynamics = [step.dynamics()];
            factors.factor(&dynamics).expect("positive definite");
        }
        set.clear();
        let motion = step.as_surface().expect("offered");
        motion.start_surface(&mut surface);
        let basis = step
            .interpolation(&tip, &mut interpolation)
            .expect("a link");
        v.clear();
        v.extend_from_slice(step.start_velocity());
        step.basis(basis, &Point3::origin(), &mut rows);
        let report = step.advance(&v, &mut next).expect("always");
        assert!(report.warnings.is_empty());
        std::mem::swap(&mut state, &mut next);
    };
    for integration in Integration::ALL {
        take(true, integration);
        take(true, integration);
        let requests = allocations_of(|| (0..5).for_each(|_| take(false, integration)));
        assert_eq!(requests, 0, "{integration:?}");
    }
    // The buffers of the rows of limits and actuators grow once.
    let mut fill = || {
        set.clear();
        step.constraints(&mut set.internal(ParticipantIdx(0), &factors));
    };
    fill();
    fill();
    assert_eq!(allocations_of(&mut fill), 0);
    assert!(set.n_rows() >= 6);
}

#[test]
fn rows_of_tendons_and_couplings_do_not_allocate() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../robots/robotiq_2f85.xml");
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let model = Arc::new(loaded.model);
    let tendon = model.tendon_named("fingers").expect("its tendon");
    let gains = PdGains {
        proportional: 100.0,
        derivative: 10.0,
        effort_limit: 26.0,
    };
    let tree = RigidTree::new(model.clone());
    let tree = tree
        .with_tendon_actuator(tendon, gains)
        .expect("legal gains");
    let (state, control) = (tree.default_state(), tree.default_control());
    let input = StepInput {
        time_step: TimeStep {
            length_s: 1e-3,
            integration: Integration::BackwardEuler,
        },
        gravity: Vector3::zeros(),
        control: &control,
    };
    let mut step = tree.new_step();
    step.begin(&state, &input).expect("a legal state");
    let mut factors = BlockFactors::default();
    factors
        .factor(&[step.dynamics()])
        .expect("positive definite");
    let mut set = ConstraintSet::default();
    let mut fill = || {
        set.clear();
        step.constraints(&mut set.internal(ParticipantIdx(0), &factors));
    };
    fill();
    assert_eq!(allocations_of(&mut fill), 0);
    let tendon_row = |kind| {
        (0..set.n_rows()).any(|row| {
            let label = set.row_label(RowIdx(row));
            label.kind == kind && label.index as usize == model.control_of_tendon(tendon)
        })
    };
    assert!(tendon_row(RowKind::Actuator));
}
