//! One tetrahedron as five linear functions: its four barycentric coordinates and its pressure.

use nalgebra::Vector3;

use super::affine::Affine;

/// The linear functions of a tetrahedron.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tetrahedron {
    /// Function k is one at corner k and zero on the opposite face. All zero for a flat or inverted tetrahedron.
    pub(crate) sides: [Affine; 4],
    /// Pa; gradient in Pa/m.
    pub(crate) pressure: Affine,
}

impl Tetrahedron {
    /// From the corners (m) and the pressures (Pa) there.
    ///
    /// ```text
    /// ∇λ_a = (x_c − x_b) × (x_d − x_b) / 6V, inwards      p(x) = Σ p_k λ_k(x)
    /// ```
    ///
    /// A tetrahedron without positive volume has zero functions and is ignored in contact.
    pub(crate) fn new(x: &[Vector3<f64>; 4], p: &[f64; 4]) -> Self {
        let (u, v, w) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let six_volumes = u.cross(&v).dot(&w);
        let longest = u.norm_squared().max(v.norm_squared()).max(w.norm_squared());
        // Below this the sign of the volume is dominated by round-off.
        if six_volumes.is_nan() || six_volumes <= 1e-14 * longest * longest.sqrt() {
            return Self::default();
        }
        let scale = 1.0 / six_volumes;
        let gradients = [
            v.cross(&w) * scale,
            w.cross(&u) * scale,
            u.cross(&v) * scale,
        ];
        let rest = -(gradients[0] + gradients[1] + gradients[2]);
        let slopes = [rest, gradients[0], gradients[1], gradients[2]];
        let mut sides = [Affine::default(); 4];
        for (k, side) in sides.iter_mut().enumerate() {
            side.gradient = slopes[k];
            // Zero at a corner of the opposite face.
            side.offset = -slopes[k].dot(&x[(k + 1) % 4]);
        }
        // Differences first: a uniform pressure has exactly zero gradient.
        let gradient = (0..3).fold(Vector3::zeros(), |g, k| {
            g + gradients[k] * (p[k + 1] - p[0])
        });
        Self {
            sides,
            pressure: Affine {
                gradient,
                offset: p[0] - gradient.dot(&x[0]),
            },
        }
    }

    /// Barycentric coordinates of a point.
    pub(crate) fn weights(&self, x: &Vector3<f64>) -> [f64; 4] {
        self.sides.map(|s| s.at(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_barycentric_coordinates_and_the_pressure_interpolates() {
        let x = [
            Vector3::new(0.1, 0.2, -0.3),
            Vector3::new(1.0, 0.1, 0.0),
            Vector3::new(0.2, 1.1, 0.1),
            Vector3::new(0.3, 0.2, 0.9),
        ];
        let p = [1.0e5, -2.0e3, 7.0e4, 3.0e4];
        let tet = Tetrahedron::new(&x, &p);
        for i in 0..4 {
            for (k, w) in tet.weights(&x[i]).into_iter().enumerate() {
                assert!((w - f64::from(u8::from(i == k))).abs() < 1e-14);
            }
            assert!((tet.pressure.at(&x[i]) - p[i]).abs() < 1e-9);
        }
    }

    #[test]
    fn flat_and_inverted_tetrahedra_have_no_functions() {
        let x = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let inverted = [x[0], x[2], x[1], x[3]];
        let flat = [x[0], x[1], x[2], Vector3::new(0.3, 0.3, 1e-17)];
        for corners in [inverted, flat] {
            assert_eq!(
                Tetrahedron::new(&corners, &[1.0; 4]),
                Tetrahedron::default()
            );
        }
    }
}
