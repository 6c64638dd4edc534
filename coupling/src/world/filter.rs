//! Which geometries may touch, from mounts, groups and exclusions.

use std::collections::BTreeMap;

use pliant_contact_sap::SelfContact;
use pliant_hydroelastic::{CollisionFilter, CollisionFilterBuilder, GeometryError};

use super::{BodyIdx, GeometryIdx, GroupIdx, Mount, WorldParts};

/// Two sets of geometries without contact between them.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Isometry3;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1 - 9.81 / 5e5, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::Exclusion;
///
/// let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// builder.exclude(Exclusion::Geometries(a, b));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// assert!((next.bodies[0].v[5] + 9.81e-3).abs() < 1e-12); // the ball falls through the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Two geometries.
    Geometries(GeometryIdx, GeometryIdx),
    /// All geometries of two frames of bodies.
    Frames((BodyIdx, u32), (BodyIdx, u32)),
    /// All geometries of two bodies; twice the same: the body with itself.
    Bodies(BodyIdx, BodyIdx),
    /// All geometries of two groups; twice the same: the members among themselves, and each with itself.
    Groups(GroupIdx, GroupIdx),
}

impl WorldParts {
    /// Every frame that carries geometry is an owner, the world is one, each deforming geometry has its own.
    pub(super) fn collision_filter(&self) -> Result<CollisionFilter, GeometryError> {
        let mut builder = CollisionFilterBuilder::default();
        let world = builder.owner();
        let mut frames = BTreeMap::new();
        let mut owners_of_body = vec![Vec::new(); self.bodies.len()];
        let mut indices = Vec::new();
        for geometry in &self.geometries {
            let owner = match geometry.mount {
                Mount::World(_) => world,
                Mount::Frame { body, frame, .. } => {
                    *frames.entry((body, frame)).or_insert_with(|| {
                        let owner = builder.owner();
                        owners_of_body[body.0].push(owner);
                        owner
                    })
                }
                Mount::Vertices { body }
                | Mount::Segments { body, .. }
                | Mount::Surface { body } => {
                    let owner = builder.owner();
                    owners_of_body[body.0].push(owner);
                    owner
                }
            };
            indices.push(builder.geometry(owner)?);
        }
        for exclusion in &self.exclusions {
            match *exclusion {
                Exclusion::Geometries(a, b) if a != b => {
                    builder.exclude_geometries(indices[a.0], indices[b.0])?;
                }
                Exclusion::Geometries(..) | Exclusion::Groups(..) => {}
                Exclusion::Frames(a, b) => {
                    if let (Some(&a), Some(&b)) = (frames.get(&a), frames.get(&b)) {
                        builder.exclude_owners(a, b)?;
                    }
                }
                Exclusion::Bodies(a, b) => {
                    for &x in &owners_of_body[a.0] {
                        for &y in owners_of_body[b.0].iter().filter(|&&y| y != x) {
                            builder.exclude_owners(x, y)?;
                        }
                    }
                }
            }
        }
        for (body, owners) in self.bodies.iter().zip(&owners_of_body) {
            if body.model.self_contact() == SelfContact::Inherent {
                for (k, &x) in owners.iter().enumerate() {
                    for &y in &owners[..k] {
                        builder.exclude_owners(x, y)?;
                    }
                }
            }
        }
        for group in &self.groups {
            let named = builder.group(&group.name)?;
            for member in &group.members {
                builder.join(indices[member.0], named)?;
            }
        }
        for exclusion in &self.exclusions {
            if let Exclusion::Groups(a, b) = *exclusion {
                let [a, b] = [a, b].map(|g| builder.group(&self.groups[g.0].name));
                builder.exclude_groups(a?, b?)?;
            }
        }
        Ok(builder.build())
    }

    /// Deforming geometries that neither their body nor an exclusion keeps from touching themselves.
    pub(super) fn with_self_contact(&self) -> Vec<usize> {
        let touches_itself = |g: usize| {
            let Some(body) = self.geometries[g].mount.deforming() else {
                return false;
            };
            if self.bodies[body.0].model.self_contact() == SelfContact::Inherent {
                return false;
            }
            !self.exclusions.iter().any(|e| match *e {
                Exclusion::Geometries(a, b) => (a.0, b.0) == (g, g),
                Exclusion::Bodies(a, b) => (a, b) == (body, body),
                Exclusion::Groups(a, b) => {
                    a == b && self.groups[a.0].members.contains(&GeometryIdx(g))
                }
                Exclusion::Frames(..) => false,
            })
        };
        (0..self.geometries.len())
            .filter(|&g| touches_itself(g))
            .collect()
    }
}
