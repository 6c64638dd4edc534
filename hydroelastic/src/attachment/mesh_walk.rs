//! Relaxation on a triangle mesh: the attachment walks over triangles, edges and vertices until the force is in the friction cone.
//!
//! ```text
//! triangle   slides towards W, the projection of Z on its plane, to the cone or to the triangle's boundary
//! edge       where neither triangle lets it pass: slides towards W, the projection of Z on the edge's line, to the cone or to an end
//! vertex     leaves into the triangle, else along the edge, in which Z pulls most; stays where none does
//! ```
//!
//! Places are barycentric weights w throughout. On a triangle with vertices x_i, gradients G_i of its barycentric coordinates, ω the coordinates of W
//! and r = Σ (w_i − ω_i) x_i, a slide ends at w' = ω + s (w − ω), s = μ d/|r|, or on the boundary at w' = (1 − t) w + t ω with the smallest
//! t = w_i/(w_i − ω_i). Every move brings the attachment nearer to Z, and a vertex is left at most once, so the walk ends.
//!
//! Derivatives with respect to Z and all visited vertices are carried along:
//!
//! ```text
//! ∂ω_i/∂Z = G_i      ∂ω_i/∂x_j = −ω_j G_i + φ (G_i·G_j) n        dφ = n·(dZ − Σ ω_j dx_j)
//! dr = Σ (dw_i − dω_i) x_i + Σ (w_i − ω_i) dx_i                  ds = (μ dd − s τ·dr)/|r|
//! ```
//!
//! With anisotropic friction |r| is √(rᵀM r), and τ its derivative.
//!
//! Beyond sharp edges, such as those of boxes, the plane goes on and the force fades: see `overhang`.
//!
//! Whether the object is left is decided at the end, by the normal there: that of the triangle, the sum of two triangles' at an edge, the
//! angle-weighted sum at a vertex.
//!
//! Source: Ding, Schroeder (2020), section 2.1.3; derivatives, termination and the test of separation: `docs/theory/ding-2020.md`.

mod derivative;
mod edge;
mod overhang;
mod surface;
mod triangle;
mod vertex;

use nalgebra::{Matrix3, Point3, Vector3};

use super::friction::SlidingFriction;
use super::level_set::Branch;
pub use derivative::{Variable, WeightDerivative};
pub use overhang::Share;
pub use surface::WalkSurface;
use triangle::Crossing;

/// Weights this near to 1 are at a vertex, and progress has to exceed this much of its scale.
const ROUND_OFF: f64 = 128.0 * f64::EPSILON;
/// Bound of the states of a walk, against endless ones by round-off. Random walks across a grid of triangles take at most some dozens.
const STATES_MAX: usize = 1000;

/// A place on a triangle mesh.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{MeshPlace, WalkSurface};
///
/// let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let surface = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let place = MeshPlace { triangle: 0, weights: [0.5, 0.25, 0.25] };
/// assert_eq!(surface.point(&vertices, &place), Point3::new(0.25, 0.25, 0.0));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MeshPlace {
    /// Index of the triangle in its surface.
    pub triangle: u32,
    /// Barycentric weights of its vertices, in their order; they sum to one.
    pub weights: [f64; 3],
}

/// Which side of a surface a particle is kept on.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{Branch, Facing, MeshPlace, MeshRelaxed, SlidingFriction, WalkSurface};
///
/// // A particle 10 mm in front of a sheet is free if it is kept in front, and is held if it is kept behind.
/// let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let sheet = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let place = MeshPlace { triangle: 0, weights: [0.5, 0.25, 0.25] };
/// let particle = Point3::new(0.25, 0.25, 0.01);
/// let mut relaxed = MeshRelaxed::default();
/// let friction = SlidingFriction::coulomb(0.5);
/// sheet.relax(&vertices, friction, Facing::Front, &place, &particle, &mut relaxed);
/// assert_eq!(relaxed.branch, Branch::Separate);
/// sheet.relax(&vertices, friction, Facing::Back, &place, &particle, &mut relaxed);
/// assert_eq!((relaxed.branch, relaxed.normal), (Branch::Stick, -Vector3::z()));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Facing {
    /// The side that the triangles' normals point to: outside of a solid.
    #[default]
    Front,
    /// The other side, of a surface that encloses nothing.
    Back,
}

impl Facing {
    /// 1 in front, -1 behind.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Self::Front => 1.0,
            Self::Back => -1.0,
        }
    }
}

/// What part of a mesh a walk ends on.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{Facing, MeshPlace, MeshRelaxed, SlidingFriction, WalkEnd, WalkSurface};
///
/// // Two triangles that form a valley along y. A particle below it is nearest to its lowest line, whatever triangle the walk starts on.
/// let vertices = [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]].map(Point3::from);
/// let valley = WalkSurface::new(&vertices, &[[0, 2, 1], [0, 1, 3]])?;
/// let start = MeshPlace { triangle: 0, weights: [0.3, 0.4, 0.3] };
/// let (particle, smooth) = (Point3::new(0.0, 0.2, -0.1), SlidingFriction::coulomb(0.0));
/// let mut relaxed = MeshRelaxed::default();
/// valley.relax(&vertices, smooth, Facing::Front, &start, &particle, &mut relaxed);
/// assert_eq!(relaxed.end, WalkEnd::Edge);
/// let slid_to = relaxed.point(&valley, &vertices).expect("it is on the edge");
/// assert!((slid_to - Point3::new(0.0, 0.2, 0.0)).norm() < 1e-12);
/// assert!((relaxed.normal - Vector3::z()).norm() < 1e-12, "between the normals of both triangles");
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WalkEnd {
    /// The inside of a triangle.
    #[default]
    Triangle,
    /// An edge.
    Edge,
    /// A vertex.
    Vertex,
    /// The plane of a triangle beyond a sharp edge.
    Overhang,
}

/// A relaxed attachment on a mesh. Memory is reused.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Branch, Facing, MeshPlace, MeshRelaxed, SlidingFriction, WalkSurface};
///
/// # let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// # let surface = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// // A particle 10 mm below a triangle drags its attachment, 0.1 m behind, to μ · 10 mm.
/// let start = MeshPlace { triangle: 0, weights: [0.6, 0.2, 0.2] }; // at (0.2, 0.2, 0)
/// let particle = Point3::new(0.3, 0.2, -0.01);
/// let mut relaxed = MeshRelaxed::default();
/// surface.relax(&vertices, SlidingFriction::coulomb(0.5), Facing::Front, &start, &particle, &mut relaxed);
/// assert_eq!(relaxed.branch, Branch::Slip);
/// let slid_to = relaxed.point(&surface, &vertices).expect("it is on the triangle");
/// assert!((slid_to - Point3::new(0.295, 0.2, 0.0)).norm() < 1e-12);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MeshRelaxed {
    /// Whether the particle is outside, or its attachment sticks or slips.
    pub branch: Branch,
    /// Y as a place; where it sticks, and where the particle is outside, the weights are those of X bit for bit.
    pub place: Option<MeshPlace>,
    /// X of the next step: Y, but on the edge for an attachment beyond a sharp one.
    pub kept: Option<MeshPlace>,
    /// The part of the force that is left beyond a sharp edge.
    pub share: Share,
    /// The part of the mesh that it is on.
    pub end: WalkEnd,
    /// Unit normal of that part, towards the side of the particle.
    pub normal: Vector3<f64>,
    /// States of the walk: 1 for an attachment that stays within its triangle.
    pub states: usize,
    /// ∂w/∂Z and ∂w/∂x (1/m) of the weights of `place`; empty unless it slips.
    pub derivative: WeightDerivative,
}

impl MeshRelaxed {
    /// Y, m, in the frame of the vertices; `None` before the first relaxation.
    #[must_use]
    pub fn point(&self, surface: &WalkSurface, vertices: &[Point3<f64>]) -> Option<Point3<f64>> {
        self.place.map(|place| surface.point(vertices, &place))
    }

    /// ∂Y/∂Z on a mesh that does not deform: Σ x_i ∂w_i/∂Z, zero where it sticks.
    #[must_use]
    pub fn by_particle(&self, surface: &WalkSurface, vertices: &[Point3<f64>]) -> Matrix3<f64> {
        let Some(place) = self.place else {
            return Matrix3::zeros();
        };
        let corners = surface.corners(vertices, place.triangle);
        let x = Matrix3::from_columns(&corners.map(|p| p.coords));
        x * self.derivative.by(Variable::Particle)
    }
}

/// One walk.
struct Walk<'a> {
    surface: &'a WalkSurface,
    vertices: &'a [Point3<f64>],
    particle: Point3<f64>,
    friction: SlidingFriction<f64>,
    triangle: u32,
    weights: [f64; 3],
    derivative: &'a mut WeightDerivative,
    share: &'a mut Share,
    /// Weights in the triangle that differ from those of Y, for the next step.
    kept: Option<[f64; 3]>,
    moved: Moved,
}

/// How a triangle was entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The walk starts in it.
    None,
    /// Over its edge k, which runs from corner k to corner k + 1.
    Edge(usize),
    /// From its corner.
    Vertex(usize),
}

/// Where the walk goes on.
enum Next {
    Triangle(Entry),
    /// Along edge k of the present triangle.
    Edge(usize),
    /// At a corner of the present triangle.
    Vertex(usize),
    End(WalkEnd),
}

/// Whether the attachment is still where it was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    No,
    Yes,
}

impl WalkSurface {
    /// Relaxes the attachment `start` of the particle Z = `particle`, which is kept on side `facing`, over the mesh with these `vertices`.
    ///
    /// An attachment that is pulled over a sharp edge, or the boundary of an open mesh, by more than the particle's depth has left: [`Branch::Separate`].
    ///
    /// # Panics
    /// If `vertices` are not as many as the surface was built with.
    pub fn relax(
        &self,
        vertices: &[Point3<f64>],
        friction: SlidingFriction<f64>,
        facing: Facing,
        start: &MeshPlace,
        particle: &Point3<f64>,
        out: &mut MeshRelaxed,
    ) {
        assert_eq!(vertices.len(), self.n_vertices(), "one position a vertex");
        out.derivative.clear();
        out.share.reset();
        let mut walk = Walk {
            surface: self,
            vertices,
            particle: *particle,
            friction,
            triangle: start.triangle,
            weights: start.weights,
            derivative: &mut out.derivative,
            share: &mut out.share,
            kept: None,
            moved: Moved::No,
        };
        let mut next = Next::Triangle(Entry::None);
        let mut states = 0;
        let end = loop {
            next = match next {
                Next::Triangle(entry) => walk.on_triangle(entry),
                Next::Edge(edge) => walk.on_edge(edge),
                Next::Vertex(corner) => walk.at_vertex(corner),
                Next::End(end) => break end,
            };
            states += 1;
            if states >= STATES_MAX {
                break WalkEnd::Triangle;
            }
        };
        let moved = walk.moved;
        let kept = walk.kept.unwrap_or(walk.weights);
        let place = MeshPlace {
            triangle: walk.triangle,
            weights: walk.weights,
        };
        out.states = states;
        out.end = end;
        out.normal = self.normal_at(vertices, &place, end) * facing.sign();
        let pull = self.point(vertices, &place) - particle;
        let inside = pull.dot(&out.normal) > 0.0
            && out.share.value > 0.0
            && !self.is_on_boundary(&place, end);
        out.branch = match (inside, moved) {
            (false, _) => Branch::Separate,
            (true, Moved::No) => Branch::Stick,
            (true, Moved::Yes) => Branch::Slip,
        };
        out.place = Some(place);
        out.kept = Some(MeshPlace {
            weights: kept,
            ..place
        });
        if out.branch != Branch::Slip {
            out.place = Some(*start);
            out.kept = out.place;
            out.derivative.clear();
            out.share.reset();
        }
    }
}

impl Walk<'_> {
    /// The friction that holds the attachment: before it has moved μ_s, then μ_k.
    fn holding(&self, entry: Entry) -> f64 {
        match entry {
            Entry::None => self.friction.sticking,
            Entry::Edge(_) | Entry::Vertex(_) => self.friction.sliding,
        }
    }

    fn on_triangle(&mut self, entry: Entry) -> Next {
        let heaviest = self.weights.iter().copied().fold(0.0, f64::max);
        if matches!(entry, Entry::Edge(_)) && heaviest > 1.0 - ROUND_OFF {
            return Next::Vertex(heaviest_corner(&self.weights));
        }
        let crossing = Crossing::new(self);
        let mu = self.holding(entry);
        if mu > 0.0 && crossing.length <= mu * crossing.depth {
            return Next::End(WalkEnd::Triangle);
        }
        let s = crossing.slide(self.friction.sliding);
        let slid = crossing.slid(&self.weights, s);
        if slid.iter().all(|w| *w >= 0.0) {
            crossing.carry_slide(self, s);
            self.weights = slid;
            self.moved = Moved::Yes;
            return Next::End(WalkEnd::Triangle);
        }
        let (opposite, t) = crossing.exit(&self.weights, &slid);
        if self.is_sharp(self.triangle, (opposite + 1) % 3) {
            return self.over_edge(&crossing, s);
        }
        if let Entry::Vertex(corner) = entry
            && t <= ROUND_OFF
        {
            self.move_to_corner(corner);
            return Next::End(WalkEnd::Vertex);
        }
        if t > 0.0 {
            crossing.carry_exit(self, opposite, t);
            self.weights = crossing.left(&self.weights, opposite, t);
            self.moved = Moved::Yes;
        }
        let heaviest = self.weights.iter().copied().fold(0.0, f64::max);
        if heaviest > 1.0 - ROUND_OFF {
            return Next::Vertex(heaviest_corner(&self.weights));
        }
        let edge = (opposite + 1) % 3;
        match self.surface.across(self.triangle, edge) {
            Some(neighbour) if entry != Entry::Edge(edge) => self.cross(neighbour, edge),
            _ => Next::Edge(edge),
        }
    }

    /// Goes on in the triangle on the other side of an edge, with the same weights of the same vertices.
    fn cross(&mut self, neighbour: u32, edge: usize) -> Next {
        let from = self.surface.triangle(self.triangle);
        let to = self.surface.triangle(neighbour);
        let old_corner = to.map(|vertex| from.iter().position(|v| *v == vertex));
        self.derivative.permute(&old_corner);
        self.weights = old_corner.map(|corner| corner.map_or(0.0, |corner| self.weights[corner]));
        self.triangle = neighbour;
        let ends = [from[edge], from[(edge + 1) % 3]];
        let entered = (0..3).find(|&k| ends.contains(&to[k]) && ends.contains(&to[(k + 1) % 3]));
        Next::Triangle(entered.map_or(Entry::None, Entry::Edge))
    }

    /// Places the attachment on a corner; where it came from no longer matters.
    fn move_to_corner(&mut self, corner: usize) {
        if self.weights[corner] != 1.0 {
            self.moved = Moved::Yes;
        }
        self.derivative.clear();
        self.weights = [0.0; 3];
        self.weights[corner] = 1.0;
    }
}

fn heaviest_corner(weights: &[f64; 3]) -> usize {
    (0..3).fold(0, |a, b| if weights[b] > weights[a] { b } else { a })
}

#[cfg(test)]
mod tests;
