//! Mass matrices.

use nalgebra::Vector3;

use crate::rest::RestElement;

/// Mass matrix of an element.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_fem::{FemBuilder, MassKind};
/// # use pliant_fem::Linear;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube of 10 cm and 1 kg of six tetrahedra, which spins at 2 rad/s: ½ I ω² with I = m a²/6.
/// let kinetic = |mass| -> Result<f64, Box<dyn std::error::Error>> {
/// #     let mesh = tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?;
/// #     let material = Arc::new(Linear::new(Lame::new(1e4, 1e4)?));
///     let (cube, _) = FemBuilder::new(mesh, material, 1000.0).mass(mass).build()?;
///     let spinning = cube.rigid_state(&Isometry3::identity(), &Vector3::new(0.0, 0.0, 2.0), &Vector3::zeros());
///     Ok(cube.energy(&spinning, &Vector3::zeros()).kinetic)
/// };
/// let exact = 0.5 * (0.01 / 6.0) * 4.0;
/// assert!((kinetic(MassKind::Consistent)? - exact).abs() < 1e-12);
/// // With all mass at the corners it is three times as large.
/// assert!((kinetic(MassKind::Lumped)? - 3.0 * exact).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassKind {
    /// A quarter of the mass at each vertex: diagonal, the cheapest, with exact linear momentum. Of quadratic elements a
    /// 32nd of the mass at a corner and 7/48 on an edge, as of the linear tetrahedra between their nodes: row sums would be negative at corners.
    #[default]
    Lumped,
    /// ∫ρ N_a N_b, of linear elements ρV/20 (1 + δ_ab): the kinetic energy of the interpolated velocity, with exact inertia on coarse meshes.
    Consistent,
}

/// The consistent mass matrix of one coordinate, in rows of vertices.
#[derive(Clone, Debug)]
pub(crate) struct SparseMass {
    /// First entry of each row, and one past the last.
    starts: Vec<u32>,
    /// Vertex and kg of each entry, ascending in a row.
    entries: Vec<(u32, f64)>,
}

impl SparseMass {
    /// ∫ρ N_a N_b = m/20 (1 + δ_ab) summed over elements with `mass` kg each.
    pub(crate) fn of(n_vertices: usize, elements: &[RestElement], mass: &[f64]) -> Self {
        let blocks = elements.iter().zip(mass).map(|(element, mass)| {
            let mut block = [[0.05 * mass; 4]; 4];
            (0..4).for_each(|a| block[a][a] = 0.1 * mass);
            (element.vertices, block)
        });
        Self::sum(n_vertices, blocks)
    }

    /// The sum of blocks of `N` vertices, kg.
    pub(crate) fn sum<const N: usize>(
        n_vertices: usize,
        blocks: impl Iterator<Item = ([u32; N], [[f64; N]; N])>,
    ) -> Self {
        let mut rows = vec![Vec::new(); n_vertices];
        for (vertices, block) in blocks {
            for (a, row) in vertices.into_iter().zip(block) {
                rows[a as usize].extend(vertices.into_iter().zip(row));
            }
        }
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for mut row in rows {
            row.sort_by_key(|(vertex, _)| *vertex);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                entries.push((same[0].0, same.iter().map(|(_, mass)| mass).sum()));
            }
            starts.push(entries.len() as u32);
        }
        Self { starts, entries }
    }

    /// The sum of each row, kg.
    pub(crate) fn row_sums(&self) -> Vec<f64> {
        let rows = 0..self.starts.len() as u32 - 1;
        rows.map(|v| self.row(v).iter().map(|(_, mass)| mass).sum())
            .collect()
    }

    /// Vertices and kg of a row.
    pub(crate) fn row(&self, vertex: u32) -> &[(u32, f64)] {
        let starts = &self.starts[vertex as usize..];
        &self.entries[starts[0] as usize..starts[1] as usize]
    }

    /// y = M x.
    pub(crate) fn product(&self, x: &[Vector3<f64>], y: &mut [Vector3<f64>]) {
        for (y, vertex) in y.iter_mut().zip(0..) {
            let row = self.row(vertex).iter();
            *y = row.map(|(other, mass)| x[*other as usize] * *mass).sum();
        }
    }
}

/// Sums a quarter of each element's quantity, mass or volume, at its vertices.
pub(crate) fn lumped(n_vertices: usize, elements: &[RestElement], of_element: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; n_vertices];
    for (element, x) in elements.iter().zip(of_element) {
        for vertex in element.vertices {
            sum[vertex as usize] += 0.25 * x;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::Kinematics;

    #[test]
    fn both_masses_sum_to_density_times_volume_and_the_consistent_one_has_the_inertia_of_a_tetrahedron()
     {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let corners = corners.map(Vector3::from);
        let elements = [RestElement::new([0, 1, 2, 3], corners, Kinematics::Solid)];
        let density = 12.0;
        let mass = [density * elements[0].volume];
        let total: f64 = lumped(4, &elements, &mass).iter().sum();
        assert!((total - 2.0).abs() < 1e-15);
        // ∫ρx² = ρ/60 for the unit corner.
        let mut y = [Vector3::zeros(); 4];
        let consistent = SparseMass::of(4, &elements, &mass);
        consistent.product(&corners, &mut y);
        let second_moment: f64 = corners.iter().zip(&y).map(|(x, y)| x.x * y.x).sum();
        assert!((second_moment - density / 60.0).abs() < 1e-15);
        let entries: f64 = consistent.entries.iter().map(|(_, mass)| mass).sum();
        assert!((entries - 2.0).abs() < 1e-15);
    }
}
