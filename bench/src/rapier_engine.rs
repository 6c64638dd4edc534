//! rapier3d-f64 on the same scenes: free bodies and fixed shapes; no arm.
//!
//! Default settings, nothing sleeps. rapier has no contact stiffness in N/m: its softness is a natural frequency.

use pliant_hydroelastic::AnalyticShape;
use rapier3d_f64::prelude::{
    ColliderBuilder, MassProperties, PhysicsWorld, Pose as RapierPose, RigidBodyBuilder,
    RigidBodyHandle, Rotation, SharedShape, Vector,
};

use crate::engine::Engine;
use crate::error::BenchError;
use crate::scene::{Pose, Scene, Solid};

/// A rapier world.
pub struct RapierEngine {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl RapierEngine {
    /// Loads `scene`.
    ///
    /// # Errors
    /// [`BenchError::Unsupported`] for a scene with an arm or a mesh.
    pub fn new(scene: &Scene) -> Result<Self, BenchError> {
        if scene.arm.is_some() {
            return Err(BenchError::Unsupported {
                engine: "rapier3d-f64",
                scene: scene.name.clone(),
                why: "implicit PD control with reflected inertia is not in rapier",
            });
        }
        let mut world = PhysicsWorld::new();
        world.gravity = vector(scene.gravity);
        world.integration_parameters.dt = scene.time_step_s;
        let friction = scene.surface.friction;
        for fixed in &scene.fixed {
            let (collider, X_BG) = collider(scene, &fixed.solid)?;
            world.insert(
                RigidBodyBuilder::fixed().pose(pose(&fixed.pose)),
                collider.position(X_BG).friction(friction),
            );
        }
        let bodies = scene.free.iter().map(|free| {
            let (collider, X_BG) = collider(scene, &free.solid)?;
            let mass = MassProperties::new(Vector::ZERO, free.mass, vector(free.inertia));
            let body = RigidBodyBuilder::dynamic()
                .pose(pose(&free.pose))
                .additional_mass_properties(mass)
                .can_sleep(false);
            let collider = collider.position(X_BG).friction(friction).density(0.0);
            Ok(world.insert(body, collider).0)
        });
        let bodies = bodies.collect::<Result<_, BenchError>>()?;
        Ok(Self { world, bodies })
    }
}

impl Engine for RapierEngine {
    fn advance(&mut self, n_steps: usize) -> Result<(), BenchError> {
        for _ in 0..n_steps {
            self.world.step();
        }
        Ok(())
    }

    fn contacts(&self) -> usize {
        let pairs = self.world.narrow_phase.contact_pairs();
        let manifolds = pairs.flat_map(|pair| pair.manifolds());
        manifolds.map(|m| m.data.num_active_contacts()).sum()
    }

    fn iterations(&self) -> usize {
        0
    }

    fn poses(&self) -> Vec<Pose> {
        let bodies = self.bodies.iter().map(|&b| &self.world.bodies[b]);
        bodies
            .map(|body| {
                let (p, r) = (body.translation(), body.rotation());
                Pose {
                    position: [p.x, p.y, p.z],
                    quat_wxyz: [r.w, r.x, r.y, r.z],
                }
            })
            .collect()
    }

    fn joints(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// A collider and its pose on the body: rapier's cylinder lies along y.
fn collider(scene: &Scene, solid: &Solid) -> Result<(ColliderBuilder, RapierPose), BenchError> {
    let upright = RapierPose::IDENTITY;
    let unsupported = |why| BenchError::Unsupported {
        engine: "rapier3d-f64",
        scene: scene.name.clone(),
        why,
    };
    let Solid::Analytic(shape) = solid else {
        return Err(unsupported("its meshes are hollow"));
    };
    Ok(match *shape {
        AnalyticShape::HalfSpace {} => {
            let shape = SharedShape::halfspace(Vector::Z);
            (ColliderBuilder::new(shape), upright)
        }
        AnalyticShape::Sphere { radius } => (ColliderBuilder::ball(radius), upright),
        AnalyticShape::Box { size } => {
            let half = 0.5 * size;
            (ColliderBuilder::cuboid(half.x, half.y, half.z), upright)
        }
        AnalyticShape::Cylinder { radius, length } => {
            let rotation = Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2);
            (
                ColliderBuilder::cylinder(0.5 * length, radius),
                RapierPose::from_parts(Vector::ZERO, rotation),
            )
        }
        AnalyticShape::Capsule { radius, length } => {
            (ColliderBuilder::capsule_z(0.5 * length, radius), upright)
        }
        AnalyticShape::Ellipsoid { .. } | AnalyticShape::Cone { .. } => {
            return Err(unsupported(
                "no scene of the benchmark has ellipsoids or cones",
            ));
        }
    })
}

fn vector([x, y, z]: [f64; 3]) -> Vector {
    Vector::new(x, y, z)
}

fn pose(pose: &Pose) -> RapierPose {
    let [w, x, y, z] = pose.quat_wxyz;
    RapierPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w))
}
