//! Contact points of particles and their velocities as functions of the nodes of their cells.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BasisIdx, BodyError, Interpolation, MaterialPoint, PointMass, Primitive, Rows,
};

use super::MpmStep;
use crate::loads::sorted_index_of;
use crate::sparse_grid::NONE;
use crate::spline::{Stencil, corner};

/// Weight of a node in the velocity at `offset` from a particle, extrapolated by the particle's affine velocity:
///
/// ```text
/// v + C o = Σ w_i (1 + (4/h²) (x_i − x)·o) v_i
/// ```
///
/// Contact acts on the surface of the ball around a particle, so that a body rolls on its surface and not on its outermost particles.
fn weight_beside(
    stencil: &Stencil<f64>,
    corner: [usize; 3],
    offset: &Vector3<f64>,
    spacing: f64,
) -> f64 {
    let arm = stencil.arm(corner, spacing);
    stencil.weight(corner) * (1.0 + 4.0 / (spacing * spacing) * arm.dot(offset))
}

impl MpmStep {
    /// Index in sorted order of the particle at `p`.
    pub(super) fn particle(&self, p: &MaterialPoint) -> Result<usize, BodyError> {
        sorted_index_of(p, &self.sorted_index)
    }

    /// Offset of the contact point from the particle's centre; zero in a liquid. A liquid does not resist its affine velocity, and with
    /// extrapolated rows particles would pass through walls while their surface points are at rest.
    fn contact_offset(&self, sorted: usize, offset: Vector3<f64>) -> Vector3<f64> {
        match self.system.material(sorted).bears_shear() {
            true => offset,
            false => Vector3::zeros(),
        }
    }

    /// The cell of particle `p`, and the weights of its nodes; of a point on a triangle, the triangle, and the weights of the nodes of its three
    /// vertices. Bases of triangles come after those of cells.
    pub(super) fn interpolation_of(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let h = self.system.spacing;
        if let Primitive::Triangle(t) = p.primitive {
            let stencils = self.triangle(t, p)?.map(|sorted| {
                let offset = self.contact_offset(sorted, p.offset);
                (&self.system.stencils[sorted], offset)
            });
            let corners = stencils.iter().zip(p.weights);
            out.set_weights(corners.flat_map(|((stencil, offset), weight)| {
                (0..27).map(move |n| weight * weight_beside(stencil, corner(n), offset, h))
            }));
            return Ok(BasisIdx(self.system.nodes.of_cell.len() as u32 + t));
        }
        let sorted = self.particle(p)?;
        let stencil = &self.system.stencils[sorted];
        let offset = self.contact_offset(sorted, p.offset);
        out.set_weights((0..27).map(|n| weight_beside(stencil, corner(n), &offset, h)));
        Ok(BasisIdx(self.system.cell_of[sorted]))
    }

    /// Indices in sorted order of the vertices of a triangle.
    fn triangle(&self, t: u32, p: &MaterialPoint) -> Result<[usize; 3], BodyError> {
        let triangles = &self.parts.triangles;
        let vertices = triangles.get(t as usize);
        let vertices = vertices.ok_or_else(|| BodyError::NoSuchPoint {
            point: p.primitive,
            available: format!("{} triangles", triangles.len()),
        })?;
        Ok(vertices.map(|v| self.sorted_index[v as usize] as usize))
    }

    /// The velocities of the 27 nodes of a cell, or of those of the three cells of a triangle.
    pub(super) fn rows_of(&self, basis: BasisIdx, out: &mut Rows) {
        let n_cells = self.system.nodes.of_cell.len();
        match (basis.0 as usize).checked_sub(n_cells) {
            None => {
                out.reset(81);
                self.add_cell(basis.0 as usize, 0, out);
            }
            Some(t) => {
                out.reset(3 * 81);
                for (k, &vertex) in self.parts.triangles[t].iter().enumerate() {
                    let sorted = self.sorted_index[vertex as usize] as usize;
                    self.add_cell(self.system.cell_of[sorted] as usize, 81 * k, out);
                }
            }
        }
    }

    fn add_cell(&self, cell: usize, first: usize, out: &mut Rows) {
        for (n, &node) in self.system.nodes.of_cell[cell].iter().enumerate() {
            if node == NONE {
                continue;
            }
            let dof = 3 * node as usize;
            let row = first + 3 * n;
            let held = &self.system.prescribed[dof..dof + 3];
            let signs = self.system.nodes.signs(cell, n);
            if held.iter().all(|v| v.is_nan()) && signs == [1.0; 3] {
                out.identity(row, dof, 3);
                continue;
            }
            for (k, &v) in held.iter().enumerate() {
                if v.is_nan() {
                    out.dense(row + k, 1, dof + k, 1)[0] = signs[k];
                } else {
                    out.bias_mut()[row + k] = v;
                }
            }
        }
    }

    /// Masses of all nodes, each with the object that contributes most of its mass.
    pub(super) fn masses_of_nodes(&self, out: &mut Vec<PointMass>) {
        let system = &self.system;
        out.clear();
        out.extend(
            system
                .mass
                .iter()
                .enumerate()
                .map(|(node, &mass)| PointMass {
                    p_WQ: system.node_position(node).into(),
                    mass,
                    part: 0,
                }),
        );
        if self.parts.objects.len() > 1 {
            let mut most = vec![0.0; system.mass.len()];
            for (p, particle) in system.particles.iter().enumerate() {
                let nodes = &system.nodes.of_cell[system.cell_of[p] as usize];
                for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let share = system.stencils[p].weight(corner(n)) * particle.mass;
                    if share > most[node as usize] {
                        most[node as usize] = share;
                        out[node as usize].part = particle.object;
                    }
                }
            }
        }
    }
}
