//! Volume, centroid and inertia of a solid of constant density.

use nalgebra::{Matrix3, Point3, Vector3};

/// Mass, centre of mass and inertia of a solid, in its geometry frame G.
///
/// ```
/// use pliant_hydroelastic::Shape;
///
/// // A ball of 0.1 m and 1000 kg/m³: I = 2/5 m r².
/// let ball = Shape::sphere(0.1)?.mass_properties(1000.0)?;
/// assert!((ball.mass - 4.188_790_204_786_391).abs() < 1e-12);
/// assert!((ball.inertia[(0, 0)] - 0.4 * ball.mass * 0.01).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume, m³.
    pub volume: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass p_GGcm, m.
    pub center: Point3<f64>,
    /// Rotational inertia about the centre of mass, in the axes of G, kg·m².
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    pub(crate) fn diagonal(
        volume: f64,
        density: f64,
        center: Point3<f64>,
        gyration_squared: Vector3<f64>,
    ) -> Self {
        let mass = density * volume;
        Self {
            volume,
            mass,
            center,
            inertia: Matrix3::from_diagonal(&(gyration_squared * mass)),
        }
    }

    /// A solid bounded by triangles with outward orientation.
    ///
    /// Sums the signed tetrahedra between the origin and each triangle; for a tetrahedron (0, a, b, c) with
    /// 6V = a·(b×c): ∫x dV = V(a+b+c)/4 and ∫xxᵀ dV = V/20 (aaᵀ + bbᵀ + ccᵀ + ssᵀ), s = a+b+c.
    pub(crate) fn of_triangles(
        triangles: impl Iterator<Item = [Point3<f64>; 3]> + Clone,
        density: f64,
    ) -> Self {
        // Integrals about a vertex of the surface: about a distant origin the parallel axis terms would cancel.
        let origin = triangles.clone().next().map_or(Point3::origin(), |t| t[0]);
        let mut volume = 0.0;
        let mut first = Vector3::zeros();
        let mut second = Matrix3::zeros();
        for t in triangles {
            let [a, b, c] = t.map(|p| p - origin);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let s = a + b + c;
            volume += v;
            first += s * (v / 4.0);
            second +=
                (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose())
                    * (v / 20.0);
        }
        let center = first / volume;
        let central = second - center * center.transpose() * volume;
        Self {
            volume,
            mass: density * volume,
            center: origin + center,
            inertia: (Matrix3::identity() * central.trace() - central) * density,
        }
    }
}
