//! A heavy box on a light box, with a mass ratio of a million.

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::NEAR_RIGID_CONTACT;
use pliant_coupling::ContactSettings;
use pliant_hydroelastic::ContactMaterial;

use super::test_world::{G, MODELS, Model, Outcome, SOLVER, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "mass-ratio",
    about: "a box on another of a millionth of its mass penetrates it by the static depth",
    kind: CaseKind::Function(run),
    needs: None,
};

/// The default of scenes. Stiffness is capped where the inverse inertia of the contact gives the period β δt, k ≤ 4π²/(β² δt² w),
/// w ≈ 2.6/m at the corner of the light cube: 1.5e9 N/m for β = 0.1, and 1.5e7 N/m, a sixth of a metre of penetration, for 1.
const TIME_STEP_S: f64 = 1e-3;
const SIDE: f64 = 0.1;
const LIGHT: f64 = 1.0;
const HEAVY: f64 = 1e6;
const STIFFNESS: f64 = 5e8;
/// s/m.
const DISSIPATION: f64 = 20.0;

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        findings.extend(load(model, length)?);
    }
    Ok(findings)
}

/// The weight of the heavy box on four corners between the boxes, and that of both on four corners on the floor: F/4k each.
///
/// Lagged and similar start without penetration. Under the load F Hunt-Crossley dissipation is a damper
/// F d at each interface; two such interfaces in series overdamp the heavy box, F d/2 > 2√(m · 4k/2), so it comes to rest from
/// above, and the remaining distance after t is at most e^(−t/T), T = F d/(4k).
///
/// In the SAP model this requires a relaxation time, which lowers the stiffness cap (k ≤ 4π²/(β² δt(δt + τ)w)); it starts at rest.
/// The similar model uses the default β of the others: its own of 1 caps the stiffness below the given one.
fn load(model: Model, length: CaseLength) -> Outcome<[Finding; 2]> {
    let surface = ContactMaterial {
        dissipation: DISSIPATION,
        relaxation_time_s: 0.0,
        ..material(STIFFNESS, 0.5)
    };
    let depths = [HEAVY + LIGHT, HEAVY].map(|mass| mass * G / (4.0 * STIFFNESS));
    let start = match model {
        Model::Lagged | Model::Similar => 0.0,
        Model::Sap => 1.0,
    };
    let duration = match length {
        CaseLength::Quick => 0.5,
        CaseLength::Full => 2.0,
    };
    let mut setup = TestWorld::new(model, surface);
    setup.builder.contact(ContactSettings {
        near_rigid: Some(NEAR_RIGID_CONTACT),
        ..model.settings()
    });
    setup.floor(Isometry3::identity());
    let size = Vector3::repeat(SIDE);
    let on_floor = 0.5 * SIDE - start * depths[0];
    let on_box = on_floor + SIDE - start * depths[1];
    let at = |z: f64| Isometry3::translation(0.0, 0.0, z);
    let light = setup.free_box("light", size, LIGHT, at(on_floor), [0.0; 6])?;
    let heavy = setup.free_box("heavy", size, HEAVY, at(on_box), [0.0; 6])?;
    let mut run = setup.start(TIME_STEP_S)?;
    let mut deepest = [0.0_f64; 2];
    for _ in 0..(duration / TIME_STEP_S) as usize {
        run.steps(1)?;
        let (z_light, z_heavy) = (run.position(light).z, run.position(heavy).z);
        deepest[0] = deepest[0].max(0.5 * SIDE - z_light);
        deepest[1] = deepest[1].max(SIDE - (z_heavy - z_light));
    }
    let left = (1.0 - start) * (-duration * 4.0 * STIFFNESS / (HEAVY * G * DISSIPATION)).exp();
    let model = model.name();
    let finding = |k: usize, what: &str| {
        Finding::equals(
            format!("mass-ratio: deepest penetration (m) {what}, {model}"),
            deepest[k],
            depths[k],
            (left + 2.0 * SOLVER) * depths[k],
            "weight over the stiffness of four corners; and the remaining approach; solver stops at 1e-6 of the weight on each box",
        )
    };
    Ok([
        finding(0, "of the light box into the floor"),
        finding(1, "of the heavy box into the light one"),
    ])
}
