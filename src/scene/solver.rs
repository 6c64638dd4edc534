//! `[solver]`: which solver of the contact problem, its settings, when it may stop.

use pliant_contact_sap::{
    Acceleration, ConvexContactSolver, FrictionTangent, GaussSeidel, GaussSeidelSettings,
    LineSearch, LinearAlgebra, Newton, NewtonCg, NewtonCgSettings, NewtonSettings, Preconditioner,
    QuasiNewton, QuasiNewtonSettings, StopCriteria,
};
use toml::de::DeTable;

use super::error::{SceneError, remedy};
use super::item::Item;
use super::schema::{Key, TableSchema, ValueKind};
use super::table::{Context, TableReader};
use crate::registry::{MakeSolver, Registry};

pub(super) static TABLES: [&TableSchema; 4] = [&SOLVER, &NEWTON, &NEWTON_CG, &QUASI_NEWTON];

static SOLVER: TableSchema = TableSchema {
    name: "[solver]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Part("solver"),
            unit: "",
            default: "`newton`",
            about: "which solver of the contact problem, see the list below; `--solver` overrides it",
        },
        Key {
            name: "relative_tolerance",
            value: ValueKind::Positive,
            unit: "",
            default: "0.000001",
            about: "ε_r: momentum residual, relative to the largest momentum",
        },
        Key {
            name: "absolute_tolerance",
            value: ValueKind::NonNegative,
            unit: "√J",
            default: "0.00000000000001",
            about: "ε_a: momentum residual, mass-weighted",
        },
        Key {
            name: "iterations_max",
            value: ValueKind::Integer(1, 1_000_000),
            unit: "",
            default: "300",
            about: "iterations after which a step is reported as unconverged",
        },
    ],
};

const LINE_SEARCH: Key = Key {
    name: "line_search",
    value: ValueKind::Choice(&["exact", "armijo"]),
    unit: "",
    default: "`exact`",
    about: "step length along a direction: to the minimiser, or to the first point with sufficient descent",
};
const SLOPE_TOLERANCE: Key = Key {
    name: "slope_tolerance",
    value: ValueKind::Between(0.0, 1.0),
    unit: "",
    default: "0.001",
    about: "of the exact line search: it ends where the slope is this fraction of the first one",
};
const FRICTION_TANGENT: Key = Key {
    name: "friction_tangent",
    value: ValueKind::Choice(&["primal-dual", "plain"]),
    unit: "",
    default: "`primal-dual`",
    about: "curvature of friction; `plain` is the Hessian itself, which takes more iterations",
};

static NEWTON: TableSchema = TableSchema {
    name: "[solver] name = \"newton\"",
    keys: &[
        LINE_SEARCH,
        SLOPE_TOLERANCE,
        FRICTION_TANGENT,
        Key {
            name: "linear_algebra",
            value: ValueKind::Choice(&["automatic", "direct", "mixed", "schur"]),
            unit: "",
            default: "`automatic`",
            about: "factors of the whole Hessian, in double precision or in single precision as preconditioner of conjugate gradients; or of the Schur complement after elimination of vertices out of contact (Han 2023); `automatic` chooses for each island by size",
        },
    ],
};
static NEWTON_CG: TableSchema = TableSchema {
    name: "[solver] name = \"newton-cg\"",
    keys: &[
        LINE_SEARCH,
        SLOPE_TOLERANCE,
        FRICTION_TANGENT,
        Key {
            name: "preconditioner",
            value: ValueKind::Choice(&["block-diagonal", "body"]),
            unit: "",
            default: "`block-diagonal`",
            about: "of the conjugate gradients: includes contact, or each body's own stiffness",
        },
    ],
};
static QUASI_NEWTON: TableSchema = TableSchema {
    name: "[solver] name = \"quasi-newton\"",
    keys: &[
        LINE_SEARCH,
        SLOPE_TOLERANCE,
        Key {
            name: "acceleration",
            value: ValueKind::Choice(&["conjugate", "none"]),
            unit: "",
            default: "`conjugate`",
            about: "whether directions are conjugate to the last one",
        },
    ],
};

/// Registers the built-in solvers, the default first.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .solver("newton", NEWTON.keys, |table| {
            let settings = newton(table)?;
            Ok(move |stop| Newton::new(NewtonSettings { stop, ..settings }))
        })
        .solver("newton-cg", NEWTON_CG.keys, |table| {
            let settings = newton_cg(table)?;
            Ok(move |stop| NewtonCg::new(NewtonCgSettings { stop, ..settings }))
        })
        .solver("quasi-newton", QUASI_NEWTON.keys, |table| {
            let settings = quasi_newton(table)?;
            Ok(move |stop| QuasiNewton::new(QuasiNewtonSettings { stop, ..settings }))
        })
        .solver("gauss-seidel", &[], |_| {
            Ok(|stop| GaussSeidel::new(GaussSeidelSettings { stop }))
        });
}

fn newton(table: &TableReader<'_>) -> Result<NewtonSettings, SceneError> {
    Ok(NewtonSettings {
        line_search: line_search(table)?,
        friction: friction_tangent(table)?,
        linear_algebra: table.choice_or_first(
            "linear_algebra",
            &LinearAlgebra::ALL.map(|algebra| (algebra.name(), algebra)),
        )?,
        ..NewtonSettings::default()
    })
}

fn newton_cg(table: &TableReader<'_>) -> Result<NewtonCgSettings, SceneError> {
    Ok(NewtonCgSettings {
        line_search: line_search(table)?,
        friction: friction_tangent(table)?,
        preconditioner: table.choice_or_first(
            "preconditioner",
            &[
                ("block-diagonal", Preconditioner::BlockDiagonal),
                ("body", Preconditioner::Body),
            ],
        )?,
        ..NewtonCgSettings::default()
    })
}

fn quasi_newton(table: &TableReader<'_>) -> Result<QuasiNewtonSettings, SceneError> {
    Ok(QuasiNewtonSettings {
        line_search: line_search(table)?,
        acceleration: table.choice_or_first(
            "acceleration",
            &[
                ("conjugate", Acceleration::Conjugate),
                ("none", Acceleration::None),
            ],
        )?,
        ..QuasiNewtonSettings::default()
    })
}

fn friction_tangent(table: &TableReader<'_>) -> Result<FrictionTangent, SceneError> {
    table.choice_or_first(
        "friction_tangent",
        &[
            ("primal-dual", FrictionTangent::PrimalDual),
            ("plain", FrictionTangent::Plain),
        ],
    )
}

fn line_search(table: &TableReader<'_>) -> Result<LineSearch, SceneError> {
    let exact = LineSearch::Exact {
        slope_tolerance: table.number("slope_tolerance")?,
    };
    let chosen = table.choice_or_first(
        "line_search",
        &[("exact", exact), ("armijo", LineSearch::Armijo)],
    )?;
    if chosen == LineSearch::Armijo && table.is_given("slope_tolerance") {
        return Err(table.conflict("`slope_tolerance` goes with `line_search = \"exact\"` only"));
    }
    Ok(chosen)
}

/// The solver that a scene names, with its settings.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let options = SceneOptions { parameters: vec!["solver.relative_tolerance=1e-8".parse()?], ..SceneOptions::default() };
/// let solver = Scene::load("box-stack", &options)?.solver;
/// assert_eq!((solver.name(), solver.stop().relative_tolerance), ("newton", 1e-8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Solver {
    name: String,
    stop: StopCriteria,
    make: MakeSolver,
}

impl Solver {
    /// Its name in the registry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it may stop.
    pub fn stop(&self) -> StopCriteria {
        self.stop
    }

    /// A solver for one run.
    #[must_use]
    pub fn build(&self) -> Box<dyn ConvexContactSolver> {
        (self.make)(self.stop)
    }
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solver")
            .field("name", &self.name)
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

/// `[solver]`; the solver called `name` from outside replaces the file's and takes the settings that it shares with it.
pub(super) fn solver(
    context: &Context,
    item: Option<&Item<'_>>,
    name: Option<&str>,
) -> Result<Solver, SceneError> {
    let (empty, solvers) = (DeTable::new(), &context.registry.solvers);
    let (table, part) =
        TableReader::open_optional_part(context, item, &empty, &SOLVER, "name", solvers)?;
    let in_file = Solver {
        name: part.name().to_owned(),
        stop: StopCriteria {
            relative_tolerance: table.number("relative_tolerance")?,
            absolute_tolerance: table.number("absolute_tolerance")?,
            iterations_max: table.integer("iterations_max")? as usize,
        },
        make: part.read()(&table)?,
    };
    let Some(name) = name else {
        return Ok(in_file);
    };
    let part = solvers.get(name).ok_or_else(|| SceneError::Override {
        text: format!("solver.name={name}"),
        reason: format!(
            "there is no solver of that name{}",
            remedy(name, solvers.names().into_iter())
        ),
    })?;
    Ok(Solver {
        name: name.to_owned(),
        make: part.read()(&table.for_part("name", part))?,
        ..in_file
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SourceLocation;

    #[test]
    fn defaults_of_the_documentation_are_those_of_the_solvers() {
        let context = Context::empty();
        let solver = solver(&context, None, None).unwrap();
        assert_eq!(solver.name(), "newton");
        assert_eq!(solver.stop(), StopCriteria::default());
        let table = DeTable::new();
        let settings =
            |schema| TableReader::new(&context, &table, SourceLocation::default(), schema);
        assert_eq!(
            newton(&settings(&NEWTON)).unwrap(),
            NewtonSettings::default()
        );
        assert_eq!(
            newton_cg(&settings(&NEWTON_CG)).unwrap(),
            NewtonCgSettings::default()
        );
        assert_eq!(
            quasi_newton(&settings(&QUASI_NEWTON)).unwrap(),
            QuasiNewtonSettings::default()
        );
    }
}
