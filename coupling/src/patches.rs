//! The patches between geometries at a state, to be drawn and measured.

use nalgebra::Isometry3;
use pliant_contact_sap::Surface;
use pliant_hydroelastic::{
    Aabb, BroadPhase, ContactChoice, ContactPatch, PatchContact, Posed, Proxy, RigidShape,
};

use crate::error::StepError;
use crate::state::State;
use crate::world::{GeometryIdx, World};

/// The patch of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairPatch {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B, after A.
    pub b: GeometryIdx,
    /// What they share; normals point from B into A.
    pub patch: ContactPatch,
}

/// Finds the patches of a world at a state. A step needs none of it: it computes what it needs itself.
///
/// Keeps memory for the next search only.
#[derive(Default)]
pub struct PatchFinder {
    surfaces: Vec<Surface>,
    poses: Vec<Isometry3<f64>>,
    proxies: Vec<Proxy>,
    broad_phase: BroadPhase,
    candidates: Vec<(
        pliant_hydroelastic::GeometryIdx,
        pliant_hydroelastic::GeometryIdx,
    )>,
    /// Those after the found ones are memory.
    patches: Vec<PairPatch>,
}

impl PatchFinder {
    /// The patches of all pairs that press on each other in one at `state`, by pair. Elastic pressure: friction and dissipation
    /// are known after a step only.
    ///
    /// # Errors
    /// [`StepError::Geometry`] for a pose that is not finite.
    pub fn find(&mut self, world: &World, state: &State) -> Result<&[PairPatch], StepError> {
        let parts = &world.parts;
        if parts.geometries.iter().all(|g| g.patch.is_none()) {
            return Ok(&[]);
        }
        self.surfaces
            .resize_with(parts.bodies.len(), Surface::default);
        for ((body, surface), state) in parts
            .bodies
            .iter()
            .zip(&mut self.surfaces)
            .zip(&state.bodies)
        {
            body.model.surface(state, surface);
        }
        self.poses.clear();
        let poses = parts.geometries.iter().map(|g| g.pose(&self.surfaces));
        self.poses.extend(poses);
        self.proxies.clear();
        for g in 0..parts.geometries.len() {
            self.proxies.push(match posed(world, g, &self.poses) {
                Some(posed) => Proxy::of(&posed, 0.0, 0.0),
                None => Proxy::Box(Aabb::EMPTY),
            });
        }
        self.broad_phase
            .candidates(&self.proxies, &parts.filter, &mut self.candidates);
        let mut found = 0;
        for (a, b) in &self.candidates {
            let (a, b) = (GeometryIdx(a.0 as usize), GeometryIdx(b.0 as usize));
            if world.choice(a, b) == ContactChoice::Point {
                continue;
            }
            let posed = |g: GeometryIdx| posed(world, g.0, &self.poses);
            let (Some(posed_a), Some(posed_b)) = (posed(a), posed(b)) else {
                continue;
            };
            if found == self.patches.len() {
                self.patches.push(PairPatch {
                    a,
                    b,
                    patch: ContactPatch::default(),
                });
            }
            let pair = &mut self.patches[found];
            (pair.a, pair.b) = (a, b);
            match PatchContact.patch(posed_a, posed_b, &mut pair.patch) {
                Some(Err(source)) => {
                    return Err(StepError::of_pair(world, state, (a, b), source));
                }
                Some(Ok(())) if !pair.patch.polygons().is_empty() => found += 1,
                _ => {}
            }
        }
        Ok(&self.patches[..found])
    }
}

/// A geometry that can have patches, at rest; half spaces among them.
fn posed<'a>(world: &'a World, g: usize, poses: &[Isometry3<f64>]) -> Option<Posed<'a>> {
    let geometry = &world.parts.geometries[g];
    let (shape, patch) = (geometry.shape.as_ref()?, geometry.patch.as_deref()?);
    Some(Posed::Rigid(RigidShape {
        patch: Some(patch),
        ..RigidShape::still(shape, poses[g])
    }))
}
