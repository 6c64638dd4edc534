//! `[simulation] stepper`: the built-in time steppers and their settings.

use pliant_contact_sap::{ConvexContactSolver, Integration};
use pliant_coupling::{
    Accuracy, Adaptive, Asynchronous, AsynchronousSettings, ErrorMeasure, ExchangeAt,
    ImpulseExchange, Linearisation, PenaltyBaseline, PenaltyDamping, PenaltyForce,
    PenaltyForceSettings, Precision, RigidCoupling, Stepper, StrongImplicit,
    StrongImplicitSettings, SubstepSolver, Substeps, WorldError,
};
use pliant_hydroelastic::Slide;

use super::device::{Chosen, DEVICES, Device, OpenGpu, SharedDevice};
use super::error::SceneError;
use super::schema::{Key, TableSchema, ValueKind, words};
use super::table::TableReader;
use super::text::SourceLocation;
use crate::registry::{MakeStepper, Registry};

pub(super) static TABLES: [&TableSchema; 4] = [
    &STRONG_IMPLICIT,
    &ASYNCHRONOUS,
    &IMPULSE_EXCHANGE,
    &PENALTY_FORCE,
];

const INTEGRATIONS: [(&str, Integration); 3] = [
    ("backward-euler", Integration::BackwardEuler),
    ("midpoint", Integration::Midpoint),
    ("symplectic", Integration::Symplectic),
];
const LINEARISATIONS: [(&str, Linearisation); 3] = [
    ("where-needed", Linearisation::where_needed()),
    ("once", Linearisation::Once),
    ("until-converged", Linearisation::until_converged()),
];
const ERROR_MEASURES: [(&str, ErrorMeasure); 2] = [
    ("second", ErrorMeasure::PerSecond),
    ("step", ErrorMeasure::PerStep),
];
const EXCHANGES: [(&str, ExchangeAt); 2] = [
    ("nodes", ExchangeAt::Nodes),
    ("particles", ExchangeAt::Particles),
];

const SLIDES: [(&str, Slide); 2] = [("planar", Slide::Planar), ("exact", Slide::Exact)];

const INTEGRATION: Key = Key {
    name: "integration",
    value: ValueKind::Choice(&words(&INTEGRATIONS)),
    unit: "",
    default: "`backward-euler`",
    about: "the θ-method of every body: θ = θ_vq = 1; θ = θ_vq = 1/2, of second order in free motion; θ = 0, θ_vq = 1, explicit",
};
const LINEARISATION: Key = Key {
    name: "linearisation",
    value: ValueKind::Choice(&words(&LINEARISATIONS)),
    unit: "",
    default: "`where-needed`",
    about: "of `[[fem]]` with nonlinear laws and of `[[rods]]`. `once`: one convex problem per time step, linearised about its start or a rod's free motion. `until-converged`: linearises again about the solution until the implicit equations are satisfied to 1e-6, which lets barrier laws take long steps without inversion. `where-needed`: does so in steps whose momentum residual exceeds a thousandth of its terms, as in fast rotation",
};
const LAGGED_ITERATIONS_MAX: Key = Key {
    name: "lagged_iterations_max",
    value: ValueKind::Integer(0, 100),
    unit: "",
    default: "10",
    about: "bound of the fixed-point iterations over the lagged rotations of soft bodies in contact; a step that needs more is reported as not converged",
};

static STRONG_IMPLICIT: TableSchema = TableSchema {
    name: "[simulation] stepper = \"strong-implicit\"",
    keys: &[
        Key {
            name: "accuracy",
            value: ValueKind::NonNegative,
            unit: "m/s and rad/s, or m and rad",
            default: "0",
            about: "bound of the error of positions in each second; every Δt is then covered by as many steps as that requires. 0: every step is Δt long",
        },
        Key {
            name: "accuracy_per",
            value: ValueKind::Choice(&words(&ERROR_MEASURES)),
            unit: "",
            default: "`second`",
            about: "what `accuracy` bounds; the error of a `step` lets impacts pass with longer steps, but adds up",
        },
        INTEGRATION,
        LINEARISATION,
        LAGGED_ITERATIONS_MAX,
    ],
};
static ASYNCHRONOUS: TableSchema = TableSchema {
    name: "[simulation] stepper = \"asynchronous\"",
    keys: &[
        Key {
            name: "substeps",
            value: ValueKind::Integer(0, 100_000),
            unit: "",
            default: "0",
            about: "explicit substeps of the material points in each Δt. 0: as few as the elastic waves of the materials and the speeds of the particles allow, from the present deformation",
        },
        Key {
            name: "substep_limit",
            value: ValueKind::Choice(&["enforced", "ignored"]),
            unit: "",
            default: "`enforced`",
            about: "whether a step whose number of `substeps` is too small to be stable is an error",
        },
        Key {
            name: "rigid_coupling",
            value: ValueKind::Choice(&["in-substep", "weak"]),
            unit: "",
            default: "`in-substep`",
            about: "velocities of rigid links are unknowns of every substep; or, as published, are held fixed over all substeps of a step, which is unstable for light rigid bodies",
        },
        Key {
            name: "device",
            value: ValueKind::Choice(&words(&DEVICES)),
            unit: "",
            default: "`cpu`",
            about: "what takes the substeps, also `--device`: the processor; a GPU, in a build with the feature `gpu`, where what it cannot run is an error; or a GPU if there is one that can run the materials, see [`docs/gpu.md`](../../gpu.md)",
        },
        Key {
            name: "precision",
            value: ValueKind::Choice(&["single", "double"]),
            unit: "",
            default: "`single`",
            about: "numbers of particles and grid",
        },
        Key {
            name: "substep_solver",
            value: ValueKind::Choice(&words(&SubstepSolver::NAMES)),
            unit: "",
            default: "`gauss-seidel`",
            about: "solver of the contact problem of a substep; all find the same velocities. Gauss-Seidel starts from the impulses of the last substep, and Newton's method continues it where it is slow; `majoriser` updates all contacts at once, by accelerated steps to the minimum of an upper bound; `quasi-newton` is the published descent, which stalls on stiff contact",
        },
        Key {
            name: "substep_tolerance",
            value: ValueKind::Positive,
            unit: "",
            default: "1e-2",
            about: "ε_r of the contact problem of a substep, relative to the momentum or the impulse",
        },
        Key {
            name: "substep_iterations_max",
            value: ValueKind::Integer(1, 1_000_000),
            unit: "",
            default: "1000",
            about: "bound of the iterations of the contact problem of a substep; a step with a substep that needs more is reported as not converged",
        },
        INTEGRATION,
        LINEARISATION,
        LAGGED_ITERATIONS_MAX,
    ],
};
static IMPULSE_EXCHANGE: TableSchema = TableSchema {
    name: "[simulation] stepper = \"impulse-exchange\"",
    keys: &[
        Key {
            name: "substeps",
            value: ValueKind::Integer(1, 100_000),
            unit: "",
            default: "25",
            about: "explicit steps of the material points in each Δt",
        },
        Key {
            name: "exchange",
            value: ValueKind::Choice(&words(&EXCHANGES)),
            unit: "",
            default: "`nodes`",
            about: "grid nodes in a shape take its velocity; or particles are repelled by springs, with Coulomb friction, at the start of a substep",
        },
        INTEGRATION,
        LINEARISATION,
        LAGGED_ITERATIONS_MAX,
    ],
};
static PENALTY_FORCE: TableSchema = TableSchema {
    name: "[simulation] stepper = \"penalty-force\"",
    keys: &[
        Key {
            name: "tolerance",
            value: ValueKind::Positive,
            unit: "",
            default: "1e-6",
            about: "relative to the impulses in play in each island of bodies that touch, gravity included, in a norm that does not depend on the unit of mass; less than 1",
        },
        Key {
            name: "iterations_max",
            value: ValueKind::Integer(1, 1_000_000),
            unit: "",
            default: "200",
            about: "bound of the Newton iterations; a step that needs more is taken again in up to eight parts, and if one of them needs more keeps a part of the velocities found with which energy does not grow, and is reported as not converged",
        },
        Key {
            name: "krylov_max",
            value: ValueKind::Integer(1, 10_000),
            unit: "",
            default: "20",
            about: "bound of the vectors of GMRES in a Newton iteration",
        },
        Key {
            name: "penalty_friction",
            value: ValueKind::Choice(&words(&PenaltyBaseline::NAMES)),
            unit: "",
            default: "`implicit`",
            about: "when forces are evaluated. The others are baselines that may creep or collapse where friction carries a load: all contact at the start of a step (`lag`); friction at the start (`lagfr`); friction as impulses that stop slip, without attachments (`projv`); springs with dampers at the start, c = k `relaxation_time_s`, of Yamane and Nakamura (2006)",
        },
        Key {
            name: "penalty_damping",
            value: ValueKind::Choice(&words(&PenaltyDamping::NAMES)),
            unit: "",
            default: "`none`",
            about: "of normal forces, beside that of backward Euler: k d (1 + `dissipation` ḋ), or k d + k `relaxation_time_s` ḋ, for depth d; of the pair or its materials",
        },
        Key {
            name: "slide",
            value: ValueKind::Choice(&words(&SLIDES)),
            unit: "",
            default: "`planar`",
            about: "attachments slide as on the tangential plane, as published; or on curved surfaces exactly to the friction cone",
        },
        Key {
            name: "round_particles",
            value: ValueKind::Integer(5, 1000),
            unit: "",
            default: "40",
            about: "particles around a round rigid shape where it touches triangles or has a `stiffness_per_area`, and of cylinders, cones and ellipsoids everywhere; on other shapes spheres and capsules touch with the nearest points of balls, which roll without bumps; hulls have theirs at the corners, meshes at the vertices",
        },
        Key {
            name: "box_particles",
            value: ValueKind::Integer(2, 100),
            unit: "",
            default: "4",
            about: "particles along each edge of a box, in a grid on each face; 2: the corners alone, which miss an equal box below. An edge of a box or hull of which a part is inside another shape has two more there, so that faces which overlap in a part hold",
        },
        Key {
            name: "rod_particles",
            value: ValueKind::Integer(0, 100),
            unit: "",
            default: "0",
            about: "particles around each segment of a round rod, at least 3, on which friction turns it; 0: its nodes alone, at the distance of the radius, which slide and do not roll",
        },
        Key {
            name: "edge_spacing",
            value: ValueKind::Positive,
            unit: "m",
            default: "none",
            about: "largest distance of particles along the edges of rigid meshes and convex hulls; none: corners alone, so that edges of meshes which cross do not touch",
        },
    ],
};

/// The time stepper that a scene names, with its settings.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let options = SceneOptions { parameters: vec!["simulation.stepper=penalty-force".parse()?], ..SceneOptions::default() };
/// assert_eq!(Scene::load("box-stack", &options)?.stepper.name(), "penalty-force");
/// assert_eq!(Scene::load("box-stack", &SceneOptions::default())?.stepper.name(), "strong-implicit");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SceneStepper {
    pub(super) name: String,
    /// Where its table stands in the file.
    pub(super) at: SourceLocation,
    pub(super) make: MakeStepper,
}

impl SceneStepper {
    /// Its name in the registry, such as `strong-implicit`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its settings stand in the file, for error messages.
    pub fn at(&self) -> SourceLocation {
        self.at
    }

    /// A stepper for one run.
    ///
    /// # Errors
    /// Settings that the stepper refuses.
    pub fn build(
        &self,
        solver: Box<dyn ConvexContactSolver>,
    ) -> Result<Box<dyn Stepper>, WorldError> {
        self.build_on(solver, &SharedDevice::default())
    }

    /// [`SceneStepper::build`] of a stepper that shares its device with others.
    ///
    /// # Errors
    /// As [`SceneStepper::build`].
    pub fn build_on(
        &self,
        solver: Box<dyn ConvexContactSolver>,
        device: &SharedDevice,
    ) -> Result<Box<dyn Stepper>, WorldError> {
        (self.make)(solver, device)
    }
}

impl std::fmt::Debug for SceneStepper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SceneStepper")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Registers the built-in steppers, the default first.
pub(crate) fn register(registry: &mut Registry) {
    registry.dyn_stepper("strong-implicit", STRONG_IMPLICIT.keys, |table| {
        let settings = settings(table)?;
        let accuracy = accuracy(table)?;
        Ok(std::sync::Arc::new(move |solver, _| {
            let implicit = StrongImplicit::new(solver).with_settings(settings)?;
            Ok(match accuracy {
                None => Box::new(implicit) as Box<dyn Stepper>,
                Some(accuracy) => Box::new(Adaptive::new(implicit, accuracy)?),
            })
        }))
    });
    let gpu = OpenGpu::default();
    registry.dyn_stepper("asynchronous", ASYNCHRONOUS.keys, move |table| {
        let settings = settings(table)?;
        let fixed: fn(u32) -> Substeps = table.choice_or_first(
            "substep_limit",
            &[
                ("enforced", Substeps::Fixed as fn(u32) -> Substeps),
                ("ignored", Substeps::Unchecked as fn(u32) -> Substeps),
            ],
        )?;
        let asynchronous = AsynchronousSettings {
            substeps: match table.integer("substeps")? as u32 {
                0 => Substeps::Automatic,
                n => fixed(n),
            },
            coupling: table.choice_or_first(
                "rigid_coupling",
                &[
                    ("in-substep", RigidCoupling::InSubstep),
                    ("weak", RigidCoupling::Weak),
                ],
            )?,
            precision: table.choice_or_first(
                "precision",
                &[("single", Precision::Single), ("double", Precision::Double)],
            )?,
            solver: table.choice_or_first("substep_solver", &SubstepSolver::NAMES)?,
            tolerance: table.number("substep_tolerance")?,
            iterations_max: table.integer("substep_iterations_max")? as u32,
        };
        let device = table.choice_or_first("device", &DEVICES)?;
        if device == Device::Gpu && asynchronous.precision == Precision::Double {
            return Err(table.conflict("`device = \"gpu\"` has no double precision"));
        }
        let device = Chosen::open(device, &gpu, table)?;
        Ok(std::sync::Arc::new(move |solver, shared| {
            let implicit = StrongImplicit::new(solver).with_settings(settings)?;
            let stepper = Asynchronous::new(implicit, asynchronous)?;
            Ok(Box::new(device.give(stepper, shared)) as Box<dyn Stepper>)
        }))
    });
    registry.stepper("impulse-exchange", IMPULSE_EXCHANGE.keys, |table| {
        let settings = settings(table)?;
        let substeps = table.integer("substeps")? as usize;
        let at = table.choice_or_first("exchange", &EXCHANGES)?;
        Ok(move |solver: Box<dyn ConvexContactSolver>| {
            let implicit = StrongImplicit::new(solver).with_settings(settings)?;
            Ok(ImpulseExchange::new(implicit, substeps, at))
        })
    });
    registry.stepper("penalty-force", PENALTY_FORCE.keys, |table| {
        let settings = PenaltyForceSettings {
            tolerance: table.number("tolerance")?,
            iterations_max: table.integer("iterations_max")? as u32,
            krylov_max: table.integer("krylov_max")? as u32,
            baseline: table.choice_or_first("penalty_friction", &PenaltyBaseline::NAMES)?,
            damping: table.choice_or_first("penalty_damping", &PenaltyDamping::NAMES)?,
            slide: table.choice_or_first("slide", &SLIDES)?,
            round_particles: table.integer("round_particles")? as u32,
            box_particles: table.integer("box_particles")? as u32,
            rod_particles: table.integer("rod_particles")? as u32,
            edge_spacing_m: table
                .number_if_given("edge_spacing")?
                .unwrap_or(f64::INFINITY),
        };
        Ok(move |_: Box<dyn ConvexContactSolver>| PenaltyForce::new(settings))
    });
}

fn settings(table: &TableReader<'_>) -> Result<StrongImplicitSettings, SceneError> {
    Ok(StrongImplicitSettings {
        integration: table.choice_or_first("integration", &INTEGRATIONS)?,
        linearisation: table.choice_or_first("linearisation", &LINEARISATIONS)?,
        lagged_iterations_max: table.integer("lagged_iterations_max")? as usize,
    })
}

fn accuracy(table: &TableReader<'_>) -> Result<Option<Accuracy>, SceneError> {
    let measure = table.choice_or_first("accuracy_per", &ERROR_MEASURES)?;
    if table.is_given("accuracy_per") && !table.is_given("accuracy") {
        return Err(table.conflict("`accuracy_per` goes with `accuracy` only"));
    }
    let tolerance = table.number("accuracy")?;
    Ok((tolerance > 0.0).then(|| Accuracy {
        tolerance,
        measure,
        ..Accuracy::default()
    }))
}
