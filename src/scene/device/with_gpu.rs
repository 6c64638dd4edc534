//! Substeps on a GPU.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pliant_contact_sap::ConvexContactSolver;
use pliant_coupling::Asynchronous;
use pliant_gpu::{Gpu, GpuBatch, GpuError, GpuSubsteps, Refused};
use pliant_mpm::{CpuSubsteps, SubstepBackend};

use super::{Device, SceneError, SharedDevice, TableReader};

/// The GPU of all scenes of one registry, open while one of them lives.
#[derive(Default)]
pub(in crate::scene) struct OpenGpu(Mutex<Weak<Gpu>>);

impl OpenGpu {
    fn get(&self) -> Result<Arc<Gpu>, GpuError> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gpu) = open.upgrade().filter(|gpu| !gpu.has_failed()) {
            return Ok(gpu);
        }
        let gpu = Arc::new(Gpu::open()?);
        *open = Arc::downgrade(&gpu);
        Ok(gpu)
    }
}

/// A device, opened when the scene is read.
#[derive(Clone)]
pub(in crate::scene) struct Chosen {
    gpu: Option<Arc<Gpu>>,
    is_required: bool,
}

impl Chosen {
    pub(in crate::scene) fn open(
        device: Device,
        open: &OpenGpu,
        table: &TableReader<'_>,
    ) -> Result<Self, SceneError> {
        let gpu = match device {
            Device::Cpu => None,
            Device::Gpu => Some(open.get().map_err(|e| table.conflict(e.to_string()))?),
            Device::Auto => (open.get().ok()).filter(|gpu| !gpu.description().is_software),
        };
        Ok(Self {
            gpu,
            is_required: device == Device::Gpu,
        })
    }

    /// `stepper` with its substeps on the device, together with the other steppers of `shared`.
    pub(in crate::scene) fn give<S: ConvexContactSolver>(
        &self,
        stepper: Asynchronous<S>,
        shared: &SharedDevice,
    ) -> Asynchronous<S> {
        let Some(gpu) = &self.gpu else {
            return stepper;
        };
        let batch = shared.batch.get_or_init(|| GpuBatch::new(gpu)).clone();
        let is_required = self.is_required;
        stepper.with_backend(move |model| -> Box<dyn SubstepBackend> {
            match GpuSubsteps::in_batch(&batch, model) {
                Ok(backend) => Box::new(backend),
                Err(reason) if is_required => Box::new(Refused::new(reason)),
                Err(_) => Box::new(CpuSubsteps::<f32>::new(model)),
            }
        })
    }
}
