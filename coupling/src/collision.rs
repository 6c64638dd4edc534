//! Collision detection: the contact points of a step.

mod internal_edges;
mod meshes;
mod motion;
mod narrow_phase;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{Cancellation, MaterialPoint, Primitive, Rows, Surface};
use pliant_hydroelastic::{
    BroadPhase, ContactGeometry, ContactKey, ContactPoint, DeformingSurface, Filament, FlatSection,
    Posed, Proxy, Query, RigidShape, SelfExclusion, SoftMesh, Twist,
};

use crate::duplicate_contacts::DuplicateContacts;
use crate::error::StepError;
use crate::pair_basis::{Bodies, Side};
use crate::state::State;
use crate::world::{GeometryIdx, Mount, World, flat};
use internal_edges::{InternalEdges, Placed};
use meshes::Fit;
use motion::{Diversion, Motion};
use narrow_phase::{NarrowPhase, Worker};

/// A contact point and the geometries it belongs to, a < b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairContact {
    pub(crate) a: GeometryIdx,
    pub(crate) b: GeometryIdx,
    /// The material points of either side, world frame.
    pub(crate) p_WA: Point3<f64>,
    pub(crate) p_WB: Point3<f64>,
    pub(crate) point: ContactPoint,
}

/// Which pairs of geometries are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// All candidates of the broad phase.
    All,
    /// Candidates whose relative motion differs from the predicted one: see [`Collision::find_diverted`]. Convex pairs already in contact
    /// are skipped; meshes, filaments and deformable surfaces may have further contacts and are searched again. Rigid pairs so fast that
    /// they may pass into each other are also searched for that.
    Missed,
}

/// Excludes contact between vertices joined by an edge; rebuilt when the edges change.
#[derive(Debug, Default)]
struct Neighbours {
    n_vertices: usize,
    edges: Vec<[u32; 2]>,
    exclusion: SelfExclusion,
}

impl Neighbours {
    fn keep_up_with(&mut self, surface: &Surface) {
        let n_vertices = surface.vertices.len();
        if n_vertices != self.n_vertices || surface.edges != self.edges {
            self.n_vertices = n_vertices;
            self.edges.clone_from(&surface.edges);
            self.exclusion = SelfExclusion::from_edges(n_vertices, &self.edges, 1);
        }
    }
}

/// Workspace of collision detection.
#[derive(Default)]
pub(crate) struct Collision {
    /// Asked before each pair.
    pub(crate) cancellation: Cancellation,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) poses: Vec<Isometry3<f64>>,
    pub(crate) contacts: Vec<PairContact>,
    /// Of the predicted free motion.
    twists: Vec<Twist>,
    /// At the start of the step: the predicted motion of shapes in contact with deformable bodies.
    steady_twists: Vec<Twist>,
    vertex_velocities: Vec<Vec<Vector3<f64>>>,
    /// Of one deforming geometry, along the solution.
    solved_velocities: Vec<Vector3<f64>>,
    radii: Vec<Vec<f64>>,
    exclusions: Vec<Neighbours>,
    filaments: Vec<Option<Filament>>,
    sections: Vec<FlatSection>,
    /// The mesh of each geometry on a surface, at the present positions.
    soft: Vec<Option<SoftMesh>>,
    /// Which parts of the meshes this search needs.
    fits: Vec<Fit>,
    proxies: Vec<Proxy>,
    broad_phase: BroadPhase,
    pairs: Vec<(
        pliant_hydroelastic::GeometryIdx,
        pliant_hydroelastic::GeometryIdx,
    )>,
    /// Pairs to search, and surfaces with self-contact paired with themselves.
    candidates: Vec<(usize, usize)>,
    workers: Vec<Worker>,
    internal_edges: InternalEdges,
    duplicates: DuplicateContacts,
    /// Contacts found since the last full search; sorted in searches for missed contacts.
    known: Vec<(GeometryIdx, GeometryIdx, ContactKey)>,
    /// Deviations of the solution from the free motion, and from the motion at the start.
    diversions: Vec<Diversion>,
    unsteadiness: Vec<Diversion>,
    /// Twists of the solution.
    solved_twists: Vec<Twist>,
    /// Deviations up to this speed are tolerated, m/s: within a step they are covered by the resting margin.
    diversion_allowed: f64,
    side: Side,
    rows: Rows,
    u: Vec<f64>,
}

impl Collision {
    /// Sets up the workspace for another world.
    pub(crate) fn adopt(&mut self, world: &World) {
        self.filaments.clone_from(&world.parts.filaments);
        self.soft.clone_from(&world.parts.soft);
    }

    /// Computes the pose of every geometry and its predicted motion: free motion and motion at the start for a full search, the motion of
    /// `participants` alone for a search for missed contacts.
    pub(crate) fn place(
        &mut self,
        world: &World,
        state: &State,
        participants: &Bodies<'_>,
        time_step_s: f64,
        search: Search,
    ) -> Result<(), StepError> {
        let parts = &world.parts;
        self.surfaces
            .resize_with(parts.bodies.len(), Surface::default);
        for (b, surface) in self.surfaces.iter_mut().enumerate() {
            match participants.steps[b].as_surface() {
                Some(motion) => motion.start_surface(surface),
                None => parts.bodies[b].model.surface(&state.bodies[b], surface),
            }
        }
        self.diversion_allowed = 2.0 * parts.gravity.norm() * time_step_s;
        let n = parts.geometries.len();
        self.poses.clear();
        self.twists.clear();
        self.steady_twists.clear();
        self.vertex_velocities.resize_with(n, Vec::new);
        self.radii.resize_with(n, Vec::new);
        self.exclusions.resize_with(n, Neighbours::default);
        for (g, geometry) in parts.geometries.iter().enumerate() {
            let X_WG = geometry.pose(&self.surfaces);
            self.poses.push(X_WG);
            if let (Some(body), false) = (
                geometry.mount.deforming(),
                matches!(geometry.mount, Mount::Segments { .. }),
            ) {
                let surface = &self.surfaces[body.0];
                self.radii[g].clear();
                self.radii[g].extend_from_slice(&surface.radii);
                self.radii[g].resize(surface.vertices.len(), 0.0);
                if let Some(part) = geometry.part {
                    leave_out_others(part, &surface.parts, &mut self.radii[g]);
                }
                self.exclusions[g].keep_up_with(surface);
            }
            self.predict_motion(g, geometry, participants, search)
                .map_err(|(body, source)| {
                    let what = format!("geometry \"{}\"", geometry.name);
                    StepError::of_point(world, state, what, body, source)
                })?;
            self.move_filament(world, state, g, time_step_s)?;
        }
        Ok(())
    }

    /// Moves a geometry's filament, if it has one, to the vertices of its body.
    fn move_filament(
        &mut self,
        world: &World,
        state: &State,
        g: usize,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        let (Some(filament), Mount::Segments { body, .. }) =
            (&mut self.filaments[g], world.parts.geometries[g].mount)
        else {
            return Ok(());
        };
        let surface = &self.surfaces[body.0];
        self.sections.clear();
        self.sections.extend(surface.sections.iter().map(flat));
        let velocities = &self.vertex_velocities[g];
        filament
            .move_to(&surface.vertices, velocities, &self.sections, time_step_s)
            .map_err(|source| {
                StepError::of_pair(world, state, (GeometryIdx(g), GeometryIdx(g)), source)
            })
    }

    /// Finds contacts; [`Collision::place`] comes first.
    pub(crate) fn find(
        &mut self,
        world: &World,
        state: &State,
        geometry: &dyn ContactGeometry,
        time_step_s: f64,
        search: Search,
    ) -> Result<(), StepError> {
        let parts = &world.parts;
        let failed = |a: usize, b: usize| {
            let pair = (GeometryIdx(a), GeometryIdx(b));
            move |source| StepError::of_pair(world, state, pair, source)
        };
        let query = Query::new(time_step_s, parts.gravity.norm()).map_err(failed(0, 0))?;
        let model = &parts.contact.model;
        let mut query = query;
        query.margin += model.range_m().unwrap_or(0.0);
        if !parts.contact.follows_paths() {
            self.twists.fill(Twist::zero());
            self.steady_twists.fill(Twist::zero());
            for velocities in &mut self.vertex_velocities {
                velocities.fill(Vector3::zeros());
            }
            for filament in self.filaments.iter_mut().flatten() {
                filament.clear_velocities();
            }
        }
        self.move_meshes(parts, time_step_s)
            .map_err(|(g, source)| failed(g, g)(source))?;
        self.contacts.clear();
        let mut contacts = std::mem::take(&mut self.contacts);
        let mut proxies = std::mem::take(&mut self.proxies);
        proxies.clear();
        proxies.extend((0..parts.geometries.len()).map(|g| {
            Proxy::of(
                &self.posed(world, g, Motion::Free),
                time_step_s,
                query.margin,
            )
        }));
        let mut pairs = std::mem::take(&mut self.pairs);
        self.broad_phase
            .candidates(&proxies, &parts.filter, &mut pairs);
        match search {
            Search::All => self.known.clear(),
            Search::Missed => {
                self.known.sort_unstable();
                self.known.dedup();
            }
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        let is_candidate = |&(a, b): &(usize, usize)| match search {
            Search::All => true,
            Search::Missed => {
                self.may_be_missed(world, a, b) || self.may_pass(world, a, b, time_step_s)
            }
        };
        let self_pairs = parts.self_contact.iter().map(|&g| (g, g));
        let other_pairs = pairs.iter().map(|(a, b)| (a.0 as usize, b.0 as usize));
        candidates.clear();
        candidates.extend(other_pairs.chain(self_pairs).filter(is_candidate));
        self.candidates = candidates;
        self.fit_meshes(parts)
            .map_err(|(g, source)| failed(g, g)(source))?;
        let phase = NarrowPhase {
            world,
            state,
            geometry,
            query,
            search,
        };
        let result = self.find_all(phase, &mut contacts);
        let mut internal_edges = std::mem::take(&mut self.internal_edges);
        let placed = Placed {
            collision: self,
            world,
            proxies: &proxies,
            pairs: &pairs,
            time_step_s,
        };
        internal_edges.drop_from(placed, &mut contacts);
        self.internal_edges = internal_edges;
        self.known
            .extend(contacts.iter().map(|c| (c.a, c.b, c.point.key)));
        self.duplicates.drop_from(parts, &mut contacts);
        self.contacts = contacts;
        self.proxies = proxies;
        self.pairs = pairs;
        result
    }

    fn posed<'a>(&'a self, world: &'a World, g: usize, motion: Motion) -> Posed<'a> {
        let geometry = &world.parts.geometries[g];
        if let Some(filament) = &self.filaments[g] {
            return Posed::Filament(filament);
        }
        match (&geometry.shape, geometry.mount) {
            (_, Mount::Vertices { body } | Mount::Surface { body }) => {
                Posed::Deforming(DeformingSurface {
                    id: g as u64,
                    points: &self.surfaces[body.0].vertices,
                    radii: &self.radii[g],
                    velocities: &self.vertex_velocities[g],
                    exclusion: &self.exclusions[g].exclusion,
                    field: None,
                    mesh: self.soft[g].as_ref(),
                })
            }
            (Some(shape), _) => Posed::Rigid(RigidShape {
                shape,
                X_WG: self.poses[g],
                V_WG: match motion {
                    Motion::Free => self.twists[g],
                    Motion::Steady => self.steady_twists[g],
                },
                patch: geometry.patch.as_deref(),
            }),
            (None, _) => {
                unreachable!("a mounted geometry has a shape: checked when the world was built")
            }
        }
    }

    fn world_point(
        &self,
        world: &World,
        g: usize,
        point: &pliant_hydroelastic::MaterialPoint,
    ) -> Point3<f64> {
        let Some(body) = world.parts.geometries[g].mount.deforming() else {
            return self.poses[g] * Point3::from(point.offset);
        };
        use pliant_hydroelastic::Primitive as Touched;
        let surface = &self.surfaces[body.0];
        let vertices: &[u32] = match &point.primitive {
            Touched::Frame => &[],
            Touched::Vertex(i) => std::slice::from_ref(i),
            Touched::Edge(i) => &surface.edges[*i as usize],
            Touched::Triangle(i) => &surface.triangles[*i as usize],
            Touched::Tetrahedron(i) => &surface.tetrahedra[*i as usize],
        };
        let terms = vertices.iter().zip(&point.weights);
        let place: Vector3<f64> = terms
            .map(|(v, w)| surface.vertices[*v as usize].coords * *w)
            .sum();
        (place + point.offset).into()
    }
}

/// Gives vertices of other parts than `part` a negative radius; without `parts` all belong to part 0.
fn leave_out_others(part: u32, parts: &[u32], radii: &mut [f64]) {
    if parts.is_empty() && part != 0 {
        radii.fill(-1.0);
    }
    for (radius, own) in radii.iter_mut().zip(parts) {
        if *own != part {
            *radius = -1.0;
        }
    }
}

/// The same material point in the types of the bodies' interface.
pub(crate) fn material_point(point: &pliant_hydroelastic::MaterialPoint) -> MaterialPoint {
    use pliant_hydroelastic::Primitive as Touched;
    MaterialPoint {
        primitive: match point.primitive {
            Touched::Frame => Primitive::Frame(0),
            Touched::Vertex(i) => Primitive::Vertex(i),
            Touched::Edge(i) => Primitive::Edge(i),
            Touched::Triangle(i) => Primitive::Triangle(i),
            Touched::Tetrahedron(i) => Primitive::Tetrahedron(i),
        },
        weights: point.weights,
        offset: point.offset,
    }
}
