//! How hard Newton's method of the free motion has to work: a rope that swings like a whip, one that is twisted up.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel, TimeStep};

use super::{CLAMPED, fly};
use crate::{Centreline, End, FreeMotionSettings, Material, Rod, RodBuilder, RodError, Section};

/// Newton's iterations beside those of the study of Hessians, whose full Hessian this crate has.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterations {
    /// Which motion and time step.
    pub what: String,
    /// Mean over all steps, to a relative residual of 1e-8.
    pub found: f64,
    /// Those of the study.
    pub study: f64,
    /// Share of steps with a matrix that was not positive definite.
    pub shifts: f64,
}

/// A rope of a metre and 40 edges, with both ends clamped or one.
fn rope(both: &[End]) -> Result<Rod, RodError> {
    let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 40);
    let mut builder = RodBuilder::new(line)
        .section(
            Section::Circle { radius: 5e-3 },
            Material::isotropic(1e6, 0.5, 1000.0)?,
        )
        .free_motion(FreeMotionSettings {
            relative_tolerance: 1e-8,
            ..FreeMotionSettings::default()
        });
    for end in both {
        builder = builder.end(*end, CLAMPED);
    }
    builder.build()
}

/// Means over `seconds`, with the finishing clamp moved if there is one.
fn means(rod: &Rod, clamps: &[End], time_step_s: f64, seconds: f64) -> Result<[f64; 2], RodError> {
    let steps = (seconds / time_step_s).round() as usize;
    let (mut iterations, mut shifts) = (0, 0);
    let mut fault = Ok(());
    let look = |state: &BodyState, report: crate::FreeMotionReport| {
        iterations += report.iterations;
        shifts += report.shifts;
        let mut control = rod.default_control();
        if clamps.contains(&End::Finish) {
            let (omega, v) = (Vector3::x() * 20.0, Vector3::x() * -0.3);
            let driven = rod.drive_clamp(End::Finish, state, &omega, &v, &mut control);
            if driven.is_err() {
                fault = driven;
            }
        }
        control
    };
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let step = TimeStep::from(time_step_s);
    fly(rod, &rod.default_state(), step, gravity, steps, look)?;
    fault?;
    Ok([iterations, shifts].map(|n| f64::from(n) / steps as f64))
}

/// A whip: a second of falling and swinging from the level. A twist: one clamp is turned by 12 rad in 0.6 s and moved 18 cm towards
/// the other.
///
/// # Errors
/// [`RodError::Body`] of a step that cannot be taken.
pub fn newton_iterations() -> Result<Vec<Iterations>, RodError> {
    let whip: &[End] = &[End::Start];
    let twist: &[End] = &[End::Start, End::Finish];
    let mut all = Vec::new();
    for (name, clamps, seconds, studies) in [
        ("whip", whip, 1.0, [(1e-3, 3.1), (5e-3, 4.4)]),
        ("twist", twist, 0.6, [(1e-3, 3.0), (5e-3, 3.9)]),
    ] {
        let rod = rope(clamps)?;
        for (time_step_s, study) in studies {
            let [found, shifts] = means(&rod, clamps, time_step_s, seconds)?;
            all.push(Iterations {
                what: format!("{name}, time step of {} ms", 1e3 * time_step_s),
                found,
                study,
                shifts,
            });
        }
    }
    Ok(all)
}
