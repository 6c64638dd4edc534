//! Mass matrices.

use nalgebra::Vector3;

use crate::rest::RestElement;

/// Mass matrix of a tetrahedron.
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
    /// A quarter of the mass at each vertex: diagonal, the cheapest, with exact linear momentum.
    #[default]
    Lumped,
    /// ∫ρ N_a N_b = ρV/20 (1 + δ_ab): the kinetic energy of the interpolated velocity, with exact inertia on coarse meshes.
    Consistent,
}

/// ∫ρ N_a N_b of vertices a and b of a tetrahedron of mass `mass`, kg.
pub(crate) fn consistent_entry(mass: f64, a: usize, b: usize) -> f64 {
    if a == b { mass / 10.0 } else { mass / 20.0 }
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

/// y += M x, the consistent mass matrix of elements with `mass` kg each.
pub(crate) fn add_consistent_product(
    elements: &[RestElement],
    mass: &[f64],
    x: &[Vector3<f64>],
    y: &mut [Vector3<f64>],
) {
    for (element, mass) in elements.iter().zip(mass) {
        let share = mass / 20.0;
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
        let mass = [density * elements[0].volume];
        let total: f64 = lumped(4, &elements, &mass).iter().sum();
        assert!((total - 2.0).abs() < 1e-15);
        // ∫ρx² = ρ/60 for the unit corner.
        let mut y = [Vector3::zeros(); 4];
        add_consistent_product(&elements, &mass, &corners, &mut y);
        let second_moment: f64 = corners.iter().zip(&y).map(|(x, y)| x.x * y.x).sum();
        assert!((second_moment - density / 60.0).abs() < 1e-15);
        let entries: f64 = (0..16).map(|k| consistent_entry(2.0, k / 4, k % 4)).sum();
        assert!((entries - 2.0).abs() < 1e-15);
    }
}
