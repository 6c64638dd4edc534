//! The patches between geometries at a state, to be drawn and measured.

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::Surface;
use pliant_hydroelastic::{
    Aabb, BroadPhase, ContactChoice, ContactPatch, Filament, FlatSection, PatchContact, Posed,
    Proxy, RigidShape,
};

use crate::error::StepError;
use crate::state::State;
use crate::world::{GeometryIdx, Mount, World, flat};

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
    /// Of each geometry, the filament if it has a pressure field.
    filaments: Vec<Option<Filament>>,
    sections: Vec<FlatSection>,
    still: Vec<Vector3<f64>>,
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
        let filaments = parts.filaments.iter().flatten();
        if parts.geometries.iter().all(|g| g.patch.is_none())
            && filaments.clone().all(|f| f.field().is_none())
        {
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
        self.move_filaments(world, state)?;
        self.proxies.clear();
        for g in 0..parts.geometries.len() {
            self.proxies
                .push(match posed(world, g, &self.poses, &self.filaments) {
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
            let posed = |g: GeometryIdx| posed(world, g.0, &self.poses, &self.filaments);
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

    /// Puts the filaments with a field where the vertices of their bodies are.
    fn move_filaments(&mut self, world: &World, state: &State) -> Result<(), StepError> {
        self.filaments.clear();
        for (g, filament) in world.parts.filaments.iter().enumerate() {
            let own = filament.as_ref().filter(|f| f.field().is_some());
            let (Some(own), Mount::Segments { body }) = (own, world.parts.geometries[g].mount)
            else {
                self.filaments.push(None);
                continue;
            };
            let mut filament = own.clone();
            let surface = &self.surfaces[body.0];
            self.sections.clear();
            self.sections.extend(surface.sections.iter().map(flat));
            self.still.clear();
            self.still.resize(surface.vertices.len(), Vector3::zeros());
            filament
                .move_to(&surface.vertices, &self.still, &self.sections, 0.0)
                .map_err(|source| {
                    StepError::of_pair(world, state, (GeometryIdx(g), GeometryIdx(g)), source)
                })?;
            self.filaments.push(Some(filament));
        }
        Ok(())
    }
}

/// A geometry that can have patches, at rest; half spaces among them.
fn posed<'a>(
    world: &'a World,
    g: usize,
    poses: &[Isometry3<f64>],
    filaments: &'a [Option<Filament>],
) -> Option<Posed<'a>> {
    if let Some(filament) = &filaments[g] {
        return Some(Posed::Filament(filament));
    }
    let geometry = &world.parts.geometries[g];
    let (shape, patch) = (geometry.shape.as_ref()?, geometry.patch.as_deref()?);
    Some(Posed::Rigid(RigidShape {
        patch: Some(patch),
        ..RigidShape::still(shape, poses[g])
    }))
}
