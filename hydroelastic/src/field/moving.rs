//! Fields whose vertices move.

use nalgebra::Vector3;

use super::PressureField;
use crate::GeometryError;
use crate::pressure_bvh::PressureBvh;

impl PressureField {
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
}
