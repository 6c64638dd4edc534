//! Mass properties of a link, and checks that they are physical.

use nalgebra::{Isometry3, Matrix3, SymmetricEigen, Vector3};
use pliant_hydroelastic::gyration;

use crate::spatial::{OriginInertia, Symmetric3};

/// Mass, centre of mass and rotational inertia of a link, in the link's frame.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_multibody::SpatialInertia;
///
/// // A rod of 3 kg and 2 m along x: m l²/12 about its centre.
/// let rod = SpatialInertia::solid_box(3.0, Vector3::new(2.0, 0.0, 0.0));
/// assert!((rod.rotational[(2, 2)] - 1.0).abs() < 1e-12);
/// // In a frame at its end, the inertia is still that about the centre of mass, which is now 1 m away.
/// let from_end = rod.expressed_in(&Isometry3::translation(1.0, 0.0, 0.0));
/// assert_eq!(from_end.com.x, 1.0);
/// assert!((from_end.rotational[(2, 2)] - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialInertia {
    /// Mass in kg, not negative.
    pub mass: f64,
    /// Centre of mass in the link frame, m.
    pub com: Vector3<f64>,
    /// Rotational inertia about the centre of mass, link axes, kg m², symmetric.
    pub rotational: Matrix3<f64>,
}

/// A flaw of an inertia that is unphysical or suspicious, but does not prevent simulation.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_multibody::{InertiaFlaw, SpatialInertia};
///
/// // No body has the principal moments 1, 1 and 3 kg·m²: each is at most the sum of the other two.
/// let moments = Matrix3::from_diagonal(&Vector3::new(1.0, 3.0, 1.0));
/// let flaws = SpatialInertia::new(1.0, Vector3::zeros(), moments).flaws(None);
/// assert!(matches!(flaws[..], [InertiaFlaw::TriangleInequality { principal: [_, _, largest] }] if (largest - 3.0).abs() < 1e-12));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InertiaFlaw {
    /// The largest principal moment exceeds the sum of the other two, which no distribution of positive mass has.
    TriangleInequality {
        /// Principal moments in kg m², ascending.
        principal: [f64; 3],
    },
    /// A negative principal moment.
    NegativeMoment {
        /// Smallest principal moment, kg m².
        moment: f64,
    },
    /// Rotational inertia without mass.
    InertiaWithoutMass {
        /// Largest principal moment, kg m².
        largest: f64,
    },
    /// A point mass: mass without rotational inertia.
    PointMass {
        /// Mass in kg.
        mass: f64,
    },
    /// The radius of gyration is much larger than the link.
    LargeRadiusOfGyration {
        /// √(I/m) in m.
        radius_of_gyration: f64,
        /// Extent of the link in m.
        size: f64,
    },
}

impl core::fmt::Display for InertiaFlaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TriangleInequality {
                principal: [a, b, c],
            } => write!(
                f,
                "principal moments {a:.4e}, {b:.4e}, {c:.4e} kg m² violate the triangle inequality of physical inertias"
            ),
            Self::NegativeMoment { moment } => {
                write!(f, "the principal moment {moment:.4e} kg m² is negative")
            }
            Self::InertiaWithoutMass { largest } => {
                write!(
                    f,
                    "mass = 0 kg, but the inertia is not zero (largest moment {largest:.4e} kg m²)"
                )
            }
            Self::PointMass { mass } => {
                write!(f, "mass = {mass:.4e} kg without rotational inertia")
            }
            Self::LargeRadiusOfGyration {
                radius_of_gyration,
                size,
            } => write!(
                f,
                "radius of gyration {radius_of_gyration:.3} m is much larger than the link of {size:.3} m"
            ),
        }
    }
}

impl SpatialInertia {
    /// Zero mass: a link that is only a frame.
    pub fn zero() -> Self {
        Self {
            mass: 0.0,
            com: Vector3::zeros(),
            rotational: Matrix3::zeros(),
        }
    }

    /// From mass (kg), centre of mass (link frame, m) and rotational inertia about it (link axes, kg m²). The values are checked when a
    /// model is built.
    pub fn new(mass: f64, com: Vector3<f64>, rotational: Matrix3<f64>) -> Self {
        Self {
            mass,
            com,
            rotational,
        }
    }

    /// A homogeneous box of `mass` (kg) and full side lengths `size` (m), centred in the link frame: I_x = m (y² + z²)/12.
    pub fn solid_box(mass: f64, size: Vector3<f64>) -> Self {
        Self::of_gyration(mass, gyration::of_box(&size))
    }

    /// A homogeneous ellipsoid of `mass` (kg) and semi-axes `radii` (m), centred in the link frame: I_x = m (b² + c²)/5.
    pub fn solid_ellipsoid(mass: f64, radii: Vector3<f64>) -> Self {
        Self::of_gyration(mass, gyration::of_ellipsoid(&radii))
    }

    /// A homogeneous sphere of `mass` (kg) and `radius` (m), centred in the link frame: I = 2/5 m r².
    pub fn solid_sphere(mass: f64, radius: f64) -> Self {
        Self::solid_ellipsoid(mass, Vector3::repeat(radius))
    }

    /// A homogeneous cylinder of `mass` (kg), `radius` and `length` (m) along z, centred in the link frame: I_z = m r²/2,
    /// I_x = m (r²/4 + l²/12).
    pub fn solid_cylinder(mass: f64, radius: f64, length: f64) -> Self {
        Self::of_gyration(mass, gyration::of_cylinder(radius, length))
    }

    /// A homogeneous capsule of `mass` (kg) and `radius` (m) along z, centred in the link frame; `length` (m) is that of its
    /// cylindrical part.
    pub fn solid_capsule(mass: f64, radius: f64, length: f64) -> Self {
        Self::of_gyration(mass, gyration::of_capsule(radius, length))
    }

    fn of_gyration(mass: f64, gyration_squared: Vector3<f64>) -> Self {
        let moments = gyration_squared * mass;
        Self::new(mass, Vector3::zeros(), Matrix3::from_diagonal(&moments))
    }

    /// The same inertia expressed in a frame A in which this link frame has the pose `X_AL`: c_A = X_AL c_L, I_A = R I_L Rᵀ. The
    /// rotational inertia stays that about the centre of mass.
    pub fn expressed_in(&self, X_AL: &Isometry3<f64>) -> Self {
        let r = X_AL.rotation.to_rotation_matrix();
        Self {
            mass: self.mass,
            com: X_AL.rotation * self.com + X_AL.translation.vector,
            rotational: r.matrix() * self.rotational * r.matrix().transpose(),
        }
    }

    /// Principal moments about the centre of mass, kg m², ascending.
    pub fn principal_moments(&self) -> [f64; 3] {
        let mut e: [f64; 3] = SymmetricEigen::new(self.rotational).eigenvalues.into();
        e.sort_by(f64::total_cmp);
        e
    }

    /// Whether a principal moment is negative. Flat bodies have a principal moment of zero, up to rounding in the file.
    pub(crate) fn is_indefinite(&self) -> bool {
        let [smallest, _, largest] = self.principal_moments();
        smallest < -1e-6 * largest.abs().max(smallest.abs())
    }

    /// Flaws of this inertia; empty for a physical one. `size` is the extent of the link (m), if it is known. A negative principal moment
    /// is a flaw of a link, and an error of [`ModelBuilder::build`](crate::ModelBuilder::build) where links fixed to one another have one
    /// together.
    pub fn flaws(&self, size: Option<f64>) -> Vec<InertiaFlaw> {
        let principal = self.principal_moments();
        let [a, b, c] = principal;
        let mut flaws = Vec::new();
        // Files have five or six digits: a relative excess of up to 1e-3 is rounding.
        if c > (a + b) * (1.0 + 1e-3) {
            flaws.push(InertiaFlaw::TriangleInequality { principal });
        }
        if self.is_indefinite() {
            return vec![InertiaFlaw::NegativeMoment { moment: a }];
        }
        if self.mass == 0.0 && c > 0.0 {
            flaws.push(InertiaFlaw::InertiaWithoutMass { largest: c });
        }
        if self.mass > 0.0 && c == 0.0 {
            flaws.push(InertiaFlaw::PointMass { mass: self.mass });
        }
        if let Some(size) = size.filter(|_| self.mass > 0.0) {
            let radius_of_gyration = (c / self.mass).sqrt();
            // More than 1 m and five times the link: beyond a heavy flange or a rounded number.
            if radius_of_gyration > 1.0 && radius_of_gyration > 5.0 * size {
                flaws.push(InertiaFlaw::LargeRadiusOfGyration {
                    radius_of_gyration,
                    size,
                });
            }
        }
        flaws
    }

    /// The inverse of [`SpatialInertia::about_origin`].
    pub(crate) fn from_origin(inertia: &OriginInertia) -> Self {
        let mass = inertia.mass;
        let c = match mass > 0.0 {
            true => inertia.moment / mass,
            false => Vector3::zeros(),
        };
        let steiner = (Matrix3::identity() * c.dot(&c) - c * c.transpose()) * mass;
        let second = [Vector3::x(), Vector3::y(), Vector3::z()].map(|e| inertia.second.times(&e));
        Self::new(mass, c, Matrix3::from_columns(&second) - steiner)
    }

    pub(crate) fn about_origin(&self) -> OriginInertia {
        let c = &self.com;
        let steiner = (Matrix3::identity() * c.dot(c) - c * c.transpose()) * self.mass;
        OriginInertia {
            mass: self.mass,
            moment: c * self.mass,
            second: Symmetric3::from_matrix(&(self.rotational + steiner)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capsule_without_length_is_a_sphere_and_a_long_one_nearly_a_cylinder() {
        let ball = SpatialInertia::solid_sphere(2.0, 0.3);
        let capsule = SpatialInertia::solid_capsule(2.0, 0.3, 0.0);
        assert!((ball.rotational - capsule.rotational).norm() < 1e-15);
        // The caps of a capsule 1000 radii long hold a share of 4/3 r / l of its mass.
        let rod = SpatialInertia::solid_capsule(2.0, 0.001, 1.0);
        let cylinder = SpatialInertia::solid_cylinder(2.0, 0.001, 1.0);
        assert!((rod.rotational - cylinder.rotational).norm() < 6e-3 * cylinder.rotational.norm());
    }

    #[test]
    fn capsule_inertia_equals_its_integral_over_slices() {
        // Slices across z: each is a disc of radius ρ(z), I_z = ∫ρ²/2 dm, I_x = ∫(ρ²/4 + z²) dm.
        let (r, l, n) = (0.2, 0.5, 200_000);
        let half = 0.5 * l + r;
        let (mut volume, mut along, mut across) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let z = -half + 2.0 * half * (f64::from(k) + 0.5) / f64::from(n);
            let beyond = (z.abs() - 0.5 * l).max(0.0);
            let rho2 = r * r - beyond * beyond;
            volume += rho2;
            along += 0.5 * rho2 * rho2;
            across += rho2 * (0.25 * rho2 + z * z);
        }
        let capsule = SpatialInertia::solid_capsule(3.0, r, l);
        // Midpoint rule with 2e5 slices: 1e-9 relative.
        assert!((capsule.rotational.m33 - 3.0 * along / volume).abs() < 1e-8);
        assert!((capsule.rotational.m11 - 3.0 * across / volume).abs() < 1e-8);
    }

    #[test]
    fn an_unphysical_inertia_is_reported() {
        let bad = SpatialInertia::new(
            1.0,
            Vector3::zeros(),
            Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 0.5)),
        );
        assert!(matches!(
            bad.flaws(None)[..],
            [InertiaFlaw::TriangleInequality { .. }]
        ));
        assert!(
            SpatialInertia::solid_box(1.0, Vector3::new(0.1, 0.2, 0.3))
                .flaws(Some(0.2))
                .is_empty()
        );
        // A plate: the largest moment is exactly the sum of the other two.
        assert!(
            SpatialInertia::solid_box(1.0, Vector3::new(1.0, 1.0, 0.0))
                .flaws(None)
                .is_empty()
        );
    }
}
