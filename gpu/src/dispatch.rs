//! The stages of a substep of all worlds, one after another in a pass.

use crate::adapter::Gpu;
use crate::layout::Params;
use crate::shader::{Over, Part, STAGES, Stage};
use crate::stage_clock::Marks;

/// Largest number of workgroups along an axis.
pub(crate) const GROUPS_MAX: u32 = 65_535;
/// The same of those that share contacts, enough to fill a GPU.
const SHARING_MAX: u32 = 1024;
/// Contacts that the workgroups of a stage of the solve take at a time, and nodes.
const CONTACTS_OF_GROUP: u32 = 128;
const NODES_OF_GROUP: u32 = 128;

/// The size for which the contact solve is dispatched. It makes no difference to any bit, only to the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SolveSize {
    pub(crate) contacts: u32,
    pub(crate) nodes: u32,
    /// Iterations by many workgroups; one workgroup takes those after these.
    pub(crate) iterations: u32,
}

/// The dispatches of each substep.
pub(crate) struct Dispatches {
    worlds: u32,
    /// Workgroups of each stage, for the largest of the worlds.
    groups: Vec<u32>,
    iterations: u32,
}

impl Dispatches {
    pub(crate) fn of<'a>(worlds: impl Iterator<Item = (&'a Params, SolveSize)> + Clone) -> Self {
        let largest = |stage: &Stage| worlds.clone().map(|(p, size)| groups(stage, p, size)).max();
        Self {
            worlds: worlds.clone().count() as u32,
            groups: STAGES.iter().map(|s| largest(s).unwrap_or(0)).collect(),
            iterations: (worlds.map(|(_, size)| size.iterations).max()).unwrap_or(0),
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
        let all = STAGES.iter().zip(&gpu.pipelines).zip(&self.groups);
        let is_taken = |stage: &Stage| substep == 0 || stage.part != Part::FirstSubstep;
        let all = all.filter(|((stage, _), groups)| **groups > 0 && is_taken(stage));
        let all: Vec<_> = all.collect();
        let is_iteration = |stage: &Stage| stage.part == Part::Iteration;
        for run in all.chunk_by(|a, b| is_iteration(a.0.0) == is_iteration(b.0.0)) {
            let turns = match is_iteration(run[0].0.0) {
                true => self.iterations,
                false => 1,
            };
            for ((stage, pipeline), groups) in (0..turns).flat_map(|_| run) {
                if let Some(marks) = &mut marks {
                    marks.begin(stage.phase, pass);
                }
                let rows = groups.div_ceil(GROUPS_MAX);
                pass.set_pipeline(pipeline);
                pass.dispatch_workgroups(groups.div_ceil(rows), rows, self.worlds);
            }
        }
        if let Some(marks) = marks {
            marks.finish(pass);
        }
    }
}

fn groups(stage: &Stage, params: &Params, size: SolveSize) -> u32 {
    let is_needed = match stage.part {
        Part::All | Part::FirstSubstep => true,
        Part::Contact | Part::Iteration => params.n_obstacles > 0,
        Part::HeldNodes => params.holds_nodes > 0,
    };
    if !is_needed {
        return 0;
    }
    match stage.over {
        Over::Table(lanes) => params.table_size.div_ceil(lanes),
        Over::Neighbours(lanes) => (27 * params.blocks_max).div_ceil(lanes),
        Over::Nodes(lanes) => (64 * params.blocks_max).div_ceil(lanes),
        Over::Blocks => params.blocks_max,
        Over::Particles(lanes) => params.n_particles.div_ceil(lanes),
        Over::Groups(groups) => groups,
        Over::Contacts => (size.contacts.div_ceil(CONTACTS_OF_GROUP)).clamp(1, SHARING_MAX),
        Over::NodesOfContacts => {
            (size.nodes.div_ceil(NODES_OF_GROUP).max(params.n_links)).clamp(1, SHARING_MAX)
        }
        Over::Pairs => params.n_obstacles * params.n_objects,
        Over::Elements(lanes) => (params.n_triangles + params.n_hinges).div_ceil(lanes),
        Over::Vertices(lanes) => params.n_vertices.div_ceil(lanes),
        Over::Triangles(lanes) => params.n_triangles.div_ceil(lanes),
        Over::Loads(lanes) => params.n_loads.div_ceil(lanes),
    }
}
