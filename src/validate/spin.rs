//! Bodies that spin: a top on a ball joint, and soft bars in free flight.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
use pliant_fem::LawKind;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, Model, Outcome, TestWorld, free_body, material};
use super::{Case, CaseKind, CaseLength, Finding};
use crate::runner::{RunLength, RunOptions, run as run_scene};
use crate::scene::{Scene, SceneOptions};

pub(super) const CASE: Case = Case {
    name: "spin",
    about: "a heavy top precesses steadily, and soft bars that spin keep their angular momentum by every law and rule",
    kind: CaseKind::Function(run),
    needs: None,
};

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = vec![precession(1e-3)?, precession(1e-4)?];
    for integration in ["backward-euler", "midpoint"] {
        for law in LawKind::ALL
            .into_iter()
            .filter(|law| *law != LawKind::Linear)
        {
            findings.push(angular_momentum(integration, law)?);
        }
    }
    Ok(findings)
}

const MASS: f64 = 0.5;
/// From the pivot to the centre of mass, m.
const ARM: f64 = 0.1;
const TILT: f64 = std::f64::consts::FRAC_PI_6;
/// About the axis of symmetry, rad/s.
const SPIN: f64 = 200.0;
const SECONDS: f64 = 2.0;

/// Mean rate of precession of a disk of 5 cm on a rod of 10 cm without mass.
///
/// It is steady at the smaller root of I₁ cos θ Ω² − I₃ ω₃ Ω + m g l = 0, with I₁ about the pivot.
fn precession(time_step_s: f64) -> Outcome<Finding> {
    let disk = SpatialInertia::solid_cylinder(MASS, 0.05, 0.01);
    let (axial, about_pivot) = (
        disk.rotational[(2, 2)],
        disk.rotational[(0, 0)] + MASS * ARM * ARM,
    );
    let (a, b) = (about_pivot * TILT.cos(), axial * SPIN);
    let rate = (b - (b * b - 4.0 * a * MASS * G * ARM).sqrt()) / (2.0 * a);
    let R_WB = UnitQuaternion::from_scaled_axis(Vector3::y() * TILT);
    let axis = R_WB * Vector3::z();
    let omega = Vector3::z() * rate + axis * (SPIN - rate * TILT.cos());
    let velocity = omega.cross(&(axis * ARM));
    let X_WB = Isometry3::from_parts((axis * ARM).into(), R_WB);
    let v = [
        omega.x, omega.y, omega.z, velocity.x, velocity.y, velocity.z,
    ];
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let top = free_body(disk, X_WB, v)?;
    let body = setup.builder.add_body("top", Box::new(top));
    setup.builder.add_constraint(Constraint {
        name: "pivot".into(),
        kind: ConstraintKind::Ball,
        a: Anchor::World(Isometry3::identity()),
        b: Anchor::Frame {
            body,
            frame: 0,
            X_FA: Isometry3::translation(0.0, 0.0, -ARM),
        },
        compliance: ConstraintCompliance::NearRigid,
    });
    let mut run = setup.start(time_step_s)?;
    let (mut turned, mut last) = (0.0, 0.0_f64);
    for _ in 0..(SECONDS / time_step_s).round() as usize {
        run.steps(1)?;
        let q = &run.body(body).q;
        let angle = q[1].atan2(q[0]);
        turned += (angle - last).sin().atan2((angle - last).cos());
        last = angle;
    }
    Ok(Finding::equals(
        format!("spin: precession of a heavy top (rad/s), steps of {time_step_s} s"),
        turned / SECONDS,
        rate,
        0.005 * rate,
        "steady precession, Goldstein, Classical Mechanics, 5.7; the joint's impulses act where the step starts",
    ))
}

const BAR: &str = r#"
schema = 1
title = "a soft bar that spins"
[simulation]
time_step_s = 0.005
smoke_s = 2.0
gravity = [0, 0, 0]
integration = "INTEGRATION"
[[fem]]
name = "bar"
mesh = { box = { size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } }
constitutive_material = { law = "LAW", youngs_modulus = 1e6, poissons_ratio = 0.3 }
angular_velocity = [0, 0, 10]
mass_matrix = "consistent"
[[observables]]
name = "L"
quantity = "angular-momentum"
of = "bar"
component = "z"
"#;

/// Largest change of L during 2 s.
fn angular_momentum(integration: &str, law: LawKind) -> Outcome<Finding> {
    let text = BAR
        .replace("INTEGRATION", integration)
        .replace("LAW", law.name());
    let scene = Scene::parse("spin.toml", &text, &SceneOptions::default())?;
    let options = RunOptions {
        length: RunLength::Until(SECONDS),
        ..RunOptions::default()
    };
    let outcome = run_scene(&scene, &options, &mut |_| {})?;
    let at = |row| outcome.series.at(row, 0);
    let rows = outcome.series.times_s().len();
    let changes = (0..rows).map(|row| (at(row) / at(0) - 1.0).abs());
    let name = law.name();
    Ok(Finding::at_most(
        format!(
            "spin: relative change of L of a soft bar in 2 s at 10 rad/s, {name}, {integration}"
        ),
        changes.fold(0.0, f64::max),
        1e-5,
        "conservation: no torque acts; tolerance of the solver",
    ))
}
