//! The stages of a substep of all worlds, one after another in a pass.

use crate::adapter::Gpu;
use crate::layout::Params;
use crate::shader::{Over, Part, STAGES, Stage};
use crate::stage_clock::Marks;

/// Largest number of workgroups along an axis.
pub(crate) const GROUPS_MAX: u32 = 65_535;

/// How many workgroups each stage has for the largest of the worlds.
pub(crate) fn groups_of_stages(worlds: &[Params]) -> Vec<u32> {
    let largest = |stage: &Stage| worlds.iter().map(|world| groups(stage, world)).max();
    STAGES.iter().map(|s| largest(s).unwrap_or(0)).collect()
}

fn groups(stage: &Stage, params: &Params) -> u32 {
    let is_needed = match stage.part {
        Part::All => true,
        Part::Contact => params.n_obstacles > 0,
        Part::HeldNodes => params.holds_nodes > 0,
    };
    if !is_needed {
        return 0;
    }
    match stage.over {
        Over::Table(lanes) => params.table_size.div_ceil(lanes),
        Over::Neighbours(lanes) => (27 * params.blocks_max).div_ceil(lanes),
        Over::Nodes(lanes) => (64 * params.blocks_max).div_ceil(lanes),
        Over::Particles(lanes) => params.n_particles.div_ceil(lanes),
        Over::Groups(groups) => groups,
        Over::Pairs => params.n_obstacles * params.n_objects,
        Over::Elements(lanes) => (params.n_triangles + params.n_hinges).div_ceil(lanes),
        Over::Vertices(lanes) => params.n_vertices.div_ceil(lanes),
        Over::Triangles(lanes) => params.n_triangles.div_ceil(lanes),
        Over::Loads(lanes) => params.n_loads.div_ceil(lanes),
    }
}

/// Adds a substep of so many worlds to `pass`, with timestamps if there are `marks`.
pub(crate) fn add_substep(
    gpu: &Gpu,
    (worlds, groups): (u32, &[u32]),
    pass: &mut wgpu::ComputePass<'_>,
    mut marks: Option<Marks<'_>>,
) {
    for ((stage, pipeline), groups) in STAGES.iter().zip(&gpu.pipelines).zip(groups) {
        if *groups == 0 {
            continue;
        }
        if let Some(marks) = &mut marks {
            marks.begin(stage.phase, pass);
        }
        let rows = groups.div_ceil(GROUPS_MAX);
        pass.set_pipeline(pipeline);
        pass.dispatch_workgroups(groups.div_ceil(rows), rows, worlds);
    }
    if let Some(marks) = marks {
        marks.finish(pass);
    }
}
