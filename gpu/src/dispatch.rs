//! The stages of a substep, one after another in a pass.

use crate::adapter::Gpu;
use crate::layout::Params;
use crate::shader::{Over, Part, STAGES};
use crate::stage_clock::Marks;

/// Largest number of workgroups along an axis.
const GROUPS_MAX: u32 = 65_535;

/// Adds a substep to `pass`, with timestamps if there are `marks`.
pub(crate) fn add_substep(
    gpu: &Gpu,
    params: &Params,
    pass: &mut wgpu::ComputePass<'_>,
    mut marks: Option<Marks<'_>>,
) {
    for (stage, pipeline) in STAGES.iter().zip(&gpu.pipelines) {
        let groups = match stage.over {
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
        };
        if groups == 0 || !is_needed(stage.part, params) {
            continue;
        }
        if let Some(marks) = &mut marks {
            marks.begin(stage.phase, pass);
        }
        let rows = groups.div_ceil(GROUPS_MAX);
        pass.set_pipeline(pipeline);
        pass.dispatch_workgroups(groups.div_ceil(rows), rows, 1);
    }
    if let Some(marks) = marks {
        marks.finish(pass);
    }
}

fn is_needed(part: Part, params: &Params) -> bool {
    match part {
        Part::All => true,
        Part::Contact => params.n_obstacles > 0,
        Part::HeldNodes => params.holds_nodes > 0,
    }
}
