//! The backend of a model that the device cannot run: every step is an error that says why.

use pliant_contact_sap::{BodyError, BodyReport, BodyState};
use pliant_mpm::{
    ParticleImpulse, RigidLinks, SubstepBackend, SubstepInput, SubstepLimit, SubstepReport,
};

use crate::error::GpuError;

/// Refuses every step.
///
/// ```
/// use pliant_contact_sap::BodyState;
/// use pliant_gpu::{GpuError, Refused};
/// use pliant_mpm::SubstepBackend;
///
/// let error = Refused::new(GpuError::NoAdapter).begin(&BodyState::default()).unwrap_err();
/// assert!(error.to_string().contains("no Vulkan adapter"));
/// ```
#[derive(Clone, Debug)]
pub struct Refused(GpuError);

impl Refused {
    /// For the reason of [`GpuSubsteps::new`](crate::GpuSubsteps::new).
    #[must_use]
    pub fn new(reason: GpuError) -> Self {
        Self(reason)
    }

    fn error(&self) -> BodyError {
        BodyError::Model(self.0.to_string())
    }
}

impl SubstepBackend for Refused {
    fn begin(&mut self, _: &BodyState) -> Result<(), BodyError> {
        Err(self.error())
    }

    fn limit(&self) -> Option<SubstepLimit> {
        None
    }

    fn run(
        &mut self,
        _: &SubstepInput<'_>,
        _: &mut RigidLinks,
        _: &mut Vec<ParticleImpulse>,
        _: &mut SubstepReport,
    ) -> Result<(), BodyError> {
        Err(self.error())
    }

    fn end(&mut self, _: &mut BodyState) -> Result<BodyReport, BodyError> {
        Err(self.error())
    }
}
