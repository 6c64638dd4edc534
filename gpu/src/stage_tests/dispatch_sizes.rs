//! The bits do not depend on the sizes of dispatches: how many workgroups share contacts, how many iterations they take, in how many rows the blocks are.

use std::sync::Arc;

use nalgebra::Vector6;
use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{
    LinkIdx, MaterialPoints, PairImpulse, ParticleImpulse, RigidLinks, SubstepBackend,
    SubstepInput, SubstepReport,
};

use super::Scene;
use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::pipelines::SizeLimits;
use crate::test_scene::{FoamOnFloor, no_links};

/// What a time step leaves: particles and contact forces, motions of links, sums over pairs, iterations.
#[derive(Debug, PartialEq)]
struct Left {
    state: BodyState,
    forces: Vec<ParticleImpulse>,
    link_velocities: Vec<Vector6<f64>>,
    pairs: Vec<PairImpulse>,
    iterations: u64,
}

fn step(
    gpu: &Arc<Gpu>,
    model: &MaterialPoints,
    (state, input, links): (&BodyState, &SubstepInput<'_>, &RigidLinks),
    iterations: u32,
) -> (Left, SubstepReport) {
    let mut backend = GpuSubsteps::new(gpu, model).expect("a model with shaders");
    backend.set_iterations(iterations);
    let (mut links, mut forces, mut report) = (links.clone(), Vec::new(), SubstepReport::default());
    let mut next = BodyState::default();
    backend.begin(state).expect("its own state");
    (backend.run(input, &mut links, &mut forces, &mut report)).expect("a step");
    let _ = backend.end(&mut next).expect("an end");
    let left = Left {
        state: next,
        forces,
        link_velocities: (0..links.len())
            .map(|l| links.velocity(LinkIdx(l)).clone_owned())
            .collect(),
        pairs: report.pairs.clone(),
        iterations: report.iterations,
    };
    (left, report)
}

fn check(
    model: &MaterialPoints,
    (state, input, links): (&BodyState, &SubstepInput<'_>, &RigidLinks),
) -> u32 {
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let problem = (state, input, links);
    let (alone, report) = step(&gpu, model, problem, 0);
    assert!(
        report.iterations >= 5 * u64::from(report.substeps),
        "{report:?}"
    );
    assert_eq!(report.unsolved, 0);
    // Some iterations by many workgroups, and more than there are.
    for iterations in [1, 2, 3, 200] {
        let (many, _) = step(&gpu, model, problem, iterations);
        assert!(many == alone, "{iterations} iterations");
    }
    // Fewer workgroups than chunks of contacts, and several rows of blocks.
    for (groups, sharing) in [(7, 1), (64, 2)] {
        let gpu = Gpu::with_size_limits(SizeLimits { groups, sharing });
        let gpu = Arc::new(gpu.expect("there is one"));
        let (many, _) = step(&gpu, model, problem, 3);
        assert!(many == alone, "{groups} and {sharing} workgroups");
    }
    report.contacts_max
}

#[test]
fn sizes_of_dispatches_do_not_change_any_bit() {
    if device("sizes_of_dispatches_do_not_change_any_bit").is_none() {
        return;
    }
    // A link that responds, friction, two objects.
    let scene = Scene::foam_and_sand();
    check(&scene.model, (&scene.state, &scene.input(), &scene.links()));
    // More than four chunks of contacts.
    let foam = FoamOnFloor::with_lengths([0.24, 0.24, 0.04]);
    let state = foam.model.default_state();
    let contacts = check(&foam.model, (&state, &foam.input(3), &no_links()));
    assert!(contacts > 4 * 128, "{contacts}");
}
