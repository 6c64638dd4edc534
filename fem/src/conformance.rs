//! Conformance checks of user-defined materials.

use std::fmt;

use nalgebra::Matrix3;
use pliant_constitutive::{Domain, corotated_stretch, symmetric_part};

use crate::material::{Lag, Linearity, Material};

/// A violated requirement.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_fem::conformance::check_material;
/// use pliant_fem::{Lag, Linear};
///
/// let law = Linear::new(Lame::new(1e4, 1e4)?);
/// let F = Matrix3::new(1.1, 0.2, 0.0, 0.0, 0.9, 0.0, 0.1, 0.0, 1.0);
/// check_material(&law, &[(F, Lag::default())])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}

/// Checks a [`Material`] at the deformation gradients `at`, in its domain and away from kinks.
///
/// - At rest energy and stress vanish, and the tangent is Hooke's of [`Material::lame`].
/// - P is the derivative of the energy, the tangent that of P (central differences, best of several widths).
/// - The tangent is symmetric; made semidefinite, it has no negative eigenvalue and leaves positive ones alone.
/// - `block` agrees with `apply` for two vertices.
/// - The stress has the [`Material::linearity`] of the law.
///
/// # Errors
/// The first requirement that is not met.
pub fn check_material(
    material: &dyn Material,
    at: &[(Matrix3<f64>, Lag)],
) -> Result<(), Violation> {
    check_rest(material)?;
    for (F, lag) in at {
        let location = format!("at F = {F:?}");
        if material.domain() == Domain::PositiveVolume && F.determinant() <= 0.0 {
            return Err(Violation(format!("{location}: outside the law's domain")));
        }
        check_derivatives(material, F, lag).map_err(|e| Violation(format!("{location}: {e}")))?;
        check_tangent(material, F, lag).map_err(|e| Violation(format!("{location}: {e}")))?;
        check_linearity(material, F, lag).map_err(|e| Violation(format!("{location}: {e}")))?;
    }
    Ok(())
}

fn size(material: &dyn Material) -> f64 {
    let lame = material.lame();
    lame.mu() + lame.lambda().abs()
}

fn require(met: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if met { Ok(()) } else { Err(Violation(what())) }
}

/// A fixed direction k of nine that have no zero and no symmetry.
fn direction(k: usize) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| (1.0 + (7 * k + 3 * i + 5 * j + i * j) as f64 * 2.399).sin())
}

fn check_rest(material: &dyn Material) -> Result<(), Violation> {
    let (rest, lag) = (Matrix3::identity(), Lag::default());
    let energy = material.energy_density(&rest, &lag);
    let round_off = 32.0 * f64::EPSILON * size(material);
    require(energy.abs() <= round_off, || {
        format!("the energy density at rest is {energy:e} J/m³")
    })?;
    let stress = material.first_piola(&rest, &lag);
    require(stress.norm() <= round_off, || {
        format!("the stress at rest is {:e} Pa", stress.norm())
    })?;
    let tangent = material.tangent(&rest, &lag);
    for k in 0..9 {
        let dF = direction(k);
        let hooke = material.lame().hooke().stress(&symmetric_part(&dF));
        let error = (tangent.apply(&dF) - hooke).norm();
        require(error <= 1e-12 * size(material) * dF.norm(), || {
            format!("at rest the tangent differs from Hooke's law by {error:e} Pa")
        })?;
    }
    Ok(())
}

fn check_derivatives(
    material: &dyn Material,
    F: &Matrix3<f64>,
    lag: &Lag,
) -> Result<(), Violation> {
    let stress = material.first_piola(F, lag);
    let tangent = material.tangent(F, lag);
    let widths = [1e-3, 1e-4, 1e-5, 1e-6];
    for k in 0..9 {
        let dF = direction(k);
        let (mut stress_error, mut tangent_error) = (f64::INFINITY, f64::INFINITY);
        for h in widths.map(|h| h * F.norm().max(1e-3)) {
            let (up, down) = (F + dF * h, F - dF * h);
            let slope = material.energy_density(&up, lag) - material.energy_density(&down, lag);
            let error = (slope / (2.0 * h) - stress.dot(&dF)).abs();
            stress_error = stress_error.min(error);
            let slope = material.first_piola(&up, lag) - material.first_piola(&down, lag);
            let error = (slope / (2.0 * h) - tangent.apply(&dF)).norm();
            tangent_error = tangent_error.min(error);
        }
        let scale = (size(material) + stress.norm()) * dF.norm();
        require(stress_error <= 1e-7 * scale, || {
            format!("the stress is not the energy's derivative: off by {stress_error:e} Pa")
        })?;
        let scale = scale + tangent.apply(&dF).norm();
        require(tangent_error <= 1e-7 * scale, || {
            format!("the tangent is not the stress's derivative: off by {tangent_error:e} Pa")
        })?;
    }
    Ok(())
}

fn check_tangent(material: &dyn Material, F: &Matrix3<f64>, lag: &Lag) -> Result<(), Violation> {
    let tangent = material.tangent(F, lag);
    let matrix = tangent.to_matrix();
    let scale = matrix.norm();
    let skew = (matrix - matrix.transpose()).norm();
    require(skew <= 1e-12 * scale, || {
        format!("the tangent is not symmetric: {skew:e} Pa")
    })?;
    let eigen = matrix.symmetric_eigen();
    let mut raised = eigen;
    raised.eigenvalues.iter_mut().for_each(|x| *x = x.max(0.0));
    let expected = raised.recompose();
    let filtered = tangent.clone().semidefinite().to_matrix();
    let error = (filtered - expected).norm();
    require(error <= 1e-10 * scale, || {
        format!(
            "semidefinite() is not the tangent without its negative eigenvalues: off by {error:e} Pa"
        )
    })?;
    for (k, l) in [(0, 1), (2, 2), (5, 3)] {
        let (a, b) = (
            direction(k).column(0).into_owned(),
            direction(l).column(1).into_owned(),
        );
        let block = tangent.block(&a, &b);
        for c in 0..3 {
            let mut dx = nalgebra::Vector3::zeros();
            dx[c] = 1.0;
            let force = tangent.apply(&(dx * b.transpose())) * a;
            let error = (force - block.column(c)).norm();
            require(error <= 1e-12 * scale, || {
                format!("block and apply differ by {error:e} Pa")
            })?;
        }
    }
    Ok(())
}

fn check_linearity(material: &dyn Material, F: &Matrix3<f64>, lag: &Lag) -> Result<(), Violation> {
    let lag = match material.linearity() {
        Linearity::Nonlinear => return Ok(()),
        Linearity::Linear => Lag::default(),
        Linearity::Corotated => *lag,
    };
    let strain = corotated_stretch(&lag.rotation, F) - lag.target;
    let expected = lag.rotation * material.lame().hooke().stress(&strain);
    let error = (material.first_piola(F, &lag) - expected).norm();
    require(error <= 1e-13 * (size(material) * F.norm()), || {
        format!("the stress is not that of the law's `linearity`: off by {error:e} Pa")
    })
}
