//! ∂²ψ/∂F² of a triangle on vec F = (d₁, d₂, d₃), for implicit steps.
//!
//! The distance between layers r = q₃·d₃ depends on all three columns. With the normal n = q₃, the dual vectors dᵅ of d₁ and d₂, and sᵅ = dᵅ·d₃
//!
//! ```text
//! δn  = −Σ dᵅ (n·δd_α)
//! δr  = n·δd₃ − Σ sᵅ (n·δd_α)
//! δ²r = 2 δn·δd₃ − r|δn|² − 2 Σ sᵅ (δn·δd_α)
//! ```
//!
//! The last line follows from n·n = 1 and n·d_α = 0, differentiated twice. The shear enters by |s|² = |d₃|² − r².

use nalgebra::{Matrix3, Matrix3x2, SMatrix, SVector, Vector3};
use pliant_constitutive::Real;

use super::fading::Fading;
use super::in_plane::{Eigenvalues, PrincipalStretches};
use super::law::ClothLaw;
use super::layers::Transverse;
use super::surface_frame::SurfaceFrame;

type Square<T> = SMatrix<T, 9, 9>;
type Rows<T> = SMatrix<T, 3, 9>;

/// Derivatives of the normal n and of r by F.
struct NormalMotion<T: Real> {
    n: Vector3<T>,
    r: T,
    /// sᵅ.
    shear: [T; 2],
    /// ∂n/∂F.
    turn: Rows<T>,
    /// ∂r/∂F.
    approach: SVector<T, 9>,
}

impl<T: Real> NormalMotion<T> {
    /// Of a triangle with an area.
    fn of(frame: &SurfaceFrame<T>) -> Self {
        let n = frame.q.column(2).into_owned();
        let r = &frame.in_plane;
        let [q1, q2] = [0, 1].map(|k| frame.q.column(k).into_owned());
        let inverse = T::one() / frame.area_ratio;
        let duals = [(q1 * r.m22 - q2 * r.m12) * inverse, q2 * (r.m11 * inverse)];
        let shear = [
            (frame.shear.x * r.m22 - frame.shear.y * r.m12) * inverse,
            frame.shear.y * (r.m11 * inverse),
        ];
        let mut turn = Rows::zeros();
        let mut approach = SVector::<T, 9>::zeros();
        for k in 0..2 {
            let block = duals[k] * -n.transpose();
            turn.fixed_columns_mut::<3>(3 * k).copy_from(&block);
            approach
                .fixed_rows_mut::<3>(3 * k)
                .copy_from(&(n * -shear[k]));
        }
        approach.fixed_rows_mut::<3>(6).copy_from(&n);
        Self {
            n,
            r: frame.normal,
            shear,
            turn,
            approach,
        }
    }

    /// ∂²r/∂F².
    fn curvature(&self) -> Square<T> {
        let mut half = self.turn.transpose() * column::<T>(2)
            - self.turn.transpose() * self.turn * (T::of(0.5) * self.r);
        for (k, shear) in self.shear.into_iter().enumerate() {
            half -= self.turn.transpose() * column::<T>(k) * shear;
        }
        half + half.transpose()
    }
}

/// ∂d_k/∂F.
fn column<T: Real>(k: usize) -> Rows<T> {
    let mut rows = Rows::zeros();
    rows.fixed_columns_mut::<3>(3 * k)
        .copy_from(&Matrix3::identity());
    rows
}

impl<T: Real> ClothLaw<T> {
    /// A positive semidefinite approximation of ∂²ψ/∂F², Pa, with the shear traction between layers bounded by `bound`:
    /// negative eigenvalues of the part in the plane are zero, and of the part across the surface, terms with the second derivative of r
    /// and of the direction of s are left out (Gauss and Newton's approximation). At rest it is exact.
    pub(crate) fn positive_second_derivative(
        &self,
        frame: &SurfaceFrame<T>,
        bound: T,
    ) -> Square<T> {
        let mut sum = self.second_derivative_in_plane(frame, Eigenvalues::NotNegative);
        let transverse = self.layers.transverse(frame, bound);
        if self.is_unloaded(frame, &transverse) {
            return sum;
        }
        let motion = NormalMotion::of(frame);
        let factor = Fading::of(frame.area_ratio).factor;
        let along = motion.approach * motion.approach.transpose();
        sum += along * (transverse.normal.stiffness * factor);
        // The shear in the surface, P (δd₃ − r δn).
        let tangential = Matrix3::identity() - motion.n * motion.n.transpose();
        let mut stiffness = tangential * transverse.shear_secant;
        if transverse.shear_secant < self.layers.shear {
            let s = frame.q.fixed_columns::<2>(0) * frame.shear.normalize();
            stiffness -= s * s.transpose() * transverse.shear_secant;
        }
        let sheared = column::<T>(2) - motion.turn * motion.r;
        sum + sheared.transpose() * stiffness * sheared * factor
    }

    /// ∂²ψ/∂F², Pa. Of a triangle that has lost nine tenths of its area,
    /// [`positive_second_derivative`](Self::positive_second_derivative).
    pub(crate) fn second_derivative(&self, frame: &SurfaceFrame<T>, bound: T) -> Square<T> {
        if Fading::of(frame.area_ratio).fades() {
            return self.positive_second_derivative(frame, bound);
        }
        let mut sum = self.second_derivative_in_plane(frame, Eigenvalues::All);
        let transverse = self.layers.transverse(frame, bound);
        if self.is_unloaded(frame, &transverse) {
            return sum;
        }
        let motion = NormalMotion::of(frame);
        let (r, curvature) = (motion.r, motion.curvature());
        let along = motion.approach * motion.approach.transpose();
        sum += along * transverse.normal.stiffness - curvature * transverse.normal.pressure;
        // h(t) with t = |s|² = |d₃|² − r²: h′ is half of the secant.
        let two = T::of(2.0);
        let slope = T::of(0.5) * transverse.shear_secant;
        let normal = column::<T>(2);
        let of_square = (normal.transpose() * normal - along - curvature * r) * two;
        sum += of_square * slope;
        if transverse.shear_secant < self.layers.shear {
            let d3 = frame.third_column();
            let gradient = (normal.transpose() * d3 - motion.approach * r) * two;
            let bend = -transverse.shear_secant / (T::of(4.0) * frame.shear.norm_squared());
            sum += gradient * gradient.transpose() * bend;
        }
        sum
    }

    /// Whether the energy across the surface is zero nearby, or the triangle has no normal.
    fn is_unloaded(&self, frame: &SurfaceFrame<T>, transverse: &Transverse<T>) -> bool {
        let is_free = !(transverse.normal.stiffness > T::zero());
        let slides = !(transverse.shear_secant > T::zero());
        (is_free && slides) || !(frame.area_ratio > T::zero())
    }

    fn second_derivative_in_plane(
        &self,
        frame: &SurfaceFrame<T>,
        eigenvalues: Eigenvalues,
    ) -> Square<T> {
        let q = [0, 1, 2].map(|k| frame.q.column(k).into_owned());
        let principal = PrincipalStretches::of(&frame.in_plane);
        let of_edges = self.in_plane.second_derivative(q, &principal, eigenvalues);
        let mut sum = Square::zeros();
        sum.fixed_view_mut::<6, 6>(0, 0).copy_from(&of_edges);
        sum
    }

    /// ∂P/∂Ḟ₁₂ of [`Self::viscous_stress`], Pa s, on vec F₁₂: F₁₂ and the stiffness β (2μ, λ) of the strain rate. Positive semidefinite.
    pub(crate) fn viscosity(&self, F: &Matrix3<T>) -> SMatrix<T, 6, 6> {
        let mut viscosity = SMatrix::<T, 6, 6>::zeros();
        for k in 0..6 {
            let mut rate = Matrix3x2::zeros();
            rate[k] = T::one();
            let stress = self.viscous_stress(F, &rate);
            viscosity.column_mut(k).copy_from_slice(stress.as_slice());
        }
        viscosity
    }
}
