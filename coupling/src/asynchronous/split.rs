//! A world taken apart: its material points, and the rigid geometries that they may touch.

use std::any::Any;
use std::sync::Arc;

use pliant_contact_sap::{BodyError, Dissipation};
use pliant_mpm::{
    LinkIdx, MaterialPoints, Obstacle, ObstaclePair, ParticleImpulse, SubstepBackend, SubstepLimit,
};
use serde::{Deserialize, Serialize};

use super::MakeBackend;
use crate::contact_model::DissipationRule;
use crate::error::StepError;
use crate::split_world::SplitWorld;
use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};

/// The contact force on a particle in the last substep.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # use pliant_coupling::{Asynchronous, AsynchronousSettings};
/// use pliant_coupling::Stepper;
///
/// // A ball runs upwards into a cube of dough, and pushes up each particle that it touches in the last substep.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut tree = ModelBuilder::new("ball");
/// # tree.root(Root::Floating);
/// # tree.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(0.1, 0.02)));
/// # let q = [0.0, 0.0, -0.041, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(tree.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
/// # let mut builder = WorldBuilder::default();
/// # builder.gravity(Vector3::zeros());
/// # let points = builder.add_body("dough", Box::new(model.build()?));
/// # let ball = builder.add_body("ball", Box::new(tree));
/// # let material = ContactMaterial::default();
/// # let on_dough = builder.add_geometry(Geometry::of_vertices("dough", points, material));
/// # let mount = Mount::Frame { body: ball, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = builder.add_geometry(Geometry::new("ball", mount, Shape::sphere(0.02)?, material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut stepper = Asynchronous::new(implicit, AsynchronousSettings::default())?;
/// assert!(stepper.step(&world, &world.default_state(), 5e-3, &mut next)?.is_trusted());
/// let forces = &next.memory.particle_forces;
/// assert!(!forces.is_empty());
/// assert!(forces.iter().all(|force| force.geometry == on_ball && force.force_W.z > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleForce {
    /// Identity of the particle.
    pub particle: u32,
    /// The rigid geometry.
    pub geometry: GeometryIdx,
    /// N, world axes.
    pub force_W: nalgebra::Vector3<f64>,
}

/// A world, its rigid part, and its material points.
pub(super) struct ParticleSplit {
    pub(super) rigid: SplitWorld,
    /// The frames that carry geometries which particles may touch.
    pub(super) frames: Vec<(BodyIdx, u32)>,
    /// `None` in a world without material points.
    pub(super) particles: Option<Particles>,
}

pub(super) struct Particles {
    pub(super) body: BodyIdx,
    pub(super) backend: Box<dyn SubstepBackend>,
    /// Of the last step.
    pub(super) limit: Option<SubstepLimit>,
    pub(super) obstacles: Vec<Obstacle>,
    /// The geometry of each obstacle, ascending.
    pub(super) geometries: Vec<GeometryIdx>,
    /// The geometry of each object.
    pub(super) objects: Vec<Option<GeometryIdx>>,
}

fn as_particles(model: &dyn pliant_contact_sap::DeformableModel) -> Option<&MaterialPoints> {
    (model as &dyn Any).downcast_ref()
}

impl ParticleSplit {
    pub(super) fn of(
        world: &World,
        state: &State,
        make_backend: &MakeBackend,
    ) -> Result<Self, StepError> {
        let rigid = SplitWorld::of(world, state, |model| as_particles(model).is_some())?;
        if let [_, second, ..] = rigid.bodies.as_slice() {
            let source = BodyError::Unsupported {
                what: "a second grid of material points in the asynchronous stepper; put all objects on one grid",
            };
            return Err(StepError::of_body(world, state, second.body, source));
        }
        let mut split = Self {
            rigid,
            frames: Vec::new(),
            particles: None,
        };
        if let Some(first) = split.rigid.bodies.first() {
            let (body, objects) = (first.body, first.parts.clone());
            split.particles = Some(split.particles_of(world, body, objects, make_backend));
        }
        Ok(split)
    }

    fn particles_of(
        &mut self,
        world: &World,
        body: BodyIdx,
        mut objects: Vec<Option<GeometryIdx>>,
        make_backend: &MakeBackend,
    ) -> Particles {
        let model = as_particles(&*world.parts.bodies[body.0].model).expect("chosen for it");
        objects.resize(model.n_objects(), None);
        let (mut obstacles, mut geometries) = (Vec::new(), Vec::new());
        for obstacle in &self.rigid.obstacles {
            let pairs: Vec<Option<ObstaclePair>> = (0..model.n_objects())
                .map(|part| {
                    let soft = obstacle.meets(world, &objects, part as u32)?;
                    Some(obstacle_pair(world, soft, obstacle.geometry))
                })
                .collect();
            let geometry = &world.parts.geometries[obstacle.geometry.0];
            let Some(shape) = geometry
                .shape
                .as_ref()
                .filter(|_| pairs.iter().any(Option::is_some))
            else {
                continue;
            };
            let (X_LG, link) = match geometry.mount {
                Mount::Frame { body, frame, X_FG } => {
                    let known = self.frames.iter().position(|f| *f == (body, frame));
                    let link = known.unwrap_or_else(|| {
                        self.frames.push((body, frame));
                        self.frames.len() - 1
                    });
                    (X_FG, Some(LinkIdx(link)))
                }
                Mount::World(X_WG) => (X_WG, None),
                _ => continue,
            };
            obstacles.push(Obstacle {
                shape: shape.clone(),
                link,
                X_LG,
                surface_velocity: geometry.surface_velocity,
                pairs,
            });
            geometries.push(obstacle.geometry);
        }
        Particles {
            body,
            backend: make_backend(model),
            limit: None,
            obstacles,
            geometries,
            objects,
        }
    }

    pub(super) fn is_of(&self, world: &World) -> bool {
        Arc::ptr_eq(&self.rigid.of.parts, &world.parts)
    }

    /// Takes the end of the rigid step into `next`, except the particles that are there already.
    pub(super) fn adopt_rigid(&self, state: &State, rigid: &mut State, next: &mut State) {
        let explicit = |b: usize| self.rigid.bodies.iter().any(|e| e.body.0 == b);
        for (b, body) in rigid.bodies.iter_mut().enumerate() {
            if !explicit(b) {
                std::mem::swap(body, &mut next.bodies[b]);
            }
        }
        next.time_s = rigid.time_s;
        next.step = rigid.step;
        next.controls.clone_from(&state.controls);
        next.constraints.clone_from(&rigid.constraints);
        let particle_forces = std::mem::take(&mut next.memory.particle_forces);
        next.memory.clone_from(&rigid.memory);
        next.memory.particle_forces = particle_forces;
    }
}

impl Particles {
    pub(super) fn read_memory(&self, forces: &[ParticleForce]) -> Vec<ParticleImpulse> {
        let each = forces.iter().filter_map(|f| {
            let obstacle = self.geometries.binary_search(&f.geometry).ok()?;
            Some(ParticleImpulse {
                particle: f.particle,
                obstacle: obstacle as u32,
                force_W: f.force_W,
            })
        });
        each.collect()
    }

    pub(super) fn write_memory(&self, memory: &[ParticleImpulse], out: &mut Vec<ParticleForce>) {
        out.clear();
        out.extend(memory.iter().map(|m| ParticleForce {
            particle: m.particle,
            geometry: self.geometries[m.obstacle as usize],
            force_W: m.force_W,
        }));
    }
}

fn obstacle_pair(world: &World, soft: GeometryIdx, rigid: GeometryIdx) -> ObstaclePair {
    let pair = world.pair(soft, rigid);
    ObstaclePair {
        stiffness: pair.stiffness,
        dissipation: match world.parts.contact.dissipation_rule() {
            DissipationRule::HuntCrossley => Dissipation::HuntCrossley(pair.dissipation),
            DissipationRule::RelaxationTime => Dissipation::RelaxationTime(pair.relaxation_time_s),
        },
        friction: pair.friction,
    }
}
