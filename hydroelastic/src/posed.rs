//! Geometry at a pose with its predicted motion: rigid shapes, deforming surfaces, filaments.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::filament::Filament;
use crate::patch_geometry::PatchGeometry;
use crate::point_contact::passing;
use crate::self_exclusion::SelfExclusion;
use crate::soft_mesh::SoftMesh;
use crate::sweep;
use crate::twist::Twist;
use crate::{Aabb, GeometryError, PressureField, Shape};

/// A rigid shape at a pose, with the motion predicted for this step.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{RigidShape, Shape, Twist};
///
/// let ball = Shape::sphere(0.1)?;
/// let V_WG = Twist { linear: Vector3::new(2.0, 0.0, 0.0), ..Twist::zero() };
/// let moving = RigidShape { V_WG, ..RigidShape::at_rest(&ball, Isometry3::identity()) };
/// assert_eq!(moving.pose_after(0.5).translation.x, 1.0);
/// // Its box during half a second.
/// let swept = moving.swept_aabb(0.5, 0.0);
/// assert!((swept.min.x + 0.1).abs() < 1e-15 && (swept.max.x - 1.1).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RigidShape<'a> {
    /// The shape, in its frame G.
    pub shape: &'a Shape,
    /// Pose of G in the world.
    pub X_WG: Isometry3<f64>,
    /// Predicted (free-motion) twist of G over the step; zero for a fixed shape. It determines only the speculative
    /// contacts.
    pub V_WG: Twist,
    /// Its patch geometry, in G; `None` for point contact only.
    pub patch: Option<&'a PatchGeometry>,
}

impl<'a> RigidShape<'a> {
    /// A shape at rest, for point contact.
    pub fn at_rest(shape: &'a Shape, X_WG: Isometry3<f64>) -> Self {
        Self {
            shape,
            X_WG,
            V_WG: Twist::zero(),
            patch: None,
        }
    }

    /// The pose after time `t` (s) of the predicted motion: constant velocity of the origin and constant angular
    /// velocity.
    pub fn pose_after(&self, t: f64) -> Isometry3<f64> {
        Isometry3::from_parts(
            Translation3::from(self.X_WG.translation.vector + self.V_WG.linear * t),
            UnitQuaternion::from_scaled_axis(self.V_WG.angular * t) * self.X_WG.rotation,
        )
    }

    /// A bounding box of the shape during the whole step, inflated by `margin` (m).
    pub fn swept_aabb(&self, time_step_s: f64, margin: f64) -> Aabb {
        let shift = self.V_WG.linear * time_step_s;
        let angle = (self.V_WG.angular.norm() * time_step_s).min(2.0);
        // A rotation moves no point further than its chord.
        let reach = if angle > 0.0 {
            angle * self.shape.radius_about_origin()
        } else {
            0.0
        };
        let mut bounds = self.shape.aabb(&self.X_WG);
        if let Some(patch) = self.patch {
            // Includes its margin and slightly protruding facets.
            bounds = bounds.merged(&patch.local_aabb().transformed(&self.X_WG));
        }
        bounds.swept(&shift).inflated(margin + reach)
    }

    /// Whether this shape and `other` approach each other so fast that one may pass deep into the other within a step.
    /// The depth is a part of the smaller thickness of the two.
    pub fn may_pass_into(&self, other: &RigidShape<'_>, time_step_s: f64) -> bool {
        let speed = sweep::approach_speed(self, other);
        speed * time_step_s > passing::allowed_depth(self.shape, other.shape)
    }

    pub(crate) fn check(&self, side: char) -> Result<(), GeometryError> {
        let pose = self.X_WG.translation.vector.sum() + self.X_WG.rotation.coords.sum();
        let twist = self.V_WG.linear.sum() + self.V_WG.angular.sum();
        for (quantity, value) in [("pose", pose), ("twist", twist)] {
            if !value.is_finite() {
                return Err(GeometryError::NotFinite {
                    quantity,
                    side,
                    value,
                });
            }
        }
        Ok(())
    }
}

/// The surface of a deforming body as balls at its vertices.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{
///     ContactGeometry, ContactWorkspace, DeformingSurface, ParticleContact, Posed, Primitive, Query, SelfExclusion,
/// };
///
/// // A rope of three balls of 1 cm, bent so far that its ends overlap by 2 mm. Neighbours are excluded.
/// let points = [Point3::origin(), Point3::new(0.01, 0.0, 0.009), Point3::new(0.0, 0.0, 0.018)];
/// let exclusion = SelfExclusion::from_edges(3, &[[0, 1], [1, 2]], 1);
/// let rope = DeformingSurface {
///     id: 0,
///     points: &points,
///     radii: &[0.01; 3],
///     velocities: &[Vector3::zeros(); 3],
///     exclusion: &exclusion,
///     field: None,
///     mesh: None,
/// };
/// let (mut found, mut workspace) = (Vec::new(), ContactWorkspace::default());
/// let side = Posed::Deforming(rope);
/// ParticleContact.collide(side, side, &Query::new(1e-3, 9.81)?, &mut workspace, &mut found).expect("a known pair")?;
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].a.primitive, found[0].b.primitive), (Primitive::Vertex(2), Primitive::Vertex(0)));
/// assert!((found[0].signed_distance + 2e-3).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeformingSurface<'a> {
    /// Identifies the surface; contact of two surfaces with the same id is self-contact.
    pub id: u64,
    /// Vertices in the world, m.
    pub points: &'a [Point3<f64>],
    /// Radius of the ball at each vertex, m. Zero is allowed: such a point touches shapes but no other points.
    /// Negative: the vertex belongs to another surface and makes no contact.
    pub radii: &'a [f64],
    /// Predicted velocity of each vertex over the step, m/s.
    pub velocities: &'a [Vector3<f64>],
    /// Pairs of vertices excluded from self-contact.
    pub exclusion: &'a SelfExclusion,
    /// A pressure field that moves with the surface, in the world frame and [attached](PressureField::attached) to it;
    /// `None` if it makes contact by its balls only.
    pub field: Option<&'a PressureField>,
    /// Triangles and tetrahedra that move with the surface and have the same vertices; `None` if it makes contact by
    /// its balls and its field only.
    pub mesh: Option<&'a SoftMesh>,
}

impl DeformingSurface<'_> {
    /// A bounding box of all balls during the whole step, inflated by `margin` (m).
    pub fn swept_aabb(&self, time_step_s: f64, margin: f64) -> Aabb {
        let mut bounds = Aabb::EMPTY;
        let own = |((_, r), _): &((_, &f64), _)| **r >= 0.0;
        let all = self.points.iter().zip(self.radii).zip(self.velocities);
        for ((p, r), v) in all.filter(own) {
            let ball = Aabb::from_half_extents(*p, Vector3::repeat(*r));
            bounds = bounds.merged(&ball.swept(&(v * time_step_s)));
        }
        if let Some(field) = self.field {
            bounds = bounds.merged(&field.local_aabb());
        }
        if let Some(mesh) = self.mesh {
            bounds = bounds.merged(&mesh.swept_aabb(0.0));
        }
        bounds.inflated(margin)
    }

    /// Σ weights·points, m; vertices out of range are skipped.
    pub(crate) fn weighted_point(&self, vertices: &[u32; 4], weights: &[f64; 4]) -> Point3<f64> {
        let mut sum = Vector3::zeros();
        for (v, w) in vertices.iter().zip(weights) {
            if let Some(p) = self.points.get(*v as usize) {
                sum += p.coords * *w;
            }
        }
        sum.into()
    }

    pub(crate) fn check(&self, side: char) -> Result<(), GeometryError> {
        let points = self.points.len();
        if let Some(mesh) = self.mesh
            && mesh.n_points() != points
        {
            return Err(GeometryError::ArrayLength {
                geometry: "deforming surface",
                what: "vertices of its mesh",
                found: mesh.n_points(),
                expected: points,
            });
        }
        if let Some(field) = self.field
            && !field.is_attached()
        {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "attachments",
                expected: field.tets().len(),
                found: 0,
            });
        }
        for (what, found) in [
            ("radii", self.radii.len()),
            ("velocities", self.velocities.len()),
        ] {
            if found != points {
                return Err(GeometryError::ArrayLength {
                    geometry: "deforming surface",
                    what,
                    found,
                    expected: points,
                });
            }
        }
        let numbers = [
            (
                "point",
                self.points
                    .iter()
                    .map(|p| p.coords.sum())
                    .find(|x| !x.is_finite()),
            ),
            (
                "radius",
                self.radii.iter().copied().find(|x| !x.is_finite()),
            ),
            (
                "velocity",
                self.velocities
                    .iter()
                    .map(|v| v.sum())
                    .find(|x| !x.is_finite()),
            ),
        ];
        for (quantity, found) in numbers {
            if let Some(value) = found {
                return Err(GeometryError::NotFinite {
                    quantity,
                    side,
                    value,
                });
            }
        }
        Ok(())
    }
}

/// One side of a pair.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Filament, Posed, RigidShape, Shape, Twist};
///
/// // A ball of 0.1 m that falls at 5 m/s, 2 mm above a rod of 1 cm radius: their boxes for a step of 1 ms overlap.
/// let ball = Shape::sphere(0.1)?;
/// let V_WG = Twist { linear: Vector3::z() * -5.0, ..Twist::zero() };
/// let falling = RigidShape { V_WG, ..RigidShape::at_rest(&ball, Isometry3::translation(0.0, 0.0, 0.112)) };
/// let rod = Filament::new(0, &[Point3::new(-1.0, 0.0, 0.0), Point3::new(1.0, 0.0, 0.0)], &[[0, 1]], &[0.01; 2])?;
/// let boxes = [Posed::Rigid(falling), Posed::Filament(&rod)].map(|side| side.swept_aabb(1e-3, 0.0));
/// assert!((boxes[0].min.z - 0.007).abs() < 1e-15); // 12 mm less 5 mm
/// assert!(boxes[0].intersects(&boxes[1]));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Posed<'a> {
    /// A rigid shape.
    Rigid(RigidShape<'a>),
    /// A deforming surface.
    Deforming(DeformingSurface<'a>),
    /// A filament.
    Filament(&'a Filament),
}

impl Posed<'_> {
    /// A bounding box of the geometry during the whole step, inflated by `margin` (m).
    pub fn swept_aabb(&self, time_step_s: f64, margin: f64) -> Aabb {
        match self {
            Self::Rigid(r) => r.swept_aabb(time_step_s, margin),
            Self::Deforming(s) => s.swept_aabb(time_step_s, margin),
            Self::Filament(f) => f.swept_aabb(margin),
        }
    }

    /// Whether contact with `other` is self-contact.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Deforming(s), Self::Deforming(t)) => s.id == t.id,
            (Self::Filament(f), Self::Filament(g)) => f.id() == g.id(),
            _ => false,
        }
    }

    /// Checks that all numbers are finite and all arrays complete.
    pub(crate) fn check(&self, side: char) -> Result<(), GeometryError> {
        match self {
            Self::Rigid(r) => r.check(side),
            Self::Deforming(s) => s.check(side),
            Self::Filament(f) => f.check(side),
        }
    }
}
