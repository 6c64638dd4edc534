//! A free rod that is struck at its end within one step.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_contact_sap::{Load, MaterialPoint};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use super::test_bench::{Bench, WEIGHTLESS};

const STEP_S: f64 = 1e-3;
/// Half of its length, m; its moments of inertia differ by a factor of 50.
const REACH: f64 = 0.1;

/// A rod along z that spins about its axis, rad/s, and tumbles at a tenth of that.
fn rod(spin: f64) -> Bench {
    let mut builder = ModelBuilder::new("rod");
    builder.root(Root::Floating);
    let inertia = SpatialInertia::solid_box(0.3, Vector3::new(0.02, 0.02, 2.0 * REACH));
    builder.link(LinkSpec::new("rod", inertia));
    let model = Arc::new(builder.build().expect("a legal rod"));
    let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let v = [0.1 * spin, 0.0, spin, 0.0, 0.0, 0.0];
    let tree = RigidTree::new(model).starting_at(&q, &v);
    Bench::new(tree, STEP_S, WEIGHTLESS)
}

fn rotation(bench: &Bench) -> UnitQuaternion<f64> {
    let [w, x, y, z] = bench.state.q[3..].try_into().expect("a quaternion");
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

fn inertia(bench: &Bench) -> Matrix3<f64> {
    let rotation = rotation(bench).to_rotation_matrix();
    let rotational =
        SpatialInertia::solid_box(0.3, Vector3::new(0.02, 0.02, 2.0 * REACH)).rotational;
    rotation * rotational * rotation.inverse()
}

fn momentum(bench: &Bench) -> Vector3<f64> {
    inertia(bench) * Vector3::from_column_slice(&bench.state.v[..3])
}

/// Steps under a force at the end that turns the rod by `turn` rad in one step, across its axis; its impulse about the centre.
fn strike(bench: &mut Bench, turn: f64, across: f64) -> Vector3<f64> {
    let arm = rotation(bench) * Vector3::z() * REACH;
    let side = rotation(bench) * Vector3::new(across.cos(), across.sin(), 0.0);
    let moment = inertia(bench)[(0, 0)].max(inertia(bench)[(1, 1)]);
    let force = side * (turn * moment / (STEP_S * STEP_S * REACH));
    let frame = bench
        .tree()
        .model()
        .link_named("rod")
        .expect("there is one")
        .0;
    bench.control.loads = vec![Load {
        point: MaterialPoint::on_frame(frame as u32, Vector3::z() * REACH),
        force_W: force,
        torque_W: Vector3::zeros(),
    }];
    bench.step();
    arm.cross(&force) * STEP_S
}

#[test]
fn light_blows_change_the_angular_momentum_by_their_impulse() {
    // A hundredth of the turn at which the velocity of the solution takes over: a share of 1e-4 of what it differs by, here half of the impulse.
    let mut bench = rod(100.0);
    for k in 0..100 {
        let before = momentum(&bench);
        let impulse = strike(&mut bench, 1e-3, f64::from(k));
        let missing = (momentum(&bench) - before - impulse).norm() / impulse.norm();
        assert!(missing < 1e-4, "blow {k}: {missing:e}");
    }
}

#[test]
fn a_strong_blow_adds_no_energy_beyond_its_own() {
    for spin in [100.0, 1000.0, 3000.0] {
        for (turn, k) in [0.03, 0.1, 0.3, 1.0, 3.0]
            .into_iter()
            .flat_map(|turn| (0..12).map(move |k| (turn, k)))
        {
            let mut bench = rod(spin);
            let (start, at_start) = (rotation(&bench), inertia(&bench));
            let omega = Vector3::from_column_slice(&bench.state.v[..3]);
            let before = momentum(&bench);
            let impulse = strike(&mut bench, turn, f64::from(k) * TAU / 12.0);
            let kicked = omega + at_start.try_inverse().expect("regular") * impulse;
            // Of the solution, by which the rod turned.
            let least = (rotation(&bench) * start.inverse()).scaled_axis();
            let axis = least.normalize();
            let whole = ((kicked * STEP_S - least).dot(&axis) / TAU).round() * TAU;
            let solved = (least + axis * whole) / STEP_S;
            let twice = |omega: &Vector3<f64>| omega.dot(&(at_start * omega));
            let allowed = twice(&kicked).max(twice(&solved)).max(before.dot(&omega));
            let after = Vector3::from_column_slice(&bench.state.v[..3]);
            let found = momentum(&bench).dot(&after);
            assert!(
                found < 1.1 * allowed,
                "{spin} rad/s, {turn} rad, {k}: {}",
                found / allowed
            );
        }
    }
}
