//! The pipelines of all stages, and the sizes of dispatches that the device itself finds.

use crate::buffers::BINDINGS;
use crate::shader::{Bindings, STAGES, source};

/// Largest number of workgroups along an axis.
pub(crate) const GROUPS_MAX: u32 = 65_535;

/// Limits of the sizes that the device finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeLimits {
    /// Workgroups along an axis.
    pub(crate) groups: u32,
    /// Workgroups that share contacts.
    pub(crate) sharing: u32,
}

impl SizeLimits {
    /// That of devices, and enough workgroups to fill a GPU.
    pub(crate) const DEVICE: Self = Self {
        groups: GROUPS_MAX,
        sharing: 1024,
    };
}

/// Where the size of an indirect dispatch is, in numbers, as in `dispatch_sizes.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FoundSize {
    /// A workgroup for each block.
    Blocks = 0,
    /// Workgroups that share contacts.
    Contacts = 3,
}

const SIZES: u64 = 6;

/// Of an open device.
pub(crate) struct Pipelines {
    /// The buffers of all stages.
    pub(crate) layout: wgpu::BindGroupLayout,
    /// Of each of [`STAGES`].
    stages: Vec<wgpu::ComputePipeline>,
    /// All submissions share it: each substep finds its sizes anew.
    pub(crate) sizes: wgpu::Buffer,
    sizes_bound: wgpu::BindGroup,
}

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device, limits: SizeLimits) -> Self {
        let layout = layout_of(device, "substeps", BINDINGS as u32, 2);
        let sizes_layout = layout_of(device, "sizes of dispatches", 1, 0);
        let sizes = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sizes of dispatches"),
            size: 4 * SIZES,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::INDIRECT
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let sizes_bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("sizes of dispatches"),
            layout: &sizes_layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: sizes.as_entire_binding(),
            }],
        });
        Self {
            stages: stages(device, &layout, &sizes_layout, limits),
            layout,
            sizes,
            sizes_bound,
        }
    }

    /// Binds the buffers of all stages.
    pub(crate) fn bind(&self, pass: &mut wgpu::ComputePass<'_>, buffers: &wgpu::BindGroup) {
        pass.set_bind_group(0, buffers, &[]);
        pass.set_bind_group(1, &self.sizes_bound, &[]);
    }

    /// Dispatches a stage for so many workgroups along each axis.
    pub(crate) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        stage: usize,
        [x, y, z]: [u32; 3],
    ) {
        pass.set_pipeline(&self.stages[stage]);
        pass.dispatch_workgroups(x, y, z);
    }

    /// Dispatches a stage for as many as the device has found.
    pub(crate) fn dispatch_found(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        stage: usize,
        size: FoundSize,
    ) {
        pass.set_pipeline(&self.stages[stage]);
        pass.dispatch_workgroups_indirect(&self.sizes, 4 * size as u64);
    }
}

/// Of so many buffers, of which the first ones are tables that are only read.
fn layout_of(
    device: &wgpu::Device,
    label: &str,
    buffers: u32,
    tables: u32,
) -> wgpu::BindGroupLayout {
    let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage {
                read_only: binding < tables,
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..buffers).map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

fn stages(
    device: &wgpu::Device,
    buffers: &wgpu::BindGroupLayout,
    sizes: &wgpu::BindGroupLayout,
    limits: SizeLimits,
) -> Vec<wgpu::ComputePipeline> {
    let layout = |groups: &[Option<&wgpu::BindGroupLayout>]| {
        device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("substeps"),
            bind_group_layouts: groups,
            immediate_size: 0,
        })
    };
    // A stage that has the sizes cannot be dispatched by them.
    let common = layout(&[Some(buffers)]);
    let with_sizes = layout(&[Some(buffers), Some(sizes)]);
    let limits = [
        ("GROUPS_MAX", f64::from(limits.groups)),
        ("SHARING_MAX", f64::from(limits.sharing)),
    ];
    let each = STAGES.iter().map(|stage| {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(stage.file),
            source: wgpu::ShaderSource::Wgsl(source(stage.file).into()),
        });
        let (layout, constants) = match stage.bindings {
            Bindings::Common => (&common, &[][..]),
            Bindings::WithDispatchSizes => (&with_sizes, &limits[..]),
        };
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(stage.file),
            layout: Some(layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                // Stages write what they read.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        })
    });
    each.collect()
}
