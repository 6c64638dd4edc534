//! Assembly by columns against plain dense sums.

use super::*;
use nalgebra::{DMatrix, Matrix3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::conformance::check_dynamics;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{QuadraticMesh, TetMesh};
use std::sync::Arc;

use crate::domain_law::DomainLaw;
use crate::element::{Element, Integration};
use crate::mass::SparseMass;
use crate::material::Linear;
use crate::part_material::{PartMaterial, PerElement};
use crate::quadratic::RestQuadratic;
use crate::rest::{Kinematics, RestElement};

/// The domains of a box of a few cells, with their laws.
struct Model {
    n_vertices: usize,
    elements: Vec<RestElement>,
    domains: Domains,
    laws: PerElement<DomainLaw>,
}

fn quadratic(mesh: &TetMesh) -> Vec<RestQuadratic> {
    let (refinement, elements) = QuadraticMesh::of(mesh).unwrap().into_parts();
    let elements = elements.iter().map(|nodes| {
        let at = nodes.map(|v| refinement.vertices()[v.index()]);
        RestQuadratic::new(nodes.map(|v| v.0), &at, Kinematics::Solid).unwrap()
    });
    elements.collect()
}

impl Model {
    fn of(element: Element) -> Self {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.4, 0.3), [3, 2, 2]).unwrap();
        let elements: Vec<RestElement> = mesh
            .tets()
            .iter()
            .map(|tet| {
                let vertices = tet.map(|v| v.0);
                let corners = vertices.map(|v| mesh.vertices()[v as usize]);
                RestElement::new(vertices, corners, Kinematics::Solid)
            })
            .collect();
        let material = Arc::new(Linear::new(Lame::new(2.0, 5.0).unwrap()));
        let materials = PerElement::new(vec![PartMaterial::new(material, 1.0)], Vec::new());
        let Integration { domains, laws } = match element {
            Element::Linear => Integration::linear(&elements, &materials),
            Element::Smoothed => Integration::smoothed(&mesh, &elements, &materials),
            Element::Quadratic => Integration::quadratic(&quadratic(&mesh), &materials),
        };
        Self {
            n_vertices: element.mesh_of_nodes(&mesh).unwrap().vertices().len(),
            elements,
            domains,
            laws,
        }
    }

    /// Gradients as after some deformation.
    fn gradients(&self) -> Vec<Vector3<f64>> {
        let n = self.domains.n_entries();
        (0..n)
            .map(|k| Vector3::from_fn(|r, _| ((5 * k + 7 * r) as f64 * 1.7).sin()))
            .collect()
    }

    /// K by dense sums.
    fn dense(&self, gradients: &[Vector3<f64>]) -> DMatrix<f64> {
        let n = 3 * self.n_vertices;
        let mut a = DMatrix::zeros(n, n);
        for domain in 0..self.domains.len() {
            let vertices = self.domains.at(domain).vertices;
            let h = &gradients[self.domains.entries(domain)];
            for (i, v) in vertices.iter().enumerate() {
                for (j, w) in vertices.iter().enumerate() {
                    let block = self.laws.at(domain).hooke.block(&h[i], &h[j]);
                    let mut view = a.fixed_view_mut::<3, 3>(3 * *v as usize, 3 * *w as usize);
                    view += block;
                }
            }
        }
        a
    }
}

fn matrix_of(system: &System, n: usize) -> DMatrix<f64> {
    let mut found = DMatrix::zeros(n, n);
    let mut x = vec![0.0; n];
    for j in 0..n {
        x[j] = 1.0;
        system.apply(&x, found.column_mut(j).as_mut_slice());
        x[j] = 0.0;
    }
    found
}

#[track_caller]
fn check(element: Element, held: impl Fn(usize) -> [bool; 3]) {
    let model = Model::of(element);
    let (domains, n) = (&model.domains, model.n_vertices);
    let links = DomainLinks::new(n, domains);
    let gradients = model.gradients();
    let mut dofs = DofMap::default();
    dofs.update(&(0..n).map(held).collect::<Vec<_>>());
    let kept: Vec<usize> = (0..n as u32)
        .flat_map(|v| dofs.free(v).map(move |(k, _)| 3 * v as usize + k))
        .collect();
    let mut system = System::default();
    system.lay_out(domains, &links, &dofs);
    let mut expect =
        |mass: MassPart<'_>, blocks: &dyn Fn(&mut System, MassPart<'_>), m: DMatrix<f64>| {
            blocks(&mut system, mass);
            check_dynamics(&system).unwrap();
            let all = model.dense(&gradients) + m;
            let expected = all.select_rows(&kept).select_columns(&kept);
            let found = matrix_of(&system, kept.len());
            assert!((&found - &expected).norm() <= 1e-14 * expected.norm());
        };

    let lumped: Vec<f64> = (0..n).map(|v| 1.0 + 0.1 * v as f64).collect();
    let blocks = HookeBlocks {
        domains,
        laws: &model.laws,
        gradients: &gradients,
    };
    let diagonal = DMatrix::from_fn(3 * n, 3 * n, |i, j| match i == j {
        true => lumped[i / 3],
        false => 0.0,
    });
    let hooke = |system: &mut System, mass: MassPart<'_>| {
        system.assemble(domains, &links, &dofs, mass, &blocks);
    };
    expect(MassPart::Lumped(1.0, &lumped), &hooke, diagonal);

    // Any law's table of blocks, and consistent mass.
    let mut table = BlockTable::default();
    table.lay_out(domains);
    for (group, out) in table.blocks_mut().into_iter().enumerate() {
        out.fill(Matrix3::zeros());
        for domain in domains.group(group) {
            let h = &gradients[domains.entries(domain)];
            for b in 0..h.len() {
                for a in 0..=b {
                    let block = model.laws.at(domain).hooke.block(&h[a], &h[b]);
                    out[BlockTable::index(a, b)] += block;
                }
            }
        }
    }
    let element_mass = vec![20.0; model.elements.len()];
    let mut dense = DMatrix::zeros(3 * n, 3 * n);
    for element in &model.elements {
        for a in element.vertices {
            for b in element.vertices {
                let share = if a == b { 2.0 } else { 1.0 };
                let mut view = dense.fixed_view_mut::<3, 3>(3 * a as usize, 3 * b as usize);
                view += Matrix3::from_diagonal_element(0.5 * share);
            }
        }
    }
    let consistent = SparseMass::of(n, &model.elements, &element_mass);
    let general = |system: &mut System, mass: MassPart<'_>| {
        system.assemble(domains, &links, &dofs, mass, &table);
    };
    expect(MassPart::Consistent(0.5, &consistent), &general, dense);
}

#[test]
fn assembly_by_columns_is_the_plain_sum_whatever_is_held() {
    for element in [Element::Linear, Element::Smoothed, Element::Quadratic] {
        check(element, |_| [false; 3]);
        check(element, |v| [v < 5; 3]);
        check(element, |v| [false, false, v % 2 == 0]);
        check(element, |v| [v == 3, v % 4 == 1, true]);
    }
}
