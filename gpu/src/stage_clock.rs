//! Time of the stages on the device, from timestamps between them in the substeps.
//!
//! Stages are timed by phase for the report of a step, or one by one. A timestamp makes a device wait for what was dispatched before, so a step takes longer when each
//! stage has one.

use pliant_mpm::StageTimes;

use crate::adapter::Gpu;
use crate::shader::{Part, Phase, STAGES};

/// What an adapter needs for it.
pub(crate) const FEATURES: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

/// Bytes of a timestamp.
const BYTES: u64 = wgpu::QUERY_SIZE as u64;

/// Time of the dispatches of a stage in a time step.
///
/// ```
/// use pliant_gpu::DispatchTime;
///
/// let time = DispatchTime { stage: "gather".into(), dispatches: 10, seconds: 2e-3 };
/// assert_eq!(time.seconds_each(), 2e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DispatchTime {
    /// The name of its file; of two in an iteration of the contact solve, which are dispatched in turn, both.
    pub stage: String,
    /// How often it is dispatched.
    pub dispatches: u64,
    /// Time of all these dispatches.
    pub seconds: f64,
}

impl DispatchTime {
    /// The mean time of a dispatch.
    #[must_use]
    pub fn seconds_each(&self) -> f64 {
        self.seconds / self.dispatches as f64
    }
}

/// What is timed together: stages that follow one another.
struct Section {
    phase: Phase,
    name: String,
}

/// Timestamps of a time step.
pub(crate) struct StageClock {
    sections: Vec<Section>,
    /// The section of each stage.
    section_of: Vec<u32>,
    marks: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    period_s: f64,
}

/// Which substeps of a time step are timed: all, or of very many every second, third, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    substeps: u32,
    every: u32,
    /// Timestamps of a substep: its start, and the end of each section.
    marks: u32,
}

impl Timed {
    fn new(substeps: u32, marks: u32) -> Self {
        let most = wgpu::QUERY_SET_MAX_QUERIES / marks;
        Self {
            substeps,
            every: substeps.div_ceil(most).max(1),
            marks,
        }
    }

    /// How many.
    fn count(self) -> u32 {
        self.substeps.div_ceil(self.every)
    }

    /// Bytes of their timestamps.
    pub(crate) fn bytes(self) -> u64 {
        BYTES * u64::from(self.marks * self.count())
    }
}

/// Seconds of each section.
pub(crate) type SectionTimes = Vec<f64>;

impl StageClock {
    /// By phase. `None` on an adapter without timestamps.
    pub(crate) fn of_phases(gpu: &Gpu) -> Option<Self> {
        Self::new(gpu, |a, b| STAGES[a].phase == STAGES[b].phase)
    }

    /// One by one, but for the stages of an iteration. `None` on an adapter without timestamps.
    pub(crate) fn of_stages(gpu: &Gpu) -> Option<Self> {
        Self::new(gpu, is_same_iteration)
    }

    fn new(gpu: &Gpu, are_together: impl Fn(usize, usize) -> bool) -> Option<Self> {
        let (sections, section_of) = sections(are_together);
        gpu.device.features().contains(FEATURES).then(|| Self {
            sections,
            section_of,
            marks: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages"),
                ty: wgpu::QueryType::Timestamp,
                count: wgpu::QUERY_SET_MAX_QUERIES,
            }),
            resolved: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("times of stages"),
                size: BYTES * u64::from(wgpu::QUERY_SET_MAX_QUERIES),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period_s: 1e-9 * f64::from(gpu.queue.get_timestamp_period()),
        })
    }

    /// Which of so many substeps are timed.
    pub(crate) fn timed(&self, substeps: u32) -> Timed {
        Timed::new(substeps, self.sections.len() as u32 + 1)
    }

    /// The marks of a substep; `None` if it is not timed.
    pub(crate) fn marks(&self, timed: Timed, substep: u32) -> Option<Marks<'_>> {
        substep.is_multiple_of(timed.every).then(|| Marks {
            set: &self.marks,
            section_of: &self.section_of,
            first: timed.marks * (substep / timed.every),
            written: 0,
            marks: timed.marks,
        })
    }

    /// Hands the timestamps to the buffer that it returns.
    pub(crate) fn resolve(
        &self,
        timed: Timed,
        encoder: &mut wgpu::CommandEncoder,
    ) -> &wgpu::Buffer {
        encoder.resolve_query_set(
            &self.marks,
            0..timed.marks * timed.count(),
            &self.resolved,
            0,
        );
        &self.resolved
    }

    /// From the timestamps.
    pub(crate) fn times(&self, timed: Timed, stamps: &[[u32; 2]]) -> SectionTimes {
        let stamps: Vec<u64> = (stamps.iter())
            .map(|[low, high]| u64::from(*low) | (u64::from(*high) << 32))
            .collect();
        let timed_share = f64::from(timed.count()) / f64::from(timed.substeps);
        sums(&stamps, timed.marks as usize, self.period_s / timed_share)
    }

    /// By phase, the share of each of so many worlds.
    pub(crate) fn phases(&self, times: &SectionTimes, worlds: usize) -> StageTimes {
        let of = |phase: Phase| {
            let each = self.sections.iter().zip(times);
            let own = each.filter(|(section, _)| section.phase == phase);
            own.map(|(_, seconds)| seconds).sum::<f64>() / worlds as f64
        };
        StageTimes {
            sort_s: of(Phase::Sort),
            scatter_s: of(Phase::Scatter),
            detect_s: of(Phase::Detect),
            solve_s: of(Phase::Solve),
            gather_s: of(Phase::Gather),
        }
    }

    /// The sections with their times, from how often each stage was dispatched.
    pub(crate) fn dispatch_times(
        &self,
        times: &SectionTimes,
        dispatches: &[u64],
    ) -> Vec<DispatchTime> {
        let each = self.sections.iter().zip(times).zip(0..);
        let each = each.map(|((section, seconds), number)| DispatchTime {
            stage: section.name.clone(),
            dispatches: (self.section_of.iter().zip(dispatches))
                .filter(|(section, _)| **section == number)
                .map(|(_, count)| count)
                .sum(),
            seconds: *seconds,
        });
        each.filter(|time| time.dispatches > 0).collect()
    }
}

fn is_same_iteration(a: usize, b: usize) -> bool {
    [a, b].iter().all(|k| STAGES[*k].part == Part::Iteration)
}

/// Sections of stages that are timed together with the one before, and the section of each stage.
fn sections(are_together: impl Fn(usize, usize) -> bool) -> (Vec<Section>, Vec<u32>) {
    let (mut sections, mut section_of) = (Vec::<Section>::new(), Vec::new());
    for (k, stage) in STAGES.iter().enumerate() {
        let name = stage.file.trim_end_matches(".wgsl");
        match sections.last_mut() {
            Some(last) if are_together(k - 1, k) => last.name = format!("{}, {name}", last.name),
            _ => sections.push(Section {
                phase: stage.phase,
                name: name.into(),
            }),
        }
        section_of.push(sections.len() as u32 - 1);
    }
    (sections, section_of)
}

/// Sums over the substeps, each with so many timestamps, each tick `tick_s` long.
fn sums(stamps: &[u64], marks: usize, tick_s: f64) -> SectionTimes {
    let mut ticks = vec![0; marks - 1];
    for substep in stamps.chunks_exact(marks) {
        for (sum, ends) in ticks.iter_mut().zip(substep.windows(2)) {
            *sum += ends[1].saturating_sub(ends[0]);
        }
    }
    ticks.into_iter().map(|n| n as f64 * tick_s).collect()
}

/// Writes the timestamps of a substep, one after another.
pub(crate) struct Marks<'a> {
    set: &'a wgpu::QuerySet,
    section_of: &'a [u32],
    first: u32,
    written: u32,
    marks: u32,
}

impl Marks<'_> {
    /// Marks the end of all sections before that of a stage.
    pub(crate) fn begin(&mut self, stage: usize, pass: &mut wgpu::ComputePass<'_>) {
        // The first mark is the start.
        self.until(self.section_of[stage] + 1, pass);
    }

    /// Marks the end of all sections.
    pub(crate) fn finish(mut self, pass: &mut wgpu::ComputePass<'_>) {
        self.until(self.marks, pass);
    }

    fn until(&mut self, count: u32, pass: &mut wgpu::ComputePass<'_>) {
        while self.written < count {
            pass.write_timestamp(self.set, self.first + self.written);
            self.written += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_summed_over_the_substeps() {
        let stamps = [10, 11, 13, 16, 20, 25, 100, 110, 110, 110, 110, 200];
        assert_eq!(sums(&stamps, 6, 0.5), [5.5, 1.0, 1.5, 2.0, 47.5]);
    }

    #[test]
    fn very_many_substeps_are_timed_in_part() {
        let timed = |substeps| Timed::new(substeps, 6);
        assert_eq!((timed(10).count(), timed(10).bytes()), (10, 480));
        assert_eq!(timed(682).count(), 682);
        let many = timed(2000);
        assert_eq!((many.every, many.count()), (3, 667));
    }

    #[test]
    fn a_section_is_a_phase_or_a_stage_and_an_iteration_has_one() {
        let (phases, _) = sections(|a, b| STAGES[a].phase == STAGES[b].phase);
        assert_eq!(phases.len(), 5);
        let (stages, section_of) = sections(is_same_iteration);
        assert_eq!(stages.len(), STAGES.len() - 1);
        let both = (stages.iter()).position(|s| s.name == "solve_nodes, solve_contacts");
        let both = both.expect("two stages in a section") as u32;
        assert_eq!(section_of.iter().filter(|s| **s == both).count(), 2);
    }
}
