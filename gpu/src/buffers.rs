//! The buffers of the stages, with a part of each for every world, and how they grow.

use std::sync::Arc;

use crate::adapter::Gpu;
use crate::error::GpuError;
use crate::layout::{CONTACT_BYTES, Params};
use crate::read_back::Lengths;
use crate::size::{FORCE_BYTES, PARTICLE_BYTES};

/// Bindings of all stages.
pub(crate) const BINDINGS: usize = 9;
/// A number for each binding.
pub(crate) type OfBindings = [u64; BINDINGS];

pub(crate) const WORLDS: usize = 0;
pub(crate) const SCENE: usize = 1;
pub(crate) const PARTICLES: usize = 2;
pub(crate) const LISTS: usize = 3;
pub(crate) const FORCES: usize = 7;
pub(crate) const OUT: usize = 8;

/// What each binding holds, and the bytes of an element.
const CONTENTS: [(&str, u64); BINDINGS] = [
    ("numbers of worlds", size_of::<Params>() as u64),
    ("tables", 16),
    ("particles", PARTICLE_BYTES),
    ("lists of cells and particles", 4),
    ("nodes", 16),
    ("contacts", CONTACT_BYTES),
    ("nodes of contacts", 4),
    ("contact forces", FORCE_BYTES),
    ("links and sums", 4),
];
/// Of the buffers that are bound.
const USAGE: wgpu::BufferUsages = (wgpu::BufferUsages::STORAGE)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);
/// What a world leaves for its next time step.
const LASTING: [usize; 3] = [SCENE, PARTICLES, FORCES];
/// What is read back; of the lists their counters.
pub(crate) const READ: [usize; 4] = [LISTS, PARTICLES, FORCES, OUT];

/// Copies of what is read back, in the memory of the processor.
pub(crate) type Copies = [wgpu::Buffer; READ.len()];

/// The part of a world in each buffer, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) at: OfBindings,
    pub(crate) room: OfBindings,
}

impl Part {
    /// Where it begins in the buffers after the first one, in elements.
    pub(crate) fn elements(&self) -> [u32; BINDINGS - 1] {
        std::array::from_fn(|k| (self.at[k + 1] / CONTENTS[k + 1].1) as u32)
    }
}

/// What a world needs for a time step.
pub(crate) struct Need {
    pub(crate) world: usize,
    pub(crate) particles: u64,
    /// Bytes of each binding.
    pub(crate) bytes: OfBindings,
}

/// Buffers in the order of their bindings, one for what is sent, and the copies of those that are read back.
#[derive(Default)]
pub(crate) struct Buffers {
    bound: [Option<wgpu::Buffer>; BINDINGS],
    sent: Option<wgpu::Buffer>,
    /// Some for each set of dispatches whose results are not yet read.
    copies: Vec<Arc<Copies>>,
}

fn new(gpu: &Gpu, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size.max(256).next_multiple_of(4),
        usage,
        mapped_at_creation: false,
    })
}

/// A buffer of so many bytes at least: the one that was there, or a new one with a quarter more.
fn at_least<'a>(
    gpu: &Gpu,
    place: &'a mut Option<wgpu::Buffer>,
    bytes: u64,
    usage: wgpu::BufferUsages,
) -> &'a wgpu::Buffer {
    let fits = place.take().filter(|buffer| buffer.size() >= bytes);
    place.insert(fits.unwrap_or_else(|| new(gpu, with_reserve(gpu, bytes), usage)))
}

/// A quarter more, if the adapter has buffers of that size.
fn with_reserve(gpu: &Gpu, bytes: u64) -> u64 {
    let largest = gpu.description.storage_buffer_max;
    (bytes + bytes / 4).min(largest).max(bytes)
}

impl Buffers {
    /// Makes room for the `needs` of some worlds, bytes of each binding. A part that grows gets a quarter more than it needs. What worlds left for their
    /// next time step stays.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] for the place in `needs` of the world that adds most to a buffer that becomes too large; without the largest ones as few
    /// as possible are left out. All parts are as before then.
    pub(crate) fn fit(
        &mut self,
        gpu: &Gpu,
        parts: &mut [Part],
        needs: &[Need],
    ) -> Result<(), (usize, GpuError)> {
        let mut fitted = parts.to_vec();
        let growth = |need: &Need, binding: usize| {
            let room = parts[need.world].room[binding];
            need.bytes[binding].saturating_sub(room)
        };
        let grows = |binding: usize| {
            self.bound[binding].is_none() || needs.iter().any(|need| growth(need, binding) > 0)
        };
        let growing: Vec<usize> = (SCENE..BINDINGS).filter(|b| grows(*b)).collect();
        if growing.is_empty() {
            return Ok(());
        }
        let largest = gpu.description.storage_buffer_max;
        let mut totals = OfBindings::default();
        for &b in &growing {
            let (content, element) = CONTENTS[b];
            let mut with_room = |share: u64| {
                for need in needs.iter().filter(|need| growth(need, b) > 0) {
                    let bytes = need.bytes[b] + need.bytes[b] / 4 * share;
                    fitted[need.world].room[b] = bytes.next_multiple_of(element);
                }
                fitted.iter().map(|part| part.room[b]).sum()
            };
            totals[b] = with_room(1);
            if totals[b] > largest {
                totals[b] = with_room(0);
            }
            let most = needs.iter().enumerate().max_by_key(|n| growth(n.1, b));
            if let (Some((place, need)), true) = (most, totals[b] > largest) {
                let error = GpuError::TooLarge {
                    buffer: content,
                    particles: need.particles,
                    bytes: need.bytes[b],
                    others: totals[b] - fitted[need.world].room[b],
                    adapter: gpu.description.name.clone(),
                    limit: largest,
                };
                return Err((place, error));
            }
        }
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for &b in &growing {
            let grown = new(gpu, totals[b], USAGE);
            let mut at = 0;
            for (part, before) in fitted.iter_mut().zip(&*parts) {
                part.at[b] = at;
                at += part.room[b];
                let old = self.bound[b].as_ref().filter(|_| LASTING.contains(&b));
                if let (Some(old), true) = (old, before.room[b] > 0) {
                    let (from, length) = (before.at[b], before.room[b]);
                    encoder.copy_buffer_to_buffer(old, from, &grown, part.at[b], length);
                }
            }
            self.bound[b] = Some(grown);
        }
        gpu.queue.submit([encoder.finish()]);
        parts.copy_from_slice(&fitted);
        Ok(())
    }

    /// Writes the numbers of the worlds of a dispatch.
    pub(crate) fn write_worlds(&mut self, gpu: &Gpu, worlds: &[Params]) {
        let bytes: &[u8] = bytemuck::cast_slice(worlds);
        let buffer = at_least(gpu, &mut self.bound[WORLDS], bytes.len() as u64, USAGE);
        gpu.queue.write_buffer(buffer, 0, bytes);
    }

    pub(crate) fn at(&self, binding: usize) -> &wgpu::Buffer {
        self.bound[binding].as_ref().expect("fitted before use")
    }

    /// The buffer from which small things are copied to their places, with room for so many bytes.
    pub(crate) fn sent(&mut self, gpu: &Gpu, bytes: u64) -> &wgpu::Buffer {
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        at_least(gpu, &mut self.sent, bytes, usage)
    }

    /// Copies of what is read back, with room for so many bytes each: some that nobody else has any more, or new ones.
    pub(crate) fn copies(&mut self, gpu: &Gpu, bytes: Lengths) -> Arc<Copies> {
        let is_free = |copies: &Arc<Copies>| Arc::strong_count(copies) == 1;
        let has_room = |copies: &Arc<Copies>| {
            let mut each = copies.iter().zip(bytes);
            each.all(|(copy, bytes)| copy.size() >= bytes)
        };
        (self.copies).retain(|copies| !is_free(copies) || has_room(copies));
        if let Some(free) = self.copies.iter().find(|copies| is_free(copies)) {
            return Arc::clone(free);
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let copies = Arc::new(bytes.map(|bytes| new(gpu, with_reserve(gpu, bytes), usage)));
        self.copies.push(Arc::clone(&copies));
        copies
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
            layout: &gpu.pipelines.layout,
            entries: &entries,
        })
    }
}
