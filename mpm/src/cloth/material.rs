//! Parameters of a cloth.

use pliant_constitutive::{Hooke, Real};

use super::in_plane::InPlane;
use super::law::ClothLaw;
use super::layers::Layers;
use crate::error::{MpmError, not_negative, positive, within};

const NAME: &str = "cloth";

/// Energy of the stretch within the surface, J/m³, a function of the 2×2 block R₂ of F = QR. E = (R₂ᵀR₂ − I)/2.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{ClothLaw, ClothMaterial, InPlaneLaw};
///
/// // A strip of E = 10⁵ Pa and ν = 0, so that μ = E/2, stretched by 20 %: μ (σ − 1)² or μ ((σ² − 1)/2)².
/// let stretched = Matrix3::from_diagonal(&[1.2, 1.0, 1.0].into());
/// for (in_plane, strain) in [(InPlaneLaw::FixedCorotated, 0.2_f64), (InPlaneLaw::StVenantKirchhoff, 0.22)] {
///     let law: ClothLaw<f64> = ClothMaterial::new(in_plane, 1e5, 0.0, 1000.0, 5e-4)?.law();
///     assert!((law.energy(&stretched) - 5e4 * strain * strain).abs() < 1e-9);
/// }
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InPlaneLaw {
    /// μ‖R₂ − rot R₂‖² + λ/2 (det R₂ − 1)²: resists compression down to zero area (Stomakhin et al. 2012).
    #[default]
    FixedCorotated,
    /// μ‖E‖² + λ/2 (tr E)²: stiffens when stretched, softens below 1/√3 of its length.
    StVenantKirchhoff,
}

/// How the edges of a mesh resist bending.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{BendingModel, Cloth, ClothForces, ClothMaterial, ClothMesh, InPlaneLaw};
///
/// // A strip that is rolled to a cylinder of 1 m: ½ D κ² per area with both models, up to the triangles at its ends.
/// let (strip, _) = ClothMesh::new("strip", generate::sheet([0.4, 0.1], [40, 10])?, 0.02)?;
/// let roll = |x: &nalgebra::Vector3<f64>| nalgebra::Vector3::new(x.x.sin(), x.y, 1.0 - x.x.cos());
/// let rolled: Vec<_> = strip.surface().vertices().iter().map(roll).collect();
/// for bending in [BendingModel::Plate, BendingModel::Hinges] {
///     let sheet = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1.0, 0.0, 1000.0, 5e-4)?;
///     let cloth = Cloth::<f64>::new(&strip, &sheet.with_bending_stiffness(2.0)?.with_bending_model(bending));
///     let mut normals = vec![nalgebra::Vector3::z(); cloth.triangles().len()];
///     cloth.unit_normals(&rolled, &mut normals);
///     let energy = cloth.energy(&rolled, &normals);
///     assert!((energy / 0.04 - 1.0).abs() < 0.04, "{energy}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BendingModel {
    /// A plate of stiffness D and the Poisson's ratio of the sheet, the same in all directions of any mesh: the moments of neighbouring edges
    /// depend on each other.
    #[default]
    Plate,
    /// Every edge by itself (Grinspun et al. 2003): cheaper, exact for cylinders along the rows of a regular mesh, up to a quarter too soft
    /// otherwise.
    Hinges,
}

/// An isotropic elastic sheet whose layers rub against each other (Jiang, Gast, Teran 2017).
///
/// # In the plane
/// Plane stress: E and ν are those of a strip that is pulled,
///
/// ```text
/// μ = E/(2(1 + ν))        λ = Eν/(1 − ν²)
/// ```
///
/// With the λ of a solid, a strip would contract by ν/(1 − ν) and be too stiff.
///
/// # Across
/// A convected normal d₃ stands for the material between this layer and the next. With F = QR it costs
/// γ/2 (r₁₃² + r₂₃²) + k/3 (−ln r₃₃)³ for r₃₃ < 1 and carries nothing beyond. The pressure on the grid, k (ln r₃₃)², grows without bound as
/// layers approach. (Jiang, Gast, Teran have k/3 (1 − r₃₃)³, the same for small compression; its pressure k (1 − r₃₃)² r₃₃ cannot exceed
/// 4k/27.) Tangential tractions are bounded by c_F times the pressure; without γ, layers slide freely.
///
/// # Defaults
/// k = E, γ = 0, c_F = 0, no damping, no bending.
///
/// ```
/// use pliant_mpm::{ClothMaterial, InPlaneLaw};
///
/// // The T-shirt of Yu et al. (2025), section VI-E; 0.4 mm thick, with the bending stiffness of a plate.
/// let shirt = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 4e-4)?
///     .with_normal_stiffness(4e5)?
///     .with_shear_stiffness(1e5)?
///     .with_friction(0.3)?
///     .with_plate_bending();
/// assert!((shirt.areal_density() - 0.4).abs() < 1e-15);
/// assert!((shirt.bending_stiffness() - 5.86e-7).abs() < 1e-9);
/// assert!(ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.6, 1000.0, 4e-4).is_err());
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothMaterial {
    in_plane: InPlaneLaw,
    youngs_modulus: f64,
    poissons_ratio: f64,
    density: f64,
    thickness: f64,
    normal_stiffness: f64,
    shear_stiffness: f64,
    friction: f64,
    damping_time: f64,
    affine_fraction: f64,
    bending_stiffness: f64,
    bending_model: BendingModel,
}

impl ClothMaterial {
    /// A sheet with Young's modulus E (Pa), Poisson's ratio ν, density (kg/m³) and thickness (m).
    ///
    /// The thickness sets weight and forces. It has nothing to do with the grid spacing, which is the distance at which layers
    /// touch.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless all but ν are positive and finite and −1 < ν ≤ 0.5; the fixed corotated law needs ν ≥ 0,
    /// or its energy would be unbounded below.
    pub fn new(
        in_plane: InPlaneLaw,
        youngs_modulus: f64,
        poissons_ratio: f64,
        density: f64,
        thickness: f64,
    ) -> Result<Self, MpmError> {
        let nu = poissons_ratio;
        let (fits, allowed) = match in_plane {
            InPlaneLaw::FixedCorotated => (
                (0.0..=0.5).contains(&nu),
                "must lie in [0, 0.5] for the fixed corotated law",
            ),
            InPlaneLaw::StVenantKirchhoff => (nu > -1.0 && nu <= 0.5, "must lie in (-1, 0.5]"),
        };
        Ok(Self {
            in_plane,
            youngs_modulus: positive(NAME, "youngs_modulus", youngs_modulus)?,
            poissons_ratio: within(NAME, "poissons_ratio", nu, fits, allowed)?,
            density: positive(NAME, "density", density)?,
            thickness: positive(NAME, "thickness", thickness)?,
            normal_stiffness: youngs_modulus,
            shear_stiffness: 0.0,
            friction: 0.0,
            damping_time: 0.0,
            affine_fraction: 1.0,
            bending_stiffness: 0.0,
            bending_model: BendingModel::default(),
        })
    }

    /// k, Pa: stiffness against layers that are pressed together.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless k is positive and finite.
    pub fn with_normal_stiffness(mut self, k: f64) -> Result<Self, MpmError> {
        self.normal_stiffness = positive(NAME, "normal_stiffness", k)?;
        Ok(self)
    }

    /// γ, Pa: stiffness against layers that shear against each other before they slip. Zero: no friction between layers.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless γ is zero or positive, and finite.
    pub fn with_shear_stiffness(mut self, gamma: f64) -> Result<Self, MpmError> {
        self.shear_stiffness = not_negative(NAME, "shear_stiffness", gamma)?;
        Ok(self)
    }

    /// c_F: coefficient of friction between layers of this cloth. Contact with rigid bodies has its own.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless c_F is zero or positive, and finite.
    pub fn with_friction(mut self, coefficient: f64) -> Result<Self, MpmError> {
        self.friction = not_negative(NAME, "friction", coefficient)?;
        Ok(self)
    }

    /// β, s: Kelvin-Voigt damping in the plane, S = β (2μ Ė + λ tr(Ė) I) beside the elastic stress. A mode of angular
    /// frequency ω has the damping ratio βω/2; rigid motions are not damped. β above 2/ω shortens the stable time step.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless β is zero or positive, and finite.
    pub fn with_damping_time(mut self, beta: f64) -> Result<Self, MpmError> {
        self.damping_time = not_negative(NAME, "damping_time", beta)?;
        Ok(self)
    }

    /// b ∈ [0, 1]: the part of the symmetric affine velocity that transfers keep, see
    /// [`ClothLaw::transferred_affine`](super::ClothLaw::transferred_affine). 1 (APIC) keeps all, 0 (RPIC) the rotation only.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless 0 ≤ b ≤ 1.
    pub fn with_affine_fraction(mut self, b: f64) -> Result<Self, MpmError> {
        let fits = (0.0..=1.0).contains(&b);
        self.affine_fraction = within(NAME, "affine_fraction", b, fits, "must lie in [0, 1]")?;
        Ok(self)
    }

    /// D, N m: the moment per length that a unit of curvature takes. Zero: no resistance to bending.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless D is zero or positive, and finite.
    pub fn with_bending_stiffness(mut self, stiffness: f64) -> Result<Self, MpmError> {
        self.bending_stiffness = not_negative(NAME, "bending_stiffness", stiffness)?;
        Ok(self)
    }

    /// The bending stiffness of a solid plate, E t³/(12 (1 − ν²)). Woven and knitted cloth bends more easily: its fibres slide.
    #[must_use]
    pub fn with_plate_bending(mut self) -> Self {
        let nu = self.poissons_ratio;
        self.bending_stiffness =
            self.youngs_modulus * self.thickness.powi(3) / (12.0 * (1.0 - nu * nu));
        self
    }

    /// How edges resist bending.
    #[must_use]
    pub fn with_bending_model(mut self, model: BendingModel) -> Self {
        self.bending_model = model;
        self
    }

    /// The law in the plane.
    #[must_use]
    pub fn in_plane(&self) -> InPlaneLaw {
        self.in_plane
    }

    /// E, Pa.
    #[must_use]
    pub fn youngs_modulus(&self) -> f64 {
        self.youngs_modulus
    }

    /// ν.
    #[must_use]
    pub fn poissons_ratio(&self) -> f64 {
        self.poissons_ratio
    }

    /// kg/m³.
    #[must_use]
    pub fn density(&self) -> f64 {
        self.density
    }

    /// m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Density times thickness, kg/m².
    #[must_use]
    pub fn areal_density(&self) -> f64 {
        self.density * self.thickness
    }

    /// k, Pa.
    #[must_use]
    pub fn normal_stiffness(&self) -> f64 {
        self.normal_stiffness
    }

    /// γ, Pa.
    #[must_use]
    pub fn shear_stiffness(&self) -> f64 {
        self.shear_stiffness
    }

    /// c_F.
    #[must_use]
    pub fn friction(&self) -> f64 {
        self.friction
    }

    /// β, s.
    #[must_use]
    pub fn damping_time(&self) -> f64 {
        self.damping_time
    }

    /// b.
    #[must_use]
    pub fn affine_fraction(&self) -> f64 {
        self.affine_fraction
    }

    /// D, N m.
    #[must_use]
    pub fn bending_stiffness(&self) -> f64 {
        self.bending_stiffness
    }

    /// How edges resist bending.
    #[must_use]
    pub fn bending_model(&self) -> BendingModel {
        self.bending_model
    }

    /// μ and λ of plane stress, Pa.
    #[must_use]
    pub fn plane_stress(&self) -> Hooke {
        let (E, nu) = (self.youngs_modulus, self.poissons_ratio);
        Hooke {
            mu: 0.5 * E / (1.0 + nu),
            lambda: E * nu / (1.0 - nu * nu),
        }
    }

    /// ρc² of waves of stretch, E/(1 − ν²), Pa.
    pub(crate) fn wave_modulus(&self) -> f64 {
        self.youngs_modulus / (1.0 - self.poissons_ratio * self.poissons_ratio)
    }

    /// The law in the precision of `T`.
    #[must_use]
    pub fn law<T: Real>(&self) -> ClothLaw<T> {
        let hooke = self.plane_stress();
        ClothLaw {
            in_plane: InPlane {
                law: self.in_plane,
                hooke: Hooke {
                    mu: T::of(hooke.mu),
                    lambda: T::of(hooke.lambda),
                },
            },
            layers: Layers {
                normal: T::of(self.normal_stiffness),
                shear: T::of(self.shear_stiffness),
                friction: T::of(self.friction),
            },
            damping_time: T::of(self.damping_time),
            affine_fraction: T::of(self.affine_fraction),
        }
    }
}
