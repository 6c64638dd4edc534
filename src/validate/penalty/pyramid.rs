//! Two plates on the floor carry a wedge that pushes them apart, without rotation.
//!
//! The plates are at x = ±0.5 m and 1 m high; the wedge of 1 kg is the union of two half-spaces, 30 degrees steep, each against one plate. Released at
//! rest, just touching. Statics: it can stand for μ ≥ 0.25 and falls for μ = 0.2. Heights at which it stands are those of an independent program for the
//! same equations in two dimensions; they depend on how it settles, by up to 5e-3 m.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{
    BodyIdx, Exclusion, GeometryIdx, PenaltyBaseline, PenaltyForceSettings, World,
};
use pliant_hydroelastic::{ContactMaterial, Shape};

use super::PenaltyRun;
use crate::validate::test_world::{Model, Outcome, TestWorld, material};
use crate::validate::{CaseLength, Finding};

const TIME_STEP_S: f64 = 0.01;
const HISTORY: f64 = 5e-3;

#[derive(Clone, Copy)]
struct Pyramid {
    plate_mass: f64,
    stiffness: f64,
    friction: f64,
}

/// Of a run.
struct Stand {
    /// Of the wedge at the end, m; NaN where it diverged.
    height: f64,
    /// Of the height since 10 s, m; infinite where an attachment has changed.
    drift: f64,
}

impl Pyramid {
    fn world(&self) -> Outcome<(World, BodyIdx)> {
        let surface = ContactMaterial {
            relaxation_time_s: 0.0,
            // Four corners of a plate's end.
            ..material(self.stiffness / 4.0, self.friction)
        };
        let mut setup = TestWorld::new(Model::Lagged, surface);
        setup.floor(Isometry3::identity());
        let plate = Vector3::new(1e-6, 0.1, 1.0);
        for (name, x) in [("left", -0.5), ("right", 0.5)] {
            let at = Isometry3::translation(x, 0.0, 0.5);
            setup.free_box(name, plate, self.plate_mass, at, [0.0; 6])?;
        }
        let steepness = 30.0_f64.to_radians();
        let at = Isometry3::translation(0.0, 0.0, 1.0 - 0.5 * steepness.tan());
        let wedge = setup.body_alone("wedge", Vector3::repeat(0.3), 1.0, at)?;
        for (name, turn) in [("wedge left", 210.0_f64), ("wedge right", 150.0)] {
            let turned = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), turn.to_radians());
            let side = Isometry3::from_parts(Translation3::identity(), turned);
            setup.mount(name, (wedge, 0), side, Shape::half_space());
        }
        for (a, b) in [(1, 4), (2, 3), (1, 2)] {
            let pair = Exclusion::Geometries(GeometryIdx(a), GeometryIdx(b));
            setup.builder.exclude(pair);
        }
        Ok((setup.builder.build()?, wedge))
    }

    fn run(&self, baseline: Option<PenaltyBaseline>, until_s: f64) -> Outcome<Stand> {
        let (world, wedge) = self.world()?;
        let settings = PenaltyForceSettings {
            tolerance: 1e-9,
            box_particles: 2,
            baseline,
            ..PenaltyForceSettings::default()
        };
        let mut run = PenaltyRun::new(world, settings, TIME_STEP_S)?;
        for control in &mut run.state.controls {
            let held = Some(0.0);
            control.held = vec![held, held, held, None, held, None];
        }
        let height = |run: &PenaltyRun| run.state.bodies[wedge.0].q[2];
        let steps = (until_s / TIME_STEP_S).round() as usize;
        let settled = (steps / 2).min((10.0 / TIME_STEP_S) as usize);
        let mut then = None;
        for step in 0..steps {
            let stepped = match baseline {
                None => run.trusted_step(),
                Some(_) => run.step(),
            };
            match (stepped, baseline) {
                (Ok(_), _) if height(&run).abs() <= 3.0 => {}
                (Err(error), None) => return Err(error),
                // Explicit friction may diverge beyond what numbers hold.
                _ => break,
            }
            if step == settled {
                then = Some((height(&run), run.state.memory.attachments.clone()));
            }
        }
        let drift = match then {
            Some((z, attachments)) if attachments == run.state.memory.attachments => {
                (height(&run) - z).abs()
            }
            _ => f64::INFINITY,
        };
        Ok(Stand {
            height: height(&run),
            drift,
        })
    }
}

pub(super) fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let pyramid = Pyramid {
        plate_mass: 0.2,
        stiffness: 1e3,
        friction: 0.25,
    };
    let stiff = Pyramid {
        stiffness: 1e4,
        friction: 0.5,
        ..pyramid
    };
    let slippery = Pyramid {
        friction: 0.2,
        ..pyramid
    };
    let until_s = match length {
        CaseLength::Quick => 15.0,
        CaseLength::Full => 60.0,
    };
    let mut findings = Vec::new();
    for (name, pyramid, height) in [
        ("mu = 0.25", pyramid, 0.6955),
        ("mu = 0.5, k = 1e4", stiff, 0.7098),
    ] {
        let stand = pyramid.run(None, until_s)?;
        findings.push(Finding::equals(
            format!("penalty-pyramid: height (m), {name}"),
            stand.height,
            height,
            HISTORY,
            "the same equations in two dimensions, an independent program",
        ));
        findings.push(Finding::at_most(
            format!("penalty-pyramid: drift (m) since 10 s, attachments bitwise fixed, {name}"),
            stand.drift,
            1e-12,
            "attachments in static friction do not move",
        ));
    }
    findings.push(Finding::at_most(
        "penalty-pyramid: height (m), mu = 0.2".into(),
        slippery.run(None, 10.0)?.height,
        0.5,
        "statics: it falls",
    ));
    let lagged = stiff.run(Some(PenaltyBaseline::LaggedFriction), 10.0)?;
    // A run that diverged has no height.
    let height = if lagged.height.is_nan() {
        0.0
    } else {
        lagged.height
    };
    findings.push(Finding::at_most(
        "penalty-pyramid: height (m) on lagged friction, mu = 0.5, k = 1e4".into(),
        height,
        0.5,
        "explicit springs, dt^2 k/m = 5 beyond their limit of 4",
    ));
    Ok(findings)
}
