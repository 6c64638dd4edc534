//! One point of contact as a solver needs it.

use nalgebra::{Point3, Vector3};

/// One point of contact between A and B.
///
/// Its gap is that of two material points, one on each surface: a solver takes the velocity of A at `a` and that of B
/// at `b`, not both at [`p_WC`](Self::p_WC), because the two points of a speculative contact can be far apart. With v_n
/// the relative normal velocity, `signed_distance` + Δt·v_n is the gap at the end of the step.
///
/// A point of a patch ([`PointStiffness::OfPatch`], [`PointStiffness::OfArea`]) lies on the equilibrium surface inside
/// both bodies. Both material points are there, and the signed distance −p₀/g is that of a spring whose force is the
/// patch's.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, GeometryDispatcher, Posed, Query, Shape};
/// use pliant_hydroelastic::{RigidShape, Twist};
///
/// # let (ball, table) = (Shape::sphere(0.1)?, Shape::cuboid(Vector3::new(1.0, 1.0, 0.1))?);
/// // A ball 4 mm above a table falls at 10 m/s: they meet after 0.4 of a step of 1 ms.
/// let V_WG = Twist { linear: Vector3::new(0.0, 0.0, -10.0), ..Twist::zero() };
/// let a = RigidShape { V_WG, ..RigidShape::at_rest(&ball, Isometry3::translation(0.0, 0.0, 0.104)) };
/// # let b = Posed::Rigid(RigidShape::at_rest(&table, Isometry3::translation(0.0, 0.0, -0.05)));
/// # let mut points = Vec::new();
/// # let geometry = GeometryDispatcher::default();
/// # geometry.collide(Posed::Rigid(a), b, &Query::new(1e-3, 9.81)?, &mut ContactWorkspace::default(), &mut points).expect("a known pair")?;
/// let speculative = &points[0];
/// assert!((speculative.entry - 0.4).abs() < 1e-3);
/// assert!((speculative.signed_distance - 4e-3).abs() < 1e-9);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Position of the contact in the world, m: the midpoint of the two material points.
    pub p_WC: Point3<f64>,
    /// Unit normal in the world, from B into A.
    pub normal_W: Vector3<f64>,
    /// φ₀ at the start of the step, m; negative in penetration, positive while the surfaces are still apart.
    pub signed_distance: f64,
    /// Stiffness against further approach at this point.
    pub stiffness: PointStiffness,
    /// The material point of A in contact.
    pub a: MaterialPoint,
    /// The material point of B in contact.
    pub b: MaterialPoint,
    /// Constant over time while the same features touch; unique among the points of one pair.
    pub key: ContactKey,
    /// Time of impact as a fraction of the step: 0 for a pair within its resting margin and in point contact of a rigid
    /// shape with a half space, otherwise the time at which the predicted paths intersect.
    pub entry: f64,
}

impl ContactPoint {
    /// The part of a patch that the point represents; `None` in point contact. `stiffness` (N/m) is that of the point in use, which
    /// gives the pressure where no pressure field does. It may be less than [`PointStiffness::of_pair`]: contact laws cap it.
    #[must_use]
    pub fn patch_share(&self, stiffness: f64) -> Option<PatchShare> {
        match self.stiffness {
            PointStiffness::Share(_) => None,
            PointStiffness::OfPatch { share, .. } => Some(share),
            PointStiffness::OfArea { area, .. } => Some(match area > 0.0 {
                true => PatchShare {
                    area,
                    pressure_max: stiffness * (-self.signed_distance).max(0.0) / area,
                },
                false => PatchShare::default(),
            }),
        }
    }

    /// The same contact with A and B exchanged.
    pub fn swapped(&self) -> Self {
        Self {
            normal_W: -self.normal_W,
            stiffness: self.stiffness.swapped(),
            a: self.b,
            b: self.a,
            key: self.key.swapped(),
            ..*self
        }
    }
}

/// The stiffness of a contact point.
///
/// ```
/// use pliant_hydroelastic::{PatchShare, PointStiffness};
///
/// // One of two points of a pair of 10 kN/m in point contact; the pressure fields of a patch determine its own.
/// assert_eq!(PointStiffness::Share(0.5).of_pair(1e4), 5e3);
/// let patch = PointStiffness::OfPatch { stiffness: 2e5, fraction_A: 0.3, share: PatchShare::default() };
/// assert_eq!(patch.of_pair(1e4), 2e5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointStiffness {
    /// Point contact: dimensionless share of the pair's stiffness (N/m per point).
    ///
    /// A single point has a share of one, so has each end of a line and each corner of a rectangle. Where more corners
    /// form the patch, or the patch shrinks, the shares shrink, so that the pair's total force is continuous while
    /// corners appear and vanish.
    Share(f64),
    /// Patch of a soft body's surface whose stiffness no pressure field determines.
    OfArea {
        /// As in [`PointStiffness::Share`].
        share: f64,
        /// Area represented by the point, m²; zero for a speculative contact.
        area: f64,
    },
    /// Patch contact: the stiffness follows from the pressure fields.
    OfPatch {
        /// k, N/m.
        stiffness: f64,
        /// Fraction of an approach that A takes up by deformation, from 0 (A is rigid) to 1 (B is rigid).
        fraction_A: f64,
        /// The part of the patch that the point represents.
        share: PatchShare,
    },
}

/// The part of a patch that a point represents; all zero for a speculative contact.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{Compliance, ContactGeometry, ContactWorkspace, PatchContact, PatchGeometry};
/// # use pliant_hydroelastic::{Posed, Query, RigidShape, Shape};
///
/// // A cube of 10 cm and E = 10 MPa, 5 cm deep, presses 1 mm into a rigid floor: p ≤ E · 1 mm/5 cm = 0.2 MPa.
/// # let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// # let soft = PatchGeometry::compliant(&cube, &Compliance { hydroelastic_modulus: 1e7, ..Compliance::default() })?;
/// # let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// # let X_WA = Isometry3::translation(0.0, 0.0, 0.049);
/// # let a = Posed::Rigid(RigidShape { patch: Some(&soft), ..RigidShape::at_rest(&cube, X_WA) });
/// # let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// let mut points = Vec::new();
/// # let (query, mut workspace) = (Query::new(1e-3, 9.81)?, ContactWorkspace::default());
/// PatchContact.collide(a, b, &query, &mut workspace, &mut points).expect("a compliant pair")?;
/// let shares: Vec<_> = points.iter().filter_map(|c| c.patch_share(c.stiffness.of_pair(0.0))).collect();
/// let area: f64 = shares.iter().map(|share| share.area).sum();
/// assert!((area - 0.01).abs() < 1e-12); // 10 cm × 10 cm
/// assert!(shares.iter().all(|share| (share.pressure_max - 2e5).abs() < 1e-3));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchShare {
    /// Area, m²; the areas of a pair's points sum to the area of its patch.
    pub area: f64,
    /// Highest pressure at the corners of its polygons, Pa; for triangles of a soft body, the pressure at the point.
    pub pressure_max: f64,
}

impl PointStiffness {
    /// k, N/m, where a point of share one has the stiffness `of_share_one` (N/m).
    #[must_use]
    pub fn of_pair(&self, of_share_one: f64) -> f64 {
        match *self {
            Self::Share(share) | Self::OfArea { share, .. } => of_share_one * share,
            Self::OfPatch { stiffness, .. } => stiffness,
        }
    }

    fn swapped(&self) -> Self {
        match *self {
            Self::Share(_) | Self::OfArea { .. } => *self,
            Self::OfPatch {
                stiffness,
                fraction_A,
                share,
            } => Self::OfPatch {
                stiffness,
                fraction_A: 1.0 - fraction_A,
                share,
            },
        }
    }
}

/// The primitive that a material point is attached to.
///
/// ```
/// use nalgebra::{Isometry3, Point3};
/// use pliant_hydroelastic::{Filament, FilamentContact, Primitive};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, Posed, Query, RigidShape, Shape};
///
/// // A ball lies on the second segment of a rope.
/// let points = [0.0, 0.1, 0.2].map(|x| Point3::new(x, 0.0, 0.0));
/// let rope = Filament::new(0, &points, &[[0, 1], [1, 2]], &[0.01; 3])?;
/// let ball = Shape::sphere(0.05)?;
/// let b = Posed::Rigid(RigidShape::at_rest(&ball, Isometry3::translation(0.15, 0.0, 0.059)));
/// # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
/// FilamentContact.collide(Posed::Filament(&rope), b, &query, &mut workspace, &mut found).expect("a known pair")?;
/// assert_eq!((found[0].a.primitive, found[0].b.primitive), (Primitive::Edge(1), Primitive::Frame));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Primitive {
    /// The frame G of a rigid shape.
    Frame,
    /// A vertex of a deforming surface.
    Vertex(u32),
    /// A segment of a deforming surface.
    Edge(u32),
    /// A triangle of a deforming surface.
    Triangle(u32),
    /// A tetrahedron of a deforming body.
    Tetrahedron(u32),
}

/// A point that moves with a body: Σ weights·vertices of the primitive, plus an offset.
///
/// ```
/// use nalgebra::{Isometry3, Point3};
/// use pliant_hydroelastic::{Filament, FilamentContact};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, Posed, Query, RigidShape, Shape};
///
/// // A ball lies on a segment of a rope of 1 cm radius, a quarter of its length from its first vertex, and overlaps it by 1 mm.
/// let ends = [Point3::origin(), Point3::new(0.2, 0.0, 0.0)];
/// let rope = Filament::new(0, &ends, &[[0, 1]], &[0.01; 2])?;
/// let ball = Shape::sphere(0.05)?;
/// let X_WB = Isometry3::translation(0.05, 0.0, 0.059);
/// # let b = Posed::Rigid(RigidShape::at_rest(&ball, X_WB));
/// # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
/// FilamentContact.collide(Posed::Filament(&rope), b, &query, &mut workspace, &mut found).expect("a known pair")?;
/// let contact = &found[0];
/// assert!((contact.a.weights[0] - 0.75).abs() < 1e-9 && (contact.a.weights[1] - 0.25).abs() < 1e-9);
/// let on_axis = ends[0].coords * contact.a.weights[0] + ends[1].coords * contact.a.weights[1];
/// assert!((on_axis + contact.a.offset - Point3::new(0.05, 0.0, 0.01).coords).norm() < 1e-9); // the top of the rope
/// let on_ball = X_WB * Point3::from(contact.b.offset);
/// assert!((on_ball - Point3::new(0.05, 0.0, 0.009)).norm() < 1e-9);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialPoint {
    /// The primitive that it is attached to.
    pub primitive: Primitive,
    /// Barycentric weights of the primitive's vertices (unused ones zero); (1, 0, 0, 0) for a frame.
    pub weights: [f64; 4],
    /// For a frame: the point p_GC in frame G, m. For a deforming surface: from the interpolated point to the contact,
    /// world axes, m (for instance the radius of a particle along the normal).
    pub offset: Vector3<f64>,
}

impl MaterialPoint {
    /// A point of a rigid shape, given in its geometry frame.
    pub fn on_frame(p_GC: Vector3<f64>) -> Self {
        Self {
            primitive: Primitive::Frame,
            weights: [1.0, 0.0, 0.0, 0.0],
            offset: p_GC,
        }
    }

    /// A point at a vertex of a deforming surface, displaced by `offset_W`.
    pub fn on_vertex(vertex: u32, offset_W: Vector3<f64>) -> Self {
        Self {
            primitive: Primitive::Vertex(vertex),
            weights: [1.0, 0.0, 0.0, 0.0],
            offset: offset_W,
        }
    }
}

/// Identifies a contact by the features that touch, so that warm starts and attachments carry over to the next step.
///
/// Unique within one pair of geometries; a caller that stores contacts of several pairs adds the indices of the pair.
///
/// ```
/// use pliant_hydroelastic::ContactKey;
///
/// let face_and_vertex = ContactKey::new(2, 7);
/// assert_eq!(face_and_vertex.swapped(), ContactKey::new(7, 2));
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct ContactKey(pub u64);

impl ContactKey {
    /// The key for a feature of A in contact with a feature of B.
    pub const fn new(feature_a: u32, feature_b: u32) -> Self {
        Self((feature_a as u64) << 32 | feature_b as u64)
    }

    /// The features of A and of B.
    pub(crate) const fn features(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }

    /// The key of the same contact with A and B exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self(self.0.rotate_left(32))
    }
}
