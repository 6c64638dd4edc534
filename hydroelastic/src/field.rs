//! Pressure fields of compliant bodies.

mod accessors;
mod affine;
mod compliance;
mod inflate;
mod layered;
mod of_shape;
mod of_tets;
mod round;
mod tetrahedron;
mod valleys;

use nalgebra::Vector3;

pub(crate) use affine::Affine;
pub use compliance::Compliance;
pub(crate) use round::{geodesic_frequency, matched_ring_radius, unit_sphere};
pub(crate) use tetrahedron::Tetrahedron;

use crate::GeometryError;
use crate::contact_point::Primitive;
use crate::mesh::{TetIdx, TetMesh};
use crate::pressure_bvh::{PressureBox, PressureBvh};

/// Marks a face without a neighbouring tetrahedron.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// What the tetrahedra of one piece have in common, so that polygons cut from them are merged into one set of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// They share the linear function of their pressure.
    Linear,
    /// They belong to one section of an axis; the resultant force passes through that axis.
    AboutAxis,
}

/// A pressure field on a tetrahedral mesh, in the frame G of its geometry.
///
/// The field is linear on each tetrahedron of a mesh: E (the hydroelastic modulus, Pa) on the medial axis, 0 on the
/// surface, and negative in a margin outside it. Fields of the shapes:
///
/// | shape | mesh | pressure |
/// |---|---|---|
/// | box, cylinder, capsule | faces joined to the medial axis | exact distance to the (faceted) surface |
/// | sphere, ellipsoid | facets joined to the centre | E (1 − ‖S⁻¹x‖) |
/// | cone | facets joined to the incentre | exact distance to the (faceted) surface |
/// | convex hull | faces joined to the centroid | linear from each face to the centroid |
/// | closed surface | [`tetrahedralise`](crate::mesh::tetrahedralise): a lattice cut at the surface | exact distance at the vertices |
/// | given tetrahedral mesh | as given | exact distance to its surface at the vertices, or given values at each vertex |
/// | half space | none: a [`Slab`](crate::Slab) | E·(−z)/thickness |
///
/// Facets of curved shapes lie partly outside and partly inside the true surface, so that the volume is exact.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::{Compliance, PressureField, Shape};
///
/// // A cube of 10 cm and 1 MPa: 5 cm deep, so that 1 cm below its surface the pressure is a fifth of the modulus.
/// let compliance = Compliance { hydroelastic_modulus: 1e6, ..Compliance::default() };
/// let field = PressureField::of_shape(&Shape::cuboid(Vector3::repeat(0.1))?, &compliance)?;
/// assert!((field.depth() - 0.05).abs() < 1e-15);
/// let pressure = field.pressure_at(&Vector3::new(0.01, 0.0, 0.04)).expect("inside");
/// assert!((pressure - 2e5).abs() < 1e-6);
/// assert_eq!(field.pressure_max(), 1e6);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PressureField {
    vertices: Vec<Vector3<f64>>,
    pressures: Vec<f64>,
    corners: Vec<[u32; 4]>,
    neighbours: Vec<[u32; 4]>,
    tets: Vec<Tetrahedron>,
    /// One per tetrahedron.
    pieces: Vec<u32>,
    piece_kinds: Vec<PieceKind>,
    skin: Vec<SkinFace>,
    tet_tree: PressureBvh,
    skin_tree: PressureBvh,
    /// In order of descending pressure.
    peaks: Vec<Peak>,
    /// The part of each tetrahedron where the pressure is at most `shell_pressure`; empty if not needed.
    shell_tree: Option<PressureBvh>,
    shell_pressure: f64,
    /// Tetrahedra with an interior face whose pressure does not exceed the lowest pressure on the skin.
    low_tree: PressureBvh,
    /// Tetrahedra next to a valley of the pressure.
    valley_tree: PressureBvh,
    depth: f64,
    margin: f64,
    attachments: Vec<Attachment>,
}

/// Pressure up to which the shell of a field extends, as a fraction of the maximum: positive, so that the shell has a
/// thickness even without a margin.
const SHELL: f64 = 1e-6;

/// A boundary face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkinFace {
    pub(crate) tet: u32,
    /// Index of the face in its tetrahedron.
    pub(crate) side: u8,
    pub(crate) corners: [u32; 3],
}

/// A vertex at a local maximum of the pressure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    pub(crate) vertex: u32,
    /// A tetrahedron that contains it.
    pub(crate) tet: u32,
}

/// Attachment of a tetrahedron of a moving field: its corners are Σ weights·vertices of a primitive of the body's surface, which receives
/// the forces of contacts in the tetrahedron.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Attachment, DeformingSurface, PatchContact, PressureField, Primitive, mesh::generate};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, PatchGeometry, Posed, Query, RigidShape, SelfExclusion, Shape};
///
/// // The field of a soft cube, 1 mm deep in a rigid floor. Each of its tetrahedra moves with its own corners.
/// let mesh = generate::tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// let pressures: Vec<f64> = mesh.vertices().iter().map(|x| if x.norm() < 1e-9 { 1e6 } else { 0.0 }).collect();
/// let mut field = PressureField::from_vertex_pressures(&mesh, &pressures)?;
/// let points: Vec<_> = mesh.vertices().iter().map(|x| Point3::from(x + Vector3::z() * 0.049)).collect();
/// field.move_vertices(&points.iter().map(|p| p.coords).collect::<Vec<_>>())?;
/// let own_corners = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
/// let carried = |(corners, tet): (&[u32; 4], u32)| Attachment {
///     primitive: Primitive::Tetrahedron(tet),
///     vertices: *corners,
///     weights: own_corners,
/// };
/// let attachments = field.tets().iter().zip(0..).map(carried).collect();
/// let field = field.attached(attachments)?;
/// # let (radii, velocities, exclusion) = (vec![0.0; points.len()], vec![Vector3::zeros(); points.len()], SelfExclusion::default());
/// # let floor = Shape::half_space();
/// # let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// # let a = Posed::Deforming(DeformingSurface {
/// #     id: 0, points: &points, radii: &radii, velocities: &velocities, exclusion: &exclusion, field: Some(&field), mesh: None,
/// # });
/// # let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
/// PatchContact.collide(a, b, &query, &mut workspace, &mut found).expect("a compliant pair")?;
/// // A contact acts on the corners of its tetrahedron.
/// let Primitive::Tetrahedron(tet) = found[0].a.primitive else { panic!("it is on the field") };
/// let corners = field.tets()[tet as usize].map(|v| points[v as usize].coords);
/// let interpolated: Vector3<f64> = corners.iter().zip(found[0].a.weights).map(|(x, w)| x * w).sum();
/// assert!((interpolated + found[0].a.offset - found[0].p_WC.coords).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// The primitive of the deforming surface that carries the tetrahedron, such as a segment of a filament.
    pub primitive: Primitive,
    /// The vertices of the primitive among the points of the [`DeformingSurface`](crate::DeformingSurface), in the
    /// primitive's order; unused entries repeat another vertex.
    pub vertices: [u32; 4],
    /// For each corner of the tetrahedron, the weights of those vertices; they sum to one.
    pub weights: [[f64; 4]; 4],
}

/// A mesh with pressures at its vertices, before it becomes a field.
pub(crate) struct FieldMesh {
    pub(crate) vertices: Vec<Vector3<f64>>,
    /// Pa.
    pub(crate) pressures: Vec<f64>,
    /// In either orientation.
    pub(crate) tets: Vec<[u32; 4]>,
    /// Distance from the surface to the deepest point, m.
    pub(crate) depth: f64,
    pub(crate) margin: f64,
}

impl PressureField {
    /// A user-defined field: the pressure (Pa) at each vertex of `mesh`, linear in between.
    ///
    /// Negative pressures are allowed outside the intended surface; there, contact is speculative. A non-zero pressure
    /// on the surface makes the force start with a jump where flat faces touch.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::{PressureField, mesh::generate};
    ///
    /// // A pad of 2 cm thickness, bonded below: the pressure rises from its upper side downwards, slowly at first.
    /// let mesh = generate::tet_cuboid(Vector3::new(0.05, 0.05, 0.01), [4, 4, 8])?;
    /// let pressures: Vec<f64> = mesh.vertices().iter().map(|x| 1.0e6 * ((0.01 - x.z) / 0.02).powi(2)).collect();
    /// let pad = PressureField::from_vertex_pressures(&mesh, &pressures)?;
    /// let at = |z: f64| pad.pressure_at(&Vector3::new(0.012, 0.007, z));
    /// assert_eq!(at(0.01), Some(0.0));
    /// assert!(at(0.0).is_some_and(|p| (p - 2.5e5).abs() < 1.0));
    /// assert_eq!(at(0.011), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless there is one pressure per vertex, [`GeometryError::FieldValue`] for one that
    /// is not finite, [`GeometryError::FlatField`] if none is positive.
    pub fn from_vertex_pressures(mesh: &TetMesh, pressures: &[f64]) -> Result<Self, GeometryError> {
        if pressures.len() != mesh.vertices().len() {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "pressures",
                expected: mesh.vertices().len(),
                found: pressures.len(),
            });
        }
        if let Some(vertex) = pressures.iter().position(|p| !p.is_finite()) {
            return Err(GeometryError::FieldValue {
                vertex,
                value: pressures[vertex],
            });
        }
        let highest = pressures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest <= 0.0 {
            return Err(GeometryError::FlatField {
                vertices: pressures.len(),
            });
        }
        let steepest = (0..mesh.tets().len() as u32)
            .map(|t| {
                let p = mesh.tets()[t as usize].map(|v| pressures[v.index()]);
                Tetrahedron::new(&mesh.corners(TetIdx(t)), &p)
                    .pressure
                    .gradient
                    .norm()
            })
            .fold(0.0, f64::max);
        Self::assemble(FieldMesh {
            vertices: mesh.vertices().to_vec(),
            pressures: pressures.to_vec(),
            tets: mesh.tets().iter().map(|t| t.map(|v| v.0)).collect(),
            depth: highest / steepest,
            margin: 0.0,
        })
    }

    /// Builds the field from its parts. Refuses a mesh in which three tetrahedra share a face, as the hull of nearly
    /// coincident points may have.
    pub(crate) fn assemble(mut parts: FieldMesh) -> Result<Self, GeometryError> {
        if let Some([a, b, c]) = crate::mesh::crowded_face(&parts.tets) {
            return Err(GeometryError::Meshing {
                reason: format!(
                    "the face of vertices {a}, {b} and {c} belongs to more than two tetrahedra; the surface is folded or its \
                     vertices nearly coincide"
                ),
            });
        }
        for tet in &mut parts.tets {
            let [a, b, c, d] = tet.map(|v| parts.vertices[v as usize]);
            if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
                tet.swap(2, 3);
            }
        }
        let mesh = TetMesh::assemble(parts.vertices, &parts.tets);
        let neighbours = (0..parts.tets.len() as u32)
            .map(|t| {
                mesh.neighbours(TetIdx(t))
                    .map(|n| n.map_or(OUTSIDE, |n| n.0))
            })
            .collect();
        let boundary = mesh.boundary();
        let skin = boundary
            .triangles
            .iter()
            .zip(&boundary.tets)
            .map(|(corners, tet)| {
                let corners = corners.map(|v| v.0);
                let is_opposite = |v: &u32| !corners.contains(v);
                let side = parts.tets[tet.index()].iter().position(is_opposite);
                SkinFace {
                    tet: tet.0,
                    side: side.expect("a face has three of the four corners") as u8,
                    corners,
                }
            })
            .collect();
        let n_tets = parts.tets.len();
        let mut field = Self {
            vertices: mesh.vertices().to_vec(),
            pressures: parts.pressures,
            corners: parts.tets,
            neighbours,
            tets: Vec::new(),
            pieces: Vec::new(),
            piece_kinds: vec![PieceKind::Linear; n_tets],
            skin,
            tet_tree: PressureBvh::default(),
            skin_tree: PressureBvh::default(),
            peaks: Vec::new(),
            shell_tree: None,
            shell_pressure: 0.0,
            low_tree: PressureBvh::default(),
            valley_tree: PressureBvh::default(),
            depth: parts.depth,
            margin: parts.margin,
            attachments: Vec::new(),
        };
        field.peaks = peaks(&field.corners, &field.pressures);
        field.tets = (0..field.corners.len())
            .map(|t| field.functions(t))
            .collect();
        field.pieces = pieces(&field.tets, &field.neighbours, &field);
        let tets: Vec<PressureBox> = (0..field.corners.len() as u32)
            .map(|t| field.tet_bounds(t))
            .collect();
        field.tet_tree = PressureBvh::new(&tets).around(&field.vertices);
        let skin: Vec<PressureBox> = (0..field.skin.len() as u32)
            .map(|f| field.skin_bounds(f))
            .collect();
        field.skin_tree = PressureBvh::new(&skin).around(&field.vertices);
        let highest = field.tet_tree.root().p_max;
        field.shell_pressure = SHELL * highest.max(0.0);
        let shell: Vec<u32> = (0..field.corners.len() as u32)
            .filter(|&t| field.tet_bounds(t).p_min <= field.shell_pressure)
            .collect();
        let bounds: Vec<PressureBox> = shell.iter().map(|&t| field.shell_bounds(t)).collect();
        let tree = PressureBvh::new(&bounds).renamed(&shell);
        field.shell_tree = Some(tree.around(&field.vertices));
        field.low_tree = field.tree_of(&field.low_tets());
        field.valley_tree = field.tree_of(&field.valley_tets());
        Ok(field)
    }

    fn tree_of(&self, tets: &[u32]) -> PressureBvh {
        let bounds: Vec<PressureBox> = tets.iter().map(|&t| self.tet_bounds(t)).collect();
        let tree = PressureBvh::new(&bounds).renamed(tets);
        tree.around(&self.vertices)
    }

    /// The field of a deforming body: `attachments` gives the attachment of each tetrahedron. Its vertices are in the
    /// world frame and are updated by [`move_vertices`](Self::move_vertices).
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless there is one attachment per tetrahedron.
    pub fn attached(mut self, attachments: Vec<Attachment>) -> Result<Self, GeometryError> {
        if attachments.len() != self.corners.len() {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "attachments",
                expected: self.corners.len(),
                found: attachments.len(),
            });
        }
        self.attachments = attachments;
        // Each tetrahedron moves on its own.
        self.pieces = (0..self.corners.len() as u32).collect();
        Ok(self)
    }

    /// Assigns a piece to each tetrahedron.
    pub(crate) fn with_pieces(mut self, pieces: impl Iterator<Item = (u32, PieceKind)>) -> Self {
        (self.pieces, self.piece_kinds) = pieces.unzip();
        debug_assert_eq!(self.pieces.len(), self.corners.len());
        self
    }

    /// The kind of piece that a tetrahedron belongs to.
    pub(crate) fn piece_kind(&self, tet: u32) -> PieceKind {
        self.piece_kinds[tet as usize]
    }

    /// Moves the vertices; each keeps its pressure. The trees keep their topology and are refitted. Tetrahedra that
    /// have become flat or inverted are ignored in contact until they have volume again. Does not allocate.
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless the number of vertices is unchanged, [`GeometryError::Vertex`] for one
    /// that is not finite; the field is then unchanged.
    pub fn move_vertices(&mut self, vertices: &[Vector3<f64>]) -> Result<(), GeometryError> {
        if vertices.len() != self.vertices.len() {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "vertices",
                expected: self.vertices.len(),
                found: vertices.len(),
            });
        }
        if let Some(vertex) = vertices
            .iter()
            .position(|x| !x.iter().all(|c| c.is_finite()))
        {
            return Err(GeometryError::Vertex {
                shape: "pressure field",
                vertex,
                coordinates: vertices[vertex].into(),
            });
        }
        self.vertices.copy_from_slice(vertices);
        for t in 0..self.tets.len() {
            self.tets[t] = self.functions(t);
        }
        let mut tree = std::mem::take(&mut self.tet_tree);
        tree.refit_boxes(|t| self.box_of(&self.corners[t as usize]));
        tree.measure(&self.vertices);
        self.tet_tree = tree;
        let mut tree = std::mem::take(&mut self.skin_tree);
        tree.refit_boxes(|f| self.box_of(&self.skin[f as usize].corners));
        tree.measure(&self.vertices);
        self.skin_tree = tree;
        if let Some(mut tree) = self.shell_tree.take() {
            tree.refit(|t| self.shell_bounds(t));
            tree.measure(&self.vertices);
            self.shell_tree = Some(tree);
        }
        let mut tree = std::mem::take(&mut self.low_tree);
        tree.refit_boxes(|t| self.box_of(&self.corners[t as usize]));
        tree.measure(&self.vertices);
        self.low_tree = tree;
        let mut tree = std::mem::take(&mut self.valley_tree);
        tree.refit_boxes(|t| self.box_of(&self.corners[t as usize]));
        tree.measure(&self.vertices);
        self.valley_tree = tree;
        Ok(())
    }

    /// Lower and upper corner of the box around vertices.
    fn box_of(&self, corners: &[u32]) -> [Vector3<f64>; 2] {
        let first = self.vertices[corners[0] as usize];
        corners[1..].iter().fold([first, first], |[low, high], v| {
            let x = &self.vertices[*v as usize];
            [low.inf(x), high.sup(x)]
        })
    }

    /// Drops the shell, which only accelerates the search for patches with other fields; moving the field then costs
    /// half.
    pub(crate) fn without_shell(mut self) -> Self {
        self.shell_tree = None;
        self
    }

    /// Drops the data that only patches with other fields need, so that moving the field costs less.
    pub(crate) fn without_patches(mut self) -> Self {
        self.shell_tree = None;
        self.low_tree = PressureBvh::default();
        self.valley_tree = PressureBvh::default();
        self
    }

    fn functions(&self, tet: usize) -> Tetrahedron {
        let corners = self.corners[tet];
        let x = corners.map(|v| self.vertices[v as usize]);
        Tetrahedron::new(&x, &corners.map(|v| self.pressures[v as usize]))
    }

    pub(crate) fn tet_bounds(&self, tet: u32) -> PressureBox {
        let corners = self.corners[tet as usize];
        PressureBox::of(corners.map(|v| (self.vertices[v as usize], self.pressures[v as usize])))
    }

    /// Bounds of the part of a tetrahedron where the pressure is at most that of the shell.
    fn shell_bounds(&self, tet: u32) -> PressureBox {
        let (x, p) = (self.corner_points(tet), self.corner_pressures(tet));
        let level = self.shell_pressure;
        let below = (0..4).filter(|&i| p[i] <= level).map(|i| (x[i], p[i]));
        let pairs = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
        let crossed = pairs.filter(|&(i, j)| p[i] <= level && level < p[j]);
        let crossings = crossed.map(|(i, j)| {
            let t = (level - p[i]) / (p[j] - p[i]);
            (x[i] + (x[j] - x[i]) * t, level)
        });
        PressureBox::of(below.chain(crossings))
    }

    fn skin_bounds(&self, face: u32) -> PressureBox {
        let corners = self.skin[face as usize].corners;
        PressureBox::of(corners.map(|v| (self.vertices[v as usize], self.pressures[v as usize])))
    }
}

/// Vertices of positive pressure that no neighbour exceeds, in order of descending pressure.
fn peaks(tets: &[[u32; 4]], pressures: &[f64]) -> Vec<Peak> {
    let mut tet_at = vec![u32::MAX; pressures.len()];
    let mut exceeded = vec![false; pressures.len()];
    for (t, corners) in tets.iter().enumerate() {
        let highest = corners.map(|v| pressures[v as usize]);
        let highest = highest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        for &v in corners {
            exceeded[v as usize] |= pressures[v as usize] < highest;
            if tet_at[v as usize] == u32::MAX {
                tet_at[v as usize] = t as u32;
            }
        }
    }
    let mut peaks: Vec<Peak> = (0..pressures.len())
        .filter(|&v| !exceeded[v] && tet_at[v] != u32::MAX && pressures[v] > 0.0)
        .map(|v| Peak {
            vertex: v as u32,
            tet: tet_at[v],
        })
        .collect();
    peaks.sort_by(|x, y| {
        let p = |peak: &Peak| pressures[peak.vertex as usize];
        p(y).total_cmp(&p(x))
    });
    peaks
}

/// Merges neighbouring tetrahedra with the same linear function: the flat side of a box is one piece, however it is
/// meshed.
fn pieces(tets: &[Tetrahedron], neighbours: &[[u32; 4]], field: &PressureField) -> Vec<u32> {
    let mut piece = vec![u32::MAX; tets.len()];
    let mut open = Vec::new();
    for start in 0..tets.len() as u32 {
        if piece[start as usize] != u32::MAX {
            continue;
        }
        piece[start as usize] = start;
        let own = tets[start as usize].pressure;
        let scale = field
            .corner_pressures(start)
            .iter()
            .fold(0.0, |m: f64, p| m.max(p.abs()));
        open.push(start);
        while let Some(t) = open.pop() {
            for &n in &neighbours[t as usize] {
                if n == OUTSIDE || piece[n as usize] != u32::MAX {
                    continue;
                }
                // Compares values, not gradients: gradients of slivers are dominated by round-off.
                let same = field
                    .corner_points(n)
                    .iter()
                    .zip(field.corner_pressures(n))
                    .all(|(x, p)| (own.at(x) - p).abs() <= 1e-9 * scale.max(p.abs()));
                if same && own.gradient != Vector3::zeros() {
                    piece[n as usize] = start;
                    open.push(n);
                }
            }
        }
    }
    piece
}

#[cfg(test)]
mod tests;
