//! The world: bodies, their contact geometries, constraints, and the rules of contact. Built once, checked once, then immutable.

mod builder;
mod checks;
mod filaments;
mod filter;
mod pair_rule;

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{DeformableModel, Energy, Surface};
use pliant_hydroelastic::{
    CollisionFilter, Compliance, ContactChoice, ContactMaterial, Filament, PairMaterial,
    PatchGeometry, PointStiffness, Shape, SoftMesh, Tips,
};

use crate::constraint::Constraint;
use crate::settings::ContactSettings;
use crate::state::{ConstraintState, State, StepperMemory};

pub use builder::WorldBuilder;
pub(crate) use filaments::flat;
pub use pair_rule::{Anisotropy, EdgeContact, PairRule};

/// Names a body of a world.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?));
/// use pliant_coupling::WorldBuilder;
///
/// let mut builder = WorldBuilder::default();
/// builder.add_body("first", Box::new(ball.clone()));
/// let second = builder.add_body("second", Box::new(ball.starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6])));
/// let world = builder.build()?;
/// assert_eq!(world.body_name(second), "second");
/// let state = world.default_state();
/// assert_eq!(state.bodies[second.0].q[2], 0.3); // states, controls and models are in the order of the bodies
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct BodyIdx(pub usize);

/// Names a geometry of a world.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant_coupling::{Geometry, Mount, WorldBuilder};
/// use pliant_hydroelastic::{ContactMaterial, Shape};
///
/// let mut builder = WorldBuilder::default();
/// let mount = Mount::World(Isometry3::identity());
/// let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default()));
/// let stone = builder.add_geometry(Geometry::new("stone", mount, Shape::sphere(0.1)?, ContactMaterial::default()));
/// let world = builder.build()?;
/// assert_eq!(world.geometries()[stone.0].name, "stone");
/// assert!(floor < stone); // so the floor is A in their contacts
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct GeometryIdx(pub usize);

/// Names a constraint of a world.
///
/// ```
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind, StrongImplicit, WorldBuilder};
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # let to = |name: &str, x: f64| Constraint {
/// #     name: name.into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(x, 0.0, 1.0)),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # };
/// use pliant_coupling::ConstraintState;
///
/// // A ball on two threads.
/// let left = builder.add_constraint(to("left", -0.5));
/// let right = builder.add_constraint(to("right", 0.5));
/// let world = builder.build()?;
/// assert_eq!(world.constraints()[right.0].name, "right");
/// let mut state = world.default_state();
/// state.constraints[left.0] = ConstraintState::Released;
/// assert_eq!(state.constraints[right.0], ConstraintState::Active);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintIdx(pub usize);

/// Names a group of geometries of a world.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// use pliant_coupling::Exclusion;
///
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// let (ball, floor) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// let (ghosts, ground) = (builder.group("ghosts"), builder.group("ground"));
/// builder.join(ball, ghosts).join(floor, ground).exclude(Exclusion::Groups(ghosts, ground));
/// assert_eq!(builder.group("ghosts"), ghosts); // a group is created once
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// assert!(report.contacts.is_empty()); // the ball falls through the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIdx(pub usize);

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
            name: name.into(),
            mount,
            shape: Some(shape),
            part: None,
            patch: None,
            compliance: None,
            material,
            surface_velocity: Vector3::zeros(),
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
}

/// Two sets of geometries without contact between them.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Isometry3;
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
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::Exclusion;
///
/// let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// builder.exclude(Exclusion::Geometries(a, b));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// assert!((next.bodies[0].v[5] + 9.81e-3).abs() < 1e-12); // the ball falls through the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Two geometries.
    Geometries(GeometryIdx, GeometryIdx),
    /// All geometries of two frames of bodies.
    Frames((BodyIdx, u32), (BodyIdx, u32)),
    /// All geometries of two bodies; twice the same: the body with itself.
    Bodies(BodyIdx, BodyIdx),
    /// All geometries of two groups; twice the same: the members among themselves, and each with itself.
    Groups(GroupIdx, GroupIdx),
}

#[derive(Clone)]
pub(crate) struct NamedBody {
    pub(crate) name: String,
    pub(crate) model: Arc<dyn DeformableModel>,
}

/// Bodies, geometries, constraints and settings, immutable; cheap to clone.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// use pliant_coupling::WorldBuilder;
///
/// let mut builder = WorldBuilder::default();
/// let body = builder.add_body("ball", Box::new(ball)); // 1 kg, its centre at 0.3 m
/// let world = builder.build()?;
/// assert_eq!(world.find_body("ball"), Some(body));
/// let energy = world.energy(&world.default_state());
/// assert!((energy.potential - 9.81 * 0.3).abs() < 1e-12 && energy.kinetic == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct World {
    pub(crate) parts: Arc<WorldParts>,
}

#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) members: Vec<GeometryIdx>,
}

#[derive(Clone)]
pub(crate) struct WorldParts {
    pub(crate) bodies: Vec<NamedBody>,
    pub(crate) geometries: Vec<Geometry>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) contact: ContactSettings,
    /// Ascending once the world is built.
    pub(crate) pair_rules: Vec<((GeometryIdx, GeometryIdx), PairRule)>,
    pub(crate) groups: Vec<Group>,
    pub(crate) exclusions: Vec<Exclusion>,
    /// The pairs with contact.
    pub(crate) filter: CollisionFilter,
    /// Deforming geometries with self-contact.
    pub(crate) self_contact: Vec<usize>,
    /// Of each geometry on segments, at rest.
    pub(crate) filaments: Vec<Option<Filament>>,
    /// Of each geometry on a surface its mesh at rest.
    pub(crate) soft: Vec<Option<SoftMesh>>,
}

impl WorldParts {
    /// Upper bounds of μ and of τ (s) over all pairs.
    pub(crate) fn largest_friction_and_relaxation(&self) -> (f64, f64) {
        let own = self.geometries.iter().map(|g| {
            let m = &g.material;
            // μ ≤ 2 min(μ₁, μ₂) and τ = τ₁ + τ₂.
            (2.0 * m.friction, 2.0 * m.relaxation_time_s)
        });
        let given = self.pair_rules.iter().map(|(_, rule)| {
            let (friction, tau) = (rule.friction, rule.relaxation_time_s);
            (friction.unwrap_or(0.0), tau.unwrap_or(0.0))
        });
        own.chain(given)
            .fold((0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
    }
}

impl World {
    /// The same with some bodies' models replaced, for steppers that step these bodies separately. Geometries mounted on
    /// the bodies must find its frames on the new ones.
    pub(crate) fn with_models(
        &self,
        replace: impl Fn(BodyIdx) -> Option<Arc<dyn DeformableModel>>,
    ) -> Self {
        let mut parts = WorldParts::clone(&self.parts);
        for (b, body) in parts.bodies.iter_mut().enumerate() {
            if let Some(model) = replace(BodyIdx(b)) {
                body.model = model;
            }
        }
        Self {
            parts: Arc::new(parts),
        }
    }

    /// The state to start from: default positions, at rest, all constraints active.
    #[must_use]
    pub fn default_state(&self) -> State {
        let bodies = &self.parts.bodies;
        State {
            time_s: 0.0,
            step: 0,
            bodies: bodies.iter().map(|b| b.model.default_state()).collect(),
            controls: bodies.iter().map(|b| b.model.default_control()).collect(),
            constraints: vec![ConstraintState::Active; self.parts.constraints.len()],
            memory: StepperMemory::default(),
        }
    }

    /// Number of bodies.
    #[must_use]
    pub fn n_bodies(&self) -> usize {
        self.parts.bodies.len()
    }

    /// Name of a body.
    #[must_use]
    pub fn body_name(&self, body: BodyIdx) -> &str {
        &self.parts.bodies[body.0].name
    }

    /// The body of this name.
    #[must_use]
    pub fn find_body(&self, name: &str) -> Option<BodyIdx> {
        let position = self.parts.bodies.iter().position(|b| b.name == name);
        position.map(BodyIdx)
    }

    /// Model of a body.
    #[must_use]
    pub fn model(&self, body: BodyIdx) -> &dyn DeformableModel {
        &*self.parts.bodies[body.0].model
    }

    /// All geometries, in the order of their index.
    #[must_use]
    pub fn geometries(&self) -> &[Geometry] {
        &self.parts.geometries
    }

    /// All constraints, in the order of their index.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.parts.constraints
    }

    /// Gravity, m/s², world axes.
    #[must_use]
    pub fn gravity(&self) -> &Vector3<f64> {
        &self.parts.gravity
    }

    /// Energies and momenta of all bodies together.
    #[must_use]
    pub fn energy(&self, state: &State) -> Energy {
        let mut sum = Energy::default();
        for (body, state) in self.parts.bodies.iter().zip(&state.bodies) {
            let energy = body.model.energy(state, &self.parts.gravity);
            sum.kinetic += energy.kinetic;
            sum.potential += energy.potential;
            sum.linear_momentum_W += energy.linear_momentum_W;
            sum.angular_momentum_W += energy.angular_momentum_W;
        }
        sum
    }

    /// The rule of a pair; `None` without one.
    fn rule(&self, a: GeometryIdx, b: GeometryIdx) -> Option<&PairRule> {
        let key = (a.min(b), a.max(b));
        let rules = &self.parts.pair_rules;
        let found = rules.binary_search_by_key(&key, |(pair, _)| *pair);
        found.ok().map(|found| &rules[found].1)
    }

    /// Whether a pair has point or patch contact.
    pub(crate) fn choice(&self, a: GeometryIdx, b: GeometryIdx) -> ContactChoice {
        self.rule(a, b)
            .and_then(|rule| rule.choice)
            .unwrap_or(self.parts.contact.choice)
    }

    /// Contact parameters of a pair.
    pub(crate) fn pair(&self, a: GeometryIdx, b: GeometryIdx) -> PairMaterial {
        let [m_a, m_b] = [a, b].map(|g| &self.parts.geometries[g.0].material);
        let combined = m_a.combined_with(m_b);
        match self.rule(a, b) {
            Some(rule) => rule.over(&combined),
            None => combined,
        }
    }

    /// μ_s of a pair.
    pub(crate) fn static_friction(&self, a: GeometryIdx, b: GeometryIdx) -> f64 {
        let given = self.rule(a, b).and_then(|rule| rule.static_friction);
        given.unwrap_or_else(|| self.pair(a, b).friction)
    }

    /// Stiffness per area of a pair (N/m³).
    pub(crate) fn stiffness_per_area(&self, a: GeometryIdx, b: GeometryIdx) -> Option<f64> {
        self.rule(a, b)?.stiffness_per_area
    }

    /// Anisotropic friction of a pair.
    pub(crate) fn anisotropy(&self, a: GeometryIdx, b: GeometryIdx) -> Option<Anisotropy> {
        self.rule(a, b)?.anisotropy
    }

    /// Whether edges of a pair that cross touch.
    pub(crate) fn edges(&self, a: GeometryIdx, b: GeometryIdx) -> EdgeContact {
        self.rule(a, b).map_or(EdgeContact::None, |rule| rule.edges)
    }

    /// Contact parameters of a pair at one of its points. In patches dissipation is weighted by compliance.
    pub(crate) fn pair_at(
        &self,
        a: GeometryIdx,
        b: GeometryIdx,
        point: &PointStiffness,
    ) -> PairMaterial {
        let pair = self.pair(a, b);
        if let PointStiffness::Share(_) | PointStiffness::OfArea { .. } = point {
            return pair;
        }
        let [m_a, m_b] = [a, b].map(|g| &self.parts.geometries[g.0].material);
        let given = self.rule(a, b).and_then(|rule| rule.dissipation);
        PairMaterial {
            dissipation: given.unwrap_or_else(|| m_a.dissipation_at(m_b, point)),
            ..pair
        }
    }
}

impl Geometry {
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
