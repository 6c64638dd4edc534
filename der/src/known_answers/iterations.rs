//! Iterations of Newton's method for the free motion: a swinging rope, and a rope twisted by its clamp.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel, TimeStep};

use super::{CLAMPED, advance_freely};
use crate::{Centreline, End, FreeMotionSettings, Material, Rod, RodBuilder, RodError, Section};

/// Iterations of Newton's method, with those of a prototype with the full Hessian as reference.
///
/// ```
/// use pliant_der::known_answers::newton_iterations;
///
/// // Four motions, all with fewer iterations than the prototype's.
/// let all = newton_iterations()?;
/// assert_eq!(all[0].what, "whip, time step of 1 ms");
/// assert!(all.len() == 4 && all.iter().all(|motion| motion.found < motion.reference));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Iterations {
    /// Motion and time step.
    pub what: String,
    /// Mean over all steps, to a relative residual of 1e-8.
    pub found: f64,
    /// Mean iterations of the prototype.
    pub reference: f64,
    /// Fraction of steps with a matrix that was not positive definite.
    pub shifts: f64,
}

/// A rope of 1 m and 40 edges with the given ends clamped.
fn rope(clamps: &[End]) -> Result<Rod, RodError> {
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
    for end in clamps {
        builder = builder.end(*end, CLAMPED);
    }
    builder.build()
}

/// Mean iterations and shifts per step over `seconds`. A clamp at the finish rotates and moves.
fn means(rod: &Rod, clamps: &[End], time_step_s: f64, seconds: f64) -> Result<[f64; 2], RodError> {
    let steps = (seconds / time_step_s).round() as usize;
    let (mut iterations, mut shifts) = (0, 0);
    let mut outcome = Ok(());
    let observe = |state: &BodyState, report: crate::FreeMotionReport| {
        iterations += report.iterations;
        shifts += report.shifts;
        let mut control = rod.default_control();
        if clamps.contains(&End::Finish) {
            let (omega, v) = (Vector3::x() * 20.0, Vector3::x() * -0.3);
            let set = rod.set_clamp_velocity(End::Finish, state, &omega, &v, &mut control);
            if set.is_err() {
                outcome = set;
            }
        }
        control
    };
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let step = TimeStep::from(time_step_s);
    advance_freely(rod, &rod.default_state(), step, gravity, steps, observe)?;
    outcome?;
    Ok([iterations, shifts].map(|n| f64::from(n) / steps as f64))
}

/// Whip: 1 s of falling and swinging from the horizontal. Twist: one clamp rotates by 12 rad in 0.6 s and moves 18 cm
/// towards the other.
///
/// # Errors
/// [`RodError::Body`] if a step fails.
pub fn newton_iterations() -> Result<Vec<Iterations>, RodError> {
    let whip: &[End] = &[End::Start];
    let twist: &[End] = &[End::Start, End::Finish];
    let mut all = Vec::new();
    for (name, clamps, seconds, references) in [
        ("whip", whip, 1.0, [(1e-3, 3.1), (5e-3, 4.4)]),
        ("twist", twist, 0.6, [(1e-3, 3.0), (5e-3, 3.9)]),
    ] {
        let rod = rope(clamps)?;
        for (time_step_s, reference) in references {
            let [found, shifts] = means(&rod, clamps, time_step_s, seconds)?;
            all.push(Iterations {
                what: format!("{name}, time step of {} ms", 1e3 * time_step_s),
                found,
                reference,
                shifts,
            });
        }
    }
    Ok(all)
}
