//! Accessors of a pressure field.

use nalgebra::Vector3;

use super::{Attachment, Peak, PressureField, SkinFace, Tetrahedron};
use crate::Aabb;
use crate::mesh::TetIdx;
use crate::pressure_bvh::PressureBvh;

impl PressureField {
    /// Vertices, m, in the frame G of the geometry; in the world frame if the field is [attached](Self::attached).
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Pressure at each vertex, Pa: negative in the margin outside the surface.
    #[must_use]
    pub fn pressures(&self) -> &[f64] {
        &self.pressures
    }

    /// Corners of each tetrahedron, as vertex indices.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.corners
    }

    /// Triangles of the surface, counter-clockwise seen from outside; with a margin they lie outside of the shape.
    pub fn surface_triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.skin.iter().map(|f| f.corners)
    }

    /// ∇p in a tetrahedron, Pa/m; zero if it is flat or inverted.
    ///
    /// # Panics
    /// If the tetrahedron does not exist.
    #[must_use]
    pub fn gradient(&self, tet: TetIdx) -> Vector3<f64> {
        self.tets[tet.index()].pressure.gradient
    }

    /// Pressure at a point (m, in the frame of the vertices), Pa; `None` outside the mesh. Searches the tree.
    #[must_use]
    pub fn pressure_at(&self, p_GQ: &Vector3<f64>) -> Option<f64> {
        let tet = self.tet_at(p_GQ, &mut Vec::new(), |_| false)?;
        Some(self.tets[tet as usize].pressure.at(p_GQ))
    }

    /// The first tetrahedron around a point (m, in the frame of the vertices) that is not `excluded`; `None` outside the mesh.
    pub(crate) fn tet_at(
        &self,
        p: &Vector3<f64>,
        stack: &mut Vec<(u32, u32)>,
        excluded: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut found: Option<u32> = None;
        self.tet_tree.visit(
            stack,
            |b| (0..3).all(|k| b.min[k] <= p[k] && p[k] <= b.max[k]),
            |t| {
                let tet = &self.tets[t as usize];
                let earlier = found.is_some_and(|known| known < t);
                if earlier || tet.is_flat() || excluded(t) {
                    return;
                }
                if tet.weights(p).iter().all(|w| *w >= -1e-9) {
                    found = Some(t);
                }
            },
        );
        found
    }

    /// Depth of the deepest point below the surface, m.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.depth
    }

    /// The highest pressure, Pa: the hydroelastic modulus, unless the field is user-defined.
    #[must_use]
    pub fn pressure_max(&self) -> f64 {
        let highest = self.peaks.first();
        highest.map_or(0.0, |peak| self.pressures[peak.vertex as usize])
    }

    /// Mean rise of the pressure from the surface to the deepest point, Pa/m.
    pub(crate) fn steepness(&self) -> f64 {
        self.pressure_max() / self.depth
    }

    /// How far the field extends outside the shape, m; zero for a user-defined field.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// A box around the mesh, m, in the frame of the vertices. It includes the margin.
    #[must_use]
    pub fn local_aabb(&self) -> Aabb {
        let root = self.tet_tree.root();
        Aabb {
            min: root.min.into(),
            max: root.max.into(),
        }
    }

    #[inline]
    pub(crate) fn corner_points(&self, tet: u32) -> [Vector3<f64>; 4] {
        let [a, b, c, d] = self.corners[tet as usize];
        let x = |v: u32| self.vertices[v as usize];
        [x(a), x(b), x(c), x(d)]
    }

    #[inline]
    pub(crate) fn corner_pressures(&self, tet: u32) -> [f64; 4] {
        let [a, b, c, d] = self.corners[tet as usize];
        let p = |v: u32| self.pressures[v as usize];
        [p(a), p(b), p(c), p(d)]
    }

    #[inline]
    pub(crate) fn functions_of(&self, tet: u32) -> &Tetrahedron {
        &self.tets[tet as usize]
    }

    #[inline]
    pub(crate) fn piece(&self, tet: u32) -> u32 {
        self.pieces[tet as usize]
    }

    #[inline]
    pub(crate) fn across(&self, tet: u32) -> &[u32; 4] {
        &self.neighbours[tet as usize]
    }

    #[inline]
    pub(crate) fn skin(&self, face: u32) -> &SkinFace {
        &self.skin[face as usize]
    }

    #[inline]
    pub(crate) fn skin_corners(&self, face: u32) -> [Vector3<f64>; 3] {
        let corners = self.skin[face as usize].corners;
        corners.map(|v| self.vertices[v as usize])
    }

    /// Largest coordinate of a vertex, m.
    pub(crate) fn reach(&self) -> f64 {
        let root = self.tet_tree.root();
        root.min.abs().sup(&root.max.abs()).max()
    }

    /// Largest pressure over the depth, Pa/m.
    pub(crate) fn slope(&self) -> f64 {
        let root = self.tet_tree.root();
        root.p_max.abs().max(root.p_min.abs()) / self.depth
    }

    pub(crate) fn tet_tree(&self) -> &PressureBvh {
        &self.tet_tree
    }

    /// The tetrahedra bounded by their parts of pressure up to `pressure`: if that is the highest pressure on a
    /// partner's skin, only the shell can balance it.
    pub(crate) fn tree_up_to(&self, pressure: f64) -> &PressureBvh {
        match &self.shell_tree {
            Some(shell) if pressure <= 0.0 => shell,
            _ => &self.tet_tree,
        }
    }

    /// The tetrahedra with interior faces at pressures as low as on the skin.
    pub(crate) fn low_tree(&self) -> &PressureBvh {
        &self.low_tree
    }

    /// The tetrahedra in which the pressure may have an interior minimum.
    pub(crate) fn valley_tree(&self) -> &PressureBvh {
        &self.valley_tree
    }

    pub(crate) fn skin_tree(&self) -> &PressureBvh {
        &self.skin_tree
    }

    /// A vertex of highest pressure.
    pub(crate) fn deepest_point(&self) -> Option<Vector3<f64>> {
        let peak = self.peaks.first()?;
        Some(self.vertices[peak.vertex as usize])
    }

    /// Local maxima of the pressure, in descending order.
    pub(crate) fn peaks(&self) -> &[Peak] {
        &self.peaks
    }

    /// Whether each tetrahedron is attached to a primitive.
    pub(crate) fn is_attached(&self) -> bool {
        !self.attachments.is_empty()
    }

    /// The attachment of a tetrahedron; `None` for a rigid field.
    pub(crate) fn attachment(&self, tet: u32) -> Option<&Attachment> {
        self.attachments.get(tet as usize)
    }
}
