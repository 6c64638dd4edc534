//! Where the asynchronous stepper takes its substeps: on the processor, or on a GPU with the feature `gpu`.

#[cfg(feature = "gpu")]
mod with_gpu;
#[cfg(not(feature = "gpu"))]
mod without_gpu;

use std::sync::{Arc, OnceLock};

#[cfg(feature = "gpu")]
use pliant_gpu::GpuBatch;
#[cfg(not(feature = "gpu"))]
use std::convert::Infallible as GpuBatch;

use super::error::SceneError;
use super::table::TableReader;
#[cfg(feature = "gpu")]
pub(super) use with_gpu::{Chosen, OpenGpu};
#[cfg(not(feature = "gpu"))]
pub(super) use without_gpu::{Chosen, OpenGpu};

/// What takes the substeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    /// The processor.
    Cpu,
    /// The GPU; what it cannot run is an error.
    Gpu,
    /// A GPU that is no software device, for models that it can run, else the processor.
    Auto,
}

pub(super) const DEVICES: [(&str, Device); 3] = [
    ("cpu", Device::Cpu),
    ("gpu", Device::Gpu),
    ("auto", Device::Auto),
];

/// The place on a GPU of one stepper, or of several that take their substeps there in one set of dispatches. Clones are the same place. It stays empty
/// where all steppers are on the processor.
///
/// ```
/// use pliant::scene::SharedDevice;
///
/// let (one, other) = (SharedDevice::default(), SharedDevice::default());
/// assert!(one.is_same(&one.clone()) && !one.is_same(&other));
/// assert!(!one.is_used());
/// ```
#[derive(Clone, Default)]
pub struct SharedDevice {
    batch: Arc<OnceLock<GpuBatch>>,
}

impl SharedDevice {
    /// Whether a stepper on a GPU has been made for it.
    pub fn is_used(&self) -> bool {
        self.batch.get().is_some()
    }

    /// Whether it is the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.batch, &other.batch)
    }
}
