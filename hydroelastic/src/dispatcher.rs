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
/// use nalgebra::Isometry3;
/// use pliant_hydroelastic::{
///     ContactGeometry, ContactPoint, ContactWorkspace, GeometryDispatcher, GeometryError, Posed, Query, RigidShape, Shape,
/// };
///
/// /// Two balls pass through each other.
/// struct GhostlyBalls;
/// impl ContactGeometry for GhostlyBalls {
///     fn collide(
///         &self,
///         a: Posed<'_>,
///         b: Posed<'_>,
///         _: &Query,
///         _: &mut ContactWorkspace,
///         _: &mut Vec<ContactPoint>,
///     ) -> Option<Result<(), GeometryError>> {
///         let is_ball = |side| matches!(side, Posed::Rigid(RigidShape { shape: Shape::Sphere(_), .. }));
///         (is_ball(a) && is_ball(b)).then_some(Ok(()))
///     }
/// }
/// let mut geometry = GeometryDispatcher::default();
/// geometry.push_front(Box::new(GhostlyBalls));
/// // A ball of 0.1 m overlaps another and the floor: the floor is left to the implementations after the new one.
/// let (ball, floor) = (Shape::sphere(0.1)?, Shape::half_space());
/// let at = |x: f64| Posed::Rigid(RigidShape::at_rest(&ball, Isometry3::translation(x, 0.0, 0.09)));
/// let ground = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
/// let contacts = |a, b| {
///     let (mut points, query) = (Vec::new(), Query::new(1e-3, 9.81)?);
///     let answer = geometry.collide(a, b, &query, &mut ContactWorkspace::default(), &mut points);
///     answer.expect("a known pair").map(|()| points.len())
/// };
/// assert_eq!((contacts(at(0.0), at(0.1))?, contacts(at(0.0), ground)?), (0, 1));
/// # Ok::<(), GeometryError>(())
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

    fn find_passing(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        self.implementations
            .iter()
            .find_map(|e| e.find_passing(a, b, q, workspace, out))
    }
}
