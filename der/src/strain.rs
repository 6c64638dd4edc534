//! One joint: its curvatures and twist, and their first and second derivatives.
//!
//! A joint lies between edge a (vector e, unit tangent t, material angle γᵃ) and edge b (f, u, γᵇ). With χ = 1 + t·u:
//!
//! ```text
//! κ  = 2 t × u / χ                         |κ| = 2 tan(φ/2), φ the turning angle
//! k₁ =  ½ κ·(m2ᵃ + m2ᵇ)     k₂ = −½ κ·(m1ᵃ + m1ᵇ)      τ = γᵇ − γᵃ + β
//! E  = ½ w₁ (k₁ − k̄₁)² + ½ w₂ (k₂ − k̄₂)² + ½ w_τ (τ − τ̄)²
//! ```
//!
//! Derivatives are with respect to the eight numbers (ε, γᵃ, ζ, γᵇ) with ε = de/|e|, ζ = df/|f|; lengths enter once per
//! edge, in [`crate::elasticity`]. They are the derivatives of E as a function of position for fixed reference frames of
//! the last accepted state, and exact everywhere, not only at that state. An edge that has rotated away from its reference
//! tangent t0 adds h = dψ/dε = −z with z = t0 × t/(1 + t0·t) to the angle of its frame, and s = t + (t + t0)/(1 + t0·t)
//! appears in the second derivative.
//!
//! # Source
//! Bergou et al. 2010, "Discrete viscous threads"; Li and Chou 2025, III-A (∂E/∂γ). Tests compare the derivatives with
//! hyper-dual numbers of the energy.

use nalgebra::{Matrix3, Vector3};

use crate::frames::{ReferenceFrame, material_directors, reference_twist};
use crate::natural_shape::JointStrain;

/// Kinematics of an edge, as its joints need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeKinematics {
    /// |e|, m.
    pub(crate) length: f64,
    pub(crate) tangent: Vector3<f64>,
    /// Reference director d1 = P(t0, t) d1₀.
    pub(crate) director: Vector3<f64>,
    pub(crate) m_1: Vector3<f64>,
    pub(crate) m_2: Vector3<f64>,
    /// t0 × t / (1 + t0·t).
    pub(crate) z: Vector3<f64>,
    /// t + (t + t0)/(1 + t0·t).
    pub(crate) s: Vector3<f64>,
    /// γ.
    pub(crate) angle: f64,
}

impl EdgeKinematics {
    /// An edge in its reference frame: t = t0.
    pub(crate) fn at_reference(reference: &ReferenceFrame, length: f64, angle: f64) -> Self {
        let (m_1, m_2) = material_directors(&reference.tangent, &reference.director, angle);
        Self {
            length,
            tangent: reference.tangent,
            director: reference.director,
            m_1,
            m_2,
            z: Vector3::zeros(),
            s: reference.tangent * 2.0,
            angle,
        }
    }
}

/// Stiffnesses of a joint: EI₁/v̄, EI₂/v̄, GJ/v̄, N·m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointStiffness {
    pub(crate) bend_1: f64,
    pub(crate) bend_2: f64,
    pub(crate) twist: f64,
}

/// Strains of a joint, and terms shared by their derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointStrains {
    pub(crate) k_1: f64,
    pub(crate) k_2: f64,
    pub(crate) tau: f64,
    pub(crate) beta: f64,
    kappa: Vector3<f64>,
    chi: f64,
}

impl JointStrains {
    /// The strains; `beta_near` is the reference twist of the last accepted state. `None` for a joint folded by 180 degrees.
    #[inline(always)]
    pub(crate) fn new(a: &EdgeKinematics, b: &EdgeKinematics, beta_near: f64) -> Option<Self> {
        let chi = 1.0 + a.tangent.dot(&b.tangent);
        if chi.is_nan() || chi <= LEAST_CHI {
            return None;
        }
        let kappa = a.tangent.cross(&b.tangent) * (2.0 / chi);
        let beta = reference_twist(
            (&a.tangent, &a.director),
            (&b.tangent, &b.director),
            beta_near,
        );
        Some(Self {
            k_1: 0.5 * kappa.dot(&(a.m_2 + b.m_2)),
            k_2: -0.5 * kappa.dot(&(a.m_1 + b.m_1)),
            tau: b.angle - a.angle + beta,
            beta,
            kappa,
            chi,
        })
    }

    /// Bending and twisting energy, J.
    #[inline(always)]
    pub(crate) fn energy(&self, w: &JointStiffness, natural: &JointStrain) -> (f64, f64) {
        let (d_1, d_2) = (self.k_1 - natural.k_1, self.k_2 - natural.k_2);
        let d_tau = self.tau - natural.tau;
        (
            0.5 * (w.bend_1 * d_1 * d_1 + w.bend_2 * d_2 * d_2),
            0.5 * w.twist * d_tau * d_tau,
        )
    }
}

/// Least 1 + t·u of a joint; at 0 it is folded by 180 degrees and its energy is infinite.
const LEAST_CHI: f64 = 1e-4;

/// First derivatives of one strain or of the energy, in (ε, γᵃ, ζ, γᵇ).
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointGradient {
    pub(crate) e: Vector3<f64>,
    pub(crate) g_a: f64,
    pub(crate) f: Vector3<f64>,
    pub(crate) g_b: f64,
}

/// Derivatives of k₁, k₂ and τ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrainGradients([JointGradient; 3]);

impl StrainGradients {
    #[inline(always)]
    pub(crate) fn new(j: &JointStrains, a: &EdgeKinematics, b: &EdgeKinematics) -> Self {
        let (t, u) = (&a.tangent, &b.tangent);
        let inverse = 1.0 / j.chi;
        let tt = (t + u) * inverse;
        let half = j.kappa * 0.5;
        let bend = |k: f64, m_a: Vector3<f64>, m_b: Vector3<f64>, p_a: f64, p_b: f64| {
            let ms = (m_a + m_b) * inverse;
            JointGradient {
                e: u.cross(&ms) - tt * k - a.z * p_a,
                g_a: p_a,
                f: -t.cross(&ms) - tt * k - b.z * p_b,
                g_b: p_b,
            }
        };
        Self([
            bend(j.k_1, a.m_2, b.m_2, -half.dot(&a.m_1), -half.dot(&b.m_1)),
            bend(j.k_2, -a.m_1, -b.m_1, -half.dot(&a.m_2), -half.dot(&b.m_2)),
            JointGradient {
                e: half + a.z,
                g_a: -1.0,
                f: half - b.z,
                g_b: 1.0,
            },
        ])
    }

    /// Derivative of the energy.
    #[inline(always)]
    pub(crate) fn weighted(&self, c: &[f64; 3]) -> JointGradient {
        let [k_1, k_2, tau] = &self.0;
        JointGradient {
            e: k_1.e * c[0] + k_2.e * c[1] + tau.e * c[2],
            g_a: k_1.g_a * c[0] + k_2.g_a * c[1] + tau.g_a * c[2],
            f: k_1.f * c[0] + k_2.f * c[1] + tau.f * c[2],
            g_b: k_1.g_b * c[0] + k_2.g_b * c[1] + tau.g_b * c[2],
        }
    }
}

/// w (s − s̄) of the three strains: moments, N·m.
#[inline(always)]
pub(crate) fn moments(j: &JointStrains, w: &JointStiffness, natural: &JointStrain) -> [f64; 3] {
    [
        w.bend_1 * (j.k_1 - natural.k_1),
        w.bend_2 * (j.k_2 - natural.k_2),
        w.twist * (j.tau - natural.tau),
    ]
}

/// Second derivatives within one edge, in (ε, γ).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EdgeBlock {
    pub(crate) xx: Matrix3<f64>,
    pub(crate) xg: Vector3<f64>,
    pub(crate) gg: f64,
}

/// Second derivatives between the two edges of a joint: rows of a, columns of b.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointBlock {
    pub(crate) xx: Matrix3<f64>,
    /// ε row, γᵇ column.
    pub(crate) xg: Vector3<f64>,
    /// γᵃ row, ζ column.
    pub(crate) gx: Vector3<f64>,
    pub(crate) gg: f64,
}

/// x yᵀ + y xᵀ.
#[inline(always)]
fn pair(x: &Vector3<f64>, y: &Vector3<f64>) -> Matrix3<f64> {
    let xy = x * y.transpose();
    xy + xy.transpose()
}

/// Σ w ds dsᵀ, the material part: positive semidefinite, and zero on rigid motions.
#[inline(always)]
pub(crate) fn material_blocks(
    w: &JointStiffness,
    gradients: &StrainGradients,
    of_a: &mut EdgeBlock,
    of_b: &mut EdgeBlock,
    between: &mut JointBlock,
) {
    let weights = [w.bend_1, w.bend_2, w.twist];
    for (w, d) in weights.iter().zip(&gradients.0) {
        let (e, f) = (d.e * *w, d.f * *w);
        of_a.xx += e * d.e.transpose();
        of_a.xg += e * d.g_a;
        of_a.gg += w * d.g_a * d.g_a;
        of_b.xx += f * d.f.transpose();
        of_b.xg += f * d.g_b;
        of_b.gg += w * d.g_b * d.g_b;
        between.xx += e * d.f.transpose();
        between.xg += e * d.g_b;
        between.gx += f * d.g_a;
        between.gg += w * d.g_a * d.g_b;
    }
}

/// Σ w (s − s̄) d²s, the geometric part.
///
/// d²k is linear in the directors, so substituting M = c₁ m2 − c₂ m1 for them gives both curvatures at once, with
/// P = dM/dγ = −c₁ m1 − c₂ m2.
#[inline(always)]
pub(crate) fn geometric_blocks(
    j: &JointStrains,
    c: &[f64; 3],
    a: &EdgeKinematics,
    b: &EdgeKinematics,
    of_a: &mut EdgeBlock,
    of_b: &mut EdgeBlock,
    between: &mut JointBlock,
) {
    let (t, u, kappa) = (&a.tangent, &b.tangent, &j.kappa);
    let inverse = 1.0 / j.chi;
    let tt = (t + u) * inverse;
    let [c_1, c_2, c_tau] = *c;
    let m_a = a.m_2 * c_1 - a.m_1 * c_2;
    let m_b = b.m_2 * c_1 - b.m_1 * c_2;
    let p_a = a.m_1 * -c_1 - a.m_2 * c_2;
    let p_b = b.m_1 * -c_1 - b.m_2 * c_2;
    let k = c_1 * j.k_1 + c_2 * j.k_2;
    let ms = (m_a + m_b) * inverse;
    let (u_ms, t_ms) = (u.cross(&ms), t.cross(&ms));
    let half_pa = 0.5 * kappa.dot(&p_a);
    let half_pb = 0.5 * kappa.dot(&p_b);
    // Second derivatives between vectors and angles, without the rotation of the frames.
    let e_ga = u.cross(&p_a) * inverse - tt * half_pa;
    let e_gb = u.cross(&p_b) * inverse - tt * half_pb;
    let f_ga = -t.cross(&p_a) * inverse - tt * half_pa;
    let f_gb = -t.cross(&p_b) * inverse - tt * half_pb;
    let ga_ga = -0.5 * kappa.dot(&m_a);
    let gb_gb = -0.5 * kappa.dot(&m_b);
    // First derivatives of the energy with respect to the angles.
    let (g_a, g_b) = (half_pa - c_tau, half_pb + c_tau);
    let round = k * inverse;

    let quarter = kappa * 0.25;
    of_a.xx += pair(&tt, &(tt * k - u_ms))
        + pair(&quarter, &(m_a - (t + tt) * c_tau))
        + pair(&a.z, &(a.z * (0.5 * ga_ga) + a.s * (0.5 * g_a) - e_ga))
        + t * t.transpose() * round;
    of_b.xx += pair(&tt, &(tt * k + t_ms))
        + pair(&quarter, &(m_b - (u + tt) * c_tau))
        + pair(&b.z, &(b.z * (0.5 * gb_gb) + b.s * (0.5 * g_b) - f_gb))
        + u * u.transpose() * round;
    let skew = t * (c_tau * inverse) - ms;
    between.xx += (tt * (2.0 * k) - u_ms - kappa * (0.5 * c_tau)) * tt.transpose()
        + tt * t_ms.transpose()
        + skew.cross_matrix()
        - t * (u * round).transpose()
        - e_gb * b.z.transpose()
        - a.z * f_ga.transpose();
    for i in 0..3 {
        of_a.xx[(i, i)] -= round;
        of_b.xx[(i, i)] -= round;
        between.xx[(i, i)] -= round;
    }
    of_a.xg += e_ga - a.z * ga_ga;
    of_a.gg += ga_ga;
    of_b.xg += f_gb - b.z * gb_gb;
    of_b.gg += gb_gb;
    between.xg += e_gb;
    between.gx += f_ga;
}
