//! Cases with known answers: a registry of named checks, each with the expected value, its source, and the value found.
//!
//! The case of a bundled scene consists of its `[[expect]]` entries. The others are functions, one file per physical topic: each
//! builds a small world, simulates it and compares. Expected values are closed forms, derived beside their code, or
//! measurements, and never an earlier output of this code.
//!
//! ```
//! use pliant::validate::{CASES, CaseLength};
//!
//! let case = CASES.iter().find(|case| case.name == "pd-actuator").expect("a known name");
//! assert!(case.run(CaseLength::Quick)?.iter().all(|finding| finding.pass));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod backlash;
mod beam_bending;
mod bouncing_ball;
mod break_off;
mod capstan;
mod cavities;
mod cube_toss;
mod equilibria;
mod error;
mod first_touch;
mod flush_tiles;
mod four_bar;
mod free_flight;
mod gripper;
mod hanging_strip;
mod incline;
mod knot;
mod knot_baseline;
mod mass_ratio;
mod patch;
mod patch_rest;
mod patch_round;
mod patch_symmetry;
mod patch_tipping;
mod pd_actuator;
mod penalty;
mod pendulum;
mod points_ball;
mod points_spin;
mod ramp;
mod rods;
mod rolling;
mod rolling_ball;
mod rolling_rod;
mod rubber_press;
mod screw;
mod sliding_box;
mod soft_loads;
mod soft_rest;
mod spin;
mod standing_stack;
mod stiction;
mod substep_friction;
mod tendon;
mod test_world;
mod three_legged_table;
mod turning_friction;
mod valley;
mod water;

use std::error::Error;
use std::path::Path;

use serde::Serialize;

use crate::runner::{Outcome, RunLength, RunOptions, Verdict, run};
use crate::scene::{Scene, SceneOptions};

/// One comparison of a case.
///
/// ```
/// use pliant::validate::{CASES, CaseLength};
///
/// let case = CASES.iter().find(|case| case.name == "pd-actuator").ok_or("no such case")?;
/// for finding in case.run(CaseLength::Quick)? {
///     assert!(finding.name.starts_with("pd-actuator") && !finding.source.is_empty());
///     let found = finding.found.ok_or("no value")?;
///     assert!(finding.pass && (found - finding.expected).abs() <= finding.tolerance, "{found}");
/// }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// `CASE: QUANTITY`.
    pub name: String,
    /// Required relation of the value found to the known answer.
    pub relation: Relation,
    /// The known answer.
    pub expected: f64,
    /// The simulated value; null where there is none.
    pub found: Option<f64>,
    /// Allowed difference.
    pub tolerance: f64,
    /// Where the answer and the tolerance come from.
    pub source: String,
    /// Whether the comparison passes.
    pub pass: bool,
}

/// Relation of a value to the known answer, as a finding requires it.
///
/// ```
/// use pliant::validate::{CASES, CaseLength, Relation};
///
/// let case = CASES.iter().find(|case| case.name == "box-stack").ok_or("no such case")?;
/// let findings = case.run(CaseLength::Quick)?;
/// // A range in `[[expect]]` becomes its middle with a tolerance, a bound stays one.
/// let force = findings.iter().find(|f| f.relation == Relation::Equals).ok_or("no range")?;
/// // The weight of ten boxes of 1 kg.
/// assert!((force.expected - 98.1).abs() < 1e-9 && force.tolerance > 0.0);
/// let bounded = findings.iter().find(|f| f.relation == Relation::AtMost).ok_or("no bound")?;
/// assert!(bounded.found.is_some_and(|found| found <= bounded.expected));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Equal within the tolerance.
    Equals,
    /// Not less, within the tolerance.
    AtLeast,
    /// Not more, within the tolerance.
    AtMost,
}

/// Whether the slow parts of a case are run.
///
/// ```
/// use pliant::validate::{CASES, CaseLength};
///
/// // The quick part of this case is one slope, the whole case has more of them.
/// let ramp = CASES.iter().find(|case| case.name == "ramp").ok_or("no such case")?;
/// let (quick, full) = (ramp.run(CaseLength::Quick)?, ramp.run(CaseLength::Full)?);
/// assert!(quick.len() < full.len() && full.iter().all(|finding| finding.pass));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseLength {
    /// Without the slow parts.
    Quick,
    /// With the slow parts.
    Full,
}

/// How a case is computed.
///
/// ```
/// use pliant::validate::{CASES, CaseKind, CaseLength};
///
/// let case = CASES.iter().find(|case| case.name == "pd-actuator").ok_or("no such case")?;
/// // A function that computes the findings; scenes are run instead.
/// let CaseKind::Function(compute) = case.kind else { panic!("it is no scene") };
/// assert_eq!(compute(CaseLength::Quick)?, case.run(CaseLength::Quick)?);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy)]
pub enum CaseKind {
    /// A bundled scene and its expectations.
    Scene,
    /// A function.
    Function(Computation),
}

/// Computes the findings of a case.
pub type Computation = fn(CaseLength) -> Result<Vec<Finding>, Box<dyn Error + Send + Sync>>;

/// A named check.
///
/// ```
/// use pliant::validate::{CASES, CaseKind};
///
/// // Every bundled scene of the list is a case; names are unique.
/// let sphere = CASES.iter().find(|case| case.name == "rolling-sphere").expect("a known name");
/// assert!(matches!(sphere.kind, CaseKind::Scene) && sphere.missing().is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Case {
    /// Name of the case; for [`CaseKind::Scene`] the name of the scene.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// How it is computed.
    pub kind: CaseKind,
    /// A required file that is not part of the project, relative to the repository.
    pub needs: Option<&'static str>,
}

/// Every case.
pub const CASES: &[Case] = &[
    scene(
        "box-on-incline",
        "a box slides down with acceleration g (sin a - mu cos a), or sticks",
    ),
    scene(
        "rolling-sphere",
        "a sphere rolls down with 5/7 g sin a, or slides with the right spin",
    ),
    scene(
        "box-stack",
        "ten boxes stay at rest; the floor carries their weight",
    ),
    scene(
        "double-pendulum",
        "the energy error is of first order in the time step",
    ),
    scene(
        "conveyor",
        "friction brings a parcel to the speed of the belt",
    ),
    scene("gripper-holds-box", "friction carries a box up to 2 mu F"),
    scene(
        "robotiq-grasp",
        "a tendon closes the parallelograms of a gripper, which presses by the virtual work of its drive",
    ),
    scene(
        "cube-tower-patches",
        "a tower of soft cubes moves less than 1 µm, in patches",
    ),
    scene(
        "compliant-grasp",
        "patches on a soft ball transmit a moment, unlike contact points",
    ),
    scene(
        "bowl-of-spheres",
        "ten soft balls come to rest in a bowl, a triangle mesh",
    ),
    scene(
        "clutter",
        "forty objects stay in their bin and come to rest",
    ),
    scene(
        "arm-pushes-boxes",
        "friction on boxes pushed by an arm is mu times their weight",
    ),
    scene(
        "soft-landing",
        "a soft ball and a soft block come to rest; the floor carries the weight",
    ),
    scene(
        "cantilever",
        "three treatments of rotation agree for falling cantilevers",
    ),
    scene(
        "masonry-arch",
        "25 stones stand as an arch by friction alone",
    ),
    scene(
        "bubble-gripper-teddy",
        "soft bubbles lift and shake a teddy bear",
    ),
    scene(
        "hand-holds-ball",
        "a hand of sixteen joints holds a soft ball",
    ),
    scene(
        "penalty-incline",
        "a block on penalty forces stops where friction stops it",
    ),
    scene(
        "penalty-rolling",
        "a sphere on penalty forces rolls or slips with the right spin",
    ),
    scene(
        "penalty-wedge",
        "two blocks on penalty forces jam between walls by Coulomb's law",
    ),
    scene(
        "penalty-stack",
        "attachments of a stack keep every bit for 90,000 steps",
    ),
    scene(
        "penalty-grasp",
        "a block squeezed at twenty times the margin does not creep",
    ),
    scene("panels", "10 N on a soft cube carry its weight by friction"),
    scene(
        "ball-on-slope",
        "balls of material points slide and roll down like rigid ones",
    ),
    scene(
        "sand-column-collapse",
        "the runout of a column of sand agrees with measurements",
    ),
    scene(
        "dam-break",
        "the front of a collapsing column of water moves as fast as measured",
    ),
    scene(
        "close-lift-shake",
        "a heavy cube is lifted and shaken between two soft ones",
    ),
    scene(
        "dough-rolling",
        "a rolling pin rotates by friction on dough",
    ),
    scene(
        "async-panels",
        "panels hold a soft cube, with explicit substeps",
    ),
    scene(
        "async-shake",
        "a heavy cube between two soft ones, with explicit substeps",
    ),
    scene(
        "async-dough-rolling",
        "a rolling pin rotates by friction on dough, with explicit substeps",
    ),
    scene("box-bagging", "a cloth holds two boxes and lets them fall"),
    scene("cloth-drape", "a cloth drapes over a ball"),
    scene("dough-tearing", "dough that is pulled apart tears in two"),
    scene("liquid-pouring", "a hand tips a mug of water into a bin"),
    scene(
        "capstan",
        "friction multiplies the tension of a rope by exp(mu phi)",
    ),
    scene(
        "ring-chain",
        "the support of a chain of rings carries its weight",
    ),
    scene(
        "knot-tightening",
        "a knot is pulled tight, and no strand crosses another",
    ),
    scene(
        "knot-at-speed",
        "a knot of unknotting number 4 is pulled tight at 0.8 m/s",
    ),
    scene(
        "crowned-pulley",
        "a belt centres itself on a crowned pulley",
    ),
    scene(
        "cord-on-foam",
        "a soft block carries a cord through a contact patch",
    ),
    scene("entangling-gripper", "curling filaments hold an object"),
    scene("shoelace", "two arms tie a lace around a bar"),
    scene(
        "shoelace-pull",
        "two fingers hold a shoelace that is pulled",
    ),
    sliding_box::CASE,
    substep_friction::CASE,
    soft_rest::CASE,
    soft_loads::CASE,
    cavities::CASE,
    hanging_strip::CASE,
    beam_bending::CASE,
    flush_tiles::CASE,
    incline::CASE,
    ramp::CASE,
    penalty::RELAXATION,
    penalty::SLOPE,
    penalty::PYRAMID,
    penalty::MOTION,
    penalty::SHAPES,
    rolling_ball::CASE,
    rolling_rod::CASE,
    points_ball::CASE,
    points_spin::CASE,
    standing_stack::CASE,
    gripper::CASE,
    three_legged_table::CASE,
    pd_actuator::CASE,
    free_flight::CASE,
    pendulum::CASE,
    four_bar::CASE,
    tendon::CASE,
    equilibria::CASE,
    screw::CASE,
    spin::CASE,
    backlash::CASE,
    valley::CASE,
    water::CASE,
    first_touch::CASE,
    bouncing_ball::CASE,
    turning_friction::CASE,
    break_off::CASE,
    mass_ratio::CASE,
    patch::CASE,
    patch_rest::CASE,
    patch_round::CASE,
    patch_symmetry::CASE,
    patch_tipping::CASE,
    rubber_press::CASE,
    capstan::CASE,
    knot::CASE,
    knot_baseline::CASE,
    rods::DEFLECTIONS,
    rods::SHAPES,
    rods::FREQUENCIES,
    rods::COLUMNS,
    rods::SIDEWAYS,
    rods::TURNS,
    rods::DERIVATIVES,
    rods::ITERATIONS,
    cube_toss::CASE,
];

const fn scene(name: &'static str, about: &'static str) -> Case {
    Case {
        name,
        about,
        kind: CaseKind::Scene,
        needs: None,
    }
}

impl Finding {
    /// Passes if |found − expected| ≤ tolerance.
    fn equals(
        name: String,
        found: f64,
        expected: f64,
        tolerance: f64,
        source: impl Into<String>,
    ) -> Self {
        Self {
            name,
            relation: Relation::Equals,
            expected,
            found: Some(found),
            tolerance,
            source: source.into(),
            pass: (found - expected).abs() <= tolerance,
        }
    }

    /// Passes if found ≥ bound.
    fn at_least(name: String, found: f64, bound: f64, source: impl Into<String>) -> Self {
        Self {
            relation: Relation::AtLeast,
            pass: found >= bound,
            ..Self::at_most(name, found, bound, source)
        }
    }

    /// Passes if found ≤ bound.
    fn at_most(name: String, found: f64, bound: f64, source: impl Into<String>) -> Self {
        Self {
            name,
            relation: Relation::AtMost,
            expected: bound,
            found: Some(found),
            tolerance: 0.0,
            source: source.into(),
            pass: found <= bound,
        }
    }
}

impl Case {
    /// The required file if it is missing, relative to the working directory.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        self.needs.filter(|file| !Path::new(file).exists())
    }

    /// Computes the case.
    ///
    /// # Errors
    /// The case could not be computed, for instance because its file is [missing](Self::missing).
    pub fn run(&self, length: CaseLength) -> Result<Vec<Finding>, Box<dyn Error + Send + Sync>> {
        match self.kind {
            CaseKind::Function(compute) => compute(length),
            CaseKind::Scene => {
                let scene = Scene::load(self.name, &SceneOptions::default())?;
                let length = match length {
                    CaseLength::Quick => RunLength::Smoke,
                    CaseLength::Full => RunLength::Full,
                };
                let summary = run(
                    &scene,
                    &RunOptions {
                        length,
                        ..RunOptions::default()
                    },
                    &mut |_| {},
                )?
                .summary;
                let evaluated = summary
                    .expectations
                    .iter()
                    .filter(|v| v.outcome != Outcome::Skipped);
                Ok(evaluated
                    .map(|verdict| finding(self.name, verdict))
                    .collect())
            }
        }
    }
}

/// A range becomes its midpoint and half width.
fn finding(case: &str, verdict: &Verdict) -> Finding {
    let (relation, expected, tolerance) = match (verdict.at_least, verdict.at_most) {
        (Some(least), Some(most)) => (Relation::Equals, 0.5 * (least + most), 0.5 * (most - least)),
        (Some(least), None) => (Relation::AtLeast, least, 0.0),
        (None, most) => (Relation::AtMost, most.unwrap_or(f64::MAX), 0.0),
    };
    Finding {
        name: format!("{case}: {} {}", verdict.observable, verdict.measured),
        relation,
        expected,
        found: verdict.found,
        tolerance,
        source: verdict.source.clone(),
        pass: verdict.outcome == Outcome::Met,
    }
}
