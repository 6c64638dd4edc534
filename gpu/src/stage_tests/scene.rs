//! Two scenes of a few hundred particles at random places of a few cells, with random velocities, velocity gradients and deformations, above a
//! tilted belt and beside a ball on a link that responds.
//!
//! h, Δt and all numbers of the particles but mass and volume are exact in f32, so that what deviates is the arithmetic of the stages.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Matrix3, Point3, UnitQuaternion, Vector3, Vector6};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    DeviceParticles, GradientForm, LaggedLaws, LinkIdx, LinkMotion, Liquid, Material,
    MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Particle,
    ParticleSet, Preset, RigidLinks, SubstepContact, SubstepInput, SubstepSolver, VolumeForm, Wall,
    WallKind,
};

use crate::function_tests::Random;

/// h, m.
pub(super) const SPACING: f64 = 1.0 / 64.0;
/// Length of the substep, s.
pub(super) const DT: f64 = 1.0 / 4096.0;
pub(super) const GRAVITY: [f64; 3] = [0.5, 0.0, -9.75];
pub(super) const TOLERANCE: f64 = 1e-4;
pub(super) const STICTION_SPEED: f64 = 1e-3;
pub(super) const NEAR_RIGID: f64 = 0.1;
pub(super) const BALL_RADIUS: f64 = 0.04;

const OF_EACH: usize = 200;

/// The surface of an obstacle, by its closed form.
#[derive(Clone, Copy)]
pub(super) enum Surface {
    Plane,
    Ball,
}

pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) model: MaterialPoints,
    pub(super) state: BodyState,
    /// At the start.
    pub(super) particles: Vec<Particle<f64>>,
    pub(super) materials: [Arc<dyn Material>; 2],
    /// Radii of the particles in contact, m.
    pub(super) radii: Vec<f64>,
    pub(super) gradient: GradientForm,
    pub(super) walls: Vec<Wall>,
    pub(super) surfaces: [Surface; 2],
    pub(super) obstacles: [Obstacle; 2],
    pub(super) link: LinkMotion,
    /// Λ.
    pub(super) response: DMatrix<f64>,
    control: Control,
}

impl Scene {
    /// Friction of all kinds on the belt; sand does not touch the ball.
    pub(super) fn foam_and_sand() -> Self {
        let foam = |mu| pair(1e3, Dissipation::HuntCrossley(2.0), mu);
        let sand = pair(3e3, Dissipation::RelaxationTime(1e-4), 0.6);
        Self::new(
            "foam and sand",
            [Preset::FoamCube, Preset::DrySand],
            (GradientForm::True, Vec::new()),
            [[foam(0.3), sand], [foam(0.8), None]],
            (-0.002, 11),
        )
    }

    /// Walls along and across an axis; water without friction.
    pub(super) fn dough_and_water() -> Self {
        let dough = |mu| pair(2e3, Dissipation::HuntCrossley(0.5), mu);
        let water = pair(1e3, Dissipation::HuntCrossley(0.0), 0.0);
        let wall = |p_WQ: Vector3<f64>, normal_W, kind| Wall {
            p_WQ: Point3::from(p_WQ * SPACING),
            normal_W,
            kind,
        };
        let walls = vec![
            wall(Vector3::new(1.0, 0.0, 0.0), Vector3::x(), WallKind::Slides),
            wall(Vector3::new(0.0, 6.0, 0.0), -Vector3::y(), WallKind::Sticks),
        ];
        Self::new(
            "dough and water",
            [Preset::PizzaDough, Preset::ShallowWater],
            (GradientForm::Mls, walls),
            [[dough(0.4), water], [dough(1.5), water]],
            (-0.005, 12),
        )
    }

    fn new(
        name: &'static str,
        presets: [Preset; 2],
        (gradient, walls): (GradientForm, Vec<Wall>),
        pairs: [[Option<ObstaclePair>; 2]; 2],
        (ground, seed): (f64, u64),
    ) -> Self {
        let mut random = Random(seed);
        let materials = presets.map(on_device);
        let mut builder = MpmBuilder::new(MpmSettings {
            gradient,
            ..MpmSettings::new(SPACING)
        });
        for (preset, material) in presets.iter().zip(&materials) {
            let set = ParticleSet {
                points: (0..OF_EACH).map(|k| point(&mut random, k)).collect(),
                particle_volume: (0.5 * SPACING).powi(3),
            };
            let material = Arc::clone(material);
            builder.object(ObjectSpec::new(
                preset.name(),
                material,
                preset.density(),
                set,
            ));
        }
        walls.iter().for_each(|wall| {
            builder.wall(*wall);
        });
        let model = builder.build().expect("a model");
        let mut particles = DeviceParticles::new(&model);
        (particles.begin(&model.default_state())).expect("its own state");
        for p in particles.particles_mut() {
            deform(p, &mut random, &*materials[p.object as usize]);
        }
        let mut state = BodyState::default();
        let _ = (particles.end(0.0, None, &mut state)).expect("finite particles");
        let tilt = UnitQuaternion::from_scaled_axis(Vector3::new(0.1, -0.05, 0.4));
        let ground = Vector3::new(0.02, 0.03, ground);
        let belt = Obstacle {
            shape: Shape::half_space(),
            link: None,
            X_LG: Isometry3::from_parts(ground.into(), tilt),
            surface_velocity: Vector3::new(0.5, -0.2, 0.0),
            pairs: pairs[0].to_vec(),
        };
        let ball = Obstacle {
            shape: Shape::sphere(BALL_RADIUS).expect("a radius"),
            link: Some(LinkIdx(0)),
            X_LG: Isometry3::translation(0.01, -0.02, 0.015),
            surface_velocity: Vector3::zeros(),
            pairs: pairs[1].to_vec(),
        };
        let link = LinkMotion {
            X_WL: Isometry3::from_parts(
                Vector3::new(0.11, 0.06, 0.05).into(),
                UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.2, -0.6)),
            ),
            velocity: Vector6::new(3.0, -2.0, 5.0, -0.4, 0.1, 0.3),
        };
        // Inertia of a body of 50 g, not about its centre.
        let root = DMatrix::from_fn(6, 6, |i, j| {
            let own = if i < 3 { 100.0 } else { 4.5 };
            own * if i == j { 1.0 } else { 0.1 * random.next() }
        });
        Self {
            name,
            state,
            particles: particles.particles().to_vec(),
            materials,
            radii: particles.objects().iter().map(|o| o.radius).collect(),
            gradient,
            walls,
            surfaces: [Surface::Plane, Surface::Ball],
            obstacles: [belt, ball],
            link,
            response: &root * root.transpose(),
            control: model.default_control(),
            model,
        }
    }

    pub(super) fn links(&self) -> RigidLinks {
        RigidLinks::new(vec![self.link], self.response.clone())
    }

    /// One substep.
    pub(super) fn input(&self) -> SubstepInput<'_> {
        SubstepInput {
            time_step_s: DT,
            substeps: 1,
            gravity: GRAVITY.into(),
            control: &self.control,
            obstacles: &self.obstacles,
            contact: SubstepContact {
                stiction_speed: STICTION_SPEED,
                near_rigid: NEAR_RIGID,
                solver: SubstepSolver::default(),
                tolerance: TOLERANCE,
                iterations_max: 1000,
            },
            laws: &LaggedLaws,
        }
    }

    /// 1 for components of the velocity of a node that are free, 0 for those that a wall holds.
    pub(super) fn freedom(&self, x: &Vector3<f64>) -> Vector3<f64> {
        let mut free = Vector3::repeat(1.0);
        for wall in &self.walls {
            if (x - wall.p_WQ.coords).dot(&wall.normal_W) > 1e-9 {
                continue;
            }
            for k in 0..3 {
                if wall.kind == WallKind::Sticks || wall.normal_W[k] != 0.0 {
                    free[k] = 0.0;
                }
            }
        }
        free
    }
}

fn pair(stiffness: f64, dissipation: Dissipation, friction: f64) -> Option<ObstaclePair> {
    Some(ObstaclePair {
        stiffness,
        dissipation,
        friction,
    })
}

/// In a region of six cells, a few of them far from the others, and some on the border of cells.
fn point(random: &mut Random, k: usize) -> Point3<f64> {
    let far = if k % 50 == 49 { 19.0 } else { 0.0 };
    let cells = random.vector().map(|x| 3.0 + 3.0 * x) + Vector3::new(far, -far, far);
    let exact = cells.map(|x| {
        let cell = (x - 0.5).floor();
        let border = if k % 40 == 7 { Some(0.5) } else { None };
        cell + border.unwrap_or(f64::from((x - cell) as f32).clamp(0.5, 1.4999))
    });
    Point3::from(exact.map(|x| f64::from(x as f32)) * SPACING)
}

/// The material of a preset, water with the volume that devices have.
fn on_device(preset: Preset) -> Arc<dyn Material> {
    match preset {
        Preset::ShallowWater => {
            let water = Liquid::for_depth(0.2, 1000.0, 9.81).expect("a liquid");
            let water = water.with_viscosity(1e-3).expect("a viscosity");
            let advected = water.with_volume(VolumeForm::Advected);
            Arc::new(advected.expect("a form without numbers"))
        }
        solid => solid.material(),
    }
}

fn deform(p: &mut Particle<f64>, random: &mut Random, material: &dyn Material) {
    let mut number = |scale: f64| f64::from((scale * random.next()) as f32);
    p.v = Vector3::from_fn(|_, _| number(1.0));
    p.c = Matrix3::from_fn(|_, _| number(20.0));
    if material.bears_shear() {
        p.strain.f = Matrix3::identity() + Matrix3::from_fn(|_, _| number(0.0625));
        p.strain.f = p.strain.f.map(|x| f64::from(x as f32));
    } else {
        // The ratio of the volume: most are compressed.
        p.strain.internal[0] = f64::from((0.96 + number(0.0625)) as f32);
    }
}
