//! Tetrahedra at rest: gradients of shape functions and volumes, which determine deformation gradients.

use nalgebra::{Matrix3, Vector3};

/// Kinematic assumption of a body.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_fem::{FemBuilder, Kinematics};
/// # use pliant_fem::Linear;
/// use pliant_hydroelastic::mesh::TetIdx;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // μ = λ = 10 kPa, stretched by 1 % along x: the stress across the plane is λ ε, and a displacement along z strains nothing.
/// # let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// # let material = Arc::new(Linear::new(Lame::new(1e4, 1e4)?));
/// let (slab, _) = FemBuilder::new(mesh, material, 1000.0).kinematics(Kinematics::PlaneStrain).build()?;
/// let mut state = slab.default_state();
/// for position in state.q.chunks_mut(3) {
///     position[0] *= 1.01;
///     position[2] *= 1.5;
/// }
/// let stress = slab.cauchy_stress(&state, TetIdx(0));
/// assert!((stress[(2, 2)] * 1.01 - 1e4 * 0.01).abs() < 1e-9); // of the area at rest, Pa
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinematics {
    /// Three-dimensional deformation.
    #[default]
    Solid,
    /// Plane strain in planes z = const of the world: no dependence on z (∂/∂z = 0 in F) and no motion along it.
    ///
    /// Source: Han, Masterjohn, Castro (2023), section VII-A.
    PlaneStrain,
}

/// A linear tetrahedron at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestElement {
    pub(crate) vertices: [u32; 4],
    /// ∇N of vertices 1, 2, 3, 1/m; that of vertex 0 is minus their sum.
    pub(crate) gradients: [Vector3<f64>; 3],
    /// m³, positive.
    pub(crate) volume: f64,
}

impl RestElement {
    /// The element of corners that span a positive volume.
    pub(crate) fn new(
        vertices: [u32; 4],
        corners: [Vector3<f64>; 4],
        kinematics: Kinematics,
    ) -> Self {
        let [o, a, b, c] = corners;
        let edges = [a - o, b - o, c - o];
        let six_volumes = edges[0].dot(&edges[1].cross(&edges[2]));
        let mut gradients = [
            edges[1].cross(&edges[2]) / six_volumes,
            edges[2].cross(&edges[0]) / six_volumes,
            edges[0].cross(&edges[1]) / six_volumes,
        ];
        if kinematics == Kinematics::PlaneStrain {
            gradients.iter_mut().for_each(|g| g.z = 0.0);
        }
        Self {
            vertices,
            gradients,
            volume: six_volumes / 6.0,
        }
    }

    /// Σ y_a ∇N_aᵀ of a field with values `y` at the vertices.
    #[inline]
    pub(crate) fn gradient(&self, y: &[Vector3<f64>]) -> Matrix3<f64> {
        self.gradient_of(&self.vertices.map(|vertex| y[vertex as usize]))
    }

    /// The same of a field with values `at` its four vertices.
    #[inline]
    pub(crate) fn gradient_of(&self, at: &[Vector3<f64>; 4]) -> Matrix3<f64> {
        let mut gradient = Matrix3::zeros();
        for (k, g) in self.gradients.iter().enumerate() {
            let edge = at[k + 1] - at[0];
            for c in 0..3 {
                for r in 0..3 {
                    gradient[(r, c)] += edge[r] * g[c];
                }
            }
        }
        gradient
    }

    /// All four gradients.
    pub(crate) fn all_gradients(&self) -> [Vector3<f64>; 4] {
        let [a, b, c] = self.gradients;
        [-(a + b + c), a, b, c]
    }
}

impl Kinematics {
    /// The part of F that is not the gradient of the positions.
    pub(crate) fn out_of_plane(self) -> Matrix3<f64> {
        match self {
            Self::Solid => Matrix3::zeros(),
            Self::PlaneStrain => Matrix3::from_diagonal(&Vector3::z()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 4] = [
        [0.1, 0.0, -0.2],
        [0.9, 0.2, 0.0],
        [0.0, 1.1, 0.1],
        [0.3, 0.2, 0.8],
    ];

    fn corners() -> [Vector3<f64>; 4] {
        CORNERS.map(Vector3::from)
    }

    #[test]
    fn an_affine_map_has_its_matrix_as_gradient() {
        let element = RestElement::new([0, 1, 2, 3], corners(), Kinematics::Solid);
        let F = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.2, 0.5, 0.1, 1.1);
        let y = corners().map(|x| F * x + Vector3::new(3.0, 1.0, -2.0));
        assert!((element.gradient(&y) - F).norm() < 1e-14);
        let sum: Vector3<f64> = element.all_gradients().iter().sum();
        assert!(sum.norm() < 1e-15);
    }

    #[test]
    fn plane_strain_has_no_deformation_along_z() {
        let kinematics = Kinematics::PlaneStrain;
        let element = RestElement::new([0, 1, 2, 3], corners(), kinematics);
        let F = Matrix3::new(1.2, 0.3, 0.0, -0.2, 0.8, 0.0, 0.0, 0.0, 1.0);
        let y = corners().map(|x| F * x);
        let found = element.gradient(&y) + kinematics.out_of_plane();
        assert!((found - F).norm() < 1e-14);
    }
}
