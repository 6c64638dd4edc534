//! Attachments as the state keeps them.

use nalgebra::Point3;
use pliant_hydroelastic::{Facing, MeshPlace};
use serde::{Deserialize, Serialize};

use crate::world::GeometryIdx;

/// The attachment of a particle to an object, X, kept from step to step.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, -9.81 / 4e4, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, State, WorldBuilder};
/// use pliant_coupling::{PenaltyForce, PenaltyForceSettings, Stepper};
///
/// // A box at rest on a floor, its four lower corners attached.
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # let (world, mut next, mut after) = (builder.build()?, State::default(), State::default());
/// let settings = PenaltyForceSettings { box_particles: 2, ..PenaltyForceSettings::default() };
/// let mut stepper = PenaltyForce::new(settings)?;
/// assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// assert!(stepper.step(&world, &next, 1e-3, &mut after)?.is_trusted());
/// let attachments = &next.memory.attachments;
/// assert!(attachments.iter().all(|x| (x.object, x.particles) == (floor, cube)));
/// assert!(attachments.is_sorted_by(|x, y| x.key() < y.key()));
/// assert_eq!(&after.memory.attachments, attachments); // bit for bit
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// Whose surface it is on.
    pub object: GeometryIdx,
    /// The geometry whose particle it holds.
    pub particles: GeometryIdx,
    /// The particle; of two edges the first vertex of the first.
    pub particle: u32,
    /// Where the particle is in the frame of its geometry, if it is a point of an edge that lies across the boundary of the object; `None` for those that a
    /// geometry always has.
    #[serde(default)]
    pub on_edge: Option<Point3<f64>>,
    /// Where it is.
    pub place: AttachmentPlace,
    /// What it did in the last step.
    pub motion: AttachmentMotion,
}

/// What an attachment did in a step, which determines its coefficient of friction in the next one.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, -9.81 / 4e4, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, State, WorldBuilder};
/// use pliant_coupling::{AttachmentMotion, PenaltyForce, PenaltyForceSettings, Stepper};
///
/// // A box on a slope of 3 m/s², with μ = 0.1.
/// # let material = ContactMaterial { stiffness: 2e4, friction: 0.1, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// builder.gravity(Vector3::new(3.0, 0.0, -9.81));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let settings = PenaltyForceSettings { box_particles: 2, ..PenaltyForceSettings::default() };
/// assert!(PenaltyForce::new(settings)?.step(&world, &world.default_state(), 0.01, &mut next)?.is_trusted());
/// assert!(next.memory.attachments.iter().all(|x| x.motion == AttachmentMotion::Slid));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttachmentMotion {
    /// It stayed, or is new: μ_s.
    #[default]
    Stuck,
    /// It slid: μ.
    Slid,
}

/// Where an attachment is on its object.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, -9.81 / 4e4, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, State, WorldBuilder};
/// use pliant_coupling::{AttachmentPlace, PenaltyForce, PenaltyForceSettings, Stepper};
///
/// // A box of 0.2 m on a floor: attachments are on the surface of the floor, in its frame.
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let settings = PenaltyForceSettings { box_particles: 2, ..PenaltyForceSettings::default() };
/// assert!(PenaltyForce::new(settings)?.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// for attachment in &next.memory.attachments {
///     let AttachmentPlace::InFrame(p) = attachment.place else { panic!("a half-space has no triangles") };
///     assert!((p.x.abs() - 0.1).abs() < 1e-9 && (p.y.abs() - 0.1).abs() < 1e-9 && p.z.abs() < 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum AttachmentPlace {
    /// At a point of the geometry's frame, m.
    InFrame(Point3<f64>),
    /// On a triangle of the surface.
    OnMesh {
        /// The triangle, among those of the geometry, and the weights of its vertices.
        place: MeshPlace,
        /// The side on which the particle is kept.
        facing: Facing,
    },
    /// Between two edges.
    Crossing(EdgeCrossing),
}

/// An attachment between two edges that cross, one of the object and one of the surface that the particles are of.
///
/// ```
/// # use nalgebra::{Point3, Rotation3, Vector3};
/// # use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
/// # use pliant_coupling::{EdgeContact, Geometry, GeometryIdx, PairRule, PenaltyForce, PenaltyForceSettings, State, Stepper, WorldBuilder};
/// # use pliant_hydroelastic::ContactMaterial;
/// use pliant_coupling::{AttachmentPlace, EdgeCrossing};
///
/// // Two square sheets, one turned by 45 degrees, meet in an eight-pointed star: each side is crossed twice, at 0.29 and 0.71 of it.
/// # let mut builder = WorldBuilder::default();
/// # builder.gravity(Vector3::zeros());
/// # for (name, z) in [("low", 0.0), ("high", 5e-4)] {
/// #     let corner_W = Point3::new(-0.05, -0.05, z);
/// #     let net = NetSettings { n: 2, spacing: 0.1, node_mass: 0.01, stiffness: 200.0, damping: 0.2, radius: 0.0, corner_W };
/// #     let body = builder.add_body(name, Box::new(MassSpringNet::new(net)?));
/// #     builder.add_geometry(Geometry::of_vertices(name, body, ContactMaterial { stiffness: 200.0, ..ContactMaterial::default() }));
/// # }
/// # builder.pair_rule(GeometryIdx(0), GeometryIdx(1), PairRule { edges: EdgeContact::Crossing, ..PairRule::default() });
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut state = world.default_state();
/// # let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_4);
/// # for p in state.bodies[1].q.chunks_exact_mut(3) {
/// #     let turned = turn * Vector3::from_column_slice(p);
/// #     p.copy_from_slice(turned.as_slice());
/// # }
/// # state.bodies[1].v.iter_mut().skip(2).step_by(3).for_each(|v| *v = -1.0);
/// # let mut stepper = PenaltyForce::new(PenaltyForceSettings::default())?;
/// # assert!(stepper.step(&world, &state, 1e-3, &mut next)?.is_trusted());
/// let mut crossings = 0;
/// for attachment in &next.memory.attachments {
///     let AttachmentPlace::Crossing(EdgeCrossing { first, second, at, .. }) = attachment.place else { continue };
///     let diagonal = [0, 3]; // of the two triangles of a sheet
///     if first != diagonal && second != diagonal {
///         crossings += 1;
///         assert!(at.iter().all(|s| (s.min(1.0 - s) - (1.0 - 0.5_f64.sqrt())).abs() < 1e-3));
///     }
/// }
/// assert_eq!(crossings, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeCrossing {
    /// Vertices of the edge of the particles' surface.
    pub first: [u32; 2],
    /// Vertices of the edge of the object.
    pub second: [u32; 2],
    /// Where it is on each, 0 at the first vertex and 1 at the second.
    pub at: [f64; 2],
    /// The side of the second that the first is kept on: in front is that of the product of their directions.
    pub facing: Facing,
}

impl EdgeCrossing {
    pub(super) fn edges(&self) -> [[u32; 2]; 2] {
        [self.first, self.second]
    }
}

/// A particle of a geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Particle {
    pub(super) index: usize,
    /// [`Attachment::on_edge`].
    pub(super) on_edge: Option<Point3<f64>>,
}

impl Particle {
    /// One that its geometry always has.
    pub(super) fn own(index: usize) -> Self {
        Self {
            index,
            on_edge: None,
        }
    }
}

impl Attachment {
    pub(super) fn of_particle(&self) -> Particle {
        Particle {
            index: self.particle as usize,
            on_edge: self.on_edge,
        }
    }

    /// What is attached to what: the order of attachments in a state, in which each key occurs once.
    #[must_use]
    pub fn key(&self) -> (GeometryIdx, GeometryIdx, u32, [u32; 3]) {
        let others = match &self.place {
            AttachmentPlace::Crossing(crossing) => {
                [crossing.first[1], crossing.second[0], crossing.second[1]]
            }
            AttachmentPlace::InFrame(_) | AttachmentPlace::OnMesh { .. } => [0; 3],
        };
        (self.object, self.particles, self.particle, others)
    }
}
