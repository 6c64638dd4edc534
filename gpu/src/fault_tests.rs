//! A device that is lost in mid run.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset,
    RigidLinks, Sampling, SubstepBackend, SubstepContact, SubstepInput, SubstepReport,
    SubstepSolver, fill,
};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;

#[test]
fn a_lost_device_is_an_error_and_what_was_there_before_stays() {
    let name = "a_lost_device_is_an_error_and_what_was_there_before_stays";
    if device(name).is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    let pose = Isometry3::translation(0.0, 0.0, 0.02);
    let cube = Shape::cuboid(Vector3::repeat(0.04)).expect("a cube");
    let points = fill("foam", &cube, &pose, 0.02, Sampling::default()).expect("particles");
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.object(ObjectSpec::new(
        "foam",
        Preset::FoamCube.material(),
        400.0,
        points,
    ));
    let model = builder.build().expect("a model");
    let floor = [Obstacle {
        shape: Shape::half_space(),
        link: None,
        X_LG: Isometry3::identity(),
        surface_velocity: Vector3::zeros(),
        pairs: vec![Some(ObstaclePair {
            stiffness: 1e3,
            dissipation: Dissipation::HuntCrossley(1.0),
            friction: 0.5,
        })],
    }];
    let control = Control::default();
    let input = SubstepInput {
        time_step_s: 1e-3,
        substeps: 2,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
        obstacles: &floor,
        contact: SubstepContact {
            stiction_speed: 1e-4,
            near_rigid: 0.1,
            solver: SubstepSolver::default(),
            tolerance: 1e-3,
            iterations_max: 1000,
        },
        laws: &LaggedLaws,
    };
    let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let mut kept = BodyState::default();
    let mut backend = GpuSubsteps::new(&gpu, &model).expect("foam");
    backend
        .begin(&model.default_state())
        .expect("its own state");
    (backend.run(&input, &mut links, &mut memory, &mut report)).expect("a step");
    let _ = backend.end(&mut kept).expect("an end");
    assert!(!memory.is_empty());

    gpu.device.destroy();
    let before = memory.clone();
    backend.begin(&kept).expect("reading needs no device");
    let failed = backend.run(&input, &mut links, &mut memory, &mut report);
    let error = failed.expect_err("the device is gone").to_string();
    assert!(
        error.contains("the device failed") && error.contains("processor"),
        "{error}"
    );
    assert_eq!(memory, before);
    // The processor goes on from the last state.
    let mut processor = CpuSubsteps::<f32>::new(&model);
    let mut next = BodyState::default();
    processor.begin(&kept).expect("a state of the model");
    (processor.run(&input, &mut links, &mut memory, &mut report)).expect("a step");
    let _ = processor.end(&mut next).expect("an end");
    assert_eq!(next.q.len(), kept.q.len());
}
