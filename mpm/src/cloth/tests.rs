//! The cloth against differences of its energy, balances, limits and known solutions.

mod bending;
mod grid;
mod law;
mod mesh;
mod plate;
mod second_derivative;
mod sheet;
mod strip;

use nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_constitutive::Real;
use pliant_hydroelastic::mesh::{TriMesh, generate};

use super::in_plane::PrincipalStretches;
use super::*;
use crate::random::Random;

const LAWS: [InPlaneLaw; 2] = [InPlaneLaw::FixedCorotated, InPlaneLaw::StVenantKirchhoff];

/// E = 10⁵ Pa, ν = 0.3, 1000 kg/m³, 0.5 mm; k = 2·10⁵ Pa, γ = 5·10⁴ Pa, c_F = 0.4.
fn material(in_plane: InPlaneLaw) -> ClothMaterial {
    ClothMaterial::new(in_plane, 1e5, 0.3, 1000.0, 5e-4)
        .and_then(|m| m.with_normal_stiffness(2e5))
        .and_then(|m| m.with_shear_stiffness(5e4))
        .and_then(|m| m.with_friction(0.4))
        .unwrap()
}

fn sheet(size: [f64; 2], cells: [u32; 2], spacing: f64) -> ClothMesh {
    let surface = generate::sheet(size, cells).unwrap();
    ClothMesh::new("sheet", surface, spacing).unwrap().0
}

fn ball(spacing: f64) -> ClothMesh {
    let surface: TriMesh = generate::sphere(0.05, 2).unwrap();
    ClothMesh::new("ball", surface, spacing).unwrap().0
}

struct Draw(Random);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// In [−1, 1).
    fn number(&mut self) -> f64 {
        2.0 * self.0.unit() - 1.0
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| size * self.number())
    }

    fn matrix(&mut self, size: f64) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| size * self.number())
    }

    fn rotation(&mut self) -> Matrix3<f64> {
        Rotation3::new(self.vector(3.0)).into_inner()
    }
}

/// Every vertex of `mesh` moved at random by up to `size`, all turned; normals in compression and shear.
fn crumpled(
    mesh: &ClothMesh,
    size: f64,
    draw: &mut Draw,
) -> (Vec<Vector3<f64>>, Vec<Vector3<f64>>) {
    let rotation = draw.rotation();
    let rest = mesh.surface().vertices();
    let positions: Vec<_> = rest
        .iter()
        .map(|x| rotation * (x + draw.vector(size)))
        .collect();
    let mut normals = vec![Vector3::z(); mesh.rest().len()];
    let cloth = Cloth::new(mesh, &material(InPlaneLaw::FixedCorotated));
    cloth.unit_normals(&positions, &mut normals);
    for d3 in &mut normals {
        *d3 = *d3 * (1.0 + 0.3 * draw.number()) + draw.vector(0.3);
    }
    (positions, normals)
}

fn narrow(vectors: &[Vector3<f64>]) -> Vec<Vector3<f32>> {
    vectors.iter().map(|v| v.map(f32::of)).collect()
}
