//! `<inertial>`, and the bounds and corrections that `<compiler>` asks for.

use nalgebra::{Isometry3, Matrix3, SymmetricEigen, Vector3};

use super::compiler::{Compiler, Unbalanced};
use super::defaults::Settings;
use super::orientation::pose;
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::markup::Element;

/// The inertia of an `<inertial>` in the frame of its body.
pub(super) fn inertial(
    element: &Element,
    compiler: &Compiler,
    subject: &str,
) -> Result<SpatialInertia, MultibodyError> {
    let settings = Settings::alone(element);
    let X_BC = pose(&settings, compiler, subject)?;
    let Some(mass) = settings.number("mass", subject)? else {
        return Err(element.error(
            subject,
            "<inertial> needs the attribute mass=\"...\", in kg",
        ));
    };
    if mass < 0.0 {
        let text = format!("<inertial> mass = {mass} kg must not be negative");
        return Err(element.error(subject, text));
    }
    let diagonal = settings.numbers::<3>("diaginertia", subject)?;
    let full = settings.numbers::<6>("fullinertia", subject)?;
    let rotational = match (diagonal, full) {
        (Some(_), Some(_)) => {
            let text = "<inertial> has both diaginertia and fullinertia; keep one of them";
            return Err(element.error(subject, text));
        }
        (Some(diagonal), None) => Matrix3::from_diagonal(&Vector3::from(diagonal)),
        (None, Some([xx, yy, zz, xy, xz, yz])) => Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        (None, None) => {
            let text = "<inertial> needs diaginertia=\"X Y Z\" or fullinertia=\"XX YY ZZ XY XZ YZ\", in kg m²";
            return Err(element.error(subject, text));
        }
    };
    if X_BC.rotation.angle() == 0.0 {
        // Without a rotation, values stay as written, without rounding.
        return Ok(SpatialInertia::new(
            mass,
            X_BC.translation.vector,
            rotational,
        ));
    }
    Ok(SpatialInertia::new(mass, Vector3::zeros(), rotational).expressed_in(&X_BC))
}

/// The inertia of several parts together, each with its pose in the frame of the body.
pub(crate) fn sum(parts: impl Iterator<Item = (SpatialInertia, Isometry3<f64>)>) -> SpatialInertia {
    let parts: Vec<SpatialInertia> = parts
        .map(|(inertia, X_BG)| inertia.expressed_in(&X_BG))
        .filter(|inertia| inertia.mass > 0.0)
        .collect();
    let mass: f64 = parts.iter().map(|part| part.mass).sum();
    if mass == 0.0 {
        return SpatialInertia::zero();
    }
    let com: Vector3<f64> = parts.iter().map(|p| p.com * p.mass).sum::<Vector3<f64>>() / mass;
    let about_com = |part: &SpatialInertia| {
        let d = part.com - com;
        part.rotational + (Matrix3::identity() * d.dot(&d) - d * d.transpose()) * part.mass
    };
    SpatialInertia::new(mass, com, parts.iter().map(about_com).sum())
}

/// Applies `boundmass`, `boundinertia` and `balanceinertia`.
pub(super) fn corrected(inertia: SpatialInertia, compiler: &Compiler) -> SpatialInertia {
    let mut corrected = inertia;
    corrected.mass = inertia.mass.max(compiler.least_mass);
    let asks = compiler.least_inertia > 0.0 || compiler.unbalanced == Unbalanced::Balanced;
    if !asks {
        return corrected;
    }
    let mut principal = SymmetricEigen::new(inertia.rotational);
    let moments = &mut principal.eigenvalues;
    moments.apply(|moment| *moment = moment.max(compiler.least_inertia));
    let violates = 2.0 * moments.max() > moments.sum();
    if violates && compiler.unbalanced == Unbalanced::Balanced {
        *moments = Vector3::repeat(moments.mean());
    }
    corrected.rotational = principal.recompose();
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_of_a_box_have_the_inertia_of_the_box() {
        let half = SpatialInertia::solid_box(1.0, Vector3::new(0.5, 0.2, 0.1));
        let at = |x: f64| Isometry3::translation(x, 0.3, 0.0);
        let whole = sum([(half, at(0.0)), (half, at(0.5))].into_iter());
        let expected = SpatialInertia::solid_box(2.0, Vector3::new(1.0, 0.2, 0.1));
        assert!((whole.com - Vector3::new(0.25, 0.3, 0.0)).norm() < 1e-15);
        assert!((whole.rotational - expected.rotational).norm() < 1e-15);
    }
}
