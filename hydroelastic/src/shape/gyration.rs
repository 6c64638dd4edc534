//! Squared radii of gyration of homogeneous solids about their centres, along their axes, m²: I = m k².

use nalgebra::Vector3;

/// Of a box of full side lengths `size` (m): k_x² = (y² + z²)/12.
///
/// ```
/// use pliant_hydroelastic::gyration;
///
/// // A rod of 2 m along x: l²/12 across it.
/// assert!((gyration::of_box(&[2.0, 0.0, 0.0].into()).z - 1.0 / 3.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn of_box(size: &Vector3<f64>) -> Vector3<f64> {
    across(size) / 12.0
}

/// Of an ellipsoid of semi-axes `radii` (m): k_x² = (b² + c²)/5.
#[must_use]
pub fn of_ellipsoid(radii: &Vector3<f64>) -> Vector3<f64> {
    across(radii) / 5.0
}

/// Of a cylinder of `radius` r and `length` l (m) along z: k_z² = r²/2, k_x² = k_y² = r²/4 + l²/12.
#[must_use]
pub fn of_cylinder(radius: f64, length: f64) -> Vector3<f64> {
    let r2 = radius * radius;
    let across = r2 / 4.0 + length * length / 12.0;
    Vector3::new(across, across, r2 / 2.0)
}

/// Of a capsule along z; `length` (m) is that of its cylindrical part. k_z² = (r²/2) a + (2r²/5) b with the shares a = l/(l + 4r/3) of the
/// cylinder and b = 1 − a of the hemispheres in the volume.
///
/// ```
/// use pliant_hydroelastic::gyration;
///
/// // Without a cylindrical part it is a ball: 2r²/5.
/// let ball = gyration::of_capsule(0.5, 0.0);
/// assert!((ball.x - 0.1).abs() < 1e-15 && (ball.z - 0.1).abs() < 1e-15);
/// ```
#[must_use]
pub fn of_capsule(radius: f64, length: f64) -> Vector3<f64> {
    let (r2, h) = (radius * radius, 0.5 * length);
    // Volumes over πr²: l of the cylinder, 4/3 r of both hemispheres.
    let ball = 4.0 / 3.0 * radius;
    let [tube, ball] = [length, ball].map(|part| part / (length + ball));
    // The centroid of a hemisphere lies 3r/8 above its flat face; its transverse moment about its own centroid is
    // (2/5 − 9/64) r².
    let arm = h + 0.375 * radius;
    let across = tube * (r2 / 4.0 + h * h / 3.0) + ball * ((0.4 - 9.0 / 64.0) * r2 + arm * arm);
    Vector3::new(across, across, (tube * 0.5 + ball * 0.4) * r2)
}

fn across(x: &Vector3<f64>) -> Vector3<f64> {
    let s = x.component_mul(x);
    Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y)
}
