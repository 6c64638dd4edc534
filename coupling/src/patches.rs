//! The patches between geometries at a state, to be drawn and measured.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::Surface;
use pliant_hydroelastic::{
    Aabb, BroadPhase, ContactChoice, ContactPatch, ContactWorkspace, DeformingSurface, Filament,
    FlatSection, PatchContact, Posed, Proxy, RigidShape, SelfExclusion, SoftContact, SoftMesh,
};

use crate::error::StepError;
use crate::state::State;
use crate::world::{GeometryIdx, World, flat};

/// The patch of one pair.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{Compliance, ContactMaterial, PatchGeometry, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # use pliant_coupling::{Geometry, Mount, PatchFinder, WorldBuilder};
/// # let mut model = ModelBuilder::new("cube");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("cube", SpatialInertia::solid_box(1.0, Vector3::repeat(0.1))));
/// # let q = [0.0, 0.0, 0.05 - 1e-3, 1.0, 0.0, 0.0, 0.0];
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("cube", Box::new(RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 6])));
/// // A compliant cube of 10 cm, pressed 1 mm into a rigid floor.
/// # let shape = Shape::cuboid(Vector3::repeat(0.1))?;
/// # let rubber = PatchGeometry::compliant(&shape, &Compliance::default())?;
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("cube", mount, shape, ContactMaterial::default()).with_patch(rubber));
/// # let mount = Mount::World(Isometry3::identity());
/// # let stone = PatchGeometry::rigid(&Shape::half_space(), 0.1)?;
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # let floor = builder.add_geometry(on_floor.with_patch(stone));
/// # let world = builder.build()?;
/// # let mut finder = PatchFinder::default();
/// let pair = &finder.find(&world, &world.default_state())?[0];
/// assert_eq!((pair.a, pair.b), (cube, floor));
/// // What the floor exerts on the cube, A, pushes it up, and acts at the centre of the patch.
/// let summary = pair.patch.summary();
/// assert!(summary.center_of_pressure.coords.norm() < 1e-12);
/// let uniform = summary.pressure_max * summary.area; // it is, but for a rim of 1 mm
/// assert!((summary.force_W.z / uniform - 1.0).abs() < 0.03);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PairPatch {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B, after A; A itself where a soft body touches itself.
    pub b: GeometryIdx,
    /// What they share; normals point from B into A.
    pub patch: ContactPatch,
}

/// Finds the patches of a world at a state. A step needs none of it: it computes what it needs itself.
///
/// Keeps memory for the next search only.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.05 - 1e-3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("cube", Box::new(ball));
/// # use pliant_hydroelastic::{Compliance, PatchGeometry};
/// # use pliant_coupling::{Geometry, Mount, WorldBuilder};
/// use pliant_coupling::PatchFinder;
///
/// // A compliant cube of 10 cm, pressed 1 mm into a rigid floor.
/// # let cube = Shape::cuboid(Vector3::repeat(0.1))?;
/// # let rubber = PatchGeometry::compliant(&cube, &Compliance::default())?;
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # builder.add_geometry(Geometry::new("cube", mount, cube, ContactMaterial::default()).with_patch(rubber));
/// # let mount = Mount::World(Isometry3::identity());
/// # let stone = PatchGeometry::rigid(&Shape::half_space(), 0.1)?;
/// # builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default()).with_patch(stone));
/// # let world = builder.build()?;
/// let mut finder = PatchFinder::default();
/// let patches = finder.find(&world, &world.default_state())?;
/// assert_eq!(patches.len(), 1);
/// let area = patches[0].patch.summary().area;
/// assert!((area - 0.01).abs() < 2e-4, "{area}"); // m²
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct PatchFinder {
    world: Option<World>,
    surfaces: Vec<Surface>,
    poses: Vec<Isometry3<f64>>,
    soft: Vec<Option<SoftMesh>>,
    /// Of each geometry, the filament if it has a pressure field.
    filaments: Vec<Option<Filament>>,
    sections: Vec<FlatSection>,
    at_rest: Vec<Vector3<f64>>,
    radii: Vec<f64>,
    exclusion: SelfExclusion,
    proxies: Vec<Proxy>,
    broad_phase: BroadPhase,
    candidates: Vec<(
        pliant_hydroelastic::GeometryIdx,
        pliant_hydroelastic::GeometryIdx,
    )>,
    workspace: ContactWorkspace,
    /// Those after the found ones are memory.
    patches: Vec<PairPatch>,
}

impl PatchFinder {
    /// The patches of all pairs that press on each other in one at `state`, by pair; those of surfaces of soft bodies with themselves
    /// come last. Elastic pressure: friction and dissipation are known after a step only.
    ///
    /// # Errors
    /// [`StepError::Geometry`] for a pose or a vertex that is not finite.
    pub fn find(&mut self, world: &World, state: &State) -> Result<&[PairPatch], StepError> {
        let parts = &world.parts;
        let rigid = parts.geometries.iter().all(|g| g.patch.is_none());
        let mut filaments = parts.filaments.iter().flatten();
        if rigid && parts.soft.iter().all(Option::is_none) && filaments.all(|f| f.field().is_none())
        {
            return Ok(&[]);
        }
        self.place(world, state)?;
        self.proxies.clear();
        for g in 0..parts.geometries.len() {
            self.proxies.push(match self.posed(world, g) {
                Some(posed) => Proxy::of(&posed, 0.0, 0.0),
                None => Proxy::Box(Aabb::EMPTY),
            });
        }
        self.broad_phase
            .candidates(&self.proxies, &parts.filter, &mut self.candidates);
        let mut patches = std::mem::take(&mut self.patches);
        let mut workspace = std::mem::take(&mut self.workspace);
        let mut found = 0;
        let others = self
            .candidates
            .iter()
            .map(|(a, b)| (a.0 as usize, b.0 as usize));
        let own = parts
            .self_contact
            .iter()
            .filter(|g| self.soft[**g].is_some());
        let own = own.map(|&g| (g, g));
        for (a, b) in others.chain(own) {
            let pair = (GeometryIdx(a), GeometryIdx(b));
            if world.choice(pair.0, pair.1) == ContactChoice::Point {
                continue;
            }
            let (Some(posed_a), Some(posed_b)) = (self.posed(world, a), self.posed(world, b))
            else {
                continue;
            };
            if found == patches.len() {
                patches.push(PairPatch {
                    a: pair.0,
                    b: pair.1,
                    patch: ContactPatch::default(),
                });
            }
            let place = &mut patches[found];
            (place.a, place.b) = pair;
            let is_soft = self.soft[a].is_some() || self.soft[b].is_some();
            let answer = match is_soft {
                true => {
                    let stiffness = world.pair(pair.0, pair.1).stiffness;
                    SoftContact.patch(
                        posed_a,
                        posed_b,
                        stiffness,
                        &mut workspace,
                        &mut place.patch,
                    )
                }
                false => PatchContact.patch(posed_a, posed_b, &mut workspace, &mut place.patch),
            };
            match answer {
                Some(Err(source)) => return Err(StepError::of_pair(world, state, pair, source)),
                Some(Ok(())) if !place.patch.polygons().is_empty() => found += 1,
                _ => {}
            }
        }
        self.patches = patches;
        self.workspace = workspace;
        Ok(&self.patches[..found])
    }

    /// Moves everything to where it is at `state`.
    fn place(&mut self, world: &World, state: &State) -> Result<(), StepError> {
        let parts = &world.parts;
        let known = self.world.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(&known.parts, &world.parts)) {
            self.soft.clone_from(&parts.soft);
            self.filaments.clone_from(&parts.filaments);
            for filament in &mut self.filaments {
                filament.take_if(|f| f.field().is_none());
            }
            self.world = Some(world.clone());
        }
        self.surfaces
            .resize_with(parts.bodies.len(), Surface::default);
        let bodies = parts.bodies.iter().zip(&state.bodies);
        for ((body, state), surface) in bodies.zip(&mut self.surfaces) {
            body.model.surface(state, surface);
        }
        self.poses.clear();
        let poses = parts.geometries.iter().map(|g| g.pose(&self.surfaces));
        self.poses.extend(poses);
        for (g, geometry) in parts.geometries.iter().enumerate() {
            let Some(body) = geometry.mount.deforming() else {
                continue;
            };
            let surface = &self.surfaces[body.0];
            let n = surface.vertices.len();
            if self.at_rest.len() < n {
                self.at_rest.resize(n, Vector3::zeros());
                self.radii.resize(n, 0.0);
            }
            let at_rest = &self.at_rest[..n];
            let refused =
                |source| StepError::of_pair(world, state, (GeometryIdx(g), GeometryIdx(g)), source);
            if let Some(mesh) = &mut self.soft[g] {
                mesh.update(&surface.vertices, &surface.triangles, at_rest, 0.0)
                    .map_err(refused)?;
            }
            if let Some(filament) = &mut self.filaments[g] {
                self.sections.clear();
                self.sections.extend(surface.sections.iter().map(flat));
                filament
                    .move_to(&surface.vertices, at_rest, &self.sections, 0.0)
                    .map_err(refused)?;
            }
        }
        Ok(())
    }

    /// A geometry that can have patches, at rest; half spaces among them.
    fn posed<'a>(&'a self, world: &'a World, g: usize) -> Option<Posed<'a>> {
        if let Some(filament) = &self.filaments[g] {
            return Some(Posed::Filament(filament));
        }
        let geometry = &world.parts.geometries[g];
        if let (Some(mesh), Some(body)) = (&self.soft[g], geometry.mount.deforming()) {
            let points = &self.surfaces[body.0].vertices;
            return Some(Posed::Deforming(DeformingSurface {
                id: g as u64,
                points,
                radii: &self.radii[..points.len()],
                velocities: &self.at_rest[..points.len()],
                exclusion: &self.exclusion,
                field: None,
                mesh: Some(mesh),
            }));
        }
        let shape = geometry.shape.as_ref()?;
        Some(Posed::Rigid(RigidShape {
            patch: geometry.patch.as_deref(),
            ..RigidShape::at_rest(shape, self.poses[g])
        }))
    }
}
