//! Adapters of this machine, and an open one with the pipelines of all stages.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::buffers::BINDINGS;
use crate::error::GpuError;
use crate::pipelines::{Pipelines, SizeLimits};
use crate::stage_clock;

/// Storage buffers of a stage: those of all stages, and the sizes of dispatches.
pub(crate) const STORAGE_BUFFERS: u32 = BINDINGS as u32 + 1;
/// The largest workgroup of a stage.
const LANES_MAX: u32 = 256;

/// An adapter, for a list.
///
/// ```
/// use pliant_gpu::{AdapterDescription, adapters};
///
/// // All adapters of this machine, perhaps none.
/// for adapter in adapters() {
///     println!("{}, driver {}: {}", adapter.name, adapter.driver, adapter.can_take_substeps());
/// }
/// // An adapter of four storage buffers a stage is too small: ten are needed.
/// let small = AdapterDescription {
///     name: "small".into(),
///     is_software: false,
///     driver: "none".into(),
///     storage_buffer_max: 1 << 27,
///     storage_buffers: 4,
///     lanes_max: 256,
/// };
/// assert!(!small.can_take_substeps());
/// assert!(AdapterDescription { storage_buffers: 10, ..small }.can_take_substeps());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterDescription {
    /// Its name.
    pub name: String,
    /// Whether it is a processor that plays a GPU: for tests only.
    pub is_software: bool,
    /// Its driver.
    pub driver: String,
    /// The largest storage buffer, bytes: 144 for a particle, 208 for a contact.
    pub storage_buffer_max: u64,
    /// Storage buffers of a stage; 10 are needed.
    pub storage_buffers: u32,
    /// Invocations of a workgroup; 256 are needed.
    pub lanes_max: u32,
}

impl AdapterDescription {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            name: info.name,
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            driver: format!("{} {}", info.driver, info.driver_info),
            storage_buffer_max: limits
                .max_storage_buffer_binding_size
                .min(limits.max_buffer_size),
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            lanes_max: limits.max_compute_invocations_per_workgroup,
        }
    }

    /// One that does not exist, with storage buffers of so many bytes.
    #[cfg(test)]
    pub(crate) fn with_buffers_of(storage_buffer_max: u64) -> Self {
        Self {
            name: "none".into(),
            is_software: false,
            driver: String::new(),
            storage_buffer_max,
            storage_buffers: STORAGE_BUFFERS,
            lanes_max: LANES_MAX,
        }
    }

    /// Whether all stages of a substep run on it.
    #[must_use]
    pub fn can_take_substeps(&self) -> bool {
        self.storage_buffers >= STORAGE_BUFFERS && self.lanes_max >= LANES_MAX
    }
}

fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    // The stages that find the sizes of indirect dispatches keep to the limits (`dispatch_sizes.wgsl`): `wgpu` would check each by a dispatch of its own.
    (descriptor.flags).remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    wgpu::Instance::new(descriptor)
}

/// The adapters of this machine.
#[must_use]
pub fn adapters() -> Vec<AdapterDescription> {
    let all = pollster::block_on(instance().enumerate_adapters(wgpu::Backends::VULKAN));
    all.iter().map(AdapterDescription::of).collect()
}

/// An open device.
///
/// ```
/// use pliant_gpu::{Gpu, adapters};
///
/// // Opened where there is a GPU: a software device takes seconds to compile the stages.
/// if adapters().iter().any(|adapter| !adapter.is_software && adapter.can_take_substeps()) {
///     let gpu = Gpu::open()?;
///     assert!(!gpu.description().is_software && gpu.description().can_take_substeps());
/// }
/// # Ok::<(), pliant_gpu::GpuError>(())
/// ```
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) pipelines: Pipelines,
    pub(crate) description: AdapterDescription,
    fault: Arc<Mutex<Option<String>>>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gpu").field(&self.description).finish()
    }
}

impl Gpu {
    /// Opens the fastest adapter: a GPU if there is one, else a software device.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`], or [`GpuError::Adapter`] for one that lacks what the stages need.
    pub fn open() -> Result<Self, GpuError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance().request_adapter(&options))
            .map_err(|_| GpuError::NoAdapter)?;
        Self::of_adapter(&adapter, SizeLimits::DEVICE)
    }

    /// The first adapter, with other limits of the sizes that it finds.
    #[cfg(test)]
    pub(crate) fn with_size_limits(limits: SizeLimits) -> Result<Self, GpuError> {
        let adapter = pollster::block_on(instance().request_adapter(&Default::default()));
        Self::of_adapter(&adapter.map_err(|_| GpuError::NoAdapter)?, limits)
    }

    /// Opens the first adapter of this name, one of [`adapters`].
    ///
    /// # Errors
    /// [`GpuError::NoSuchAdapter`], which names those that there are, and as [`open`](Self::open).
    pub fn open_named(name: &str) -> Result<Self, GpuError> {
        let all = pollster::block_on(instance().enumerate_adapters(wgpu::Backends::VULKAN));
        let name_of = |adapter: &wgpu::Adapter| adapter.get_info().name;
        match all.iter().find(|adapter| name_of(adapter) == name) {
            Some(adapter) => Self::of_adapter(adapter, SizeLimits::DEVICE),
            None => Err(GpuError::NoSuchAdapter {
                name: name.into(),
                found: all.iter().map(name_of).collect(),
            }),
        }
    }

    fn of_adapter(adapter: &wgpu::Adapter, limits_of_sizes: SizeLimits) -> Result<Self, GpuError> {
        let description = AdapterDescription::of(adapter);
        let refused = |reason: String| GpuError::Adapter {
            adapter: description.name.clone(),
            reason,
        };
        if !description.can_take_substeps() {
            return Err(refused(format!(
                "it has {} storage buffers a stage of {STORAGE_BUFFERS}, and {} invocations a workgroup of {LANES_MAX}",
                description.storage_buffers, description.lanes_max
            )));
        }
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            // Without timestamps stages are not timed.
            required_features: adapter.features() & stage_clock::FEATURES,
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
                max_buffer_size: limits.max_buffer_size,
                max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
                ..wgpu::Limits::default()
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| refused(e.to_string()))?;
        let fault = Arc::new(Mutex::new(None));
        note_faults(&device, &fault);
        let gpu = Self {
            pipelines: Pipelines::new(&device, limits_of_sizes),
            device,
            queue,
            description: description.clone(),
            fault,
        };
        match gpu.fault() {
            Some(reason) => Err(refused(reason)),
            None => Ok(gpu),
        }
    }

    /// The adapter.
    #[must_use]
    pub fn description(&self) -> &AdapterDescription {
        &self.description
    }

    /// Whether an allocation has failed on it or it was lost. It takes no more steps then: another one has to be opened.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.fault().is_some()
    }

    /// What went wrong on the device so far: an allocation that failed, a device that was lost.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.lock().ok()?.clone()
    }
}

fn note_faults(device: &wgpu::Device, fault: &Arc<Mutex<Option<String>>>) {
    let note = |fault: &Mutex<Option<String>>, what: String| {
        if let Ok(mut fault) = fault.lock() {
            fault.get_or_insert(what);
        }
    };
    let place = Arc::clone(fault);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        note(&place, error.to_string())
    }));
    let place = Arc::clone(fault);
    device.set_device_lost_callback(move |reason, message| {
        if reason != wgpu::DeviceLostReason::Destroyed {
            note(&place, format!("the device was lost: {message}"));
        }
    });
}
