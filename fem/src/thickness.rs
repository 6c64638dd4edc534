//! The number of cells across the thinnest part of a mesh, on which the error of linear tetrahedra in bending depends.

use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_hydroelastic::mesh::{TetIdx, TetMesh};

use crate::rest::RestElement;

/// The share of the surface that may be thinner: edges and tips.
const THINNER_SHARE: f64 = 0.05;
/// A line through a box of six tetrahedra along one of its sides meets three.
const TETS_PER_CELL: f64 = 3.0;
/// Excess stiffness of a beam of linear tetrahedra in bending, times n² E/(λ + 2μ): 2.3 to 2.9 for ν up to 0.47, n from 1 to 8 in boxes of
/// six tetrahedra, by a cantilever under its weight.
const BENDING_EXCESS: f64 = 2.5;

/// Cells that inward normals cross between two sides of the surface at its thinnest part: a third of the tetrahedra on the way.
pub(crate) fn cells_across(mesh: &TetMesh, elements: &[RestElement], rest: &[Vector3<f64>]) -> f64 {
    let boundary = mesh.boundary();
    let mut crossed: Vec<(usize, f64)> = boundary
        .triangles
        .iter()
        .zip(&boundary.tets)
        .map(|(triangle, tet)| {
            let [a, b, c] = triangle.map(|v| rest[v.index()]);
            let normal = (b - a).cross(&(c - a));
            let line = Line {
                from: (a + b + c) / 3.0,
                along: -normal.normalize(),
            };
            (line.tetrahedra(mesh, elements, rest, *tet), normal.norm())
        })
        .collect();
    crossed.sort_by_key(|(count, _)| *count);
    let area: f64 = crossed.iter().map(|(_, area)| area).sum();
    let mut thinner = 0.0;
    for (count, area_of) in crossed {
        thinner += area_of;
        if thinner >= THINNER_SHARE * area {
            return count as f64 / TETS_PER_CELL;
        }
    }
    f64::INFINITY
}

/// How many times too stiff linear tetrahedra bend with `cells` across.
pub(crate) fn linear_bending_stiffness(lame: &Lame, cells: f64) -> f64 {
    1.0 + BENDING_EXCESS * lame.wave_modulus() / (lame.youngs_modulus() * cells * cells)
}

/// A half line into the body from a point of its surface.
struct Line {
    from: Vector3<f64>,
    along: Vector3<f64>,
}

impl Line {
    /// Number of tetrahedra from `first` to the surface.
    fn tetrahedra(
        &self,
        mesh: &TetMesh,
        elements: &[RestElement],
        rest: &[Vector3<f64>],
        first: TetIdx,
    ) -> usize {
        let (mut tet, mut from) = (first, None);
        for count in 1..=elements.len() {
            let element = &elements[tet.index()];
            let origin = rest[element.vertices[0] as usize];
            // Barycentric coordinate k falls to zero on face k.
            let coordinates = element.all_gradients().into_iter().enumerate();
            let exits = coordinates.filter_map(|(k, gradient)| {
                let slope = gradient.dot(&self.along);
                let start = f64::from(u8::from(k == 0)) + gradient.dot(&(self.from - origin));
                let entered = from.is_some() && mesh.neighbours(tet)[k] == from;
                (slope < 0.0 && !entered).then(|| (-start / slope, k))
            });
            let exit = exits.min_by(|a, b| a.0.total_cmp(&b.0));
            let next = exit.and_then(|(_, face)| mesh.neighbours(tet)[face]);
            let Some(next) = next else {
                return count;
            };
            from = Some(tet);
            tet = next;
        }
        elements.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::Kinematics;
    use pliant_hydroelastic::mesh::generate::tet_cuboid;

    fn cells(half_extents: Vector3<f64>, cells: [u32; 3]) -> f64 {
        let mesh = tet_cuboid(half_extents, cells).unwrap();
        let elements: Vec<RestElement> = mesh
            .tets()
            .iter()
            .map(|tet| {
                let corners = tet.map(|v| mesh.vertices()[v.index()]);
                RestElement::new(tet.map(|v| v.0), corners, Kinematics::Solid)
            })
            .collect();
        cells_across(&mesh, &elements, mesh.vertices())
    }

    #[test]
    fn a_box_is_as_many_cells_thick_as_it_was_given() {
        for n in [1, 2, 4] {
            let beam = cells(Vector3::new(0.5, 0.05, 0.05), [10, n, n]);
            assert_eq!(beam, f64::from(n));
        }
        // Flat cells.
        assert_eq!(cells(Vector3::new(0.5, 0.5, 0.005), [6, 5, 2]), 2.0);
        assert_eq!(cells(Vector3::repeat(0.5), [3, 4, 5]), 3.0);
    }

    #[test]
    fn the_excess_stiffness_is_that_of_cantilevers() {
        // Deflection under weight over that of beam theory, 10 × 1 × 1, cubes of six tetrahedra: an independent program.
        for (nu, cells, ratio) in [
            (0.3, 1.0, 0.2213),
            (0.3, 2.0, 0.5035),
            (0.3, 4.0, 0.7851),
            (0.47, 2.0, 0.2235),
            (0.47, 4.0, 0.4961),
        ] {
            let lame = Lame::from_young_poisson(1e8, nu).unwrap();
            let found = 1.0 / linear_bending_stiffness(&lame, cells);
            assert!((found / ratio - 1.0).abs() < 0.1, "{nu} {cells}: {found}");
        }
    }
}
