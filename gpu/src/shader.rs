//! The stages of a substep, and their sources.
//!
//! A line `#include "file.wgsl"` stands for the text of that file of the same folder.

/// A stage of a substep.
pub(crate) struct Stage {
    pub(crate) file: &'static str,
    pub(crate) phase: Phase,
    pub(crate) over: Over,
    pub(crate) part: Part,
    pub(crate) bindings: Bindings,
}

/// What a stage has access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bindings {
    /// The buffers of all stages.
    Common,
    /// The sizes of indirect dispatches, too.
    WithDispatchSizes,
}

/// What the time of a stage counts for in the report of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Blocks of nodes, and sorting of particles.
    Sort,
    /// Stress, and all that a node gets.
    Scatter,
    /// Finding of contacts.
    Detect,
    /// Solving them.
    Solve,
    /// All that a particle gets.
    Gather,
}

/// What a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All that there is.
    All,
    /// The first substep of a time step.
    FirstSubstep,
    /// Contact with obstacles.
    Contact,
    /// An iteration of the contact solve by many workgroups: such stages are taken in turn.
    Iteration,
    /// Nodes that held sets prescribe.
    HeldNodes,
}

/// What a stage has an invocation for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Each place of the hash table of blocks, with so many in a workgroup.
    Table(u32),
    /// A workgroup for each block of the substep.
    Blocks,
    /// Each particle, with so many in a workgroup.
    Particles(u32),
    /// So many workgroups.
    Groups(u32),
    /// Workgroups that share the contacts of the substep, the nodes that they reach, and links.
    Contacts,
    /// A workgroup for each pair of object and obstacle.
    Pairs,
    /// Triangles and then hinges of cloth.
    Elements(u32),
    /// Vertices of cloth.
    Vertices(u32),
    /// Triangles of cloth.
    Triangles(u32),
    /// Particles with a load.
    Loads(u32),
}

const fn stage(phase: Phase, file: &'static str, over: Over) -> Stage {
    Stage {
        file,
        phase,
        over,
        part: Part::All,
        bindings: Bindings::Common,
    }
}

const fn contact(phase: Phase, file: &'static str, over: Over) -> Stage {
    stage(phase, file, over).of(Part::Contact)
}

const fn iteration(file: &'static str) -> Stage {
    stage(Phase::Solve, file, Over::Contacts).of(Part::Iteration)
}

impl Stage {
    const fn of(self, part: Part) -> Self {
        Self { part, ..self }
    }

    const fn that_sizes_dispatches(self) -> Self {
        let bindings = Bindings::WithDispatchSizes;
        Self { bindings, ..self }
    }
}

/// All stages in order.
pub(crate) const STAGES: [Stage; 29] = [
    stage(Phase::Sort, "blocks_clear.wgsl", Over::Table(128)).that_sizes_dispatches(),
    stage(Phase::Sort, "blocks_insert.wgsl", Over::Particles(128)),
    stage(Phase::Sort, "blocks_number.wgsl", Over::Table(128)).that_sizes_dispatches(),
    stage(Phase::Sort, "blocks_neighbours.wgsl", Over::Blocks),
    stage(Phase::Sort, "sort_count.wgsl", Over::Particles(128)),
    stage(Phase::Sort, "sort_start.wgsl", Over::Blocks),
    stage(Phase::Sort, "sort_place.wgsl", Over::Particles(128)),
    stage(Phase::Sort, "sort_order.wgsl", Over::Blocks),
    stage(Phase::Scatter, "stress.wgsl", Over::Particles(64)).of(Part::FirstSubstep),
    stage(Phase::Scatter, "cloth_elements.wgsl", Over::Elements(64)),
    stage(Phase::Scatter, "cloth_vertices.wgsl", Over::Vertices(64)),
    stage(Phase::Scatter, "loads.wgsl", Over::Loads(64)),
    stage(Phase::Scatter, "scatter.wgsl", Over::Blocks),
    stage(Phase::Scatter, "held_nodes.wgsl", Over::Blocks).of(Part::HeldNodes),
    stage(Phase::Scatter, "links_begin.wgsl", Over::Groups(1)),
    contact(Phase::Detect, "contacts_count.wgsl", Over::Particles(128)),
    contact(Phase::Detect, "contacts_number.wgsl", Over::Groups(1)).that_sizes_dispatches(),
    contact(Phase::Detect, "contacts_write.wgsl", Over::Particles(128)),
    contact(Phase::Detect, "contacts_cells.wgsl", Over::Blocks),
    contact(Phase::Detect, "contacts_nodes.wgsl", Over::Blocks),
    contact(Phase::Solve, "solve_begin.wgsl", Over::Contacts),
    iteration("solve_nodes.wgsl"),
    iteration("solve_contacts.wgsl"),
    contact(Phase::Solve, "solve_rest.wgsl", Over::Groups(1)),
    contact(Phase::Solve, "solve_end.wgsl", Over::Contacts),
    contact(Phase::Solve, "pair_sums.wgsl", Over::Pairs),
    stage(Phase::Gather, "gather.wgsl", Over::Particles(64)),
    stage(Phase::Gather, "cloth_normals.wgsl", Over::Triangles(64)),
    stage(Phase::Gather, "links_end.wgsl", Over::Groups(1)),
];

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("shaders/", $name)))),*];
    };
}

files!(
    "blocks.wgsl",
    "blocks_clear.wgsl",
    "blocks_insert.wgsl",
    "blocks_neighbours.wgsl",
    "blocks_number.wgsl",
    "cells.wgsl",
    "cloth_elements.wgsl",
    "cloth_law.wgsl",
    "cloth_mesh.wgsl",
    "cloth_normals.wgsl",
    "cloth_vertices.wgsl",
    "common.wgsl",
    "contact_law.wgsl",
    "contacts_cells.wgsl",
    "contacts_count.wgsl",
    "contacts_nodes.wgsl",
    "contacts_number.wgsl",
    "contacts_write.wgsl",
    "detection.wgsl",
    "dispatch_sizes.wgsl",
    "ellipsoid.wgsl",
    "gather.wgsl",
    "held_nodes.wgsl",
    "hinge.wgsl",
    "link_velocities.wgsl",
    "links_begin.wgsl",
    "links_end.wgsl",
    "loads.wgsl",
    "loops.wgsl",
    "material.wgsl",
    "pair_sums.wgsl",
    "particle_groups.wgsl",
    "polyhedra.wgsl",
    "prefix_sum.wgsl",
    "sampled.wgsl",
    "scatter.wgsl",
    "signed_distance.wgsl",
    "solve.wgsl",
    "solve_begin.wgsl",
    "solve_contacts.wgsl",
    "solve_end.wgsl",
    "solve_local.wgsl",
    "solve_move.wgsl",
    "solve_nodes.wgsl",
    "solve_rest.wgsl",
    "sort_count.wgsl",
    "sort_order.wgsl",
    "sort_place.wgsl",
    "sort_start.wgsl",
    "stress.wgsl",
    "tensor.wgsl",
);

fn text(file: &str) -> &'static str {
    let found = FILES.iter().find(|(name, _)| *name == file);
    found.expect("every shader is listed").1
}

/// The source of a file, with what it includes.
pub(crate) fn source(file: &str) -> String {
    let mut whole = String::new();
    add_source(file, &mut whole);
    whole
}

fn add_source(file: &str, whole: &mut String) {
    for line in text(file).lines() {
        match line
            .strip_prefix("#include \"")
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(included) => add_source(included, whole),
            None => whole.push_str(line),
        }
        whole.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_valid() {
        for stage in &STAGES {
            let source = source(stage.file);
            let module = naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|e| panic!("{}: {}", stage.file, e.emit_to_string(&source)));
            let mut validator = naga::valid::Validator::new(
                naga::valid::ValidationFlags::all(),
                naga::valid::Capabilities::empty(),
            );
            if let Err(e) = validator.validate(&module) {
                panic!("{}: {}", stage.file, e.emit_to_string(&source));
            }
        }
    }

    #[test]
    fn phases_follow_one_another() {
        assert!(STAGES.windows(2).all(|pair| pair[0].phase <= pair[1].phase));
    }

    #[test]
    fn an_include_is_replaced_by_its_file() {
        let whole = source("stress.wgsl");
        assert!(!whole.contains("#include"));
        assert!(whole.contains("fn polar_rotation"));
        assert_eq!(whole.matches("struct Params").count(), 1);
    }
}
