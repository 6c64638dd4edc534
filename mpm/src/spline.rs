//! Quadratic B-splines: weights and gradients of the 27 grid nodes around a particle.

use nalgebra::Vector3;

use pliant_constitutive::Real;

/// Discretisation of the velocity gradient at a particle. The energy and the update of the deformation gradient use the same one, so
/// that the implicit step is the minimisation of an energy.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_mpm::{GradientForm, Stencil, base_node};
///
/// // A particle 3/4 of a cell from its lowest node, h = 0.02 m. The weight of that node is (3/2 − f)²/2 with the slope (f − 3/2)/h; that
/// // by moving least squares is (4/h²) w (0 − f) h.
/// let (x, h) = (Vector3::repeat(0.035), 0.02);
/// let slope = |form| -> f64 { Stencil::about(&x, base_node(&x, 1.0 / h), 1.0 / h, form).slopes[0][0] };
/// assert!((slope(GradientForm::True) - (0.75 - 1.5) / h).abs() < 1e-12);
/// assert!((slope(GradientForm::Mls) + 4.0 / h * (0.75 * 0.75 / 2.0) * 0.75).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GradientForm {
    /// ∇v = Σ v_i ∇w_i ᵀ: the derivative of the interpolated field (Zong, Jiang, Han 2024, eq. 14).
    #[default]
    True,
    /// ∇v = (4/h²) Σ w_i v_i (x_i − x)ᵀ: the affine field nearest to the nodes (moving least squares, Hu et al. 2018).
    Mls,
}

/// The lowest of the 27 nodes around `x`, in units of the spacing: ⌊x/h − ½⌋ along each axis.
///
/// Sort keys, transfers and contact use this function, which makes their cells identical.
#[inline(always)]
pub fn base_node<T: Real>(x: &Vector3<T>, inverse_spacing: T) -> [i32; 3] {
    let half = T::of(0.5);
    let along = |k: usize| floor_index(x[k] * inverse_spacing - half);
    [along(0), along(1), along(2)]
}

/// ⌊x⌋, saturating; 0 for NaN.
#[inline(always)]
fn floor_index<T: Real>(x: T) -> i32 {
    let x = x.wide();
    // The cast rounds towards zero.
    let truncated = x as i32;
    truncated - i32::from(f64::from(truncated) > x)
}

/// Weights and derivatives of weights of a particle at three nodes along each axis; those of the 27 nodes are products.
///
/// ```text
/// w0 = (3/2 − f)²/2     w1 = 3/4 − (f − 1)²     w2 = (f − 1/2)²/2        f = x/h − base ∈ [1/2, 3/2)
/// w0' = (f − 3/2)/h     w1' = 2 (1 − f)/h       w2' = (f − 1/2)/h        true gradient
/// w_k' = (4/h²) w_k (k − f) h                                            moving least squares
/// ```
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_mpm::{GradientForm, Stencil, base_node};
///
/// // A particle exactly on a node: ¾ of its weight along each axis is there, ⅛ on either side.
/// let x = Vector3::repeat(0.04);
/// let stencil = Stencil::about(&x, base_node(&x, 50.0), 50.0, GradientForm::True);
/// assert_eq!(stencil.weights[0], [0.125, 0.75, 0.125]);
/// assert_eq!(stencil.slopes[0], [-25.0, 0.0, 25.0]); // ∓1/(2h), 1/m
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stencil<T> {
    /// w of the nodes along each axis.
    pub weights: [[T; 3]; 3],
    /// w' along each axis, 1/m, by the [`GradientForm`].
    pub slopes: [[T; 3]; 3],
    /// f along each axis: position relative to the lowest node, in cells.
    pub fraction: [T; 3],
}

impl<T: Real> Stencil<T> {
    /// The stencil at `x`; `base` is its [`base_node`].
    #[inline(always)]
    pub fn about(x: &Vector3<T>, base: [i32; 3], inverse_spacing: T, form: GradientForm) -> Self {
        let mut stencil = Self::default();
        let (half, one, two) = (T::of(0.5), T::of(1.0), T::of(2.0));
        for k in 0..3 {
            let f = x[k] * inverse_spacing - T::of(f64::from(base[k]));
            let (a, b, c) = (T::of(1.5) - f, f - one, f - half);
            let w = [half * a * a, T::of(0.75) - b * b, half * c * c];
            stencil.fraction[k] = f;
            stencil.weights[k] = w;
            stencil.slopes[k] = match form {
                GradientForm::True => {
                    let twice = two * inverse_spacing;
                    [-a * inverse_spacing, -b * twice, c * inverse_spacing]
                }
                GradientForm::Mls => {
                    let four = T::of(4.0) * inverse_spacing;
                    [-w[0] * f * four, -w[1] * b * four, w[2] * (two - f) * four]
                }
            };
        }
        stencil
    }

    /// Weight of node (i, j, k) of the 27.
    #[inline(always)]
    pub fn weight(&self, [i, j, k]: [usize; 3]) -> T {
        self.weights[0][i] * self.weights[1][j] * self.weights[2][k]
    }

    /// Gradient at node (i, j, k), 1/m.
    #[inline(always)]
    pub fn gradient(&self, [i, j, k]: [usize; 3]) -> Vector3<T> {
        let (w, s) = (&self.weights, &self.slopes);
        Vector3::new(
            s[0][i] * w[1][j] * w[2][k],
            w[0][i] * s[1][j] * w[2][k],
            w[0][i] * w[1][j] * s[2][k],
        )
    }

    /// x_i − x from the particle to node (i, j, k), m.
    #[inline(always)]
    pub fn arm(&self, node: [usize; 3], spacing: T) -> Vector3<T> {
        Vector3::from_fn(|a, _| (T::of(node[a] as f64) - self.fraction[a]) * spacing)
    }
}

/// (i, j, k) of node `n` of the 27, x slowest.
#[inline(always)]
pub(crate) fn corner(n: usize) -> [usize; 3] {
    [n / 9, n / 3 % 3, n % 3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;
    use proptest::prelude::*;

    const H: f64 = 0.02;

    fn stencil(x: &Vector3<f64>, form: GradientForm) -> Stencil<f64> {
        Stencil::about(x, base_node(x, 1.0 / H), 1.0 / H, form)
    }

    #[test]
    fn floor_rounds_negative_numbers_down() {
        for (x, expected) in [(1.5, 1), (-0.5, -1), (-2.0, -2), (0.0, 0), (f64::NAN, 0)] {
            assert_eq!(floor_index(x), expected, "{x}");
            assert_eq!(floor_index(x as f32), expected, "{x}");
        }
    }

    proptest! {
        #[test]
        fn moments_are_exact_at_any_position(
            x in prop::array::uniform3(-1.0..1.0f64),
        ) {
            let x = Vector3::from(x);
            for form in [GradientForm::True, GradientForm::Mls] {
                let s = stencil(&x, form);
                let (mut sum, mut first, mut spread) = (0.0, Vector3::zeros(), Matrix3::zeros());
                let (mut slopes, mut affine) = (Vector3::zeros(), Matrix3::zeros());
                for node in (0..27).map(corner) {
                    let (w, g, arm) = (s.weight(node), s.gradient(node), s.arm(node, H));
                    sum += w;
                    first += arm * w;
                    spread += arm * arm.transpose() * w;
                    slopes += g;
                    affine += arm * g.transpose();
                }
                prop_assert!((sum - 1.0).abs() < 1e-14);
                prop_assert!(first.norm() < 1e-14 * H);
                prop_assert!((spread - Matrix3::identity() * (H * H / 4.0)).norm() < 1e-13 * H * H);
                prop_assert!(slopes.norm() < 1e-12 / H);
                prop_assert!((affine - Matrix3::identity()).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn the_true_gradient_is_the_derivative_of_the_weight() {
        let x = Vector3::new(0.0123, -0.0371, 0.2);
        let base = base_node(&x, 1.0 / H);
        let at = |x: &Vector3<f64>| Stencil::about(x, base, 1.0 / H, GradientForm::True);
        for node in (0..27).map(corner) {
            for k in 0..3 {
                let e = Vector3::ith(k, 1e-6 * H);
                let difference =
                    (at(&(x + e)).weight(node) - at(&(x - e)).weight(node)) / (2e-6 * H);
                assert!((difference - at(&x).gradient(node)[k]).abs() < 1e-8 / H);
            }
        }
    }

    #[test]
    fn on_a_cell_border_the_last_weight_is_zero() {
        let x = Vector3::repeat(0.5 * H);
        assert_eq!(base_node(&x, 1.0 / H), [0; 3]);
        assert_eq!(stencil(&x, GradientForm::True).weights[0], [0.5, 0.5, 0.0]);
    }
}
