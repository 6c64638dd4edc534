//! Collects the parts of a world, checks them and closes it.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::DeformableModel;
use pliant_hydroelastic::CollisionFilter;

use super::{
    BodyIdx, ConstraintIdx, Exclusion, Geometry, GeometryIdx, Group, GroupIdx, NamedBody, PairRule,
    World, WorldParts,
};
use crate::constraint::Constraint;
use crate::error::{WorldError, WorldPart};
use crate::settings::ContactSettings;

/// Collects the parts of a [`World`].
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// use pliant_coupling::{WorldBuilder, WorldError};
///
/// let mut builder = WorldBuilder::default();
/// builder.gravity(Vector3::new(0.0, 0.0, -1.62)); // on the moon
/// builder.add_body("ball", Box::new(ball.clone()));
/// builder.add_body("ball", Box::new(ball));
/// let error = builder.build().err().expect("two bodies of one name");
/// assert_eq!(error.to_string(), "body \"ball\" is there twice; names must be unique");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WorldBuilder {
    parts: WorldParts,
}

impl Default for WorldBuilder {
    /// Empty, with gravity (0, 0, −9.81) m/s².
    fn default() -> Self {
        Self {
            parts: WorldParts {
                bodies: Vec::new(),
                geometries: Vec::new(),
                constraints: Vec::new(),
                gravity: Vector3::new(0.0, 0.0, -9.81),
                contact: ContactSettings::default(),
                pair_rules: Vec::new(),
                groups: Vec::new(),
                exclusions: Vec::new(),
                filter: CollisionFilter::default(),
                self_contact: Vec::new(),
                filaments: Vec::new(),
                soft: Vec::new(),
            },
        }
    }
}

impl WorldBuilder {
    /// Gravity, m/s², world axes.
    pub fn gravity(&mut self, gravity: Vector3<f64>) -> &mut Self {
        self.parts.gravity = gravity;
        self
    }

    /// How contact is modelled.
    pub fn contact(&mut self, settings: ContactSettings) -> &mut Self {
        self.parts.contact = settings;
        self
    }

    /// Adds a body under a unique name.
    pub fn add_body(&mut self, name: &str, model: Box<dyn DeformableModel>) -> BodyIdx {
        self.parts.bodies.push(NamedBody {
            name: name.into(),
            model: Arc::from(model),
        });
        BodyIdx(self.parts.bodies.len() - 1)
    }

    /// Adds a contact geometry.
    pub fn add_geometry(&mut self, geometry: Geometry) -> GeometryIdx {
        self.parts.geometries.push(geometry);
        GeometryIdx(self.parts.geometries.len() - 1)
    }

    /// A geometry added before, to change it.
    ///
    /// # Panics
    /// If `geometry` is not of this builder.
    pub fn geometry_mut(&mut self, geometry: GeometryIdx) -> &mut Geometry {
        &mut self.parts.geometries[geometry.0]
    }

    /// The model of a body added before.
    ///
    /// # Panics
    /// If `body` is not of this builder.
    #[must_use]
    pub fn model(&self, body: BodyIdx) -> &dyn DeformableModel {
        &*self.parts.bodies[body.0].model
    }

    /// Adds a constraint, active at first.
    pub fn add_constraint(&mut self, constraint: Constraint) -> ConstraintIdx {
        self.parts.constraints.push(constraint);
        ConstraintIdx(self.parts.constraints.len() - 1)
    }

    /// The group of this name, created at the first call; at most 64 groups.
    pub fn group(&mut self, name: &str) -> GroupIdx {
        let groups = &mut self.parts.groups;
        let known = groups.iter().position(|g| g.name == name);
        GroupIdx(known.unwrap_or_else(|| {
            groups.push(Group {
                name: name.into(),
                members: Vec::new(),
            });
            groups.len() - 1
        }))
    }

    /// Adds a geometry to a group. It may be in several.
    ///
    /// # Panics
    /// If the group is another builder's, beyond the last of this one.
    pub fn join(&mut self, geometry: GeometryIdx, group: GroupIdx) -> &mut Self {
        self.parts.groups[group.0].members.push(geometry);
        self
    }

    /// Lets two sets of geometries pass through each other.
    pub fn exclude(&mut self, exclusion: Exclusion) -> &mut Self {
        self.parts.exclusions.push(exclusion);
        self
    }

    /// Sets the rule of one pair; a later rule replaces an earlier one as a whole.
    pub fn pair_rule(&mut self, a: GeometryIdx, b: GeometryIdx, rule: PairRule) -> &mut Self {
        let pair = (a.min(b), a.max(b));
        self.parts.pair_rules.push((pair, rule));
        self
    }

    /// Checks everything and closes the world.
    ///
    /// # Errors
    /// [`WorldError`] naming the first thing that is wrong.
    pub fn build(mut self) -> Result<World, WorldError> {
        let parts = &mut self.parts;
        parts.check()?;
        parts.check_tied_points()?;
        // The sort is stable: of equal pairs, the last one is the latest.
        parts.pair_rules.sort_by_key(|(pair, _)| *pair);
        parts.pair_rules.reverse();
        parts.pair_rules.dedup_by_key(|(pair, _)| *pair);
        parts.pair_rules.reverse();
        parts.filter = parts
            .collision_filter()
            .map_err(|source| WorldError::Geometry {
                part: WorldPart::World,
                source: Box::new(source),
            })?;
        parts.check_patches()?;
        parts.soft = parts.soft_meshes()?;
        parts.self_contact = parts.with_self_contact();
        parts.filaments = parts.filaments_at_rest()?;
        Ok(World {
            parts: Arc::new(self.parts),
        })
    }
}
