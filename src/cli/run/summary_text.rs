//! The summary of a run as text.

use std::time::Duration;

use crate::cli::output::{duration, number, rough_duration, table};
use crate::runner::{Outcome, RunSummary, Verdict};

/// The summary as text.
pub(super) fn report(summary: &RunSummary) -> String {
    let mut text = format!(
        "{}: {} steps, {} s in {} ({}x real time), {} velocities\n\
         contacts {} on average, {} at most; iterations {} on average, {} at most; linear systems: {}\n",
        summary.scene,
        summary.steps,
        number(summary.simulated_s),
        duration(Duration::from_secs_f64(summary.wall_s)),
        number(summary.realtime_rate),
        summary.dofs,
        number(summary.contacts_mean),
        summary.contacts_max,
        number(summary.iterations_mean),
        summary.iterations_max,
        summary.linear_systems,
    );
    if let Some(substeps) = &summary.substeps {
        text += &format!(
            "{} substeps a step, with {} contacts of particles on average, {} at most, and {} iterations\n",
            number(substeps.per_step_mean),
            number(substeps.contacts_mean),
            substeps.contacts_max,
            number(substeps.iterations_mean),
        );
        if substeps.passes_mean > 1.0 {
            text += &format!(
                "substeps were taken {} times on average: forces among rigid bodies were not linear within a step; relative error of the velocities {} at most\n",
                number(substeps.passes_mean),
                number(substeps.linearisation_error_max)
            );
        }
    }
    for warning in warnings(summary) {
        text += &format!("{warning}\n");
    }
    let rows: Vec<Vec<String>> = summary.expectations.iter().map(expectation_row).collect();
    if !rows.is_empty() {
        text += &table(
            &["expected", "measured", "found", "allowed", ""],
            &rows,
            &[1, 4],
        );
    }
    text
}

/// How many expectations the run did not judge, where the scene's full length of `full_s` would.
pub(super) fn unjudged(summary: &RunSummary, full_s: f64) -> Option<String> {
    let expectations = &summary.expectations;
    let skipped = (expectations.iter())
        .filter(|verdict| verdict.outcome == Outcome::Skipped)
        .count();
    let lengths = full_s / summary.simulated_s;
    let full_run = Duration::try_from_secs_f64(summary.wall_s * lengths).ok()?;
    (skipped > 0 && lengths > 1.0 + f64::EPSILON.sqrt()).then(|| {
        format!(
            "{skipped} of {} expectations are of times outside this run; `--full` takes about {}",
            expectations.len(),
            rough_duration(full_run)
        )
    })
}

/// Why some steps are not trusted.
pub(super) fn warnings(summary: &RunSummary) -> Vec<String> {
    let counted = [
        (
            summary.unconverged_steps,
            "{} steps did not reach the solver's tolerance",
        ),
        (
            summary.missed_contact_steps,
            "in {} steps bodies may have passed into each other",
        ),
        (
            summary.energy_gain_steps,
            "in {} steps contacts gave more energy than they had",
        ),
        (
            summary.unconverged_rotation_steps,
            "in {} steps the lagged rotations of a soft body have not converged",
        ),
        (
            summary.unconverged_friction_steps,
            "in {} steps friction bounds have not converged",
        ),
    ];
    let some = counted.into_iter().filter(|(steps, _)| *steps > 0);
    some.map(|(steps, text)| text.replace("{}", &steps.to_string()))
        .collect()
}

fn expectation_row(verdict: &Verdict) -> Vec<String> {
    vec![
        verdict.observable.clone(),
        verdict.measured.clone(),
        verdict.found.map_or("none".into(), number),
        allowed(verdict),
        match verdict.outcome {
            Outcome::Met => "met".into(),
            Outcome::Failed => "FAILED".into(),
            Outcome::Skipped => "skipped: not within the run".into(),
        },
    ]
}

pub(in crate::cli) fn allowed(verdict: &Verdict) -> String {
    match (verdict.at_least, verdict.at_most) {
        (Some(least), Some(most)) => format!("{} .. {}", number(least), number(most)),
        (Some(least), None) => format!(">= {}", number(least)),
        (None, Some(most)) => format!("<= {}", number(most)),
        (None, None) => "anything".into(),
    }
}
