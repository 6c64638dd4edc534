//! A cloth on the device over many steps, as in the bundled scenes.

use std::io::Write as _;
use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
use pliant_gpu::{Gpu, GpuError, GpuSubsteps};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate;
use pliant_mpm::{
    BendingModel, ClothMaterial, ClothMesh, ClothSpec, CpuSubsteps, InPlaneLaw, LaggedLaws,
    MaterialPoints, MpmBuilder, MpmSettings, Obstacle, ObstaclePair, RigidLinks, SubstepBackend,
    SubstepContact, SubstepInput, SubstepReport, SubstepSolver,
};

const STEP_S: f64 = 5e-3;
const STEPS: u32 = 12;

/// The cloth of `cloth-drape`, a centimetre above a ball, with two corners to be held.
fn model() -> MaterialPoints {
    let surface = generate::sheet([0.24, 0.24], [24, 24]).expect("a sheet");
    let corners = [0, surface.vertices().len() as u32 - 1];
    let (mesh, _) = ClothMesh::new("cloth", surface, 0.02).expect("short edges");
    let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 5e4, 0.3, 1000.0, 1e-3)
        .and_then(|m| m.with_bending_stiffness(5e-6))
        .map(|m| m.with_bending_model(BendingModel::Hinges))
        .and_then(|m| m.with_damping_time(2e-3))
        .and_then(|m| m.with_affine_fraction(0.5))
        .expect("a cloth");
    let mut spec = ClothSpec::new("cloth", mesh, material);
    spec.positions.iter_mut().for_each(|p| p.z += 0.065);
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    builder.cloth(spec);
    builder.grip("corners", corners.to_vec());
    builder.build().expect("a model")
}

/// Where it is after all steps, and the contacts of the last one.
fn dropped(backend: &mut dyn SubstepBackend, model: &MaterialPoints) -> (BodyState, u32) {
    let ball = [Obstacle {
        shape: Shape::sphere(0.05).expect("a ball"),
        link: None,
        X_LG: Isometry3::identity(),
        surface_velocity: Vector3::zeros(),
        pairs: vec![Some(ObstaclePair {
            stiffness: 1e3,
            dissipation: Dissipation::HuntCrossley(5.0),
            friction: 0.6,
        })],
    }];
    // The corners move down by 0.1 m/s.
    let control = Control {
        held: vec![Some(0.0), None, Some(-0.1)],
        ..Control::default()
    };
    let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let mut state = model.default_state();
    for _ in 0..STEPS {
        backend.begin(&state).expect("a state of the model");
        let limit = backend.limit().expect("particles").length_s;
        let input = SubstepInput {
            time_step_s: STEP_S,
            substeps: (STEP_S / limit).ceil() as u32,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            control: &control,
            obstacles: &ball,
            contact: SubstepContact {
                stiction_speed: 1e-4,
                near_rigid: 0.1,
                solver: SubstepSolver::default(),
                tolerance: 1e-5,
                iterations_max: 10_000,
            },
            laws: &LaggedLaws,
        };
        (backend.run(&input, &mut links, &mut memory, &mut report)).expect("a step");
        assert_eq!(report.unsolved, 0);
        let _ = backend.end(&mut state).expect("an end");
    }
    (state, report.contacts_max)
}

#[test]
fn a_cloth_that_drapes_is_where_the_processor_has_it() {
    let gpu = match Gpu::open() {
        Ok(gpu) => Arc::new(gpu),
        Err(GpuError::NoAdapter) => {
            let name = "a_cloth_that_drapes_is_where_the_processor_has_it";
            writeln!(std::io::stderr(), "SKIPPED {name}: no Vulkan adapter").expect("stderr");
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let model = model();
    let mut device = GpuSubsteps::new(&gpu, &model).expect("all of it has shaders");
    let (found, contacts) = dropped(&mut device, &model);
    let (expected, _) = dropped(&mut CpuSubsteps::<f64>::new(&model), &model);
    assert!(contacts > 10, "{contacts}");
    let apart = found.q.iter().zip(&expected.q).map(|(a, b)| (a - b).abs());
    let worst = apart.fold(0.0, f64::max);
    let start = model.default_state();
    let moved = found.q.iter().zip(&start.q).map(|(a, b)| (a - b).abs());
    let way = moved.fold(0.0, f64::max);
    eprintln!("{worst:.1e} m apart after {way:.1e} m, {contacts} contacts");
    assert!(worst < 1e-5, "{worst:e}");
    // The first corner moves exactly as prescribed.
    let fallen = start.q[2] - found.q[2];
    let way = 0.1 * STEP_S * f64::from(STEPS);
    assert!((fallen - way).abs() < 1e-7, "{fallen}");
}
