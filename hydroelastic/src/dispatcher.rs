//! Choice of the contact implementation for a pair.

use crate::GeometryError;
use crate::contact_geometry::{ContactGeometry, Query};
use crate::contact_point::ContactPoint;
use crate::contact_workspace::ContactWorkspace;
use crate::filament_contact::FilamentContact;
use crate::particle_contact::ParticleContact;
use crate::patch::PatchContact;
use crate::point_contact::PointContact;
use crate::posed::Posed;
use crate::soft_contact::SoftContact;

/// Tries a list of contact implementations in order; the first that handles the pair computes its contacts.
///
/// ```
/// use pliant_hydroelastic::{ContactGeometry, GeometryDispatcher};
/// let mut geometry = GeometryDispatcher::default(); // patches, points of rigid shapes, particles, filaments
/// // geometry.push_front(Box::new(MyTerrain::new()));  // tried before the built-in ones
/// # let _: &dyn ContactGeometry = &geometry;
/// ```
pub struct GeometryDispatcher {
    implementations: Vec<Box<dyn ContactGeometry>>,
}

impl Default for GeometryDispatcher {
    /// [`SoftContact`](crate::SoftContact) for deforming meshes, [`PatchContact`](crate::PatchContact) for pairs that
    /// have a patch (unless points are requested), then [`PointContact`](crate::PointContact),
    /// [`ParticleContact`](crate::ParticleContact) and [`FilamentContact`](crate::FilamentContact).
    fn default() -> Self {
        Self {
            implementations: vec![
                Box::new(SoftContact),
                Box::new(PatchContact),
                Box::new(PointContact),
                Box::new(ParticleContact),
                Box::new(FilamentContact),
            ],
        }
    }
}

impl GeometryDispatcher {
    /// A dispatcher without implementations.
    pub fn empty() -> Self {
        Self {
            implementations: Vec::new(),
        }
    }

    /// Adds an implementation that is tried before all others.
    pub fn push_front(&mut self, implementation: Box<dyn ContactGeometry>) {
        self.implementations.insert(0, implementation);
    }
}

impl ContactGeometry for GeometryDispatcher {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        self.implementations
            .iter()
            .find_map(|e| e.collide(a, b, q, workspace, out))
    }
}
