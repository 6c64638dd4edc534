//! What a backend is tried on: every kind of material, rigid bodies that respond, that are driven and that stand, both velocity gradients,
//! walls, and the largest speeds at which a substep is stable.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Point3, UnitQuaternion, Vector3, Vector6};
use pliant_constitutive::Lame;
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
use pliant_hydroelastic::Shape;

use super::more_scenes::{among_shapes, draped, held};
use crate::fill::{Sampling, fill};
use crate::material::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, Sand, VolumeForm,
};
use crate::model::{MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Wall, WallForm, WallKind};
use crate::spline::GradientForm;
use crate::substeps::{LinkIdx, LinkMotion, Obstacle, ObstaclePair};
use crate::transfer::TransferScheme;

/// h of the grid, m.
pub(super) const SPACING: f64 = 0.02;

pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) model: MaterialPoints,
    pub(super) start: BodyState,
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) motions: Vec<LinkMotion>,
    pub(super) response: DMatrix<f64>,
    /// h of a substep, s.
    pub(super) length_s: f64,
    pub(super) gravity: Vector3<f64>,
    pub(super) stiction_speed: f64,
    pub(super) near_rigid: f64,
    /// Loads and velocities of held sets.
    pub(super) control: Control,
    /// The particles and forces of the loads.
    pub(super) loads: Vec<(usize, Vector3<f64>)>,
    /// Whether nothing but contact, gravity and loads changes the momentum of the particles.
    pub(super) is_free: bool,
}

impl Scene {
    pub(super) fn all() -> Vec<Self> {
        vec![
            flight(),
            pressed(),
            rolled(),
            poured(),
            splashed(),
            among_shapes(),
            held(),
            draped(),
        ]
    }
}

pub(super) fn lame(young: f64) -> Lame {
    Lame::from_young_poisson(young, 0.3).expect("constants of a solid")
}

/// A cube of edge 5 cm about `p_WC`, turned.
pub(super) fn cube(
    material: Arc<dyn Material>,
    density: f64,
    p_WC: [f64; 3],
    velocity: ([f64; 3], [f64; 3]),
) -> ObjectSpec {
    let shape = Shape::cuboid(Vector3::repeat(0.05)).expect("a cube");
    let pose = Isometry3::from_parts(
        p_WC.into(),
        UnitQuaternion::from_scaled_axis(Vector3::new(0.02, -0.01, 0.3)),
    );
    let set = fill("cube", &shape, &pose, SPACING, Sampling::default()).expect("particles");
    let mut object = ObjectSpec::new("cube", material, density, set);
    object.velocity_W = velocity.0.into();
    object.angular_velocity_W = velocity.1.into();
    object
}

pub(super) fn scene(name: &'static str, objects: Vec<ObjectSpec>, gradient: GradientForm) -> Scene {
    with_walls(name, objects, gradient, Vec::new())
}

fn with_walls(
    name: &'static str,
    objects: Vec<ObjectSpec>,
    gradient: GradientForm,
    walls: Vec<Wall>,
) -> Scene {
    let mut builder = MpmBuilder::new(MpmSettings {
        transfer: TransferScheme::Apic,
        walls: WallForm::Held,
        gradient,
        ..MpmSettings::new(SPACING)
    });
    for object in objects {
        builder.object(object);
    }
    let is_free = walls.is_empty();
    for wall in walls {
        builder.wall(wall);
    }
    Scene {
        is_free,
        ..of_model(name, builder)
    }
}

pub(super) fn of_model(name: &'static str, builder: MpmBuilder) -> Scene {
    let model = builder.build().expect("a model");
    let start = model.parts.start.clone();
    Scene {
        name,
        control: model.default_control(),
        model,
        start,
        loads: Vec::new(),
        obstacles: Vec::new(),
        motions: Vec::new(),
        response: DMatrix::zeros(0, 0),
        length_s: 2e-4,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        stiction_speed: 1e-3,
        near_rigid: 0.1,
        is_free: true,
    }
}

pub(super) fn pair(friction: f64) -> ObstaclePair {
    ObstaclePair {
        stiffness: 2e3,
        dissipation: Dissipation::HuntCrossley(5.0),
        friction,
    }
}

pub(super) fn motion(p_WL: [f64; 3], velocity: [f64; 6]) -> LinkMotion {
    LinkMotion {
        X_WL: Isometry3::translation(p_WL[0], p_WL[1], p_WL[2]),
        velocity: Vector6::from(velocity),
    }
}

pub(super) fn plate(link: Option<usize>, X_LG: Isometry3<f64>, friction: f64) -> Obstacle {
    Obstacle {
        shape: Shape::cuboid(Vector3::new(0.12, 0.1, 0.02)).expect("a plate"),
        link: link.map(LinkIdx),
        X_LG,
        surface_velocity: Vector3::zeros(),
        pairs: vec![Some(pair(friction))],
    }
}

fn flight() -> Scene {
    let material = Arc::new(LinearCorotated::new(lame(1e5)));
    let spin = ([0.3, -0.2, 0.5], [4.0, 2.0, -7.0]);
    let object = cube(material, 500.0, [0.013, 0.002, 0.011], spin);
    scene(
        "a spinning cube in free flight",
        vec![object],
        GradientForm::True,
    )
}

/// Two links: a plate of 60 g below that moves freely, coupled to the driven one above by a tenth of its response.
fn pressed() -> Scene {
    let material = Arc::new(LinearCorotated::new(lame(1e5)));
    let object = cube(material, 500.0, [0.0; 3], ([0.2, 0.1, 0.0], [0.0; 3]));
    let mut scene = scene(
        "a cube between a free and a driven plate",
        vec![object],
        GradientForm::Mls,
    );
    scene.motions = vec![
        motion([0.0, 0.0, -0.0345], [0.0, 0.0, 0.0, 0.0, 0.0, 0.3]),
        motion([0.0, 0.0, 0.0345], [0.0, 0.0, 1.0, 0.0, 0.2, -0.5]),
    ];
    let mut response = DMatrix::zeros(12, 12);
    for k in 0..6 {
        let own = if k < 3 { 2e4 } else { 1.0 / 0.06 };
        response[(k, k)] = own;
        response[(k, k + 6)] = 0.1 * own;
        response[(k + 6, k)] = 0.1 * own;
        response[(k + 6, k + 6)] = 0.02 * own;
    }
    scene.response = response;
    let above = Isometry3::translation(0.0, 0.005, 0.0);
    scene.obstacles = vec![
        plate(Some(0), Isometry3::identity(), 0.8),
        plate(Some(1), above, 0.3),
    ];
    scene
}

/// Dough under a ball that turns, on a conveyor belt.
fn rolled() -> Scene {
    let material = HenckyVonMises::new(lame(1e5), 500.0).expect("dough");
    let object = cube(Arc::new(material), 1000.0, [0.0; 3], ([0.0; 3], [0.0; 3]));
    let mut scene = scene(
        "dough under a turning ball",
        vec![object],
        GradientForm::True,
    );
    scene.motions = vec![motion(
        [0.01, 0.0, 0.0640],
        [0.0, 30.0, 0.0, 0.0, 0.0, -1.0],
    )];
    scene.response = DMatrix::zeros(6, 6);
    let belt = Isometry3::translation(0.0, 0.0, -0.0345);
    scene.obstacles = vec![
        Obstacle {
            shape: Shape::sphere(0.04).expect("a ball"),
            ..plate(Some(0), Isometry3::identity(), 0.6)
        },
        Obstacle {
            surface_velocity: Vector3::new(0.4, 0.0, 0.0),
            ..plate(None, belt, 0.5)
        },
    ];
    scene
}

/// Sand that hits an inclined floor.
fn poured() -> Scene {
    let sand = Sand::new(lame(3.5e5), 35.0, FrictionAngle::TriaxialCompression).expect("sand");
    let object = cube(
        Arc::new(sand),
        2200.0,
        [0.0; 3],
        ([0.5, 0.0, -1.0], [0.0; 3]),
    );
    let mut scene = scene(
        "sand on an inclined floor",
        vec![object],
        GradientForm::True,
    );
    let floor = Isometry3::from_parts(
        [0.0, 0.0, -0.026].into(),
        UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.1, 0.0)),
    );
    scene.obstacles = vec![Obstacle {
        shape: Shape::half_space(),
        ..plate(None, floor, 0.4)
    }];
    scene
}

/// Liquid beside a sticking wall that a free ball falls into.
fn splashed() -> Scene {
    let liquid = Liquid::new(1e5, 7.0).expect("a liquid");
    let liquid = liquid
        .with_volume(VolumeForm::Advected)
        .expect("a form without numbers");
    let object = cube(
        Arc::new(liquid),
        1000.0,
        [0.0; 3],
        ([0.0, 0.0, -0.5], [0.0; 3]),
    );
    let wall = Wall {
        p_WQ: Point3::new(0.0, 0.0, -0.04),
        normal_W: Vector3::z(),
        kind: WallKind::Slides,
    };
    let mut scene = with_walls(
        "a ball on liquid on a wall",
        vec![object],
        GradientForm::True,
        vec![wall],
    );
    scene.motions = vec![motion([0.0, 0.0, 0.0543], [0.0, 0.0, 0.0, 0.1, 0.0, -1.0])];
    let mut response = DMatrix::zeros(6, 6);
    for k in 0..6 {
        response[(k, k)] = if k < 3 { 1e5 } else { 50.0 };
    }
    scene.response = response;
    scene.obstacles = vec![Obstacle {
        shape: Shape::sphere(0.03).expect("a ball"),
        ..plate(Some(0), Isometry3::identity(), 0.2)
    }];
    scene
}
