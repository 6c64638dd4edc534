//! A step solved again until bodies that are touched move as their equations foresaw it: see
//! [`LaggedTerms`](pliant_contact_sap::LaggedTerms).

use pliant_contact_sap::BodyStep;

use crate::report::LaggedReport;
use crate::world::BodyIdx;

/// Corrections in succession that bring no body nearer to what it foresees than it was, after which there are no more: where links pass
/// on to each other what one of them does differently, corrections may lead away from a solution that is there.
const IN_VAIN_MAX: usize = 2;

/// How the corrections of a step go.
#[derive(Debug, Default)]
pub(super) struct LaggedTermsIteration {
    /// Of each body, as a multiple of what it tolerates.
    errors: Vec<f64>,
    approach: Approach,
    pub(super) report: LaggedReport,
}

impl LaggedTermsIteration {
    /// Before the first [`LaggedTermsIteration::judge`] of a step.
    pub(super) fn begin(&mut self) {
        self.approach = Approach::default();
        self.report = LaggedReport::default();
    }

    /// Finds how far `touched` bodies move from what they foresaw, with `velocity` of body b at `offsets[b]..offsets[b + 1]`; whether to
    /// correct it, with at most `corrections_max` corrections in all.
    pub(super) fn judge(
        &mut self,
        steps: &mut [Box<dyn BodyStep>],
        touched: &[bool],
        offsets: &[usize],
        velocity: &[f64],
        corrections_max: usize,
    ) -> bool {
        self.report.error = 0.0;
        self.report.unsettled = None;
        self.errors.clear();
        self.errors.resize(steps.len(), 0.0);
        for (b, step) in steps.iter_mut().enumerate().filter(|(b, _)| touched[*b]) {
            let Some(lagged) = step.as_lagged() else {
                continue;
            };
            let error = lagged.residual(&velocity[offsets[b]..offsets[b + 1]]);
            self.errors[b] = error;
            if error > self.report.error.max(1.0) {
                self.report.error = error;
                self.report.unsettled = Some(BodyIdx(b));
            }
        }
        self.report.unsettled.is_some()
            && self.report.corrections < corrections_max
            && self.approach.goes_on(self.report.error)
    }

    /// Has bodies that are off foresee the motion that was judged last.
    pub(super) fn correct(&mut self, steps: &mut [Box<dyn BodyStep>]) {
        let off = self.errors.iter().map(|error| *error > 1.0);
        for (step, _) in steps.iter_mut().zip(off).filter(|(_, off)| *off) {
            if let Some(lagged) = step.as_lagged() {
                lagged.update();
            }
        }
        self.report.corrections += 1;
    }
}

/// Whether errors come nearer to 0.
#[derive(Debug)]
struct Approach {
    nearest: f64,
    in_vain: usize,
}

impl Default for Approach {
    fn default() -> Self {
        Self {
            nearest: f64::INFINITY,
            in_vain: 0,
        }
    }
}

impl Approach {
    /// Whether another correction is worth its solve, after one that left `error`.
    fn goes_on(&mut self, error: f64) -> bool {
        if error < self.nearest {
            self.nearest = error;
            self.in_vain = 0;
        } else {
            self.in_vain += 1;
        }
        self.in_vain < IN_VAIN_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many corrections errors in this order are worth.
    fn corrections(errors: &[f64]) -> usize {
        let mut approach = Approach::default();
        let worth = errors.iter().take_while(|e| approach.goes_on(**e));
        worth.count()
    }

    #[test]
    fn corrections_go_on_while_they_come_nearer_and_past_a_single_setback() {
        assert_eq!(corrections(&[26.0, 22.4, 22.7, 20.5, 11.9, 5.6]), 6);
        assert_eq!(corrections(&[9.0, 9.0, 8.0, 8.5, 7.0]), 5);
    }

    #[test]
    fn corrections_that_lead_away_are_given_up() {
        assert_eq!(corrections(&[47.1, 16.2, 13.4, 13.8, 16.7, 21.3]), 4);
        assert_eq!(corrections(&[5.0, 5.0, 5.0]), 2);
    }
}
