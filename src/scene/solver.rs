//! `[solver]`: which solver of the contact problem, how it works, when it may stop.

use pliant_contact_sap::{
    Acceleration, ConvexContactSolver, FrictionTangent, GaussSeidel, GaussSeidelSettings,
    LineSearch, LinearAlgebra, Newton, NewtonCg, NewtonCgSettings, NewtonSettings, Preconditioner,
    QuasiNewton, QuasiNewtonSettings, SolverKind, StopCriteria,
};

use super::error::SceneError;
use super::item::Item;
use super::schema::{Key, TableSchema};
use super::table::TableReader;

pub(super) static TABLES: [&TableSchema; 1] = [&SOLVER];

static SOLVER: TableSchema = TableSchema {
    name: "[solver]",
    keys: &[
        Key {
            name: "name",
            value: "name of a solver",
            unit: "",
            default: "`newton`",
            about: "which solver of the contact problem, see the list below; `--solver` overrides it",
        },
        Key {
            name: "relative_tolerance",
            value: "number > 0",
            unit: "",
            default: "0.000001",
            about: "ε_r: momentum residual, relative to the largest momentum",
        },
        Key {
            name: "absolute_tolerance",
            value: "number >= 0",
            unit: "√J",
            default: "0.00000000000001",
            about: "ε_a: momentum residual, mass-weighted",
        },
        Key {
            name: "iterations_max",
            value: "whole number",
            unit: "",
            default: "300",
            about: "iterations after which a step is reported as unconverged",
        },
        Key {
            name: "line_search",
            value: "`exact` or `armijo`",
            unit: "",
            default: "`exact`",
            about: "how far to go along a direction: to the minimiser, or to the first point with sufficient descent; not of `gauss-seidel`",
        },
        Key {
            name: "slope_tolerance",
            value: "number > 0, < 1",
            unit: "",
            default: "0.001",
            about: "of the exact line search: it ends where the slope is this part of the first one",
        },
        Key {
            name: "friction_tangent",
            value: "`primal-dual` or `plain`",
            unit: "",
            default: "`primal-dual`",
            about: "curvature of friction in `newton` and `newton-cg`; `plain` is the Hessian itself, which takes more iterations",
        },
        Key {
            name: "linear_algebra",
            value: "`automatic`, `direct`, `mixed` or `schur`",
            unit: "",
            default: "`automatic`",
            about: "of `newton`: Cholesky factors of the whole Hessian (`direct`), single-precision factors as preconditioner of conjugate gradients (`mixed`), or factors of the Schur complements on the participating vertices, as in the paper (`schur`); `automatic` chooses for each island by size",
        },
        Key {
            name: "preconditioner",
            value: "`block-diagonal` or `body`",
            unit: "",
            default: "`block-diagonal`",
            about: "of the conjugate gradients in `newton-cg`: knows contact, or each body's own stiffness",
        },
        Key {
            name: "acceleration",
            value: "`conjugate` or `none`",
            unit: "",
            default: "`conjugate`",
            about: "of `quasi-newton`: whether directions remember the last one",
        },
    ],
};

/// The solver, how it works and when it may stop. Every kind takes what it has use for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solver {
    /// Which one.
    pub kind: SolverKind,
    /// When it may stop.
    pub stop: StopCriteria,
    /// How far to go along a direction; not of [`SolverKind::GaussSeidel`].
    pub line_search: LineSearch,
    /// Of [`SolverKind::Newton`] and [`SolverKind::NewtonCg`].
    pub friction: FrictionTangent,
    /// Of [`SolverKind::Newton`].
    pub linear_algebra: LinearAlgebra,
    /// Of [`SolverKind::NewtonCg`].
    pub preconditioner: Preconditioner,
    /// Of [`SolverKind::QuasiNewton`].
    pub acceleration: Acceleration,
}

impl Solver {
    /// The solver itself.
    #[must_use]
    pub fn build(&self) -> Box<dyn ConvexContactSolver> {
        let Self {
            kind,
            stop,
            line_search,
            friction,
            linear_algebra,
            preconditioner,
            acceleration,
        } = *self;
        match kind {
            SolverKind::Newton => Box::new(Newton::new(NewtonSettings {
                stop,
                line_search,
                friction,
                linear_algebra,
            })),
            SolverKind::NewtonCg => Box::new(NewtonCg::new(NewtonCgSettings {
                stop,
                line_search,
                friction,
                preconditioner,
            })),
            SolverKind::QuasiNewton => Box::new(QuasiNewton::new(QuasiNewtonSettings {
                stop,
                line_search,
                acceleration,
            })),
            SolverKind::GaussSeidel => Box::new(GaussSeidel::new(GaussSeidelSettings { stop })),
        }
    }
}

/// `[solver]`; `kind` from outside replaces the file's.
pub(super) fn solver(
    item: Option<&Item<'_>>,
    kind: Option<SolverKind>,
) -> Result<Solver, SceneError> {
    let Some(item) = item else {
        return Ok(Solver {
            kind: kind.unwrap_or_default(),
            ..Solver::default()
        });
    };
    let table = item.table(&SOLVER)?;
    let in_file =
        table.choice_or_first("name", &SolverKind::ALL.map(|kind| (kind.name(), kind)))?;
    refuse_idle_keys(&table, in_file)?;
    let solver = Solver {
        kind: kind.unwrap_or(in_file),
        stop: StopCriteria {
            relative_tolerance: table.positive_or("relative_tolerance", 1e-6)?,
            absolute_tolerance: table.non_negative_or("absolute_tolerance", 1e-14)?,
            iterations_max: match table.optional("iterations_max") {
                None => StopCriteria::default().iterations_max,
                Some(item) => item.integer(1, 1_000_000)? as usize,
            },
        },
        line_search: line_search(&table)?,
        friction: table.choice_or_first(
            "friction_tangent",
            &[
                ("primal-dual", FrictionTangent::PrimalDual),
                ("plain", FrictionTangent::Plain),
            ],
        )?,
        linear_algebra: table.choice_or_first(
            "linear_algebra",
            &LinearAlgebra::ALL.map(|way| (way.name(), way)),
        )?,
        preconditioner: table.choice_or_first(
            "preconditioner",
            &[
                ("block-diagonal", Preconditioner::BlockDiagonal),
                ("body", Preconditioner::Body),
            ],
        )?,
        acceleration: table.choice_or_first(
            "acceleration",
            &[
                ("conjugate", Acceleration::Conjugate),
                ("none", Acceleration::None),
            ],
        )?,
    };
    table.finish();
    Ok(solver)
}

fn line_search(table: &TableReader<'_>) -> Result<LineSearch, SceneError> {
    let slope_tolerance = table.positive_or("slope_tolerance", 1e-3)?;
    let given = table.optional("slope_tolerance");
    if let Some(item) = given.as_ref().filter(|_| slope_tolerance >= 1.0) {
        return Err(item.out_of_range(slope_tolerance, "must be less than 1"));
    }
    let exact = LineSearch::Exact { slope_tolerance };
    let chosen = table.choice_or_first(
        "line_search",
        &[("exact", exact), ("armijo", LineSearch::Armijo)],
    )?;
    if chosen == LineSearch::Armijo && given.is_some() {
        return Err(table.conflict("`slope_tolerance` goes with `line_search = \"exact\"` only"));
    }
    Ok(chosen)
}

/// Refuses keys that the solver of the file has no use for; one from outside may have none for some.
fn refuse_idle_keys(table: &TableReader<'_>, kind: SolverKind) -> Result<(), SceneError> {
    use SolverKind::{Newton, NewtonCg, QuasiNewton};
    let users: [(&'static str, &[SolverKind]); 6] = [
        ("line_search", &[Newton, NewtonCg, QuasiNewton]),
        ("slope_tolerance", &[Newton, NewtonCg, QuasiNewton]),
        ("friction_tangent", &[Newton, NewtonCg]),
        ("linear_algebra", &[Newton]),
        ("preconditioner", &[NewtonCg]),
        ("acceleration", &[QuasiNewton]),
    ];
    for (key, kinds) in users {
        if table.optional(key).is_some() && !kinds.contains(&kind) {
            let names: Vec<String> = kinds.iter().map(|k| format!("`{k}`")).collect();
            return Err(table.conflict(format!(
                "the solver `{kind}` has no `{key}`; it belongs to {}",
                names.join(", ")
            )));
        }
    }
    Ok(())
}
