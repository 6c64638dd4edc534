//! Contact geometries and what they are mounted on.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::Surface;
use pliant_hydroelastic::{Compliance, ContactMaterial, PatchGeometry, Shape, Tips};

use super::{BodyIdx, RigidSurface};

/// What a geometry is mounted on.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant_coupling::{BodyIdx, Mount};
///
/// let wheel = Mount::Frame { body: BodyIdx(2), frame: 4, X_FG: Isometry3::identity() };
/// assert_eq!(wheel.body(), Some(BodyIdx(2)));
/// assert_eq!(Mount::World(Isometry3::identity()).body(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mount {
    /// Fixed in the world, X_WG.
    World(Isometry3<f64>),
    /// Fixed on a frame F of a body, X_FG.
    Frame {
        /// The body.
        body: BodyIdx,
        /// Index of the frame in the body's surface.
        frame: u32,
        /// Pose of the geometry in that frame.
        X_FG: Isometry3<f64>,
    },
    /// The vertices of a body's surface, each a ball of its radius.
    Vertices {
        /// The body.
        body: BodyIdx,
    },
    /// The edges of a body's surface as segments of a filament: capsules of the radius of their vertices, or boxes and elliptic
    /// cylinders of their sections.
    Segments {
        /// The body.
        body: BodyIdx,
        /// How they end where they are open.
        tips: Tips,
    },
    /// The triangles and tetrahedra of a body's surface; in pairs with point contact its vertices.
    Surface {
        /// The body.
        body: BodyIdx,
    },
}

impl Mount {
    /// The body that carries the geometry, if one does.
    #[must_use]
    pub fn body(&self) -> Option<BodyIdx> {
        match *self {
            Mount::World(_) => None,
            Mount::Frame { body, .. }
            | Mount::Vertices { body }
            | Mount::Segments { body, .. }
            | Mount::Surface { body } => Some(body),
        }
    }

    /// The body whose surface, or a part of it, is the geometry.
    pub(crate) fn deforming(&self) -> Option<BodyIdx> {
        match *self {
            Mount::Vertices { body } | Mount::Segments { body, .. } | Mount::Surface { body } => {
                Some(body)
            }
            Mount::World(_) | Mount::Frame { .. } => None,
        }
    }
}

/// A contact geometry.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
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
/// # use pliant_coupling::{Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::Geometry;
///
/// // A ball at rest on a belt that runs at 1 m/s along x; both have μ = 0.5.
/// let belt = Geometry { surface_velocity: Vector3::x(), ..on_floor };
/// builder.add_geometry(on_ball);
/// builder.add_geometry(belt);
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// // After a step of 1 ms it moves at μ g δt.
/// assert!((next.bodies[0].v[3] - 0.5 * 9.81e-3).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Its name, unique in the world.
    pub name: String,
    /// What it is mounted on.
    pub mount: Mount,
    /// Its shape; none for [`Mount::Vertices`], [`Mount::Segments`] and [`Mount::Surface`].
    pub shape: Option<Shape>,
    /// Only the vertices of this part of the body's surface; none: all of them. For [`Mount::Vertices`].
    pub part: Option<u32>,
    /// Its side of patch contact, in the frame of the shape; `None`: point contact only.
    pub patch: Option<Arc<PatchGeometry>>,
    /// Compliance of the pressure field of its segments; `None`: point contact only. For [`Mount::Segments`].
    pub compliance: Option<Compliance>,
    /// Its surface.
    pub material: ContactMaterial,
    /// Velocity of the surface over the body, m/s, in the geometry's frame: a conveyor belt.
    pub surface_velocity: Vector3<f64>,
    /// Impacts and resistance to turning in point contact with rigid shapes.
    pub rigid_surface: RigidSurface,
}

impl Geometry {
    /// A shape on its mount, its surface at rest on its body.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        mount: Mount,
        shape: Shape,
        material: ContactMaterial,
    ) -> Self {
        Self {
            shape: Some(shape),
            ..Self::without_shape(name, mount, material)
        }
    }

    /// The same with patch contact, where the other geometry of a pair allows it.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use pliant_coupling::{Geometry, Mount};
    /// use pliant_hydroelastic::{Compliance, ContactMaterial, PatchGeometry, Shape};
    /// let cube = Shape::cuboid(Vector3::repeat(0.1))?;
    /// let rubber = PatchGeometry::compliant(&cube, &Compliance::default())?;
    /// let mount = Mount::World(Isometry3::identity());
    /// let _ = Geometry::new("cube", mount, cube, ContactMaterial::default()).with_patch(rubber);
    /// # Ok::<(), pliant_hydroelastic::GeometryError>(())
    /// ```
    #[must_use]
    pub fn with_patch(self, patch: PatchGeometry) -> Self {
        Self {
            patch: Some(Arc::new(patch)),
            ..self
        }
    }

    /// The same segments with a pressure field that is highest on the centreline: patch contact with each other, with compliant
    /// geometries and with rigid surfaces.
    #[must_use]
    pub fn with_compliance(self, compliance: Compliance) -> Self {
        Self {
            compliance: Some(compliance),
            ..self
        }
    }

    /// The same segments with other ends where they are open, rounded until told otherwise; whatever else it is mounted on has none.
    #[must_use]
    pub fn with_tips(self, tips: Tips) -> Self {
        let mount = match self.mount {
            Mount::Segments { body, .. } => Mount::Segments { body, tips },
            other => other,
        };
        Self { mount, ..self }
    }

    /// The surface of a body of tetrahedra, as [`SoftContact`](pliant_hydroelastic::SoftContact) has it touch: by its triangles on
    /// shapes, by its tetrahedra on other such bodies and on itself. Pairs whose rule says so touch by its vertices, as
    /// [`Geometry::of_vertices`] would.
    ///
    /// The body's default state must be its shape at rest.
    #[must_use]
    pub fn of_surface(name: impl Into<String>, body: BodyIdx, material: ContactMaterial) -> Self {
        Self {
            mount: Mount::Surface { body },
            ..Self::of_vertices(name, body, material)
        }
    }

    /// The balls about the vertices of a body's surface.
    #[must_use]
    pub fn of_vertices(name: impl Into<String>, body: BodyIdx, material: ContactMaterial) -> Self {
        Self::without_shape(name, Mount::Vertices { body }, material)
    }

    /// The segments of a rod, or of whatever else has edges, each with the section that it has. It touches itself, except near
    /// by along its chains.
    #[must_use]
    pub fn of_segments(name: impl Into<String>, body: BodyIdx, material: ContactMaterial) -> Self {
        let tips = Tips::default();
        Self::without_shape(name, Mount::Segments { body, tips }, material)
    }

    fn without_shape(name: impl Into<String>, mount: Mount, material: ContactMaterial) -> Self {
        Self {
            name: name.into(),
            mount,
            shape: None,
            part: None,
            patch: None,
            compliance: None,
            material,
            surface_velocity: Vector3::zeros(),
            rigid_surface: RigidSurface::default(),
        }
    }

    /// The same for one part of the body alone, so that each part has a material of its own.
    #[must_use]
    pub fn of_part(self, part: u32) -> Self {
        Self {
            part: Some(part),
            ..self
        }
    }

    /// X_WG, given the surfaces of all bodies.
    pub(crate) fn pose(&self, surfaces: &[Surface]) -> Isometry3<f64> {
        match self.mount {
            Mount::World(X_WG) => X_WG,
            Mount::Frame { body, frame, X_FG } => surfaces[body.0].frames[frame as usize] * X_FG,
            Mount::Vertices { .. } | Mount::Segments { .. } | Mount::Surface { .. } => {
                Isometry3::identity()
            }
        }
    }
}
