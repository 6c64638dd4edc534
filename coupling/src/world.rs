//! The world: bodies, what can be touched of them, and the rules of contact. Built once, checked once, then immutable.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{DeformableModel, Energy, Integration, Surface};
use pliant_hydroelastic::{
    CollisionFilter, CollisionFilterBuilder, ContactMaterial, GeometryError, PairMaterial, Shape,
};

use crate::error::WorldError;
use crate::settings::ContactSettings;
use crate::state::{State, TieState};
use crate::tie::{Anchor, Tie, TieCompliance, TieKind};

/// Names a body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIdx(pub usize);

/// Names a geometry of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeometryIdx(pub usize);

/// Names a tie of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TieIdx(pub usize);

/// What a geometry is mounted on.
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
}

impl Mount {
    /// The body that carries the geometry, if one does.
    #[must_use]
    pub fn body(&self) -> Option<BodyIdx> {
        match *self {
            Mount::World(_) => None,
            Mount::Frame { body, .. } | Mount::Vertices { body } => Some(body),
        }
    }
}

/// Something that can be touched.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Its name, unique in the world.
    pub name: String,
    /// What it is mounted on.
    pub mount: Mount,
    /// Its shape; none for [`Mount::Vertices`].
    pub shape: Option<Shape>,
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
            material,
            surface_velocity: Vector3::zeros(),
        }
    }

    /// The balls about the vertices of a body's surface.
    #[must_use]
    pub fn of_vertices(name: impl Into<String>, body: BodyIdx, material: ContactMaterial) -> Self {
        Self {
            name: name.into(),
            mount: Mount::Vertices { body },
            shape: None,
            material,
            surface_velocity: Vector3::zeros(),
        }
    }
}

/// Two sets of geometries that do not touch each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Two geometries.
    Geometries(GeometryIdx, GeometryIdx),
    /// All geometries of two frames of bodies.
    Frames((BodyIdx, u32), (BodyIdx, u32)),
    /// All geometries of two bodies; twice the same: the body with itself.
    Bodies(BodyIdx, BodyIdx),
}

pub(crate) struct NamedBody {
    pub(crate) name: String,
    pub(crate) model: Box<dyn DeformableModel>,
}

/// Bodies, geometries, ties and settings, immutable; cheap to clone.
#[derive(Clone)]
pub struct World {
    pub(crate) parts: Arc<WorldParts>,
}

pub(crate) struct WorldParts {
    pub(crate) bodies: Vec<NamedBody>,
    pub(crate) geometries: Vec<Geometry>,
    pub(crate) ties: Vec<Tie>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) integration: Integration,
    pub(crate) contact: ContactSettings,
    pub(crate) pair_materials: Vec<((GeometryIdx, GeometryIdx), PairMaterial)>,
    pub(crate) exclusions: Vec<Exclusion>,
    /// Which pairs may touch.
    pub(crate) filter: CollisionFilter,
    /// Geometries on vertices that touch themselves.
    pub(crate) self_contact: Vec<usize>,
}

/// Collects the parts of a [`World`].
pub struct WorldBuilder {
    parts: WorldParts,
}

impl Default for WorldBuilder {
    /// Empty, with gravity (0, 0, −9.81) m/s².
    fn default() -> Self {
        Self {
            parts: WorldParts {
                bodies: Vec::new(),
                geometries: Vec::new(),
                ties: Vec::new(),
                gravity: Vector3::new(0.0, 0.0, -9.81),
                integration: Integration::default(),
                contact: ContactSettings::default(),
                pair_materials: Vec::new(),
                exclusions: Vec::new(),
                filter: CollisionFilter::default(),
                self_contact: Vec::new(),
            },
        }
    }
}

impl WorldBuilder {
    /// Gravity, m/s², world axes.
    pub fn gravity(&mut self, gravity: Vector3<f64>) -> &mut Self {
        self.parts.gravity = gravity;
        self
    }

    /// How a step moves every body: one θ and one θ_vq for the whole world. Backward Euler unless set.
    pub fn integration(&mut self, integration: Integration) -> &mut Self {
        self.parts.integration = integration;
        self
    }

    /// How contact is modelled.
    pub fn contact(&mut self, settings: ContactSettings) -> &mut Self {
        self.parts.contact = settings;
        self
    }

    /// Adds a body under a unique name.
    pub fn add_body(&mut self, name: &str, model: Box<dyn DeformableModel>) -> BodyIdx {
        self.parts.bodies.push(NamedBody {
            name: name.into(),
            model,
        });
        BodyIdx(self.parts.bodies.len() - 1)
    }

    /// Adds something that can be touched.
    pub fn add_geometry(&mut self, geometry: Geometry) -> GeometryIdx {
        self.parts.geometries.push(geometry);
        GeometryIdx(self.parts.geometries.len() - 1)
    }

    /// Adds a tie, active at first.
    pub fn add_tie(&mut self, tie: Tie) -> TieIdx {
        self.parts.ties.push(tie);
        TieIdx(self.parts.ties.len() - 1)
    }

    /// Lets two sets of geometries pass through each other.
    pub fn exclude(&mut self, exclusion: Exclusion) -> &mut Self {
        self.parts.exclusions.push(exclusion);
        self
    }

    /// Contact parameters of one pair, in place of the combination of the two materials.
    pub fn pair_material(
        &mut self,
        a: GeometryIdx,
        b: GeometryIdx,
        material: PairMaterial,
    ) -> &mut Self {
        self.parts
            .pair_materials
            .push(((a.min(b), a.max(b)), material));
        self
    }

    /// Checks everything and closes the world.
    ///
    /// # Errors
    /// [`WorldError`] naming the first thing that is wrong.
    pub fn build(mut self) -> Result<World, WorldError> {
        let parts = &mut self.parts;
        parts.contact.validate()?;
        for (k, g) in parts.gravity.iter().enumerate() {
            if !g.is_finite() {
                return Err(WorldError::Parameter {
                    what: format!("gravity[{k}] (m/s²)"),
                    value: *g,
                    allowed: "must be finite",
                });
            }
        }
        unique("body", parts.bodies.iter().map(|b| b.name.as_str()))?;
        unique("geometry", parts.geometries.iter().map(|g| g.name.as_str()))?;
        unique("tie", parts.ties.iter().map(|t| t.name.as_str()))?;
        let n_frames: Vec<usize> = parts.bodies.iter().map(n_frames).collect();
        for geometry in &parts.geometries {
            check_geometry(geometry, &n_frames)?;
        }
        for tie in &parts.ties {
            check_tie(tie, &n_frames)?;
        }
        let n_geometries = parts.geometries.len();
        for ((a, b), _) in &parts.pair_materials {
            for g in [a, b] {
                in_range("pair material".into(), "geometry", g.0, n_geometries)?;
            }
        }
        for exclusion in &parts.exclusions {
            let what = || "exclusion".to_string();
            match *exclusion {
                Exclusion::Geometries(a, b) => {
                    in_range(what(), "geometry", a.0, n_geometries)?;
                    in_range(what(), "geometry", b.0, n_geometries)?;
                }
                Exclusion::Bodies(a, b) => {
                    in_range(what(), "body", a.0, n_frames.len())?;
                    in_range(what(), "body", b.0, n_frames.len())?;
                }
                Exclusion::Frames(a, b) => {
                    for (body, frame) in [a, b] {
                        check_frame(what, body, frame, &n_frames)?;
                    }
                }
            }
        }
        parts.pair_materials.sort_by_key(|(pair, _)| *pair);
        parts.filter = parts
            .collision_filter()
            .map_err(|source| WorldError::Geometry {
                name: "collision filter".into(),
                source,
            })?;
        parts.self_contact = parts.with_self_contact();
        Ok(World {
            parts: Arc::new(self.parts),
        })
    }
}

impl WorldParts {
    /// Upper bounds of μ and of τ (s) over all pairs.
    pub(crate) fn largest_friction_and_relaxation(&self) -> (f64, f64) {
        let own = self.geometries.iter().map(|g| {
            let m = &g.material;
            // μ ≤ 2 min(μ₁, μ₂) and τ = τ₁ + τ₂.
            (2.0 * m.friction, 2.0 * m.relaxation_time_s)
        });
        let given = self.pair_materials.iter();
        let given = given.map(|(_, m)| (m.friction, m.relaxation_time_s));
        own.chain(given)
            .fold((0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
    }

    /// Every frame that carries geometry is an owner, the world is one, each geometry on vertices has its own.
    fn collision_filter(&self) -> Result<CollisionFilter, GeometryError> {
        let mut builder = CollisionFilterBuilder::default();
        let world = builder.owner();
        let mut frames = BTreeMap::new();
        let mut owners_of_body = vec![Vec::new(); self.bodies.len()];
        let mut indices = Vec::new();
        for geometry in &self.geometries {
            let owner = match geometry.mount {
                Mount::World(_) => world,
                Mount::Frame { body, frame, .. } => {
                    *frames.entry((body, frame)).or_insert_with(|| {
                        let owner = builder.owner();
                        owners_of_body[body.0].push(owner);
                        owner
                    })
                }
                Mount::Vertices { body } => {
                    let owner = builder.owner();
                    owners_of_body[body.0].push(owner);
                    owner
                }
            };
            indices.push(builder.geometry(owner)?);
        }
        for exclusion in &self.exclusions {
            match *exclusion {
                Exclusion::Geometries(a, b) if a != b => {
                    builder.exclude_geometries(indices[a.0], indices[b.0])?;
                }
                Exclusion::Geometries(..) => {}
                Exclusion::Frames(a, b) => {
                    if let (Some(&a), Some(&b)) = (frames.get(&a), frames.get(&b)) {
                        builder.exclude_owners(a, b)?;
                    }
                }
                Exclusion::Bodies(a, b) => {
                    for &x in &owners_of_body[a.0] {
                        for &y in owners_of_body[b.0].iter().filter(|&&y| y != x) {
                            builder.exclude_owners(x, y)?;
                        }
                    }
                }
            }
        }
        Ok(builder.build())
    }

    fn with_self_contact(&self) -> Vec<usize> {
        let touches_itself = |g: usize| {
            let Mount::Vertices { body } = self.geometries[g].mount else {
                return false;
            };
            !self.exclusions.iter().any(|e| match *e {
                Exclusion::Geometries(a, b) => (a.0, b.0) == (g, g),
                Exclusion::Bodies(a, b) => (a, b) == (body, body),
                Exclusion::Frames(..) => false,
            })
        };
        (0..self.geometries.len())
            .filter(|&g| touches_itself(g))
            .collect()
    }
}

fn n_frames(body: &NamedBody) -> usize {
    let mut surface = Surface::default();
    body.model
        .surface(&body.model.default_state(), &mut surface);
    surface.frames.len()
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), WorldError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(WorldError::DuplicateName {
                kind,
                name: name.into(),
            });
        }
    }
    Ok(())
}

fn in_range(
    what: String,
    kind: &'static str,
    index: usize,
    count: usize,
) -> Result<(), WorldError> {
    if index < count {
        return Ok(());
    }
    Err(WorldError::UnknownIndex {
        what,
        kind,
        index,
        count,
    })
}

fn check_frame(
    what: impl Fn() -> String,
    body: BodyIdx,
    frame: u32,
    n_frames: &[usize],
) -> Result<(), WorldError> {
    in_range(what(), "body", body.0, n_frames.len())?;
    in_range(what(), "frame", frame as usize, n_frames[body.0])
}

fn check_geometry(geometry: &Geometry, n_frames: &[usize]) -> Result<(), WorldError> {
    let what = || format!("geometry \"{}\"", geometry.name);
    match geometry.mount {
        Mount::World(_) => {}
        Mount::Frame { body, frame, .. } => check_frame(what, body, frame, n_frames)?,
        Mount::Vertices { body } => in_range(what(), "body", body.0, n_frames.len())?,
    }
    let on_vertices = matches!(geometry.mount, Mount::Vertices { .. });
    if geometry.shape.is_none() && !on_vertices {
        return Err(WorldError::ShapeMissing {
            name: geometry.name.clone(),
        });
    }
    geometry
        .material
        .validate()
        .map_err(|source| WorldError::Geometry {
            name: geometry.name.clone(),
            source,
        })
}

fn check_tie(tie: &Tie, n_frames: &[usize]) -> Result<(), WorldError> {
    let what = || format!("tie \"{}\"", tie.name);
    let mut n_bodies = 0;
    for anchor in [&tie.a, &tie.b] {
        if let Anchor::Frame { body, frame, .. } = *anchor {
            check_frame(what, body, frame, n_frames)?;
            n_bodies += 1;
        }
    }
    if n_bodies == 0 {
        return Err(WorldError::TieWithoutBody {
            name: tie.name.clone(),
        });
    }
    let parameter = |name: &str, value: f64, allowed| {
        Err(WorldError::Parameter {
            what: format!("{} of tie \"{}\"", name, tie.name),
            value,
            allowed,
        })
    };
    match tie.kind {
        TieKind::Distance(length) if !(length > 0.0 && length.is_finite()) => {
            return parameter(
                "length (m)",
                length,
                "must be positive; use a ball tie for zero",
            );
        }
        _ => {}
    }
    if let TieCompliance::Spring {
        stiffness,
        relaxation_time_s,
    } = tie.compliance
    {
        if stiffness.is_nan() || stiffness <= 0.0 {
            return parameter("stiffness", stiffness, "must be positive");
        }
        if !(relaxation_time_s >= 0.0 && relaxation_time_s.is_finite()) {
            return parameter(
                "relaxation_time_s",
                relaxation_time_s,
                "must be finite and not negative",
            );
        }
    }
    Ok(())
}

impl World {
    /// The state to start from: default positions, at rest, all ties active.
    #[must_use]
    pub fn default_state(&self) -> State {
        let bodies = &self.parts.bodies;
        State {
            time_s: 0.0,
            step: 0,
            bodies: bodies.iter().map(|b| b.model.default_state()).collect(),
            controls: bodies.iter().map(|b| b.model.default_control()).collect(),
            ties: vec![TieState::Active; self.parts.ties.len()],
            constrained: vec![Vec::new(); bodies.len()],
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

    /// The geometry of this name.
    #[must_use]
    pub fn find_geometry(&self, name: &str) -> Option<GeometryIdx> {
        let position = self.parts.geometries.iter().position(|g| g.name == name);
        position.map(GeometryIdx)
    }

    /// All ties, in the order of their index.
    #[must_use]
    pub fn ties(&self) -> &[Tie] {
        &self.parts.ties
    }

    /// Gravity, m/s², world axes.
    #[must_use]
    pub fn gravity(&self) -> &Vector3<f64> {
        &self.parts.gravity
    }

    /// How a step moves every body.
    #[must_use]
    pub fn integration(&self) -> Integration {
        self.parts.integration
    }

    /// Poses X_WG of all geometries with a shape at `state`, identity for the others; `out` is overwritten.
    pub fn geometry_poses(&self, state: &State, out: &mut Vec<Isometry3<f64>>) {
        let mut surfaces = Vec::new();
        surfaces.resize_with(self.n_bodies(), Surface::default);
        for (body, surface) in surfaces.iter_mut().enumerate() {
            self.parts.bodies[body]
                .model
                .surface(&state.bodies[body], surface);
        }
        out.clear();
        out.extend(self.parts.geometries.iter().map(|g| g.pose(&surfaces)));
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

    /// Contact parameters of a pair.
    pub(crate) fn pair(&self, a: GeometryIdx, b: GeometryIdx) -> PairMaterial {
        let key = (a.min(b), a.max(b));
        let overrides = &self.parts.pair_materials;
        match overrides.binary_search_by_key(&key, |(pair, _)| *pair) {
            Ok(found) => overrides[found].1,
            Err(_) => {
                let geometries = &self.parts.geometries;
                geometries[a.0]
                    .material
                    .combined_with(&geometries[b.0].material)
            }
        }
    }
}

impl Geometry {
    /// X_WG, given the surfaces of all bodies.
    pub(crate) fn pose(&self, surfaces: &[Surface]) -> Isometry3<f64> {
        match self.mount {
            Mount::World(X_WG) => X_WG,
            Mount::Frame { body, frame, X_FG } => surfaces[body.0].frames[frame as usize] * X_FG,
            Mount::Vertices { .. } => Isometry3::identity(),
        }
    }
}
