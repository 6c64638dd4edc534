//! Mass on vertices.

use nalgebra::Vector3;

use crate::rest::RestElement;

/// How the mass of a tetrahedron is shared among its vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassKind {
    /// A quarter to each vertex: a diagonal matrix, the cheapest, momenta exact.
    #[default]
    Lumped,
    /// ∫ρ N_a N_b = ρV/20 (1 + δ_ab): the kinetic energy of the interpolated velocity, inertia of coarse meshes included.
    Consistent,
}

/// ∫ρ N_a N_b of two vertices of a tetrahedron of mass `mass`, the same or different, kg.
pub(crate) fn consistent_entry(mass: f64, a: usize, b: usize) -> f64 {
    if a == b { mass / 10.0 } else { mass / 20.0 }
}

/// Σ ρV/4 at each vertex, kg.
pub(crate) fn lumped(n_vertices: usize, elements: &[RestElement], density: f64) -> Vec<f64> {
    let mut mass = vec![0.0; n_vertices];
    for element in elements {
        for vertex in element.vertices {
            mass[vertex as usize] += 0.25 * density * element.volume;
        }
    }
    mass
}

/// y += scale · M x, the consistent mass matrix.
pub(crate) fn add_consistent_product(
    elements: &[RestElement],
    density: f64,
    scale: f64,
    x: &[Vector3<f64>],
    y: &mut [Vector3<f64>],
) {
    for element in elements {
        let share = scale * density * element.volume / 20.0;
        let sum: Vector3<f64> = element.vertices.iter().map(|v| x[*v as usize]).sum();
        for vertex in element.vertices {
            // (1 + δ_ab) summed over b.
            y[vertex as usize] += (sum + x[vertex as usize]) * share;
        }
    }
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
        let total: f64 = lumped(4, &elements, density).iter().sum();
        assert!((total - 2.0).abs() < 1e-15);
        // ∫ρx² = ρ/60 for the unit corner.
        let mut y = [Vector3::zeros(); 4];
        add_consistent_product(&elements, density, 1.0, &corners, &mut y);
        let second_moment: f64 = corners.iter().zip(&y).map(|(x, y)| x.x * y.x).sum();
        assert!((second_moment - density / 60.0).abs() < 1e-15);
        let entries: f64 = (0..16).map(|k| consistent_entry(2.0, k / 4, k % 4)).sum();
        assert!((entries - 2.0).abs() < 1e-15);
    }
}
