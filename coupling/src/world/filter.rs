//! Which geometries may touch, from mounts, groups and exclusions.

use std::collections::BTreeMap;

use pliant_contact_sap::SelfContact;
use pliant_hydroelastic::{CollisionFilter, CollisionFilterBuilder, GeometryError};

use super::{Exclusion, GeometryIdx, Mount, WorldParts};

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
