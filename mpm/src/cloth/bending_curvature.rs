//! The second derivative of the angle of a hinge.
//!
//! ∂θ/∂x of [`Bent::angle_gradient`], differentiated term by term with the 3×12 derivatives of edges and normals by the four vertices.

use nalgebra::{Matrix3, RowSVector, SMatrix, Vector3};
use pliant_constitutive::Real;

use super::hinge::Bent;

type Derivative<T> = SMatrix<T, 3, 12>;

/// ∂(x_b − x_a)/∂x.
fn difference<T: Real>(a: usize, b: usize) -> Derivative<T> {
    let mut derivative = Derivative::zeros();
    let identity = Matrix3::identity();
    derivative
        .fixed_columns_mut::<3>(3 * b)
        .copy_from(&identity);
    derivative
        .fixed_columns_mut::<3>(3 * a)
        .copy_from(&-identity);
    derivative
}

impl<T: Real> Bent<T> {
    /// ∂²θ/∂x² on the coordinates of the four vertices, 1/m².
    pub(super) fn angle_curvature(&self, positions: &[Vector3<T>; 4]) -> SMatrix<T, 12, 12> {
        let (two, square) = (T::of(2.0), self.length * self.length);
        let edge = difference(0, 1);
        let arms = [positions[2] - positions[0], positions[3] - positions[0]];
        let of_arms = [difference::<T>(0, 2), difference(0, 3)];
        let length: RowSVector<T, 12> = self.edge.transpose() * edge / self.length;
        let [_, _, first, second] = self.angle_gradient(positions);
        let mut of_to = Derivative::zeros();
        let mut of_thirds = [Derivative::zeros(); 2];
        for (k, gradient) in [first, second].into_iter().enumerate() {
            let sign = if k == 0 { T::one() } else { -T::one() };
            let (arm, of_arm, normal) = (arms[k], of_arms[k], self.normals[k]);
            let of_normal: Derivative<T> =
                (self.edge.cross_matrix() * of_arm - arm.cross_matrix() * edge) * sign;
            let normal_square = normal.norm_squared();
            // g = −|e| N/|N|²
            let scale = -T::one() / normal_square;
            let of_square: RowSVector<T, 12> = normal.transpose() * of_normal * two;
            of_thirds[k] = normal * length * scale + of_normal * (self.length * scale)
                - gradient * of_square / normal_square;
            let along = arm.dot(&self.edge) / square;
            let of_along: RowSVector<T, 12> =
                (self.edge.transpose() * of_arm + arm.transpose() * edge) / square
                    - length * (two * along / self.length);
            of_to -= of_thirds[k] * along + gradient * of_along;
        }
        let of_from = -(of_thirds[0] + of_thirds[1] + of_to);
        let mut curvature = SMatrix::<T, 12, 12>::zeros();
        for (k, rows) in [of_from, of_to, of_thirds[0], of_thirds[1]]
            .iter()
            .enumerate()
        {
            curvature.fixed_rows_mut::<3>(3 * k).copy_from(rows);
        }
        curvature
    }
}
