//! Many workgroups give the bits of one, however they share contacts, nodes and iterations.

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
use crate::dispatch::SolveSize;
use crate::function_tests::device;
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
    size: SolveSize,
) -> (Left, SubstepReport) {
    let mut backend = GpuSubsteps::new(gpu, model).expect("a model with shaders");
    backend.set_solve_size(size);
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
    let size = |contacts, nodes, iterations| SolveSize {
        contacts,
        nodes,
        iterations,
    };
    let (alone, report) = step(&gpu, model, problem, size(0, 0, 0));
    assert!(
        report.iterations >= 5 * u64::from(report.substeps),
        "{report:?}"
    );
    assert_eq!(report.unsolved, 0);
    for size in [
        // One workgroup for all, some for all, one for each share; none, some, and more iterations than there are.
        size(1, 1, 3),
        size(256, 200, 2),
        size(256, 200, 1),
        size(4000, 4000, 5),
        size(300, 1000, 200),
    ] {
        let (many, _) = step(&gpu, model, problem, size);
        assert!(many == alone, "{size:?}");
    }
    report.contacts_max
}

#[test]
fn many_workgroups_give_the_bits_of_one() {
    if device("many_workgroups_give_the_bits_of_one").is_none() {
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
