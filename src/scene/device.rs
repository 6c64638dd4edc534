//! Where the asynchronous stepper takes its substeps: on the processor, or on a GPU with the feature `gpu`.

use super::error::SceneError;
use super::table::TableReader;

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

#[cfg(feature = "gpu")]
mod with_gpu {
    use std::sync::Arc;

    use pliant_contact_sap::ConvexContactSolver;
    use pliant_coupling::Asynchronous;
    use pliant_gpu::{Gpu, GpuSubsteps, Refused};
    use pliant_mpm::{CpuSubsteps, SubstepBackend};

    use super::*;

    /// A device, opened when the scene is read.
    #[derive(Clone)]
    pub(in crate::scene) struct Chosen {
        gpu: Option<Arc<Gpu>>,
        is_required: bool,
    }

    impl Chosen {
        pub(in crate::scene) fn open(
            device: Device,
            table: &TableReader<'_>,
        ) -> Result<Self, SceneError> {
            let gpu = match device {
                Device::Cpu => None,
                Device::Gpu => Some(Gpu::open().map_err(|e| table.conflict(e.to_string()))?),
                Device::Auto => (Gpu::open().ok()).filter(|gpu| !gpu.description().is_software),
            };
            Ok(Self {
                gpu: gpu.map(Arc::new),
                is_required: device == Device::Gpu,
            })
        }

        /// `stepper` with its substeps on the device.
        pub(in crate::scene) fn give<S: ConvexContactSolver>(
            &self,
            stepper: Asynchronous<S>,
        ) -> Asynchronous<S> {
            let Self { gpu, is_required } = self.clone();
            let Some(gpu) = gpu else {
                return stepper;
            };
            stepper.with_backend(move |model| -> Box<dyn SubstepBackend> {
                match GpuSubsteps::new(&gpu, model) {
                    Ok(backend) => Box::new(backend),
                    Err(reason) if is_required => Box::new(Refused::new(reason)),
                    Err(_) => Box::new(CpuSubsteps::<f32>::new(model)),
                }
            })
        }
    }
}
#[cfg(feature = "gpu")]
pub(super) use with_gpu::Chosen;

/// The processor: this build has no other device.
#[cfg(not(feature = "gpu"))]
#[derive(Clone)]
pub(super) struct Chosen;

#[cfg(not(feature = "gpu"))]
impl Chosen {
    pub(super) fn open(device: Device, table: &TableReader<'_>) -> Result<Self, SceneError> {
        match device {
            Device::Gpu => Err(table.conflict(
                "`device = \"gpu\"` needs a build with the feature `gpu`: cargo build --features gpu; or use `cpu`",
            )),
            Device::Cpu | Device::Auto => Ok(Self),
        }
    }

    pub(super) fn give<S>(&self, stepper: S) -> S {
        stepper
    }
}
