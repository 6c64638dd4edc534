//! What a step of a batch did, by world.

use super::{BatchError, WorldIdx};
use crate::error::StepError;
use crate::report::StepReport;

/// What a step of a [`Batch`](super::Batch) did: a [`StepReport`] or an error for each world.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{Batch, StrongImplicit, WorldBuilder};
/// # let stepper = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// use pliant_coupling::WorldIdx;
///
/// # let world = builder.build()?;
/// let mut batch = Batch::copies_of(&world, vec![world.default_state(); 2], stepper)?;
/// batch.state_mut(WorldIdx(1)).bodies[body.0].v[5] = f64::NAN;
/// let report = batch.step(1e-3);
/// assert!(report.of(WorldIdx(0)).is_ok_and(|report| report.is_trusted()));
/// let failed: Vec<WorldIdx> = report.failed().map(|(world, _)| world).collect();
/// assert_eq!(failed, [WorldIdx(1)]);
/// assert!(report.check().is_err_and(|error| error.to_string().starts_with("world 1: step 0 ")));
/// for world in failed {
///     batch.reset(world);
/// }
/// assert!(batch.step(1e-3).is_trusted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchReport {
    pub(super) outcomes: Vec<Outcome>,
}

/// Of one world. The report keeps its memory where a step failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) report: StepReport,
    pub(super) error: Option<StepError>,
}

impl Outcome {
    fn result(&self) -> Result<&StepReport, &StepError> {
        self.error.as_ref().map_or(Ok(&self.report), Err)
    }
}

impl BatchReport {
    /// Of one world.
    ///
    /// # Errors
    /// Why the world was not stepped.
    ///
    /// # Panics
    /// If the batch had no such world.
    pub fn of(&self, world: WorldIdx) -> Result<&StepReport, &StepError> {
        self.outcomes[world.0].result()
    }

    /// Of every world, in the order of their index.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<&StepReport, &StepError>> {
        self.outcomes.iter().map(Outcome::result)
    }

    /// The worlds that were not stepped, and why.
    pub fn failed(&self) -> impl Iterator<Item = (WorldIdx, &StepError)> {
        let errors = self.iter().enumerate();
        errors.filter_map(|(i, result)| result.err().map(|error| (WorldIdx(i), error)))
    }

    /// Whether all worlds were stepped.
    ///
    /// # Errors
    /// [`BatchError`] of the first world that was not.
    pub fn check(&self) -> Result<(), BatchError> {
        match self.failed().next() {
            None => Ok(()),
            Some((world, error)) => Err(BatchError {
                world,
                source: error.clone(),
            }),
        }
    }

    /// Whether all worlds were stepped and all their steps are trusted.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.iter()
            .all(|result| result.is_ok_and(StepReport::is_trusted))
    }
}
