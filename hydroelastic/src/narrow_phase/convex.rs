//! Convex shapes in the narrow phase: a core with a support map, and a rounding radius.
//!
//! A sphere is a rounded point, a capsule a rounded segment. Their cores rarely overlap, so the exact distance of the
//! cores also gives the exact penetration of the shapes.

use nalgebra::{Isometry3, Matrix3, Point3, Vector2, Vector3};

use crate::Shape;
use crate::shape::{ConvexHull, TriangleFeature, closest_on_triangle, hull_nearest};
use crate::signed_distance::{self, SignedDistance};

/// A convex set given by its support map, in its own frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core<'a> {
    Point,
    /// Along z, half length.
    Segment(f64),
    /// Half edge lengths.
    Box(Vector3<f64>),
    Cylinder {
        radius: f64,
        half: f64,
    },
    EllipticCylinder {
        semi_axes: Vector2<f64>,
        half: f64,
    },
    Cone {
        radius: f64,
        half: f64,
    },
    /// Semi-axes.
    Ellipsoid(Vector3<f64>),
    Hull(&'a ConvexHull),
    Triangle([Vector3<f64>; 3]),
    /// Segment between two points, which may coincide: an edge or a vertex of a mesh.
    Edge([Vector3<f64>; 2]),
}

/// All points within `rounding` of a core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convex<'a> {
    pub(crate) core: Core<'a>,
    pub(crate) rounding: f64,
}

impl<'a> Convex<'a> {
    /// `None` for a half space (unbounded), and for a mesh or a custom shape (not convex).
    pub(crate) fn of(shape: &'a Shape) -> Option<Self> {
        let (core, rounding) = match shape {
            Shape::HalfSpace | Shape::Mesh(_) | Shape::Custom(_) => return None,
            Shape::Sphere(s) => (Core::Point, s.radius()),
            Shape::Capsule(s) => (Core::Segment(s.half_length()), s.radius()),
            Shape::Box(s) => (Core::Box(s.half_extents()), 0.0),
            Shape::Cylinder(s) => (
                Core::Cylinder {
                    radius: s.radius(),
                    half: s.half_length(),
                },
                0.0,
            ),
            Shape::EllipticCylinder(s) => (
                Core::EllipticCylinder {
                    semi_axes: s.semi_axes(),
                    half: s.half_length(),
                },
                0.0,
            ),
            Shape::Cone(s) => (
                Core::Cone {
                    radius: s.radius(),
                    half: s.half_height(),
                },
                0.0,
            ),
            Shape::Ellipsoid(s) => (Core::Ellipsoid(s.semi_axes()), 0.0),
            Shape::ConvexHull(h) => (Core::Hull(h), 0.0),
        };
        Some(Self { core, rounding })
    }
}

impl Core<'_> {
    /// The support point in direction `d` (of any length).
    pub(crate) fn support(&self, d: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Point => Vector3::zeros(),
            Self::Segment(half) => Vector3::new(0.0, 0.0, half.copysign(d.z)),
            Self::Box(half) => half.zip_map(d, f64::copysign),
            Self::Cylinder { radius, half } => {
                rim(d, &Vector2::repeat(*radius), half.copysign(d.z))
            }
            Self::EllipticCylinder { semi_axes, half } => rim(d, semi_axes, half.copysign(d.z)),
            Self::Cone { radius, half } => {
                let rho = d.x.hypot(d.y);
                if d.z * 2.0 * half > radius * rho {
                    Vector3::new(0.0, 0.0, *half)
                } else {
                    rim(d, &Vector2::repeat(*radius), -half)
                }
            }
            Self::Ellipsoid(axes) => {
                let scaled = axes.component_mul(d);
                let norm = scaled.norm();
                if norm > 0.0 {
                    axes.component_mul(&scaled) / norm
                } else {
                    Vector3::new(axes.x, 0.0, 0.0)
                }
            }
            Self::Hull(h) => h.vertices()[h.support_index(d)].coords,
            Self::Edge([p, q]) => {
                if d.dot(p) >= d.dot(q) {
                    *p
                } else {
                    *q
                }
            }
            Self::Triangle(v) => {
                let mut best = 0;
                for i in 1..3 {
                    if d.dot(&v[i]) > d.dot(&v[best]) {
                        best = i;
                    }
                }
                v[best]
            }
        }
    }

    /// Distance to the set from a point outside, with derivatives.
    pub(crate) fn distance_from(&self, p: &Vector3<f64>) -> SignedDistance<f64> {
        let at = Point3::from(*p);
        match self {
            Self::Point => signed_distance::sphere(&at, 0.0),
            Self::Segment(half) => signed_distance::capsule(&at, 0.0, *half),
            Self::Box(half) => signed_distance::cuboid(&at, half),
            Self::Cylinder { radius, half } => signed_distance::cylinder(&at, *radius, *half),
            Self::EllipticCylinder { semi_axes, half } => {
                signed_distance::elliptic_cylinder(&at, semi_axes, *half)
            }
            Self::Cone { radius, half } => signed_distance::cone(&at, *radius, *half),
            Self::Ellipsoid(axes) => signed_distance::ellipsoid(&at, axes),
            Self::Hull(h) => hull_nearest(h, &at).0,
            Self::Edge([q, r]) => {
                let along = r - q;
                let square = along.norm_squared();
                let t = if square > 0.0 {
                    (p - q).dot(&along) / square
                } else {
                    0.0
                };
                let inner = (t > 0.0 && t < 1.0).then(|| along / square.sqrt());
                let offset = p - q - along * t.clamp(0.0, 1.0);
                SignedDistance::curved(offset, inner, 1.0, Vector3::z())
            }
            Self::Triangle(v) => {
                let (q, feature) = closest_on_triangle(&at, &v.map(Point3::from));
                let side = |i: usize| (v[(i + 1) % 3] - v[i]).normalize();
                let offset = at - q;
                match feature {
                    TriangleFeature::Vertex(_) => {
                        SignedDistance::curved(offset, None, 1.0, Vector3::z())
                    }
                    TriangleFeature::Edge(i) => {
                        SignedDistance::curved(offset, Some(side(i)), 1.0, Vector3::z())
                    }
                    TriangleFeature::Face => {
                        let distance = offset.norm();
                        SignedDistance::flat(
                            distance,
                            offset.try_normalize(0.0).unwrap_or_else(Vector3::z),
                        )
                    }
                }
            }
        }
    }

    /// Whether the set has only flat faces (its distance to another such set is attained at finitely many features).
    pub(crate) fn is_polytope(&self) -> bool {
        !matches!(
            self,
            Self::Cylinder { .. }
                | Self::EllipticCylinder { .. }
                | Self::Cone { .. }
                | Self::Ellipsoid(_)
        )
    }

    /// A point in the interior.
    pub(crate) fn center(&self) -> Vector3<f64> {
        match self {
            Self::Hull(h) => h.local_aabb().center().coords,
            Self::Triangle([a, b, c]) => (a + b + c) / 3.0,
            Self::Edge([p, q]) => (p + q) * 0.5,
            Self::Cone { half, .. } => Vector3::new(0.0, 0.0, -0.5 * half),
            _ => Vector3::zeros(),
        }
    }

    /// Thickness of the set, m (the rounding of a point or segment must be added); infinite for a piece of a mesh,
    /// which has no thickness of its own.
    pub(crate) fn thickness(&self) -> f64 {
        match self {
            Self::Point | Self::Segment(_) => 0.0,
            Self::Box(half) => half.min(),
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => radius.min(*half),
            Self::EllipticCylinder { semi_axes, half } => semi_axes.min().min(*half),
            Self::Ellipsoid(axes) => axes.min(),
            Self::Hull(h) => h.local_aabb().half_extents().min(),
            Self::Triangle(_) | Self::Edge(_) => f64::INFINITY,
        }
    }

    /// Magnitude of the coordinates, m: the scale of round-off.
    pub(crate) fn extent(&self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Segment(half) => *half,
            Self::Box(half) => half.norm(),
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => radius.hypot(*half),
            Self::EllipticCylinder { semi_axes, half } => semi_axes.max().hypot(*half),
            Self::Ellipsoid(axes) => axes.max(),
            Self::Hull(h) => h.radius_about_origin(),
            Self::Triangle(v) => v.iter().map(Vector3::norm).fold(0.0, f64::max),
            Self::Edge(v) => v[0].norm().max(v[1].norm()),
        }
    }

    /// The axis of symmetry or extrusion, if there is one.
    pub(crate) fn axis(&self) -> Option<Vector3<f64>> {
        match self {
            Self::Segment(_)
            | Self::Cylinder { .. }
            | Self::EllipticCylinder { .. }
            | Self::Cone { .. } => Some(Vector3::z()),
            _ => None,
        }
    }

    /// Calls `visit` with the directions of straight edges; of round bodies, the axis.
    pub(crate) fn edge_directions(&self, mut visit: impl FnMut(Vector3<f64>)) {
        match self {
            Self::Box(_) => [Vector3::x(), Vector3::y(), Vector3::z()]
                .into_iter()
                .for_each(visit),
            Self::Triangle([a, b, c]) => [b - a, c - b, a - c].into_iter().for_each(visit),
            Self::Edge([a, b]) => visit(b - a),
            _ => self.axis().into_iter().for_each(visit),
        }
    }

    /// Calls `visit` with outward directions that are likely contact normals with a body at `other` (in this frame):
    /// the flat faces, and for curved sides the direction towards `other`.
    pub(crate) fn candidate_normals(
        &self,
        other: &Vector3<f64>,
        mut visit: impl FnMut(Vector3<f64>),
    ) {
        match self {
            Self::Point | Self::Edge(_) => {}
            Self::Box(_) => {
                for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
                    visit(axis);
                    visit(-axis);
                }
            }
            Self::Cylinder { .. } | Self::Segment(_) => {
                if matches!(self, Self::Cylinder { .. }) {
                    visit(Vector3::z());
                    visit(-Vector3::z());
                }
                visit(radial(other));
            }
            Self::EllipticCylinder { semi_axes, .. } => {
                let thin = Vector3::ith(semi_axes.imin(), 1.0);
                for axis in [Vector3::z(), thin] {
                    visit(axis);
                    visit(-axis);
                }
                let n = other
                    .xy()
                    .component_div(&semi_axes.component_mul(semi_axes));
                if let Some(n) = n.try_normalize(0.0) {
                    visit(Vector3::new(n.x, n.y, 0.0));
                }
            }
            Self::Cone { radius, half } => {
                visit(-Vector3::z());
                let u = radial(other);
                visit((u * (2.0 * half) + Vector3::z() * *radius).normalize());
            }
            Self::Ellipsoid(axes) => {
                let n = other.component_div(&axes.component_mul(axes));
                if let Some(n) = n.try_normalize(0.0) {
                    visit(n);
                }
            }
            Self::Hull(h) => {
                let towards = other - self.center();
                for face in h.faces() {
                    // In a large hull, faces that point away are expensive and never give the normal of a shallow
                    // contact.
                    if h.faces().len() <= 32 || face.normal.dot(&towards) >= 0.0 {
                        visit(face.normal);
                    }
                }
            }
            Self::Triangle([a, b, c]) => {
                if let Some(n) = (b - a).cross(&(c - a)).try_normalize(0.0) {
                    visit(n);
                    visit(-n);
                }
            }
        }
    }
}

/// Unit vector perpendicular to z, towards `other`; x on the axis.
pub(crate) fn radial(other: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(other.x, other.y, 0.0)
        .try_normalize(0.0)
        .unwrap_or_else(Vector3::x)
}

/// The support point along `d` of an ellipse perpendicular to the axis at height `z`.
pub(crate) fn rim(d: &Vector3<f64>, semi_axes: &Vector2<f64>, z: f64) -> Vector3<f64> {
    on_rim(&rim_angle(d, semi_axes), semi_axes, z)
}

/// The unit vector u = (cos θ, sin θ) of the ellipse's support point along `d`: u ∝ (a dₓ, b d_y); x for a direction
/// along the axis.
pub(crate) fn rim_angle(d: &Vector3<f64>, semi_axes: &Vector2<f64>) -> Vector3<f64> {
    // Ratios of the axes: exactly 1 for a circle.
    let ratios = semi_axes / semi_axes.max();
    radial(&Vector3::new(d.x * ratios.x, d.y * ratios.y, 0.0))
}

/// The point (a uₓ, b u_y, z) of an ellipse.
pub(crate) fn on_rim(u: &Vector3<f64>, semi_axes: &Vector2<f64>, z: f64) -> Vector3<f64> {
    Vector3::new(u.x * semi_axes.x, u.y * semi_axes.y, z)
}

/// A core A in the frame of B. The rotation of X_BA is stored as a matrix because support maps rotate two vectors per
/// call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedCore<'a> {
    pub(crate) core: Core<'a>,
    pub(crate) rotation: Matrix3<f64>,
    pub(crate) translation: Vector3<f64>,
}

impl<'a> PosedCore<'a> {
    pub(crate) fn new(core: Core<'a>, X_BA: &Isometry3<f64>) -> Self {
        Self {
            core,
            rotation: *X_BA.rotation.to_rotation_matrix().matrix(),
            translation: X_BA.translation.vector,
        }
    }

    pub(crate) fn support(&self, d: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * self.core.support(&self.rotation.tr_mul(d)) + self.translation
    }

    pub(crate) fn center(&self) -> Vector3<f64> {
        self.rotation * self.core.center() + self.translation
    }

    pub(crate) fn distance_from(&self, p: &Vector3<f64>) -> SignedDistance<f64> {
        let local = self
            .core
            .distance_from(&self.rotation.tr_mul(&(p - self.translation)));
        SignedDistance {
            value: local.value,
            gradient: self.rotation * local.gradient,
            hessian: self.rotation * local.hessian * self.rotation.transpose(),
        }
    }

    pub(crate) fn shifted(&self, shift: &Vector3<f64>) -> Self {
        Self {
            translation: self.translation + shift,
            ..*self
        }
    }
}
