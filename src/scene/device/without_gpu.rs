//! A build whose only device is the processor.

use super::{Device, SceneError, SharedDevice, TableReader};

/// Nothing is opened.
#[derive(Default)]
pub(in crate::scene) struct OpenGpu {}

/// The processor: this build has no other device.
#[derive(Clone)]
pub(in crate::scene) struct Chosen;

impl Chosen {
    pub(in crate::scene) fn open(
        device: Device,
        _: &OpenGpu,
        table: &TableReader<'_>,
    ) -> Result<Self, SceneError> {
        match device {
            Device::Gpu => Err(table.conflict(
                "`device = \"gpu\"` needs a build with the feature `gpu`: cargo build --features gpu; or use `cpu`",
            )),
            Device::Cpu | Device::Auto => Ok(Self),
        }
    }

    pub(in crate::scene) fn give<S>(&self, stepper: S, _: &SharedDevice) -> S {
        stepper
    }
}
