//! One triangle: from positions to the deformation gradient, from stress to forces.

use nalgebra::{Matrix2, Matrix3, Matrix3x2, Vector3};
use pliant_constitutive::Real;

use super::law::ClothLaw;
use super::mesh::RestTriangle;
use super::surface_frame::SurfaceFrame;

/// Rest state of one triangle: a linear finite element whose quadrature point is its centroid.
///
/// ```
/// use nalgebra::{Matrix2, Vector3};
/// use pliant_mpm::ClothTriangle;
///
/// // Half of a square of 1 m, 1 mm thick; stretched by 20 % along x.
/// let triangle = ClothTriangle { vertices: [0, 1, 2], inverse_edges: Matrix2::<f64>::identity(), volume: 0.5e-3 };
/// let corners = [Vector3::zeros(), Vector3::new(1.2, 0.0, 0.0), Vector3::y()];
/// let F = triangle.deformation_gradient(&corners, &Vector3::z());
/// assert_eq!(F.diagonal(), Vector3::new(1.2, 1.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothTriangle<T> {
    /// Its vertices, counted from 0.
    pub vertices: [u32; 3],
    /// D_m⁻¹ in the plane of the triangle, 1/m; the columns of D_m are the edges from the first vertex to the others.
    pub inverse_edges: Matrix2<T>,
    /// Area times thickness, m³.
    pub volume: T,
}

/// What a deformed triangle exerts.
///
/// ```
/// use nalgebra::{Matrix2, Vector3};
/// use pliant_mpm::{ClothLaw, ClothMaterial, ClothTriangle, InPlaneLaw};
///
/// // Half of a square of 1 m, 0.5 mm thick, 1 % longer along x: with ν = 0 the stress E ε on V D_m⁻ᵀ.
/// let law: ClothLaw<f64> = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.0, 1000.0, 5e-4)?.law();
/// let triangle = ClothTriangle { vertices: [0, 1, 2], inverse_edges: Matrix2::identity(), volume: 0.5 * 5e-4 };
/// let corners = [Vector3::zeros(), Vector3::new(1.01, 0.0, 0.0), Vector3::y()];
/// let forces = triangle.forces(&law, &corners, &[Vector3::zeros(); 3], &Vector3::z());
/// assert!((forces.vertices[1].x + 0.5 * 5e-4 * 1e5 * 0.01).abs() < 1e-12);
/// assert!(forces.vertices.iter().sum::<Vector3<f64>>().norm() < 1e-15 && forces.kirchhoff.norm() == 0.0);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleForces<T> {
    /// Forces on the vertices, N; their sum is zero.
    pub vertices: [Vector3<T>; 3],
    /// Kirchhoff stress P₃ d₃ᵀ at the centroid, Pa, acting on [`ClothTriangle::volume`].
    pub kirchhoff: Matrix3<T>,
}

impl<T: Real> ClothTriangle<T> {
    pub(super) fn new(vertices: [u32; 3], rest: &RestTriangle, thickness: f64) -> Self {
        Self {
            vertices,
            inverse_edges: rest.inverse_edges.map(T::of),
            volume: T::of(rest.area * thickness),
        }
    }

    /// F = [D_s D_m⁻¹, d₃] with the current edges D_s.
    #[must_use]
    #[inline]
    pub fn deformation_gradient(
        &self,
        vertices: &[Vector3<T>; 3],
        normal: &Vector3<T>,
    ) -> Matrix3<T> {
        let edges = self.surface_gradient(vertices);
        Matrix3::from_columns(&[
            edges.column(0).into_owned(),
            edges.column(1).into_owned(),
            *normal,
        ])
    }

    /// The elastic and viscous forces: f = −V P₁₂ D_m⁻ᵀ on the second and third vertex, the opposite of their sum on the first.
    ///
    /// Forces and stress together have no torque: Σ x × f + V a(τ) = 0 with a_i = ε_ijk τ_jk.
    #[must_use]
    #[inline]
    pub fn forces(
        &self,
        law: &ClothLaw<T>,
        positions: &[Vector3<T>; 3],
        velocities: &[Vector3<T>; 3],
        normal: &Vector3<T>,
    ) -> TriangleForces<T> {
        let F = self.deformation_gradient(positions, normal);
        self.frame_forces(law, &F, &SurfaceFrame::of(&F), velocities)
    }

    /// d₃ ← return mapping of (I + Δt ∇v) d₃ with `displacement_gradient` = Δt ∇v, then the forces.
    #[inline]
    pub(super) fn advance(
        &self,
        law: &ClothLaw<T>,
        positions: &[Vector3<T>; 3],
        velocities: &[Vector3<T>; 3],
        displacement_gradient: &Matrix3<T>,
        normal: &mut Vector3<T>,
    ) -> TriangleForces<T> {
        let convected = *normal + displacement_gradient * *normal;
        let mut F = self.deformation_gradient(positions, &convected);
        let mut frame = SurfaceFrame::of(&F);
        law.layers.return_frame(&mut frame);
        *normal = frame.third_column();
        F.set_column(2, normal);
        self.frame_forces(law, &F, &frame, velocities)
    }

    #[inline(always)]
    fn frame_forces(
        &self,
        law: &ClothLaw<T>,
        F: &Matrix3<T>,
        frame: &SurfaceFrame<T>,
        velocities: &[Vector3<T>; 3],
    ) -> TriangleForces<T> {
        let stress = law.frame_stress(frame, T::of(f64::INFINITY));
        let mut in_plane = stress.fixed_columns::<2>(0).into_owned();
        if law.is_damped() {
            in_plane += law.viscous_stress(F, &self.surface_gradient(velocities));
        }
        TriangleForces {
            vertices: self.energy_gradient(&-in_plane),
            kirchhoff: stress.column(2) * F.column(2).transpose(),
        }
    }

    /// ∂E/∂x of the vertices, N, from the stress P₁₂: V P₁₂ D_m⁻ᵀ of the second and third, the opposite of their sum of the first.
    #[inline]
    pub(crate) fn energy_gradient(&self, in_plane: &Matrix3x2<T>) -> [Vector3<T>; 3] {
        let f = in_plane * self.inverse_edges.transpose() * self.volume;
        let (second, third) = (f.column(0).into_owned(), f.column(1).into_owned());
        [-(second + third), second, third]
    }

    /// Σ a_v ∇N_vᵀ of values at the vertices.
    #[inline]
    pub(crate) fn surface_gradient(&self, values: &[Vector3<T>; 3]) -> Matrix3x2<T> {
        let [first, second, third] = values;
        Matrix3x2::from_columns(&[second - first, third - first]) * self.inverse_edges
    }
}

/// ∇N of the vertices of a triangle in its plane, 1/m, from D_m⁻¹: δF₁₂ = Σ δx_v ∇N_vᵀ. Their lengths are the inverse altitudes.
pub(crate) fn shape_gradients<T: Real>(inverse_edges: &Matrix2<T>) -> [[T; 2]; 3] {
    let m = inverse_edges;
    [
        [-m.m11 - m.m21, -m.m12 - m.m22],
        [m.m11, m.m12],
        [m.m21, m.m22],
    ]
}
