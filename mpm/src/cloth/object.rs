//! A cloth among the objects of a model of material points.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{Hooke, Real};

use super::{Cloth, ClothMaterial, ClothMesh};
use crate::error::{MpmError, not_negative, within};
use crate::material::{Definiteness, EnergyForm, Lagged, Law, Material, Strain, Tangent};

/// A cloth to be added to a model: see [`MpmBuilder::cloth`](crate::MpmBuilder::cloth).
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw, MpmBuilder, MpmSettings};
///
/// // A cloth of 0.2 × 0.2 m and 0.4 kg/m², thrown at 1 m/s.
/// let cotton = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 4e-4)?;
/// let (mesh, _) = ClothMesh::new("cloth", generate::sheet([0.2, 0.2], [20, 20])?, 0.02)?;
/// let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// let velocity_W = Vector3::new(1.0, 0.0, 0.0);
/// builder.cloth(ClothSpec { velocity_W, ..ClothSpec::new("cloth", mesh, cotton) });
/// let model = builder.build()?;
/// let energy = model.energy(&model.default_state(), &Vector3::zeros());
/// assert!((energy.linear_momentum_W.x - 0.016).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClothSpec {
    /// For messages, scenes and pictures.
    pub name: String,
    /// The shape at rest.
    pub mesh: ClothMesh,
    /// Where its vertices start, m, world frame, in the order of the mesh.
    pub positions: Vec<Vector3<f64>>,
    /// Its material.
    pub material: ClothMaterial,
    /// Start velocity, m/s.
    pub velocity_W: Vector3<f64>,
    /// Radius of each particle in contact with rigid bodies, m; `None`: a quarter of the grid spacing.
    pub contact_radius: Option<f64>,
}

impl ClothSpec {
    /// A cloth at rest in the shape of its mesh.
    pub fn new(name: impl Into<String>, mesh: ClothMesh, material: ClothMaterial) -> Self {
        Self {
            name: name.into(),
            positions: mesh.surface().vertices().to_vec(),
            mesh,
            material,
            velocity_W: Vector3::zeros(),
            contact_radius: None,
        }
    }

    pub(crate) fn check(&self, spacing: f64) -> Result<(), MpmError> {
        let name = self.name.as_str();
        if let Some(radius) = self.contact_radius {
            not_negative(name, "contact_radius", radius)?;
        }
        let expected = self.mesh.surface().vertices().len();
        within(
            name,
            "number of positions",
            self.positions.len() as f64,
            self.positions.len() == expected,
            "must be the number of vertices of the mesh",
        )?;
        let numbers = self.positions.iter().flat_map(|p| p.iter());
        let odd = numbers
            .chain(self.velocity_W.iter())
            .find(|x| !x.is_finite());
        within(
            name,
            "coordinate",
            odd.copied().unwrap_or(0.0),
            odd.is_none(),
            "must be finite",
        )?;
        within(
            name,
            "grid spacing of its mesh",
            self.mesh.spacing(),
            self.mesh.spacing() <= spacing,
            "must be at most the spacing of the grid, so that its edges are shorter",
        )?;
        Ok(())
    }
}

/// A cloth of a model. Its particles are the vertices and then the centroids, with consecutive identities.
#[derive(Debug)]
pub(crate) struct ClothObject {
    pub(crate) mesh: ClothMesh,
    pub(crate) material: ClothMaterial,
    pub(crate) cloth: Cloth<f64>,
    /// Identity of the first vertex.
    pub(crate) first: u32,
}

impl ClothObject {
    /// `first` is the identity of the first vertex, `grips` are identities of particles that are held together.
    pub(crate) fn new(spec: &ClothSpec, first: u32, grips: &[(String, Vec<u32>)]) -> Arc<Self> {
        let mut mesh = spec.mesh.clone();
        for (_, members) in grips {
            let own = members.iter().filter_map(|id| id.checked_sub(first));
            let mut own: Vec<u32> = own.collect();
            own.sort_unstable();
            mesh = mesh.clamped_at(&own);
        }
        Arc::new(Self {
            cloth: Cloth::new(&mesh, &spec.material),
            mesh,
            material: spec.material,
            first,
        })
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.cloth.vertex_masses().len()
    }

    pub(crate) fn n_particles(&self) -> usize {
        self.n_vertices() + self.cloth.triangles().len()
    }

    /// Mass (kg) and volume at rest (m³) of a particle by its identity. Vertices have no volume.
    pub(crate) fn mass_and_volume(&self, id: u32) -> (f64, f64) {
        let k = id.wrapping_sub(self.first) as usize;
        match k.checked_sub(self.n_vertices()) {
            None => (self.cloth.vertex_masses()[k], 0.0),
            Some(t) => match self.cloth.triangles().get(t) {
                Some(triangle) => (self.cloth.centroid_masses()[t], triangle.volume),
                None => (0.0, 0.0),
            },
        }
    }
}

/// The material of the particles of a cloth, which have no stress of their own: forces are those of the triangles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fabric;

impl<T: Real> Law<T> for Fabric {
    fn energy(&self, _: &Strain<T>, _: &Lagged<T>, _: &Matrix3<T>) -> T {
        T::zero()
    }

    fn stress(&self, _: &Strain<T>, _: &Lagged<T>, _: &Matrix3<T>) -> Matrix3<T> {
        Matrix3::zeros()
    }

    fn tangent(&self, _: &Strain<T>, _: &Lagged<T>, _: &Matrix3<T>, _: Definiteness) -> Tangent<T> {
        Tangent::Isotropic {
            map: Matrix3::identity(),
            hooke: Hooke {
                mu: T::zero(),
                lambda: T::zero(),
            },
        }
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, _: &Matrix3<T>) -> Strain<T> {
        *strain
    }

    fn is_crushed(&self, _: &Strain<T>, _: &Matrix3<T>) -> bool {
        false
    }
}

impl Material for Fabric {
    fn name(&self) -> &'static str {
        "cloth"
    }

    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }

    /// Contact is at the particles: nothing resists a velocity gradient across the surface, so that a point beside it would stay
    /// while the particle moves through an obstacle.
    fn bears_shear(&self) -> bool {
        false
    }

    /// Not that of the cloth, whose limit is that of its mesh.
    fn wave_modulus(&self) -> f64 {
        0.0
    }

    fn volume_ratio(&self, _: &Strain<f64>) -> f64 {
        1.0
    }

    fn pressure(&self, _: &Strain<f64>) -> f64 {
        0.0
    }
}
