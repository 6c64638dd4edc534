//! A box pushed sideways at some height: it slides or tips, whichever needs less force.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{Load, MaterialPoint};
use pliant_coupling::{BodyIdx, Geometry, Mount};
use pliant_hydroelastic::{Compliance, PatchGeometry, Shape};

use super::test_world::{G, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch-tipping",
    about: "a compliant box pushed at height h tips where μ > w/(2h), and slides below",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const MASS: f64 = 1.0;
/// Width along the push, depth, height.
const LENGTHS: Vector3<f64> = Vector3::new(0.1, 0.1, 0.3);
/// h, m.
const PUSHED_AT: f64 = 0.25;
/// Ratio of the push to the smaller of the forces for sliding and for tipping.
const EXCESS: f64 = 1.06;

/// Motion of a box pushed for 0.6 s with a little more than the force that makes it slide or tip.
struct Pushed {
    /// Displacement of its foot, m.
    slid: f64,
    /// Tilt, rad.
    tilt: f64,
    /// Acceleration of its centre over the last 0.2 s, m/s².
    acceleration: f64,
}

fn push(friction: f64) -> Outcome<Pushed> {
    let tips_at = LENGTHS.x / (2.0 * PUSHED_AT);
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, friction));
    let compliance = Compliance {
        hydroelastic_modulus: 1e8,
        ..Compliance::default()
    };
    let shape = Shape::cuboid(LENGTHS)?;
    let field = PatchGeometry::compliant(&shape, &compliance)?;
    let body = setup.body_alone(
        "box",
        LENGTHS,
        MASS,
        Isometry3::translation(0.0, 0.0, 0.5 * LENGTHS.z),
    )?;
    let X_FG = Isometry3::identity();
    let on_body = Mount::Frame {
        body,
        frame: 0,
        X_FG,
    };
    let geometry = |name: &str, mount, shape, patch| Geometry {
        patch: Some(Arc::new(patch)),
        ..Geometry::new(name, mount, shape, setup.material)
    };
    let of_box = geometry("box", on_body, shape, field);
    let floor = geometry(
        "floor",
        Mount::World(Isometry3::identity()),
        Shape::half_space(),
        PatchGeometry::RigidHalfSpace,
    );
    setup.builder.add_geometry(of_box);
    setup.builder.add_geometry(floor);
    let mut run = setup.start(TIME_STEP_S)?;
    let force = EXCESS * friction.min(tips_at) * MASS * G;
    let foot = |run: &super::test_world::Run, body: BodyIdx| {
        let q = &run.body(body).q;
        let turn = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
            q[3], q[4], q[5], q[6],
        ));
        // The corner about which it tips.
        let corner = turn * Vector3::new(0.5 * LENGTHS.x, 0.0, -0.5 * LENGTHS.z);
        (q[0] + corner.x, turn.angle())
    };
    run.steps(200)?;
    let start = foot(&run, body);
    let mut before = 0.0;
    for step in 0..600 {
        if step == 400 {
            before = run.velocity(body).x;
        }
        // Slowly enough that the box does not rock.
        let share = (f64::from(step) / 300.0).min(1.0);
        run.control(body).loads = vec![Load {
            point: MaterialPoint::on_frame(0, Vector3::z() * (PUSHED_AT - 0.5 * LENGTHS.z)),
            force_W: Vector3::x() * force * share,
            torque_W: Vector3::zeros(),
        }];
        run.steps(1)?;
    }
    let end = foot(&run, body);
    Ok(Pushed {
        slid: end.0 - start.0,
        tilt: end.1,
        acceleration: (run.velocity(body).x - before) / 0.2,
    })
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let tips_at = LENGTHS.x / (2.0 * PUSHED_AT);
    let mut findings = Vec::new();
    for (share, slides) in [(0.5, true), (0.9, true), (1.1, false), (2.0, false)] {
        let friction = share * tips_at;
        let Pushed {
            slid,
            tilt,
            acceleration,
        } = push(friction)?;
        let push = |what: &str| format!("patch-tipping: {what}, μ = {share} w/(2h)");
        if slides {
            findings.push(Finding::equals(
                push("slides with (m/s²)"),
                acceleration,
                (EXCESS - 1.0) * friction * G,
                0.02 * (EXCESS - 1.0) * friction * G,
                "6 % more force than the friction bound; regularisation by v_s reduces friction by 2e-4 at 5 mm/s",
            ));
            findings.push(Finding::at_most(
                push("tilt (rad)"),
                tilt,
                3e-3,
                "it does not tip: the centre of pressure stays within the foot; the load acts on 7 mm at its edge",
            ));
        } else {
            findings.push(Finding::at_most(
                push("foot slides by (m)"),
                slid.abs(),
                1e-3,
                "the friction bound exceeds the force that tips the box",
            ));
            // About its foot: I α = excess of the moment, growing from there.
            let inertia = MASS / 3.0 * (LENGTHS.x.powi(2) + LENGTHS.z.powi(2));
            let moment = (EXCESS - 1.0) * MASS * G * 0.5 * LENGTHS.x;
            let least = 0.5 * moment / inertia * 0.3 * 0.3;
            findings.push(Finding::at_least(
                push("tilt (rad)"),
                tilt,
                least,
                "½ α t² about the edge under the 6 % of excess force, for 0.3 s; α grows as the box tilts",
            ));
        }
    }
    Ok(findings)
}
