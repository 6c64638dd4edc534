//! Volume, centroid and inertia of a solid, summed over tetrahedra.

use nalgebra::{Matrix3, Vector3};

/// Volume integrals of a solid of unit density (1 kg/m³).
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::generate;
///
/// // A cuboid of 2 × 4 × 6 m: I_xx = V (4² + 6²)/12 for 1 kg/m³.
/// let cuboid = generate::cuboid(Vector3::new(1.0, 2.0, 3.0))?;
/// let moments = cuboid.solid_moments().expect("it is closed");
/// assert!((moments.volume - 48.0).abs() < 1e-12);
/// assert!((moments.inertia_about_centroid[(0, 0)] - 48.0 * 52.0 / 12.0).abs() < 1e-10);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMoments {
    /// Volume, m³; signed, hence negative for a surface oriented inwards.
    pub volume: f64,
    /// Centroid, m, in the mesh's frame.
    pub centroid: Vector3<f64>,
    /// Rotational inertia about the centroid in the mesh's axes for a density of 1 kg/m³, in kg m². Multiply by the
    /// density.
    pub inertia_about_centroid: Matrix3<f64>,
}

/// An axis-aligned box.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::Bounds;
///
/// let bounds = Bounds::of(&[Vector3::new(1.0, 2.0, 3.0), Vector3::new(-1.0, 2.0, 7.0)]).expect("two points");
/// assert_eq!(bounds.extent(), Vector3::new(2.0, 0.0, 4.0));
/// assert!(bounds.contains(&bounds.center()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates, m.
    pub min: Vector3<f64>,
    /// Largest coordinates, m.
    pub max: Vector3<f64>,
}

impl Bounds {
    /// The smallest box around the points; `None` without points.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Vector3<f64>>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = *points.next()?;
        Some(points.fold(
            Self {
                min: first,
                max: first,
            },
            |bounds, point| Self {
                min: bounds.min.inf(point),
                max: bounds.max.sup(point),
            },
        ))
    }

    /// Midpoint, m.
    #[must_use]
    pub fn center(&self) -> Vector3<f64> {
        0.5 * self.min + 0.5 * self.max
    }

    /// Side lengths, m.
    #[must_use]
    pub fn extent(&self) -> Vector3<f64> {
        self.max - self.min
    }

    /// Whether the point lies inside or on the box.
    #[must_use]
    pub fn contains(&self, point: &Vector3<f64>) -> bool {
        (0..3).all(|k| self.min[k] <= point[k] && point[k] <= self.max[k])
    }
}

/// Six times the signed volume of the tetrahedron `a b c d`: (b − a) × (c − a) · (d − a), m³; positive when `a b c` is
/// counter-clockwise seen from the side opposite to `d`.
pub(crate) fn six_volumes(
    a: &Vector3<f64>,
    b: &Vector3<f64>,
    c: &Vector3<f64>,
    d: &Vector3<f64>,
) -> f64 {
    (b - a).cross(&(c - a)).dot(&(d - a))
}

/// Moments of the union of signed tetrahedra, each given by four points relative to `origin`.
///
/// With corners `x_i` (i = 1..4) and s = Σ x_i of one tetrahedron of volume V,
///
/// ```text
/// ∫ x dV = V s / 4          ∫ x xᵀ dV = V (Σ x_i x_iᵀ + s sᵀ) / 20
/// I = tr(C) 1 − C           with C = ∫ (x − c)(x − c)ᵀ dV
/// ```
///
/// Choose `origin` near the solid: far away, the signed volumes of large tetrahedra cancel and lose significant digits.
///
/// # Source
/// Quadrature of degree 2 on a simplex.
pub(crate) fn solid_moments(
    origin: Vector3<f64>,
    tets: impl Iterator<Item = [Vector3<f64>; 4]>,
) -> SolidMoments {
    let mut volume = 0.0;
    let mut first = Vector3::zeros();
    let mut second = Matrix3::zeros();
    for [a, b, c, d] in tets {
        let tet_volume = six_volumes(&a, &b, &c, &d) / 6.0;
        let sum = a + b + c + d;
        volume += tet_volume;
        first += tet_volume / 4.0 * sum;
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose() + d * d.transpose();
        second += tet_volume / 20.0 * (squares + sum * sum.transpose());
    }
    let center = if volume == 0.0 {
        Vector3::zeros()
    } else {
        first / volume
    };
    let spread = second - volume * center * center.transpose();
    SolidMoments {
        volume,
        centroid: origin + center,
        inertia_about_centroid: Matrix3::identity() * spread.trace() - spread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_corner_tetrahedron_has_textbook_moments() {
        let corner = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let moments = solid_moments(Vector3::zeros(), std::iter::once(corner));
        assert!((moments.volume - 1.0 / 6.0).abs() < f64::EPSILON);
        assert!((moments.centroid - Vector3::repeat(0.25)).norm() < f64::EPSILON);
        // ∫ (x − 1/4)² = 1/60 − (1/6)/16 = 1/160 per axis; ∫ (x − 1/4)(y − 1/4) = 1/120 − 1/96 = −1/480.
        let expected = Matrix3::from_fn(|i, j| if i == j { 2.0 / 160.0 } else { 1.0 / 480.0 });
        assert!((moments.inertia_about_centroid - expected).norm() < 4.0 * f64::EPSILON);
    }

    #[test]
    fn moments_do_not_depend_on_the_origin_of_the_sum() {
        let corner = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let origin = Vector3::new(0.3, -0.2, 0.7);
        let here = solid_moments(Vector3::zeros(), std::iter::once(corner));
        let there = solid_moments(origin, std::iter::once(corner.map(|point| point - origin)));
        assert!((here.volume - there.volume).abs() < 1e-15);
        assert!((here.centroid - there.centroid).norm() < 1e-15);
        assert!((here.inertia_about_centroid - there.inertia_about_centroid).norm() < 1e-15);
    }
}
