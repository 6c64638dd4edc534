//! Poses: `pos` with one of `quat`, `axisangle`, `euler`, `xyaxes`, `zaxis`.

use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};

use super::compiler::Compiler;
use super::defaults::Settings;
use crate::error::MultibodyError;

/// The pose of an element in its parent; without attributes the identity.
pub(super) fn pose(
    settings: &Settings<'_>,
    compiler: &Compiler,
    subject: &str,
) -> Result<Isometry3<f64>, MultibodyError> {
    let position = settings
        .numbers::<3>("pos", subject)?
        .map_or_else(Vector3::zeros, Vector3::from);
    let rotation = rotation(settings, compiler, subject)?;
    Ok(Isometry3::from_parts(position.into(), rotation))
}

fn rotation(
    settings: &Settings<'_>,
    compiler: &Compiler,
    subject: &str,
) -> Result<UnitQuaternion<f64>, MultibodyError> {
    let fail = |name: &str, text: &str| {
        let holder = settings.holder(name).unwrap_or(settings.own());
        let written = holder.attribute(name).unwrap_or_default();
        holder.error(subject, format!("{name}=\"{written}\" {text}"))
    };
    let direction = |name: &str, v: Vector3<f64>| {
        Unit::try_new(v, 1e-14).ok_or_else(|| fail(name, "has a direction of length 0"))
    };
    if let Some([x, y, z, angle]) = settings.numbers::<4>("axisangle", subject)? {
        let axis = direction("axisangle", Vector3::new(x, y, z))?;
        return Ok(UnitQuaternion::from_axis_angle(
            &axis,
            compiler.radians(angle),
        ));
    }
    if let Some([a, b, c, d, e, f]) = settings.numbers::<6>("xyaxes", subject)? {
        let x = direction("xyaxes", Vector3::new(a, b, c))?.into_inner();
        let y = Vector3::new(d, e, f);
        let y = direction("xyaxes", y - x * x.dot(&y))?.into_inner();
        let axes = Matrix3::from_columns(&[x, y, x.cross(&y)]);
        let rotation = Rotation3::from_matrix_unchecked(axes);
        return Ok(UnitQuaternion::from_rotation_matrix(&rotation));
    }
    if let Some(z) = settings.numbers::<3>("zaxis", subject)? {
        return Ok(z_along(&direction("zaxis", Vector3::from(z))?));
    }
    if let Some(angles) = settings.numbers::<3>("euler", subject)? {
        return Ok(euler(angles, compiler));
    }
    let Some([w, x, y, z]) = settings.numbers::<4>("quat", subject)? else {
        return Ok(UnitQuaternion::identity());
    };
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-14)
        .ok_or_else(|| fail("quat", "must not be zero"))
}

/// Rotations in the sequence of the compiler: lower case letters about the rotated axes, upper case letters about the fixed
/// axes.
fn euler(angles: [f64; 3], compiler: &Compiler) -> UnitQuaternion<f64> {
    let mut rotation = UnitQuaternion::identity();
    for (letter, angle) in compiler.euler_sequence.into_iter().zip(angles) {
        let axis = Compiler::euler_axis(letter);
        let turn = UnitQuaternion::from_axis_angle(&axis, compiler.radians(angle));
        rotation = match letter.is_ascii_lowercase() {
            true => rotation * turn,
            false => turn * rotation,
        };
    }
    rotation
}

/// The smallest rotation of the z axis to a direction; to −z, about x.
pub(super) fn z_along(direction: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    let normal = Vector3::z().cross(direction);
    let axis = Unit::try_new(normal, 1e-14).unwrap_or_else(Vector3::x_axis);
    UnitQuaternion::from_axis_angle(&axis, normal.norm().atan2(direction.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_z_axis_goes_to_any_direction() {
        for v in [
            Vector3::new(1.0, 1.0, 1.0),
            Vector3::new(0.0, 0.0, -2.0),
            Vector3::new(0.0, 0.0, 3.0),
            Vector3::new(-1.0, 0.2, -0.5),
        ] {
            let direction = Unit::new_normalize(v);
            let turned = z_along(&direction) * Vector3::z();
            assert!((turned - direction.into_inner()).norm() < 1e-15);
        }
        let half_turn = z_along(&-Vector3::z_axis());
        assert!((half_turn * Vector3::y() + Vector3::y()).norm() < 1e-15);
    }
}
