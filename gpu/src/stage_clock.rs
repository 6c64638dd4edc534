//! Time of each stage on the device, from timestamps between the stages of the substeps.

use pliant_mpm::StageTimes;

use crate::adapter::Gpu;
use crate::shader::Phase;

/// What an adapter needs for it.
pub(crate) const FEATURES: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

/// Timestamps of a substep: its start, and the end of each phase.
const MARKS: u32 = 6;
/// Substeps of a time step that are timed.
const TIMED_MAX: u32 = wgpu::QUERY_SET_MAX_QUERIES / MARKS;
/// Bytes of a timestamp.
const BYTES: u64 = wgpu::QUERY_SIZE as u64;
/// Bytes of the most timestamps of a time step.
pub(crate) const BYTES_MAX: u64 = BYTES * (MARKS * TIMED_MAX) as u64;

/// Timestamps of a time step.
pub(crate) struct StageClock {
    marks: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    period_s: f64,
}

/// Which substeps of a time step are timed: all, or of very many every second, third, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    substeps: u32,
    every: u32,
}

impl Timed {
    pub(crate) fn new(substeps: u32) -> Self {
        let every = substeps.div_ceil(TIMED_MAX).max(1);
        Self { substeps, every }
    }

    /// How many.
    fn count(self) -> u32 {
        self.substeps.div_ceil(self.every)
    }

    /// Bytes of their timestamps.
    pub(crate) fn bytes(self) -> u64 {
        BYTES * u64::from(MARKS * self.count())
    }
}

impl StageClock {
    /// `None` on an adapter without timestamps.
    pub(crate) fn new(gpu: &Gpu) -> Option<Self> {
        gpu.device.features().contains(FEATURES).then(|| Self {
            marks: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages"),
                ty: wgpu::QueryType::Timestamp,
                count: MARKS * TIMED_MAX,
            }),
            resolved: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("times of stages"),
                size: BYTES_MAX,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period_s: 1e-9 * f64::from(gpu.queue.get_timestamp_period()),
        })
    }

    /// The marks of a substep; `None` if it is not timed.
    pub(crate) fn marks(&self, timed: Timed, substep: u32) -> Option<Marks<'_>> {
        substep.is_multiple_of(timed.every).then(|| Marks {
            set: &self.marks,
            next: MARKS * (substep / timed.every),
            end: MARKS * (substep / timed.every + 1),
        })
    }

    /// Hands the timestamps to the buffer that it returns.
    pub(crate) fn resolve(
        &self,
        timed: Timed,
        encoder: &mut wgpu::CommandEncoder,
    ) -> &wgpu::Buffer {
        encoder.resolve_query_set(&self.marks, 0..MARKS * timed.count(), &self.resolved, 0);
        &self.resolved
    }

    /// From the timestamps, the share of each of so many worlds.
    pub(crate) fn times(&self, timed: Timed, stamps: &[[u32; 2]], worlds: usize) -> StageTimes {
        let stamps: Vec<u64> = (stamps.iter())
            .map(|[low, high]| u64::from(*low) | (u64::from(*high) << 32))
            .collect();
        let timed_share = f64::from(timed.count()) / f64::from(timed.substeps);
        times(&stamps, self.period_s / timed_share / worlds as f64)
    }
}

/// Sums over the substeps, each tick `tick_s` long.
fn times(stamps: &[u64], tick_s: f64) -> StageTimes {
    let mut ticks = [0; MARKS as usize - 1];
    for substep in stamps.chunks_exact(MARKS as usize) {
        for (sum, ends) in ticks.iter_mut().zip(substep.windows(2)) {
            *sum += ends[1].saturating_sub(ends[0]);
        }
    }
    let [sort_s, scatter_s, detect_s, solve_s, gather_s] = ticks.map(|n| n as f64 * tick_s);
    StageTimes {
        sort_s,
        scatter_s,
        detect_s,
        solve_s,
        gather_s,
    }
}

/// Writes the timestamps of a substep, one after another.
pub(crate) struct Marks<'a> {
    set: &'a wgpu::QuerySet,
    next: u32,
    end: u32,
}

impl Marks<'_> {
    /// Marks the end of all phases before `phase`.
    pub(crate) fn begin(&mut self, phase: Phase, pass: &mut wgpu::ComputePass<'_>) {
        // The start is the first one of MARKS.
        self.until(self.end - MARKS + phase as u32 + 1, pass);
    }

    /// Marks the end of all phases.
    pub(crate) fn finish(mut self, pass: &mut wgpu::ComputePass<'_>) {
        self.until(self.end, pass);
    }

    fn until(&mut self, end: u32, pass: &mut wgpu::ComputePass<'_>) {
        while self.next < end {
            pass.write_timestamp(self.set, self.next);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_summed_over_the_substeps() {
        let stamps = [10, 11, 13, 16, 20, 25, 100, 110, 110, 110, 110, 200];
        let found = times(&stamps, 0.5);
        let expected = StageTimes {
            sort_s: 5.5,
            scatter_s: 1.0,
            detect_s: 1.5,
            solve_s: 2.0,
            gather_s: 47.5,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn very_many_substeps_are_timed_in_part() {
        assert_eq!((Timed::new(10).count(), Timed::new(10).bytes()), (10, 480));
        assert_eq!(Timed::new(682).count(), 682);
        let many = Timed::new(2000);
        assert_eq!((many.every, many.count()), (3, 667));
    }
}
