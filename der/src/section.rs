//! Cross-sections, their materials, and the stiffnesses that follow.
//!
//! Axis 1 is the material director m1, axis 2 is m2 = t × m1. "Bending 1" is bending *about* m2. It strains fibres in
//! proportion to their distance along m1, so the extent along m1 enters I₁ cubed.

use std::f64::consts::PI;

use pliant_contact_sap::FlatOutline;

use crate::error::RodError;

/// A cross-section, solid and homogeneous.
///
/// ```
/// use std::f64::consts::PI;
/// use pliant_der::Section;
///
/// // A tape that is 2 cm wide along m1 and 1 mm thick: 400 times as stiff in its plane.
/// let tape = Section::Rectangle { extent_1: 0.02, extent_2: 0.001 };
/// let (in_plane, across) = tape.second_moments();
/// assert!((in_plane / across - 400.0).abs() < 1e-9);
/// // J of a disc is its polar moment.
/// assert!((Section::Circle { radius: 0.1 }.torsion_constant() - PI * 1e-4 / 2.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Section {
    /// A disc.
    Circle {
        /// Radius, m.
        radius: f64,
    },
    /// An ellipse.
    Ellipse {
        /// Semi-axis along m1, m.
        semi_axis_1: f64,
        /// Semi-axis along m2, m.
        semi_axis_2: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Whole extent along m1, m.
        extent_1: f64,
        /// Whole extent along m2, m.
        extent_2: f64,
    },
}

/// The constitutive material of a homogeneous section.
///
/// ```
/// use pliant_der::Material;
///
/// // An incompressible material: G = E/3.
/// let rubber = Material::isotropic(3e6, 0.5, 1000.0)?;
/// assert_eq!(rubber.shear_modulus, 1e6);
/// assert!(Material::isotropic(3e6, 0.6, 1000.0).is_err());
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus E, Pa.
    pub youngs_modulus: f64,
    /// Shear modulus G, Pa.
    pub shear_modulus: f64,
    /// Density ρ, kg/m³.
    pub density: f64,
}

impl Material {
    /// An isotropic material, G = E / (2(1 + ν)).
    ///
    /// # Errors
    /// [`RodError::Parameter`] unless E and ρ are positive and −1 < ν ≤ 0.5.
    pub fn isotropic(
        youngs_modulus: f64,
        poissons_ratio: f64,
        density: f64,
    ) -> Result<Self, RodError> {
        if !(poissons_ratio > -1.0 && poissons_ratio <= 0.5) {
            return Err(parameter(
                "Poisson's ratio",
                poissons_ratio,
                "must lie in (-1, 0.5]",
            ));
        }
        let material = Self {
            youngs_modulus,
            shear_modulus: youngs_modulus / (2.0 * (1.0 + poissons_ratio)),
            density,
        };
        material.validate()?;
        Ok(material)
    }

    fn validate(&self) -> Result<(), RodError> {
        positive("Young's modulus", self.youngs_modulus)?;
        positive("shear modulus", self.shear_modulus)?;
        positive("density", self.density)
    }
}

/// Stiffnesses of a rod and its inertia per unit length. They follow from a [`Section`] and a [`Material`], or are given
/// directly for rods that are not homogeneous, such as ropes.
///
/// The torsion constant (in `twist`) equals the polar moment (in `spin_inertia`) for circles only: a 10:1 strip is 27
/// times softer in twist than its polar moment suggests.
///
/// ```
/// use pliant_der::{Material, Section};
///
/// // Rubber of 1 cm²: EA = 300 N, ρA = 0.1 kg/m.
/// let section = Section::Rectangle { extent_1: 0.01, extent_2: 0.01 };
/// let properties = section.properties(&Material::isotropic(3e6, 0.5, 1000.0)?)?;
/// assert!((properties.stretch - 300.0).abs() < 1e-9 && (properties.mass - 0.1).abs() < 1e-15);
/// // GJ = G · 0.1406 a⁴ of a square.
/// assert!((properties.twist / (1e6 * 1e-8) - 0.1406).abs() < 1e-4);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodProperties {
    /// Stretching stiffness EA, N.
    pub stretch: f64,
    /// Bending stiffness EI₁ about m2, N·m².
    pub bend_1: f64,
    /// Bending stiffness EI₂ about m1, N·m².
    pub bend_2: f64,
    /// Twisting stiffness GJ, N·m², with the torsion constant J.
    pub twist: f64,
    /// Mass per unit length ρA, kg/m.
    pub mass: f64,
    /// Rotary inertia per unit length about the tangent, ρI_p, kg·m, with the polar moment of area I_p = I₁ + I₂.
    pub spin_inertia: f64,
}

impl RodProperties {
    /// Checks the ranges: all values positive and finite; `twist` and the two bending stiffnesses may be zero.
    ///
    /// # Errors
    /// [`RodError::Parameter`] for the first value out of range.
    pub fn validate(&self) -> Result<(), RodError> {
        positive("stretching stiffness EA", self.stretch)?;
        for (name, value) in [
            ("bending stiffness EI1", self.bend_1),
            ("bending stiffness EI2", self.bend_2),
            ("twisting stiffness GJ", self.twist),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(parameter(name, value, "must be finite and not negative"));
            }
        }
        positive("mass per unit length", self.mass)?;
        positive("spin inertia per unit length", self.spin_inertia)
    }
}

impl Section {
    /// Checks that all lengths are positive and finite.
    ///
    /// # Errors
    /// [`RodError::Parameter`] for the first one that is not.
    pub fn validate(&self) -> Result<(), RodError> {
        match *self {
            Self::Circle { radius } => positive("radius", radius),
            Self::Ellipse {
                semi_axis_1,
                semi_axis_2,
            } => {
                positive("semi-axis 1", semi_axis_1)?;
                positive("semi-axis 2", semi_axis_2)
            }
            Self::Rectangle { extent_1, extent_2 } => {
                positive("extent 1", extent_1)?;
                positive("extent 2", extent_2)
            }
        }
    }

    /// Area A, m².
    #[must_use]
    pub fn area(&self) -> f64 {
        match *self {
            Self::Circle { radius } => PI * radius * radius,
            Self::Ellipse {
                semi_axis_1,
                semi_axis_2,
            } => PI * semi_axis_1 * semi_axis_2,
            Self::Rectangle { extent_1, extent_2 } => extent_1 * extent_2,
        }
    }

    /// Second moments of area (I₁, I₂), m⁴, for bending about m2 and about m1.
    #[must_use]
    pub fn second_moments(&self) -> (f64, f64) {
        match *self {
            Self::Circle { radius } => {
                let i = PI * radius.powi(4) / 4.0;
                (i, i)
            }
            Self::Ellipse {
                semi_axis_1: a,
                semi_axis_2: b,
            } => (PI * a.powi(3) * b / 4.0, PI * a * b.powi(3) / 4.0),
            Self::Rectangle {
                extent_1: w,
                extent_2: h,
            } => (h * w.powi(3) / 12.0, w * h.powi(3) / 12.0),
        }
    }

    /// Torsion constant J, m⁴: torque over twist rate and G (Saint-Venant torsion).
    ///
    /// ```text
    /// circle     π r⁴ / 2
    /// ellipse    π a³b³ / (a² + b²)
    /// rectangle  a b³ (1/3 − (64/π⁵)(b/a) Σ_{k odd} tanh(kπa/2b)/k⁵),  a ≥ b
    /// ```
    ///
    /// # Source
    /// Timoshenko and Goodier, Theory of elasticity, chapter 10.
    #[must_use]
    pub fn torsion_constant(&self) -> f64 {
        match *self {
            Self::Circle { radius } => PI * radius.powi(4) / 2.0,
            Self::Ellipse {
                semi_axis_1: a,
                semi_axis_2: b,
            } => PI * (a * b).powi(3) / (a * a + b * b),
            Self::Rectangle { extent_1, extent_2 } => {
                let (a, b) = (extent_1.max(extent_2), extent_1.min(extent_2));
                // The terms fall like k⁻⁵: eleven of them leave 1e-8 of the sum.
                let series: f64 = (0..11)
                    .map(|i| f64::from(2 * i + 1))
                    .map(|k| (k * PI * a / (2.0 * b)).tanh() / k.powi(5))
                    .sum();
                a * b.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * (b / a) * series)
            }
        }
    }

    /// Largest chord, m: a diameter or a diagonal.
    #[must_use]
    pub fn largest_width(&self) -> f64 {
        match *self {
            Self::Circle { radius } => 2.0 * radius,
            Self::Ellipse {
                semi_axis_1,
                semi_axis_2,
            } => 2.0 * semi_axis_1.max(semi_axis_2),
            Self::Rectangle { extent_1, extent_2 } => extent_1.hypot(extent_2),
        }
    }

    /// Radius of the inscribed circle, m: the contact radius where a geometry does not support the section itself.
    #[must_use]
    pub fn inner_radius(&self) -> f64 {
        match *self {
            Self::Circle { radius } => radius,
            Self::Ellipse {
                semi_axis_1,
                semi_axis_2,
            } => semi_axis_1.min(semi_axis_2),
            Self::Rectangle { extent_1, extent_2 } => 0.5 * extent_1.min(extent_2),
        }
    }

    /// Contact outline with its half extents along m1 and m2, m; `None` for a disc.
    #[must_use]
    pub fn flat_outline(&self) -> Option<(FlatOutline, [f64; 2])> {
        match *self {
            Self::Circle { .. } => None,
            Self::Ellipse {
                semi_axis_1,
                semi_axis_2,
            } => Some((FlatOutline::Ellipse, [semi_axis_1, semi_axis_2])),
            Self::Rectangle { extent_1, extent_2 } => {
                Some((FlatOutline::Rectangle, [0.5 * extent_1, 0.5 * extent_2]))
            }
        }
    }

    /// The stiffnesses and inertia of a homogeneous rod of this section.
    ///
    /// # Errors
    /// [`RodError::Parameter`] for the first value out of range.
    pub fn properties(&self, material: &Material) -> Result<RodProperties, RodError> {
        self.validate()?;
        material.validate()?;
        let (i_1, i_2) = self.second_moments();
        let Material {
            youngs_modulus: e,
            shear_modulus: g,
            density,
        } = *material;
        Ok(RodProperties {
            stretch: e * self.area(),
            bend_1: e * i_1,
            bend_2: e * i_2,
            twist: g * self.torsion_constant(),
            mass: density * self.area(),
            spin_inertia: density * (i_1 + i_2),
        })
    }
}

pub(crate) fn parameter(name: impl Into<String>, value: f64, allowed: &'static str) -> RodError {
    RodError::Parameter {
        name: name.into(),
        value,
        allowed,
    }
}

pub(crate) fn positive(name: &str, value: f64) -> Result<(), RodError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(parameter(name, value, "must be positive and finite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_have_the_tabulated_torsion_constants() {
        // J/(ab³) and I_p/(ab³), Timoshenko and Goodier's table.
        let table = [
            (1.0, 0.14058, 0.16667),
            (1.5, 0.19576, 0.27083),
            (2.0, 0.22868, 0.41667),
            (3.0, 0.26332, 0.83333),
            (5.0, 0.29132, 2.16667),
            (10.0, 0.31233, 8.41667),
        ];
        for (ratio, torsion, polar) in table {
            for (extent_1, extent_2) in [(ratio, 1.0), (1.0, ratio)] {
                let section = Section::Rectangle { extent_1, extent_2 };
                let (i_1, i_2) = section.second_moments();
                assert!((section.torsion_constant() / ratio - torsion).abs() < 6e-6);
                assert!(((i_1 + i_2) / ratio - polar).abs() < 6e-6);
            }
        }
    }

    #[test]
    fn a_round_ellipse_is_a_circle() {
        let circle = Section::Circle { radius: 0.3 };
        let ellipse = Section::Ellipse {
            semi_axis_1: 0.3,
            semi_axis_2: 0.3,
        };
        let material = Material::isotropic(2e6, 0.3, 1200.0).unwrap();
        let (a, b) = (
            circle.properties(&material).unwrap(),
            ellipse.properties(&material).unwrap(),
        );
        for (a, b) in [
            (a.stretch, b.stretch),
            (a.bend_1, b.bend_1),
            (a.bend_2, b.bend_2),
            (a.twist, b.twist),
            (a.spin_inertia, b.spin_inertia),
        ] {
            assert!((a / b - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn the_extent_along_the_first_director_enters_the_first_moment_cubed() {
        let strip = Section::Rectangle {
            extent_1: 0.02,
            extent_2: 0.002,
        };
        let (i_1, i_2) = strip.second_moments();
        assert!((i_1 / i_2 - 100.0).abs() < 1e-10);
    }

    #[test]
    fn errors_name_the_value_out_of_range() {
        let error = |e: Result<_, RodError>| e.map(|_: RodProperties| ()).unwrap_err().to_string();
        let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
        let thin = Section::Circle { radius: -1e-3 };
        assert_eq!(
            error(thin.properties(&rubber)),
            "radius = -0.001 must be positive and finite"
        );
        assert!(Material::isotropic(1e6, 0.6, 1000.0).is_err());
        assert!(Material::isotropic(-1e6, 0.3, 1000.0).is_err());
        let mut properties = Section::Circle { radius: 1e-3 }
            .properties(&rubber)
            .unwrap();
        properties.bend_2 = -1.0;
        let message = properties.validate().unwrap_err().to_string();
        assert_eq!(
            message,
            "bending stiffness EI2 = -1 must be finite and not negative"
        );
    }
}
