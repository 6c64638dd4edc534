//! ∂P/∂F in structured form: products and element blocks without a 9×9 contraction.

use nalgebra::{Matrix3, SMatrix, Vector3};
use pliant_constitutive::{Hooke, Spectrum, corotated_stretch, principal_pair};

/// The derivative ∂P/∂F of a stress, Pa; symmetric.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_fem::Tangent;
///
/// // μ = λ = 1 MPa: a change of shear by δF_xy = 0.01 gives δP_xy = δP_yx = μ · 0.01.
/// let tangent = Tangent::Hooke { rotation: Matrix3::identity(), hooke: Lame::new(1e6, 1e6)?.hooke() };
/// let mut dF = Matrix3::zeros();
/// dF[(0, 1)] = 0.01;
/// let dP = tangent.apply(&dF);
/// assert!((dP[(0, 1)] - 1e4).abs() < 1e-9 && dP[(0, 1)] == dP[(1, 0)]);
/// assert_eq!(tangent.to_matrix(), tangent.to_matrix().transpose());
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Tangent {
    /// δP = R(2μ δε + λ tr(δε) I) with δε = sym(RᵀδF): linear laws, corotated or not.
    Hooke {
        /// R, orthogonal.
        rotation: Matrix3<f64>,
        /// μ and λ.
        hooke: Hooke,
    },
    /// An isotropic law in the frame of its principal stretches.
    Principal(Principal),
    /// Any law: 9×9 over the columns of F stacked.
    Full(Box<SMatrix<f64, 9, 9>>),
}

/// The derivative of an isotropic law's stress at F = U diag(σ) Vᵀ.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::{Corotational, Lame, PrincipalLaw};
/// use pliant_fem::{Principal, Tangent};
///
/// // Compressed to half in each direction, an element gains energy by buckling: one eigenvalue is negative.
/// let law = Corotational::new(Lame::new(1e6, 1e6)?);
/// let spectrum = law.spectrum(&Vector3::repeat(0.5));
/// let tangent = Tangent::Principal(Principal { U: Matrix3::identity(), V: Matrix3::identity(), spectrum });
/// let least = |t: &Tangent| t.to_matrix().symmetric_eigenvalues().min();
/// assert!(least(&tangent) < -1e6);
/// assert!(least(&tangent.semidefinite()).abs() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// U, a rotation.
    pub U: Matrix3<f64>,
    /// V, a rotation.
    pub V: Matrix3<f64>,
    /// Stiffnesses in that frame.
    pub spectrum: Spectrum,
}

impl Tangent {
    /// δP = (∂P/∂F):δF.
    #[must_use]
    pub fn apply(&self, dF: &Matrix3<f64>) -> Matrix3<f64> {
        match self {
            Self::Hooke { rotation, hooke } => {
                rotation * hooke.stress(&corotated_stretch(rotation, dF))
            }
            Self::Principal(principal) => principal.apply(dF),
            Self::Full(matrix) => {
                let product = **matrix * SMatrix::<f64, 9, 1>::from_column_slice(dF.as_slice());
                Matrix3::from_column_slice(product.as_slice())
            }
        }
    }

    /// K_ab = ∂(P g_a)/∂x_b for F = Σ x_b g_bᵀ: the block of two vertices with shape gradients `g_a`, `g_b` (1/m), per m³
    /// of rest volume.
    #[must_use]
    pub fn block(&self, g_a: &Vector3<f64>, g_b: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            Self::Hooke { rotation, hooke } => hooke.block(&(rotation * g_a), &(rotation * g_b)),
            Self::Principal(principal) => {
                let V = principal.V.transpose();
                let rotated = principal.rotated_block(&(V * g_a), &(V * g_b));
                principal.U * rotated * principal.U.transpose()
            }
            Self::Full(matrix) => {
                let mut block = Matrix3::zeros();
                for (k, a) in g_a.iter().enumerate() {
                    for (l, b) in g_b.iter().enumerate() {
                        block += matrix.fixed_view::<3, 3>(3 * k, 3 * l) * (a * b);
                    }
                }
                block
            }
        }
    }

    /// The same with its negative eigenvalues set to zero: a direction of descent for Newton's method.
    #[must_use]
    pub fn semidefinite(self) -> Self {
        match self {
            // 2μ and 2μ + 3λ, positive for every solid.
            Self::Hooke { .. } => self,
            Self::Principal(principal) => {
                let spectrum = principal.spectrum.semidefinite();
                Self::Principal(Principal {
                    spectrum,
                    ..principal
                })
            }
            Self::Full(matrix) => {
                let mut eigen = matrix.symmetric_eigen();
                eigen.eigenvalues.iter_mut().for_each(|x| *x = x.max(0.0));
                Self::Full(Box::new(eigen.recompose()))
            }
        }
    }

    /// The derivative over the columns of F stacked, 9×9.
    #[must_use]
    pub fn to_matrix(&self) -> SMatrix<f64, 9, 9> {
        let mut matrix = SMatrix::<f64, 9, 9>::zeros();
        for k in 0..9 {
            let mut dF = Matrix3::zeros();
            dF[k] = 1.0;
            let dP = self.apply(&dF);
            matrix.column_mut(k).copy_from_slice(dP.as_slice());
        }
        matrix
    }
}

impl Principal {
    fn apply(&self, dF: &Matrix3<f64>) -> Matrix3<f64> {
        let rotated = self.U.transpose() * dF * self.V;
        let mut stress = Matrix3::zeros();
        let stretching = self.spectrum.stretching * rotated.diagonal();
        stress.set_diagonal(&stretching);
        for k in 0..3 {
            let (i, j) = principal_pair(k);
            let (p, q) = self.shear(k);
            stress[(i, j)] = p * rotated[(i, j)] + q * rotated[(j, i)];
            stress[(j, i)] = p * rotated[(j, i)] + q * rotated[(i, j)];
        }
        self.U * stress * self.V.transpose()
    }

    /// ∂P_ij/∂F_ij and ∂P_ij/∂F_ji of pair k.
    fn shear(&self, k: usize) -> (f64, f64) {
        let (s, t) = (self.spectrum.symmetric[k], self.spectrum.antisymmetric[k]);
        (0.5 * (s + t), 0.5 * (s - t))
    }

    /// UᵀK_ab U for gradients rotated by Vᵀ.
    fn rotated_block(&self, a: &Vector3<f64>, b: &Vector3<f64>) -> Matrix3<f64> {
        let stretching = &self.spectrum.stretching;
        let mut block = Matrix3::zeros();
        for i in 0..3 {
            block[(i, i)] = stretching[(i, i)] * a[i] * b[i];
        }
        for k in 0..3 {
            let (i, j) = principal_pair(k);
            let (p, q) = self.shear(k);
            block[(i, i)] += p * a[j] * b[j];
            block[(j, j)] += p * a[i] * b[i];
            block[(i, j)] = stretching[(i, j)] * a[i] * b[j] + q * a[j] * b[i];
            block[(j, i)] = stretching[(j, i)] * a[j] * b[i] + q * a[i] * b[j];
        }
        block
    }
}
