//! The papers' tables: their examples as scenes, with the measured and the published rates.

mod asynchronous;
mod fem;
mod mpm;
mod rods;

use pliant::runner::RunLength;

use crate::error::BenchError;
use crate::scene_run::{SceneResult, SceneRun};

/// A paper with a table of examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Han, Masterjohn and Castro (2023): finite elements.
    Fem,
    /// Zong, Jiang and Han (2024): material points.
    Mpm,
    /// Yu, Du, Zong, Castro, Jiang and Han (2025): explicit substeps of material points.
    Asynchronous,
    /// Li and Chou (2025): rods.
    Rods,
}

/// A row: a scene at the paper's time step and size, and the published numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRow {
    /// The scene.
    pub run: SceneRun,
    /// The published numbers, if any.
    pub printed: Option<Printed>,
}

/// The published numbers of an example, and the target of the project.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Degrees of freedom, mean over the run.
    pub dofs: f64,
    /// Contacts, mean and maximum.
    pub contacts: (f64, usize),
    /// Simulated time over real time.
    pub rate: f64,
    /// Target of the project, a rate.
    pub target: f64,
    /// Resolution of material points, if there are any.
    pub points: Option<PrintedPoints>,
}

/// Resolution of the material points of a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedPoints {
    /// Distance between grid nodes, m.
    pub spacing_m: f64,
    /// Number of particles.
    pub count: usize,
}

/// A measured row.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    row: PaperRow,
    time_step_s: f64,
    /// Distance between grid nodes, m, and number of particles.
    points: Option<(f64, usize)>,
    /// Result of the run.
    pub result: SceneResult,
}

impl Paper {
    /// All rows of the table.
    #[must_use]
    pub fn rows(self) -> Vec<PaperRow> {
        match self {
            Self::Fem => fem::rows(),
            Self::Mpm => mpm::rows(),
            Self::Asynchronous => asynchronous::rows(),
            Self::Rods => rods::rows(),
        }
    }

    /// The rows with these names; all rows if there are none.
    ///
    /// # Errors
    /// [`BenchError::NoSuchRow`] for a name without a row.
    pub fn rows_named(self, names: &[String]) -> Result<Vec<PaperRow>, BenchError> {
        let mut rows = self.rows();
        let known: Vec<&str> = rows.iter().map(|row| row.run.name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(BenchError::NoSuchRow {
                name: name.clone(),
                known: known.join(", "),
            });
        }
        rows.retain(|row| names.is_empty() || names.iter().any(|name| row.run.name == name));
        Ok(rows)
    }
}

impl PaperRow {
    /// Runs the scene on the current thread.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be run.
    pub fn measure(&self, length: RunLength) -> Result<MeasuredRow, BenchError> {
        let scene = self.run.load()?;
        let points = match scene.soft.grid {
            Some(grid) => Some((grid.spacing, self.run.n_particles()?)),
            None => None,
        };
        Ok(MeasuredRow {
            row: *self,
            time_step_s: scene.simulation.time_step_s,
            points,
            result: self.run.run(length)?,
        })
    }
}

impl MeasuredRow {
    /// The heading in Markdown. Published numbers are in parentheses; rates are per processor time.
    pub const HEADING: &'static str = "\
| scene | size (paper) | Δt, ms | simulated | contacts mean, max (paper) | iterations mean, max | expectations met \
| ms per step, wall | processor (paper) | rate | paper | times the paper's | target |
|---|---|---:|---:|---|---|---|---:|---|---:|---:|---:|---:|";

    /// The heading of [`MeasuredRow::split`] in Markdown.
    pub const SPLIT_HEADING: &'static str = "\
| scene | geometry, % | bodies and elements, % | factorisation, % | rest of the contact solver, % | the rest of the step, % |
|---|---:|---:|---:|---:|---:|";

    /// Where the time of implicit steps went, in Markdown; `None` where bodies take substeps. Factorisation is of the bodies' matrices and of the contact
    /// solver's, solves with them included: figure 2 of Han et al. (2023) and figure 4 of Li et al. (2025).
    #[must_use]
    pub fn split(&self) -> Option<String> {
        let stages = &self.result.summary.stages;
        if self.result.summary.substeps.is_some() {
            return None;
        }
        let solver = stages.solver_set_up_s
            + stages.solver_gradient_s
            + stages.solver_assembly_s
            + stages.solver_line_search_s;
        let factorisation = stages.factors_s + stages.solver_linear_solve_s;
        let parts = [stages.geometry_s, stages.bodies_s, factorisation, solver];
        let rest = stages.step_s - parts.iter().sum::<f64>();
        let shares = parts.into_iter().chain([rest]);
        let cells: Vec<String> = shares
            .map(|s| format!("{:.1}", 100.0 * s / stages.step_s.max(1e-9)))
            .collect();
        Some(format!("| {} | {} |", self.row.run.name, cells.join(" | ")))
    }

    /// Simulated time over processor time of the steps.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.result.summary.simulated_s / self.result.best_s()
    }

    /// The row in Markdown.
    #[must_use]
    pub fn line(&self) -> String {
        let s = &self.result.summary;
        let (rate, steps) = (self.rate(), s.steps.max(1) as f64);
        let printed = |show: &dyn Fn(&Printed) -> String| match &self.row.printed {
            Some(printed) => show(printed),
            None => "-".into(),
        };
        let times = |rate: f64, printed: &Printed| format!("{:.1}", rate / printed.rate);
        let mut size = format!(
            "{:.0} DoFs ({})",
            s.dofs_mean,
            printed(&|p| format!("{:.0}", p.dofs))
        );
        if let Some((spacing_m, count)) = self.points {
            let published = |show: &dyn Fn(PrintedPoints) -> String| {
                printed(&|p| p.points.map_or("-".into(), show))
            };
            size += &format!(
                ", {count} particles ({}), h {spacing_m} m ({})",
                published(&|p| p.count.to_string()),
                published(&|p| p.spacing_m.to_string())
            );
        }
        // Those of a substep where there are substeps.
        let (contacts, iterations) = match &s.substeps {
            Some(substeps) => (
                (substeps.contacts_mean, substeps.contacts_max as usize),
                format!(
                    "{:.1} in each of {:.0} substeps",
                    substeps.iterations_mean, substeps.per_step_mean
                ),
            ),
            None => (
                (s.contacts_mean, s.contacts_max),
                format!("{:.1}, {}", s.iterations_mean, s.iterations_max),
            ),
        };
        let cells = [
            self.row.run.name.into(),
            size,
            format!("{}", 1e3 * self.time_step_s),
            format!("{:.2} s", s.simulated_s),
            format!(
                "{:.1}, {} ({})",
                contacts.0,
                contacts.1,
                printed(&|p| format!("{:.1}, {}", p.contacts.0, p.contacts.1))
            ),
            iterations,
            self.result.verdict(),
            format!("{:.2}", 1e3 * s.stages.step_s / steps),
            format!(
                "{:.2} ({})",
                1e3 * self.result.best_s() / steps,
                printed(&|p| format!("{:.3}", 1e3 * self.time_step_s / p.rate))
            ),
            format!("{rate:.4}"),
            printed(&|p| format!("{:.4}", p.rate)),
            printed(&|p| times(rate, p)),
            printed(&|p| {
                let reached = if rate >= p.target { "met" } else { "missed" };
                format!("{} {reached}", times(p.target, p))
            }),
        ];
        format!("| {} |", cells.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Paper; 3] = [Paper::Fem, Paper::Mpm, Paper::Rods];

    #[test]
    fn every_row_is_a_bundled_scene_that_is_long_enough() {
        for row in ALL.into_iter().flat_map(Paper::rows) {
            let scene = row.run.load().unwrap();
            let name = row.run.name;
            assert!(row.run.length_s <= scene.simulation.full_s, "{name}");
            let points = row.printed.and_then(|printed| printed.points);
            assert_eq!(scene.soft.grid.is_some(), points.is_some(), "{name}");
            if points.is_some() {
                assert!(row.run.n_particles().unwrap() > 0, "{name}");
            }
        }
    }

    #[test]
    fn the_parts_of_a_step_sum_to_it() {
        let row = Paper::Rods.rows()[0];
        let measured = row.measure(RunLength::Until(0.02)).unwrap();
        let split = measured.split().unwrap();
        let cells = split.split('|').map(str::trim);
        let shares: Vec<f64> = cells.filter_map(|cell| cell.parse().ok()).collect();
        assert_eq!(shares.len(), 5, "{split}");
        assert!(shares.iter().all(|s| (0.0..=100.0).contains(s)), "{split}");
        assert!(shares[..4].iter().all(|s| *s > 0.0), "{split}");
        let substeps = Paper::Asynchronous.rows()[0];
        let measured = substeps.measure(RunLength::Until(0.02)).unwrap();
        assert_eq!(measured.split(), None);
    }

    #[test]
    fn every_target_is_above_what_is_printed() {
        for row in ALL.into_iter().flat_map(Paper::rows) {
            if let Some(printed) = row.printed {
                assert!(printed.target > 3.0 * printed.rate, "{}", row.run.name);
            }
        }
    }

    #[test]
    fn every_line_has_the_columns_of_the_heading() {
        let columns = |line: &str| line.matches('|').count();
        let row = PaperRow {
            run: SceneRun {
                length_s: 1e-4,
                ..rods::rows()[1].run
            },
            printed: None,
        };
        let measured = row.measure(RunLength::Smoke).unwrap();
        for line in MeasuredRow::HEADING.lines() {
            assert_eq!(columns(line), columns(&measured.line()));
        }
    }

    #[test]
    fn an_unknown_row_is_refused_with_the_known_names() {
        let names = ["pulley".to_owned(), "no such row".to_owned()];
        let refused = Paper::Rods.rows_named(&names).unwrap_err().to_string();
        assert!(refused.contains("no such row") && refused.contains("shoelace"));
        let found = Paper::Rods.rows_named(&names[..1]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].run.name, "pulley");
    }
}
