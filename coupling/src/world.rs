//! The world: bodies, their contact geometries, constraints, and the rules of contact. Built once, checked once, then immutable.

mod builder;
mod checks;
mod filaments;
mod filter;
mod geometry;
mod index;
mod pair_rule;
mod patch_pairs;
mod rigid_surface;
mod tied_points;

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{DeformableModel, Energy};
use pliant_hydroelastic::{CollisionFilter, Filament, SoftMesh};

use crate::constraint::Constraint;
use crate::settings::ContactSettings;
use crate::state::{ConstraintState, State, StepperMemory};

pub use builder::WorldBuilder;
pub(crate) use filaments::flat;
pub use filter::Exclusion;
pub use geometry::{Geometry, Mount};
pub use index::{BodyIdx, ConstraintIdx, GeometryIdx, GroupIdx};
pub use pair_rule::{Anisotropy, EdgeContact, PairRule};
pub use rigid_surface::RigidSurface;

#[derive(Clone)]
pub(crate) struct NamedBody {
    pub(crate) name: String,
    pub(crate) model: Arc<dyn DeformableModel>,
}

/// Bodies, geometries, constraints and settings, immutable; cheap to clone.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// use pliant_coupling::WorldBuilder;
///
/// let mut builder = WorldBuilder::default();
/// let body = builder.add_body("ball", Box::new(ball)); // 1 kg, its centre at 0.3 m
/// let world = builder.build()?;
/// assert_eq!(world.find_body("ball"), Some(body));
/// let energy = world.energy(&world.default_state());
/// assert!((energy.potential - 9.81 * 0.3).abs() < 1e-12 && energy.kinetic == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct World {
    pub(crate) parts: Arc<WorldParts>,
}

#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) members: Vec<GeometryIdx>,
}

#[derive(Clone)]
pub(crate) struct WorldParts {
    pub(crate) bodies: Vec<NamedBody>,
    pub(crate) geometries: Vec<Geometry>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) contact: ContactSettings,
    /// Ascending once the world is built.
    pub(crate) pair_rules: Vec<((GeometryIdx, GeometryIdx), PairRule)>,
    pub(crate) groups: Vec<Group>,
    pub(crate) exclusions: Vec<Exclusion>,
    /// The pairs with contact.
    pub(crate) filter: CollisionFilter,
    /// Deforming geometries with self-contact.
    pub(crate) self_contact: Vec<usize>,
    /// Of each geometry on segments, at rest.
    pub(crate) filaments: Vec<Option<Filament>>,
    /// Of each geometry on a surface its mesh at rest.
    pub(crate) soft: Vec<Option<SoftMesh>>,
}

impl World {
    /// The same with some bodies' models replaced, for steppers that step these bodies separately. Geometries mounted on
    /// the bodies must find its frames on the new ones.
    pub(crate) fn with_models(
        &self,
        replace: impl Fn(BodyIdx) -> Option<Arc<dyn DeformableModel>>,
    ) -> Self {
        let mut parts = WorldParts::clone(&self.parts);
        for (b, body) in parts.bodies.iter_mut().enumerate() {
            if let Some(model) = replace(BodyIdx(b)) {
                body.model = model;
            }
        }
        Self {
            parts: Arc::new(parts),
        }
    }

    /// The state to start from: default positions, at rest, all constraints active.
    #[must_use]
    pub fn default_state(&self) -> State {
        let bodies = &self.parts.bodies;
        State {
            time_s: 0.0,
            step: 0,
            bodies: bodies.iter().map(|b| b.model.default_state()).collect(),
            controls: bodies.iter().map(|b| b.model.default_control()).collect(),
            constraints: vec![ConstraintState::Active; self.parts.constraints.len()],
            memory: StepperMemory::default(),
        }
    }

    /// Number of bodies.
    #[must_use]
    pub fn n_bodies(&self) -> usize {
        self.parts.bodies.len()
    }

    /// Name of a body.
    #[must_use]
    pub fn body_name(&self, body: BodyIdx) -> &str {
        &self.parts.bodies[body.0].name
    }

    /// The body of this name.
    #[must_use]
    pub fn find_body(&self, name: &str) -> Option<BodyIdx> {
        let position = self.parts.bodies.iter().position(|b| b.name == name);
        position.map(BodyIdx)
    }

    /// Model of a body.
    #[must_use]
    pub fn model(&self, body: BodyIdx) -> &dyn DeformableModel {
        &*self.parts.bodies[body.0].model
    }

    /// All geometries, in the order of their index.
    #[must_use]
    pub fn geometries(&self) -> &[Geometry] {
        &self.parts.geometries
    }

    /// All constraints, in the order of their index.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.parts.constraints
    }

    /// Gravity, m/s², world axes.
    #[must_use]
    pub fn gravity(&self) -> &Vector3<f64> {
        &self.parts.gravity
    }

    /// Energies and momenta of all bodies together.
    #[must_use]
    pub fn energy(&self, state: &State) -> Energy {
        let mut sum = Energy::default();
        for (body, state) in self.parts.bodies.iter().zip(&state.bodies) {
            let energy = body.model.energy(state, &self.parts.gravity);
            sum.kinetic += energy.kinetic;
            sum.potential += energy.potential;
            sum.linear_momentum_W += energy.linear_momentum_W;
            sum.angular_momentum_W += energy.angular_momentum_W;
        }
        sum
    }
}
