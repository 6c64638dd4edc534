//! How a scene is simulated, recorded and looked at.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::FrictionLimit;
use pliant_coupling::{ContactModel, ContactSettings, DissipationRule, Speculation, Stiction};

use super::error::SceneError;
use super::item::Item;
use super::pairs::CONTACT_KINDS;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::stepper::SceneStepper;
use super::table::TableReader;

pub(super) static TABLES: [&TableSchema; 4] = [&SIMULATION, &CONTACT, &RECORDING, &CAMERA];

static SIMULATION: TableSchema = TableSchema {
    name: "[simulation]",
    keys: &[
        Key {
            name: "time_step_s",
            value: ValueKind::Positive,
            unit: "s",
            default: "0.001",
            about: "Δt; `--time-step` overrides it; expressions know it as `dt`",
        },
        Key {
            name: "smoke_s",
            value: ValueKind::Positive,
            unit: "s",
            default: REQUIRED,
            about: "simulated time of a plain run, short enough for five seconds of computing",
        },
        Key {
            name: "full_s",
            value: ValueKind::Described("number >= `smoke_s`"),
            unit: "s",
            default: "`smoke_s`",
            about: "simulated time with `--full`",
        },
        Key {
            name: "gravity",
            value: ValueKind::Vector3,
            unit: "m/s²",
            default: "[0, 0, -9.81]",
            about: "acceleration of free fall, world axes",
        },
        Key {
            name: "stepper",
            value: ValueKind::Described("name of a stepper"),
            unit: "",
            default: "`strong-implicit`",
            about: "how bodies and contact are advanced: `strong-implicit`, one convex problem per time step; or, as a baseline, `impulse-exchange`, material points in explicit substeps that exchange impulses with rigid bodies as in ManiSkill2",
        },
    ],
};

static CONTACT: TableSchema = TableSchema {
    name: "[contact]",
    keys: &[
        Key {
            name: "model",
            value: ValueKind::Choice(&["lagged", "similar", "sap", "energy"]),
            unit: "",
            default: "`lagged`",
            about: "`lagged`: friction limit of the step's start; `similar`, `sap`: coupled to the normal force, bodies glide on a small gap; `energy`, to compare with: springs of the materials' stiffness that follow no paths (Tong et al. 2023)",
        },
        Key {
            name: "energy_range",
            value: ValueKind::Positive,
            unit: "m",
            default: "0.0001",
            about: "from which distance on the contact `energy` repels",
        },
        Key {
            name: "friction_limit",
            value: ValueKind::Choice(&["local-implicit", "lagged"]),
            unit: "",
            default: "`local-implicit`",
            about: "where the `lagged` model takes its limit from; with the published `lagged` bodies stick in the step of an impact",
        },
        Key {
            name: "stiction_speed",
            value: ValueKind::Positive,
            unit: "m/s",
            default: "0.0001",
            about: "slip below which friction counts as sticking",
        },
        Key {
            name: "stiction",
            value: ValueKind::Choice(&["held-in-patches", "held", "creeping"]),
            unit: "",
            default: "`held-in-patches`",
            about: "`held`: what sticks remembers its load from step to step and stands still; `creeping`: it creeps under its load, at up to a few times `stiction_speed`; `held-in-patches`: points creep, patches do not, those of soft surfaces among them",
        },
        Key {
            name: "near_rigid",
            value: ValueKind::Positive,
            unit: "time steps",
            default: "0.1, and 1 for `similar`",
            about: "stiffness is capped where the lighter body would swing on a contact with this period; smaller for heavier loads on light bodies",
        },
        Key {
            name: "dissipation",
            value: ValueKind::Choice(&["hunt-crossley", "relaxation-time"]),
            unit: "",
            default: "`hunt-crossley`",
            about: "which of a material's two; `sap` always takes the relaxation time",
        },
        Key {
            name: "speculation",
            value: ValueKind::Choice(&["swept", "resting-margin", "overlapping"]),
            unit: "",
            default: "`swept`",
            about: "`swept`: contacts that begin within the step are foreseen, fast bodies do not tunnel; `overlapping`, to compare with: only what overlaps already touches",
        },
        Key {
            name: "kind",
            value: ValueKind::Choice(&["patch-else-point", "patch", "point"]),
            unit: "",
            default: "`patch-else-point`",
            about: "patches for pairs of which both are `hydroelastic` and one `compliant`, or one the surface of a soft body, points for the others; `patch`: such others are refused; `point`: points for all. `[[pairs]]` may say otherwise",
        },
    ],
};

static RECORDING: TableSchema = TableSchema {
    name: "[recording]",
    keys: &[
        Key {
            name: "frames_per_s",
            value: ValueKind::Positive,
            unit: "1/s",
            default: "30",
            about: "pictures per simulated second; the replay fills the gaps smoothly",
        },
        Key {
            name: "rows_per_s",
            value: ValueKind::Positive,
            unit: "1/s",
            default: "200",
            about: "rows per simulated second in the table of observables; expectations see every step",
        },
    ],
};

static CAMERA: TableSchema = TableSchema {
    name: "[camera]",
    keys: &[
        Key {
            name: "eye",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "where the replay's camera stands at first",
        },
        Key {
            name: "target",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "what it looks at and orbits around",
        },
    ],
};

/// Steps, lengths and gravity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// Δt, s.
    pub time_step_s: f64,
    /// Simulated time of a plain run, s.
    pub smoke_s: f64,
    /// Simulated time of a full run, s.
    pub full_s: f64,
    /// Acceleration of free fall, m/s², world axes.
    pub gravity: Vector3<f64>,
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordingRates {
    /// Pictures per simulated second.
    pub frames_per_s: f64,
    /// Rows of the table per simulated second.
    pub rows_per_s: f64,
}

/// Where the replay's camera stands at first, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its place.
    pub eye: Point3<f64>,
    /// What it looks at.
    pub target: Point3<f64>,
}

/// `[simulation]`; `time_step_s` from outside replaces the file's.
pub(super) fn simulation(
    item: &Item<'_>,
    time_step_s: Option<f64>,
) -> Result<(Simulation, SceneStepper), SceneError> {
    let steppers = &item.context.registry.steppers;
    let (table, part) = item.part_table(&SIMULATION, "stepper", steppers)?;
    let in_file = table.positive_or("time_step_s", 0.001)?;
    let smoke_s = table.required("smoke_s")?.positive()?;
    let full_s = match table.optional("full_s") {
        None => smoke_s,
        Some(item) => {
            let full_s = item.positive()?;
            if full_s < smoke_s {
                return Err(item.out_of_range(
                    full_s,
                    &format!("must not be less than smoke_s = {smoke_s}"),
                ));
            }
            full_s
        }
    };
    let gravity = match table.optional("gravity") {
        None => Vector3::new(0.0, 0.0, -9.81),
        Some(item) => item.vector3()?,
    };
    let stepper = SceneStepper {
        name: part.name().to_owned(),
        at: item.at(),
        make: part.read()(&table)?,
    };
    table.finish();
    let simulation = Simulation {
        time_step_s: time_step_s.unwrap_or(in_file),
        smoke_s,
        full_s,
        gravity,
    };
    Ok((simulation, stepper))
}

/// `[contact]`.
pub(super) fn contact(item: Option<&Item<'_>>) -> Result<ContactSettings, SceneError> {
    let Some(item) = item else {
        return Ok(ContactSettings::default());
    };
    let table = item.table(&CONTACT)?;
    let limit = table.choice_or_first(
        "friction_limit",
        &[
            ("local-implicit", FrictionLimit::LocalImplicit),
            ("lagged", FrictionLimit::Lagged),
        ],
    )?;
    let range_m = table.positive_or("energy_range", 1e-4)?;
    let settings = ContactSettings {
        model: table.choice_or_first(
            "model",
            &[
                ("lagged", ContactModel::Lagged(limit)),
                ("similar", ContactModel::Similar),
                ("sap", ContactModel::Sap),
                ("energy", ContactModel::Energy { range_m }),
            ],
        )?,
        dissipation: table.choice_or_first(
            "dissipation",
            &[
                ("hunt-crossley", DissipationRule::HuntCrossley),
                ("relaxation-time", DissipationRule::RelaxationTime),
            ],
        )?,
        stiction_speed: table.positive_or("stiction_speed", 1e-4)?,
        stiction: table.choice_or_first(
            "stiction",
            &[
                ("held-in-patches", Stiction::HeldInPatches),
                ("held", Stiction::Held),
                ("creeping", Stiction::Creeping),
            ],
        )?,
        near_rigid: table
            .optional("near_rigid")
            .map(|item| item.positive())
            .transpose()?,
        speculation: table.choice_or_first(
            "speculation",
            &[
                ("swept", Speculation::Swept),
                ("resting-margin", Speculation::RestingMargin),
                ("overlapping", Speculation::Overlapping),
            ],
        )?,
        choice: table.choice_or_first("kind", &CONTACT_KINDS)?,
    };
    if table.optional("friction_limit").is_some()
        && !matches!(settings.model, ContactModel::Lagged(_))
    {
        return Err(table.conflict("`friction_limit` goes with `model = \"lagged\"` only"));
    }
    if table.optional("energy_range").is_some()
        && !matches!(settings.model, ContactModel::Energy { .. })
    {
        return Err(table.conflict("`energy_range` goes with `model = \"energy\"` only"));
    }
    table.finish();
    Ok(settings)
}

/// `[recording]`.
pub(super) fn recording(item: Option<&Item<'_>>) -> Result<RecordingRates, SceneError> {
    let Some(item) = item else {
        return Ok(RecordingRates {
            frames_per_s: 30.0,
            rows_per_s: 200.0,
        });
    };
    let table = item.table(&RECORDING)?;
    let rates = RecordingRates {
        frames_per_s: table.positive_or("frames_per_s", 30.0)?,
        rows_per_s: table.positive_or("rows_per_s", 200.0)?,
    };
    table.finish();
    Ok(rates)
}

/// `[camera]`.
pub(super) fn camera(item: Option<&Item<'_>>) -> Result<Option<Camera>, SceneError> {
    let Some(item) = item else {
        return Ok(None);
    };
    let table: TableReader<'_> = item.table(&CAMERA)?;
    let camera = Camera {
        eye: table.required("eye")?.vector3()?.into(),
        target: table.vector3_or_zero("target")?.into(),
    };
    if camera.eye == camera.target {
        return Err(table.conflict("`eye` and `target` are the same point; move one of them"));
    }
    table.finish();
    Ok(Some(camera))
}
