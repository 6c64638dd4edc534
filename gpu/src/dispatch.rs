//! The stages of a substep of all worlds, one after another in a pass.

use crate::adapter::Gpu;
use crate::layout::Params;
use crate::pipelines::{FoundSize, GROUPS_MAX};
use crate::shader::{Over, Part, STAGES, Stage};
use crate::stage_clock::Marks;

/// The dispatches of each substep.
pub(crate) struct Dispatches {
    worlds: u32,
    stages: Vec<Dispatch>,
    /// Iterations of the contact solve by many workgroups; one workgroup takes those after these.
    iterations: u32,
}

/// The dispatch of a stage, in ascending order: the largest of the worlds serves them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dispatch {
    /// It is not needed.
    None,
    /// So many workgroups for each world.
    Direct(u32),
    /// As many as the device has found.
    Found(FoundSize),
}

impl Dispatches {
    /// Of the worlds, each with the number of iterations by many workgroups. That number makes no difference to any bit, only to the time.
    pub(crate) fn of<'a>(worlds: impl Iterator<Item = (&'a Params, u32)> + Clone) -> Self {
        let largest = |stage| worlds.clone().map(|(p, _)| dispatch(stage, p)).max();
        let stages = STAGES.iter().map(|s| largest(s).unwrap_or(Dispatch::None));
        Self {
            worlds: worlds.clone().count() as u32,
            stages: stages.collect(),
            iterations: worlds.map(|(_, iterations)| iterations).max().unwrap_or(0),
        }
    }

    /// Adds a substep of the time step to `pass`, with timestamps if there are `marks`.
    pub(crate) fn add_substep(
        &self,
        gpu: &Gpu,
        substep: u32,
        pass: &mut wgpu::ComputePass<'_>,
        mut marks: Option<Marks<'_>>,
    ) {
        let turns: Vec<_> = (0..STAGES.len()).map(|k| self.turns(k, substep)).collect();
        let taken: Vec<usize> = (0..STAGES.len()).filter(|k| turns[*k] > 0).collect();
        let is_iteration = |stage: usize| STAGES[stage].part == Part::Iteration;
        for run in taken.chunk_by(|a, b| is_iteration(*a) == is_iteration(*b)) {
            for &stage in (0..turns[run[0]]).flat_map(|_| run) {
                if let Some(marks) = &mut marks {
                    marks.begin(stage, pass);
                }
                match self.stages[stage] {
                    Dispatch::None => {}
                    Dispatch::Direct(groups) => {
                        let rows = groups.div_ceil(GROUPS_MAX);
                        let size = [groups.div_ceil(rows), rows, self.worlds];
                        gpu.pipelines.dispatch(pass, stage, size);
                    }
                    Dispatch::Found(size) => gpu.pipelines.dispatch_found(pass, stage, size),
                }
            }
        }
        if let Some(marks) = marks {
            marks.finish(pass);
        }
    }

    /// How often a stage is dispatched in a substep.
    fn turns(&self, stage: usize, substep: u32) -> u32 {
        match STAGES[stage].part {
            _ if self.stages[stage] == Dispatch::None => 0,
            Part::FirstSubstep => u32::from(substep == 0),
            Part::Iteration => self.iterations,
            Part::All | Part::Contact | Part::HeldNodes => 1,
        }
    }

    /// How often each stage is dispatched in so many substeps.
    pub(crate) fn counts(&self, substeps: u32) -> Vec<u64> {
        let of = |stage| {
            let each = (0..substeps).map(|substep| u64::from(self.turns(stage, substep)));
            each.sum()
        };
        (0..STAGES.len()).map(of).collect()
    }
}

/// The dispatch of a stage for a world.
fn dispatch(stage: &Stage, params: &Params) -> Dispatch {
    let is_needed = match stage.part {
        Part::All | Part::FirstSubstep => true,
        Part::Contact | Part::Iteration => params.n_obstacles > 0,
        Part::HeldNodes => params.holds_nodes > 0,
    };
    if !is_needed {
        return Dispatch::None;
    }
    let groups = match stage.over {
        Over::Blocks => return Dispatch::Found(FoundSize::Blocks),
        Over::Contacts => return Dispatch::Found(FoundSize::Contacts),
        Over::Table(lanes) => params.table_size.div_ceil(lanes),
        Over::Particles(lanes) => params.n_particles.div_ceil(lanes),
        Over::Groups(groups) => groups,
        Over::Pairs => params.n_obstacles * params.n_objects,
        Over::Elements(lanes) => (params.n_triangles + params.n_hinges).div_ceil(lanes),
        Over::Vertices(lanes) => params.n_vertices.div_ceil(lanes),
        Over::Triangles(lanes) => params.n_triangles.div_ceil(lanes),
        Over::Loads(lanes) => params.n_loads.div_ceil(lanes),
    };
    match groups {
        0 => Dispatch::None,
        groups => Dispatch::Direct(groups),
    }
}
