//! Newton's method on g(v) = 0, stabilised by a line search on E = ½‖g‖².
//!
//! A direction of GMRES with preconditioning from the right always descends: see `gmres`. The forcing term of GMRES is that of Eisenstat and Walker
//! (1996), η = 0.9 (‖g‖/‖g_prev‖)², within [1e-6, 0.1]. Contacts are looked for at every iterate; E may grow where some are added.

use pliant_contact_sap::StopReason;

use super::BodyFault;
use super::detection::Detection;
use super::gmres::{Gmres, dot, norm};
use super::line_search::{LineSearch, Searched};
use super::preconditioner::Renewal;
use super::report::Outcome;
use super::settings::PenaltyForceSettings;
use super::system::System;

/// Bounds of η.
const FORCING: [f64; 2] = [1e-6, 0.1];
/// Directions of which less than this part can be taken run across kinks of many contacts.
const SHORT: f64 = 1e-3;
/// A direction has to descend by this part of ‖g‖‖Hu‖.
const DESCENT: f64 = 1e-4;

/// Factors of bodies are kept after a full direction for which GMRES took no more vectors than this. Time of a step before, and with factors kept, in ms:
///
/// | row of the benchmarks | vectors | computed | kept |
/// |---|---:|---:|---:|
/// | prmd_rm | 5.1 | 61.9 | 38.6 |
/// | plane_m slide | 1.9 | 43.1 | 34.5 |
/// | wdg_dr fall | 4.7 | 11.0 | 8.0 |
///
/// Without this bound: `stack` (10 vectors) 8.3 to 10.0, `cloth` (13.5) 44 to 66.
const KEPT_VECTORS_MAX: usize = 8;

#[derive(Default)]
pub(super) struct Newton {
    gmres: Gmres,
    search: LineSearch,
    direction: Vec<f64>,
    /// L⁻¹g and L⁻¹Hu.
    residual: Vec<f64>,
    change: Vec<f64>,
}

impl Newton {
    /// Solves the step; the system ends at the last iterate, which is the best.
    pub(super) fn solve(
        &mut self,
        system: &mut System,
        detection: &mut Detection,
        settings: &PenaltyForceSettings,
    ) -> Result<Outcome, BodyFault> {
        let n = system.n_dofs();
        self.direction.resize(n, 0.0);
        self.change.resize(n, 0.0);
        let mut outcome = Outcome::default();
        let mut added = detection.add(system)?;
        system.evaluate()?;
        let mut last_residual = None;
        loop {
            let sizes = system.sizes();
            outcome.residual = sizes.residual;
            outcome.scale = system.start_size.max(sizes.contact);
            let is_small = sizes.residual <= settings.tolerance * outcome.scale
                || sizes.residual <= sizes.round_off;
            let is_first = outcome.iterations == 0;
            if sizes.residual == 0.0 || (is_small && added == 0 && !is_first) {
                break;
            }
            if outcome.iterations >= settings.iterations_max as usize {
                outcome.stop = StopReason::IterationLimit;
                break;
            }
            outcome.iterations += 1;
            system.linearise()?;
            let ratio: f64 = last_residual.map_or(1.0, |last: f64| sizes.residual / last);
            let forcing = (0.9 * ratio * ratio).clamp(FORCING[0], FORCING[1]);
            last_residual = Some(sizes.residual);
            self.residual.clone_from(&system.g);
            system.metric.solve_lower(&mut self.residual);
            let mut searched =
                self.step(system, forcing, settings.krylov_max as usize, &mut outcome)?;
            if searched == Searched::Failed || self.search.fraction < SHORT {
                // A few vectors of the blocks make smoother directions than a good approximation of H⁻¹g.
                system.precondition_by_blocks();
            }
            if searched == Searched::Failed && n > settings.krylov_max as usize {
                // A direction that GMRES had not finished.
                let vectors = n.min(10 * settings.krylov_max as usize);
                searched = self.step(system, FORCING[0], vectors, &mut outcome)?;
            }
            if searched == Searched::Failed {
                outcome.stop = match is_small || sizes.residual <= 100.0 * sizes.round_off {
                    true => StopReason::CostStalledAtRoundOff,
                    false => StopReason::IterationLimit,
                };
                break;
            }
            added = detection.add(system)?;
            if added > 0 {
                system.evaluate()?;
            }
        }
        Ok(outcome)
    }

    /// One direction and the search along it.
    fn step(
        &mut self,
        system: &mut System,
        forcing: f64,
        vectors_max: usize,
        outcome: &mut Outcome,
    ) -> Result<Searched, BodyFault> {
        let mut derivative = system.derivative()?;
        let solved = self.gmres.solve(
            &self.residual,
            forcing,
            vectors_max,
            &mut self.direction,
            |v, z, w| {
                derivative.precondition(v, z);
                derivative.scaled_product(z, w);
            },
        );
        outcome.krylov += solved.vectors;
        derivative.scaled_product(&self.direction, &mut self.change);
        drop(derivative);
        if solved.residual > forcing && system.renew_factors()? {
            return self.step(system, forcing, vectors_max, outcome);
        }
        system.set_renewal(Renewal::Computed);
        let slope = dot(&self.residual, &self.change);
        let least = DESCENT * norm(&self.residual) * norm(&self.change);
        if solved.residual >= 1.0 || slope.is_nan() || slope >= -least {
            return Ok(Searched::Failed);
        }
        let searched = self
            .search
            .run(system, &self.direction, &self.residual, slope)?;
        outcome.evaluations += self.search.evaluations;
        // Shorter directions run across kinks of contacts, which factors should have.
        if solved.vectors <= KEPT_VECTORS_MAX && self.search.fraction >= 1.0 {
            system.set_renewal(Renewal::Kept);
        }
        Ok(searched)
    }
}
