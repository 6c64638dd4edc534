//! `[[expect]]`: checks of observables.

use super::error::{SceneError, SceneFault, remedy};
use super::item::{Item, NamedReference};
use super::observable::ObservableEntry;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::settings::Simulation;
use super::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 1] = [&EXPECT];

static EXPECT: TableSchema = TableSchema {
    name: "[[expect]]",
    keys: &[
        Key {
            name: "observable",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "one of `[[observables]]`",
        },
        Key {
            name: "at_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "none",
            about: "time of the check, interpolated between steps; runs that end earlier skip the expectation",
        },
        Key {
            name: "from_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "the start",
            about: "instead of `at_s`: start of a time window",
        },
        Key {
            name: "until_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "the end",
            about: "end of the time window; runs that end earlier skip the expectation",
        },
        Key {
            name: "take",
            value: ValueKind::Choice(&["final", "min", "max", "mean", "rms", "spread"]),
            unit: "",
            default: "`final`",
            about: "statistic over the window: `rms` is the root mean square, `spread` is `max` minus `min`",
        },
        Key {
            name: "equals",
            value: ValueKind::Number,
            unit: "the observable's",
            default: "none",
            about: "expected value, used with `within`",
        },
        Key {
            name: "within",
            value: ValueKind::NonNegative,
            unit: "the observable's",
            default: "none",
            about: "tolerated deviation from `equals`",
        },
        Key {
            name: "at_least",
            value: ValueKind::Number,
            unit: "the observable's",
            default: "none",
            about: "lower bound",
        },
        Key {
            name: "at_most",
            value: ValueKind::Number,
            unit: "the observable's",
            default: "none",
            about: "upper bound",
        },
        Key {
            name: "source",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "source of the bounds: a formula, a paper, an argument",
        },
    ],
};

/// The time at which a check looks at its observable: an instant or an interval.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions, Window};
///
/// # let head = r#"
/// #     schema = 1
/// #     title = "a ball"
/// #     simulation = { smoke_s = 1 }
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     [[observables]]
/// #     name = "ball.z"
/// #     of = "ball"
/// #     quantity = "position"
/// #     component = "z"
/// #     [[expect]]
/// #     observable = "ball.z"
/// #     source = "an example"
/// #     at_most = 0
/// # "#;
/// // A scene with these keys in `[[expect]]`.
/// let window = |keys: &str| {
///     let scene = Scene::parse("ball.toml", &format!("{head}{keys}"), &SceneOptions::default())?;
///     Ok::<_, pliant::scene::SceneError>(scene.expectations[0].window)
/// };
/// assert_eq!(window("at_s = 0.5")?, Window::At(0.5));
/// assert_eq!(window("from_s = 0.5\ntake = \"max\"")?, Window::Span(Some(0.5), None));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// At this time, s.
    At(f64),
    /// Start and end of a window, s; `None` is the start or the end of the run.
    Span(Option<f64>, Option<f64>),
}

/// Statistic over a window: `take` of `[[expect]]`.
///
/// ```
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{Reduction, Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball"
/// #     simulation = { smoke_s = 1, time_step_s = 0.01, gravity = [0, 0, 0] }
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     velocity = [3, 0, 0]
/// #     [[observables]]
/// #     name = "ball.x"
/// #     of = "ball"
/// #     quantity = "position"
/// #     component = "x"
/// #     [[expect]]
/// #     observable = "ball.x"
/// #     from_s = 0.5
/// #     take = "spread"
/// #     equals = 1.5
/// #     within = 1e-9
/// #     source = "3 m/s for half a second"
/// # "#;
/// // A ball of 3 m/s moves by 1.5 m from 0.5 s to the end at 1 s.
/// let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// assert_eq!(scene.expectations[0].take, Reduction::Spread);
/// assert_eq!(Reduction::Spread.word(), "spread");
/// let verdict = &run(&scene, &RunOptions::default(), &mut |_| {})?.summary.expectations[0];
/// assert!(verdict.found.is_some_and(|found| (found - 1.5).abs() < 1e-9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The last value.
    Final,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Mean over the steps.
    Mean,
    /// Root mean square.
    Rms,
    /// Maximum minus minimum.
    Spread,
}

impl Reduction {
    pub(super) const WORDS: [(&'static str, Reduction); 6] = [
        ("final", Reduction::Final),
        ("min", Reduction::Min),
        ("max", Reduction::Max),
        ("mean", Reduction::Mean),
        ("rms", Reduction::Rms),
        ("spread", Reduction::Spread),
    ];

    /// Its name in scene files.
    pub fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, r)| *r == self)
            .map_or("", |(word, _)| word)
    }
}

/// The range of a value.
///
/// ```
/// use pliant::scene::Bounds;
///
/// let at_least_one = Bounds { least: 1.0, most: f64::INFINITY };
/// assert!(at_least_one.contain(1.0) && !at_least_one.contain(0.999) && !at_least_one.contain(f64::NAN));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound; may be -∞.
    pub least: f64,
    /// Upper bound; may be ∞.
    pub most: f64,
}

impl Bounds {
    /// Whether `value` lies in the range; NaN does not.
    pub fn contain(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// A check of one observable.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions, Window};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// #     [[observables]]
/// #     name = "ball.z"
/// #     of = "ball"
/// #     quantity = "position"
/// #     component = "z"
/// #     [[expect]]
/// #     observable = "ball.z"
/// #     at_s = 0.1
/// #     equals = 0.95095
/// #     within = 0.006
/// #     source = "g t^2/2"
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // `equals = 0.95095` and `within = 0.006` are bounds.
/// let expectation = &scene.expectations[0];
/// assert_eq!(expectation.window, Window::At(0.1));
/// assert!(expectation.bounds.contain(0.95) && !expectation.bounds.contain(0.96));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of the observable.
    pub observable: NamedReference,
    /// Its index among the scene's observables.
    pub index: usize,
    /// Time or window.
    pub window: Window,
    /// Statistic over the window.
    pub take: Reduction,
    /// Allowed range.
    pub bounds: Bounds,
    /// Source of the range.
    pub source: String,
}

/// An element of `[[expect]]`.
pub(super) fn expectation(
    context: &Context,
    item: &Item<'_>,
    observables: &[ObservableEntry],
    simulation: &Simulation,
) -> Result<Expectation, SceneError> {
    let mut table = item.table(&EXPECT)?;
    let observable = table.required("observable")?.reference()?;
    table.called(&observable.name);
    let Some(index) = observables
        .iter()
        .position(|o| o.name.name == observable.name)
    else {
        let fault = SceneFault::UnknownName {
            what: "observable".into(),
            remedy: remedy(
                &observable.name,
                observables.iter().map(|o| o.name.name.as_str()),
            ),
            name: observable.name,
        };
        return Err(context.text.error(observable.at, fault));
    };
    let entry = Expectation {
        index,
        window: window(&table, simulation)?,
        take: table.choice_or_first("take", &Reduction::WORDS)?,
        bounds: bounds(&table)?,
        source: table.required("source")?.reference()?.name,
        observable,
    };
    if matches!(entry.window, Window::At(_)) && entry.take != Reduction::Final {
        return Err(
            table.conflict("`take` needs a window: give `from_s` and `until_s` instead of `at_s`")
        );
    }
    table.finish();
    Ok(entry)
}

fn window(table: &TableReader<'_>, simulation: &Simulation) -> Result<Window, SceneError> {
    let end_s = simulation.full_s;
    // Half a step of tolerance: a run ends at the step nearest to the requested time.
    let last_s = end_s + 0.5 * simulation.time_step_s;
    let time = |key| -> Result<Option<f64>, SceneError> {
        let Some(item) = table.optional(key) else {
            return Ok(None);
        };
        let time_s = item.non_negative()?;
        if time_s > last_s {
            return Err(item.out_of_range(
                time_s,
                &format!("comes after the end of a full run, full_s = {end_s}: nobody would ever look; lengthen the run or look earlier"),
            ));
        }
        Ok(Some(time_s))
    };
    match (time("at_s")?, time("from_s")?, time("until_s")?) {
        (Some(at), None, None) => Ok(Window::At(at)),
        (Some(_), _, _) => Err(table.conflict("`at_s` does not go with `from_s` or `until_s`")),
        (None, Some(from), Some(until)) if until < from => Err(table.conflict(format!(
            "until_s = {until} must not be before from_s = {from}"
        ))),
        (None, from, until) => Ok(Window::Span(from, until)),
    }
}

fn bounds(table: &TableReader<'_>) -> Result<Bounds, SceneError> {
    let number = |key| table.optional(key).map(|item| item.number()).transpose();
    let within = table
        .optional("within")
        .map(|item| item.non_negative())
        .transpose()?;
    let (equals, least, most) = (number("equals")?, number("at_least")?, number("at_most")?);
    let bounds = match (equals, within, least, most) {
        (Some(equals), Some(within), None, None) => Bounds {
            least: equals - within,
            most: equals + within,
        },
        (Some(_), None, _, _) => {
            return Err(table.conflict("`equals` needs `within`, the distance allowed"));
        }
        (None, Some(_), _, _) => return Err(table.conflict("`within` needs `equals`")),
        (Some(_), Some(_), _, _) => {
            return Err(table.conflict("`equals` does not go with `at_least` or `at_most`"));
        }
        (None, None, None, None) => {
            return Err(
                table.conflict("needs bounds: `equals` and `within`, `at_least`, `at_most`")
            );
        }
        (None, None, least, most) => Bounds {
            least: least.unwrap_or(f64::NEG_INFINITY),
            most: most.unwrap_or(f64::INFINITY),
        },
    };
    if bounds.least > bounds.most {
        return Err(table.conflict(format!(
            "at_least = {} is above at_most = {}",
            bounds.least, bounds.most
        )));
    }
    Ok(bounds)
}
