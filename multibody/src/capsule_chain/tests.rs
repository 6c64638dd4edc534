use super::*;
use pliant_contact_sap::conformance::{check_body, check_dynamics};
use pliant_contact_sap::{Integration, Load, MaterialPoint, Primitive, StepInput, TimeStep};

fn spec(n: usize) -> CapsuleChainSpec {
    let l = 0.4;
    CapsuleChainSpec {
        nodes: (0..=n)
            .map(|i| Point3::new(l * i as f64 / n as f64, 0.0, 1.0))
            .collect(),
        radius: 0.005,
        linear_density: 0.1,
        bending_stiffness: 1e-3,
        twisting_stiffness: 7e-4,
        stiffness_damping: 0.01,
        rest: RestShape::Straight,
    }
}

fn helix(rest: RestShape) -> CapsuleChainSpec {
    let at = |i: usize| {
        let t = 0.4 * i as f64;
        Point3::new(0.05 * t.cos(), 0.05 * t.sin(), 0.01 * t)
    };
    CapsuleChainSpec {
        nodes: (0..20).map(at).collect(),
        rest,
        ..spec(2)
    }
}

#[test]
fn nodes_start_at_the_given_positions() {
    for spec in [spec(5), helix(RestShape::Straight)] {
        let chain = CapsuleChain::new(&spec).unwrap();
        let mut nodes = Vec::new();
        chain.positions(&chain.default_state(), &mut nodes);
        assert_eq!(nodes.len(), spec.nodes.len());
        for (found, given) in nodes.iter().zip(&spec.nodes) {
            assert!((found - given).norm() < 1e-14);
        }
    }
}

#[test]
fn springs_are_relaxed_straight_or_as_built() {
    let bent = CapsuleChain::new(&helix(RestShape::Straight)).unwrap();
    let built = CapsuleChain::new(&helix(RestShape::AsBuilt)).unwrap();
    assert_eq!(built.spring_energy(&built.default_state()), 0.0);
    // ½ EI κ² l with the curvature R/(R² + c²) of the helix, to second order in the turning angle.
    let curvature: f64 = 0.05 / (0.05 * 0.05 + 0.01 * 0.01);
    let length: f64 = bent.row.lengths.iter().sum();
    let energy = 0.5 * 1e-3 * curvature * curvature * length;
    let found = bent.spring_energy(&bent.default_state());
    // Ends have no joint; bends of 0.4 rad are represented by two angles each.
    assert!(
        (found / energy - 18.0 / 19.0).abs() < 0.05,
        "{found} {energy}"
    );
}

#[test]
fn a_capsule_chain_conforms() {
    for chain in [
        CapsuleChain::new(&spec(4)).unwrap(),
        CapsuleChain::new(&helix(RestShape::Straight)).unwrap(),
    ] {
        let control = chain.default_control();
        check_body(&chain, &chain.default_state(), &input(&control)).unwrap();
        let mut step = chain.new_step();
        step.begin(&chain.default_state(), &input(&control))
            .unwrap();
        check_dynamics(step.dynamics()).unwrap();
    }
}

fn input(control: &Control) -> StepInput<'_> {
    StepInput {
        time_step: TimeStep {
            length_s: 2e-3,
            integration: Integration::BackwardEuler,
        },
        gravity: Vector3::zeros(),
        control,
    }
}

/// Steps without contact: A v = b.
fn run(chain: &CapsuleChain, control: &Control, steps: usize) -> BodyState {
    let (mut state, mut next) = (chain.default_state(), BodyState::default());
    let mut step = chain.new_step();
    for _ in 0..steps {
        step.begin(&state, &input(control)).unwrap();
        step.linearise_start(&mut Vec::new()).unwrap();
        let mut v = vec![0.0; step.start_velocity().len()];
        let explicit = step.as_explicit().unwrap();
        explicit.explicit_velocity(&mut v).unwrap();
        let _ = step.advance(&v, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    state
}

#[test]
fn a_clamped_chain_sags_under_a_small_force_like_a_beam() {
    // F l³/3EI, with joints at the interior nodes.
    let n = 20;
    let chain = CapsuleChain::new(&spec(n)).unwrap();
    let mut control = chain.default_control();
    control.held[..6].fill(Some(0.0));
    control.loads.push(Load {
        point: MaterialPoint::on_vertex(n as u32),
        force_W: Vector3::new(0.0, 0.0, -1e-3),
        torque_W: Vector3::zeros(),
    });
    let state = run(&chain, &control, 20_000);
    let mut nodes = Vec::new();
    chain.positions(&state, &mut nodes);
    let l = 0.4 / n as f64;
    // Joints at i l, i = 1 ... n − 1, each rotated by F (n − i) l · l/EI with a lever arm of (n − i) l.
    let sag: f64 = (1..n)
        .map(|i| 1e-3 * ((n - i) as f64 * l).powi(2) * l / 1e-3)
        .sum();
    let found = 1.0 - nodes[n].z;
    assert!((found / sag - 1.0).abs() < 2e-3, "{found} {sag}");
    let beam = 1e-3 * 0.4_f64.powi(3) / (3.0 * 1e-3);
    assert!((found / beam - 1.0).abs() < 0.08, "{found} {beam}");
}

#[test]
fn a_torque_twists_the_chain() {
    let n = 10;
    let chain = CapsuleChain::new(&spec(n)).unwrap();
    let mut control = chain.default_control();
    control.held[..6].fill(Some(0.0));
    control.loads.push(Load {
        point: MaterialPoint {
            primitive: Primitive::Edge(n as u32 - 1),
            weights: [0.5, 0.5, 0.0, 0.0],
            offset: Vector3::zeros(),
        },
        force_W: Vector3::zeros(),
        torque_W: Vector3::new(1e-4, 0.0, 0.0),
    });
    let state = run(&chain, &control, 4000);
    let twist: f64 = (0..n - 1).map(|i| state.q[7 + 3 * i + 2]).sum();
    let theory = 1e-4 * 0.04 * 9.0 / 7e-4;
    assert!((twist / theory - 1.0).abs() < 1e-6, "{twist} {theory}");
}

#[test]
fn errors_name_the_invalid_value() {
    let error = |spec: CapsuleChainSpec| CapsuleChain::new(&spec).unwrap_err().to_string();
    let with = |change: fn(&mut CapsuleChainSpec)| {
        let mut spec = spec(4);
        change(&mut spec);
        error(spec)
    };
    assert!(with(|s| s.nodes.truncate(1)).contains("nodes: number = 1"));
    assert!(with(|s| s.nodes[2] = s.nodes[1]).contains("nodes 1 and 2: distance = 0"));
    assert!(with(|s| s.nodes[3].y = f64::NAN).contains("node 3: position"));
    assert!(with(|s| s.nodes[3].x = 0.1).contains("bends the chain"));
    assert!(with(|s| s.radius = 0.0).contains("radius"));
    assert!(with(|s| s.bending_stiffness = -1.0).contains("bending stiffness"));
    let _ = error(CapsuleChainSpec {
        linear_density: f64::NAN,
        ..spec(3)
    });
}
