//! The buffers of a backend, which grow with the model.

use crate::adapter::Gpu;
use crate::error::GpuError;

/// Buffers in the order of their bindings, and the one that is read back.
#[derive(Default)]
pub(crate) struct Buffers {
    bound: [Option<wgpu::Buffer>; 9],
    read_back: Option<wgpu::Buffer>,
}

/// What each binding holds.
const CONTENTS: [&str; 9] = [
    "numbers",
    "tables",
    "particles",
    "lists of cells and particles",
    "nodes",
    "contacts",
    "nodes of contacts",
    "contact forces",
    "links and sums",
];

/// Makes room for `bytes`. Returns whether the buffer is the one that was there.
fn fit(
    gpu: &Gpu,
    place: &mut Option<wgpu::Buffer>,
    (content, bytes): (&'static str, u64),
    usage: wgpu::BufferUsages,
    particles: u64,
) -> Result<bool, GpuError> {
    let bytes = bytes.max(256).next_multiple_of(4);
    if place.as_ref().is_some_and(|b| b.size() >= bytes) {
        return Ok(true);
    }
    let largest = gpu.description.storage_buffer_max;
    if bytes > largest {
        return Err(GpuError::TooLarge {
            buffer: content,
            particles,
            bytes,
            adapter: gpu.description.name.clone(),
            limit: largest,
        });
    }
    // With room to grow.
    let size = (bytes + bytes / 4).next_multiple_of(4).min(largest / 4 * 4);
    *place = Some(gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size.max(bytes),
        usage,
        mapped_at_creation: false,
    }));
    Ok(false)
}

impl Buffers {
    /// Makes room for so many bytes in each binding. Returns which of them have the buffer that was there, with what it held.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`], with the number of particles of the step.
    pub(crate) fn fit(
        &mut self,
        gpu: &Gpu,
        bytes: [u64; 9],
        particles: u64,
    ) -> Result<[bool; 9], GpuError> {
        let mut have_stayed = [false; 9];
        for (binding, (place, bytes)) in self.bound.iter_mut().zip(bytes).enumerate() {
            let kind = match binding {
                0 => wgpu::BufferUsages::UNIFORM,
                _ => wgpu::BufferUsages::STORAGE,
            };
            let usage = kind | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
            let bytes = (CONTENTS[binding], bytes);
            have_stayed[binding] = fit(gpu, place, bytes, usage, particles)?;
        }
        Ok(have_stayed)
    }

    pub(crate) fn at(&self, binding: usize) -> &wgpu::Buffer {
        self.bound[binding].as_ref().expect("fitted before use")
    }

    /// The buffer that is read back, with room for so many bytes.
    pub(crate) fn read_back(
        &mut self,
        gpu: &Gpu,
        bytes: u64,
        particles: u64,
    ) -> Result<&wgpu::Buffer, GpuError> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = ("results", bytes);
        fit(gpu, &mut self.read_back, bytes, usage, particles)?;
        Ok(self.read_back.as_ref().expect("just fitted"))
    }

    pub(crate) fn bind(&self, gpu: &Gpu) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..self.bound.len())
            .map(|k| wgpu::BindGroupEntry {
                binding: k as u32,
                resource: self.at(k).as_entire_binding(),
            })
            .collect();
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &gpu.layout,
            entries: &entries,
        })
    }
}
