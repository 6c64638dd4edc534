//! A cube of foam on the floor, for tests of whole time steps.

use nalgebra::{DMatrix, Isometry3, Vector3};
use pliant_contact_sap::{Control, Dissipation};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LaggedLaws, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair,
    Preset, RigidLinks, Sampling, SubstepContact, SubstepInput, SubstepSolver, fill,
};

/// Particles 1 cm apart, the lowest of which touch the floor.
pub(crate) struct FoamOnFloor {
    pub(crate) model: MaterialPoints,
    floor: [Obstacle; 1],
    control: Control,
}

impl FoamOnFloor {
    /// 64 particles.
    pub(crate) fn new() -> Self {
        Self::with_edge(0.04)
    }

    pub(crate) fn with_edge(edge: f64) -> Self {
        Self::with_lengths([edge; 3])
    }

    pub(crate) fn with_lengths(lengths: [f64; 3]) -> Self {
        let pose = Isometry3::translation(0.0, 0.0, 0.5 * lengths[2]);
        let block = Shape::cuboid(lengths.into()).expect("a block");
        let points = fill("foam", &block, &pose, 0.02, Sampling::default()).expect("particles");
        let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
        builder.object(ObjectSpec::new(
            "foam",
            Preset::FoamCube.material(),
            400.0,
            points,
        ));
        let floor = Obstacle {
            shape: Shape::half_space(),
            link: None,
            X_LG: Isometry3::identity(),
            surface_velocity: Vector3::zeros(),
            pairs: vec![Some(ObstaclePair {
                stiffness: 1e3,
                dissipation: Dissipation::HuntCrossley(1.0),
                friction: 0.5,
            })],
        };
        Self {
            model: builder.build().expect("a model"),
            floor: [floor],
            control: Control::default(),
        }
    }

    /// So high above the floor.
    pub(crate) fn above_floor(mut self, height: f64) -> Self {
        self.floor[0].X_LG = Isometry3::translation(0.0, 0.0, -height);
        self
    }

    /// A time step of 1 ms.
    pub(crate) fn input(&self, substeps: u32) -> SubstepInput<'_> {
        SubstepInput {
            time_step_s: 1e-3,
            substeps,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            control: &self.control,
            obstacles: &self.floor,
            contact: SubstepContact {
                stiction_speed: 1e-4,
                near_rigid: 0.1,
                solver: SubstepSolver::default(),
                tolerance: 1e-3,
                iterations_max: 1000,
            },
            laws: &LaggedLaws,
        }
    }
}

pub(crate) fn no_links() -> RigidLinks {
    RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0))
}
