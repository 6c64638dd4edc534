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
        let turns: Vec<_> = (0..STAGES.len()).map(|k| self.turns(k, substep)).collect();
        let taken: Vec<usize> = (0..STAGES.len()).filter(|k| turns[*k] > 0).collect();
        let is_iteration = |stage: usize| STAGES[stage].part == Part::Iteration;
        for run in taken.chunk_by(|a, b| is_iteration(*a) == is_iteration(*b)) {
            for &stage in (0..turns[run[0]]).flat_map(|_| run) {
                if let Some(marks) = &mut marks {
                    marks.begin(stage, pass);
                }
                let groups = self.groups[stage];
                let rows = groups.div_ceil(GROUPS_MAX);
                pass.set_pipeline(&gpu.pipelines[stage]);
                pass.dispatch_workgroups(groups.div_ceil(rows), rows, self.worlds);
            }
        }
        if let Some(marks) = marks {
            marks.finish(pass);
        }
    }

    /// How often a stage is dispatched in a substep.
    fn turns(&self, stage: usize, substep: u32) -> u32 {
        match STAGES[stage].part {
            _ if self.groups[stage] == 0 => 0,
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
