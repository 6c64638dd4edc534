//! How a scene is simulated and recorded.

use nalgebra::Vector3;

use super::error::SceneError;
use super::item::Item;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::stepper::SceneStepper;

pub(super) static TABLES: [&TableSchema; 2] = [&SIMULATION, &RECORDING];

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
            value: ValueKind::AtLeast("smoke_s"),
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
            value: ValueKind::Part("stepper"),
            unit: "",
            default: "`strong-implicit`",
            about: "how bodies and contact are advanced: `strong-implicit`, one convex problem per time step; `penalty-force`, springs to sliding attachments in one implicit step, with friction that does not creep; or, as a baseline, `impulse-exchange`, material points in explicit substeps that exchange impulses with rigid bodies as in ManiSkill2",
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

/// Steps, lengths and gravity.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = "schema = 1\ntitle = \"on the moon\"\n[simulation]\nsmoke_s = 1\ngravity = [0, 0, -1.62]\ntime_step_s = 0.01\n";
/// let simulation = Scene::parse("moon.toml", text, &SceneOptions::default())?.simulation;
/// assert_eq!((simulation.gravity, simulation.time_step_s), (Vector3::new(0.0, 0.0, -1.62), 0.01));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
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
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = "schema = 1\ntitle = \"slow\"\nsimulation = { smoke_s = 1 }\n[recording]\nframes_per_s = 10\n";
/// let rates = Scene::parse("slow.toml", text, &SceneOptions::default())?.recording;
/// assert_eq!((rates.frames_per_s, rates.rows_per_s), (10.0, 200.0)); // 200 unless given
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordingRates {
    /// Pictures per simulated second.
    pub frames_per_s: f64,
    /// Rows of the table per simulated second.
    pub rows_per_s: f64,
}

/// `[simulation]`; `time_step_s` from outside replaces the file's.
pub(super) fn simulation(
    item: &Item<'_>,
    time_step_s: Option<f64>,
) -> Result<(Simulation, SceneStepper), SceneError> {
    let steppers = &item.context.registry.steppers;
    let (table, part) = item.part_table(&SIMULATION, "stepper", steppers)?;
    let in_file = table.number("time_step_s")?;
    let simulation = Simulation {
        time_step_s: time_step_s.unwrap_or(in_file),
        smoke_s: table.number("smoke_s")?,
        full_s: table.number("full_s")?,
        gravity: table.vector3("gravity")?,
    };
    let stepper = SceneStepper {
        name: part.name().to_owned(),
        at: item.at(),
        make: part.read()(&table)?,
    };
    table.finish();
    Ok((simulation, stepper))
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
        frames_per_s: table.number("frames_per_s")?,
        rows_per_s: table.number("rows_per_s")?,
    };
    table.finish();
    Ok(rates)
}
