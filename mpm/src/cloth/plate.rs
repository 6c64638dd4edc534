//! The bending stiffness of a plate on the angles of all hinges of a mesh.
//!
//! The moment across an edge of length l is m per length, the same in both of its triangles, and zero on free edges. In every triangle the moments
//! of its edges define a constant tensor M with nₐ·M nₐ = mₐ. The edges are bent by θ, and
//!
//! ```text
//! E(θ) = max over m of  Σ l m θ − ½ Σ A M:C M               C: compliance of a plate of stiffness D and Poisson's ratio ν
//! E = ½ θᵀ S⁻¹ θ        S = Σ_t Lₜ⁻¹ Qₜ Lₜ⁻¹               Qₜ = A/D ((1 − ν)(nₐ·n_b)² + ν)⁻¹
//! ```
//!
//! Moments of uniform bending balance at every vertex of any mesh, so that it has neither preferred directions nor soft ones. S⁻¹ is not sparse,
//! but decays within a few edges. Its approximation GᵀG has a sparse lower triangular G, so that the energy ½ |G θ|² is never negative. Row i of
//! G solves the equations of the hinges around i that precede it in the mesh ([`FactorRow`]).
//!
//! Sources: the method of Hellan, Herrmann and Johnson, see Arnold, Walker (2020), "The Hellan-Herrmann-Johnson method with curved elements"; with
//! angles for the jumps of slopes. The factor: Kolotilina, Yeremin (1993), "Factorized sparse approximate inverse preconditionings I".

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use rayon::prelude::*;

use super::PARALLEL_TRIANGLES_MIN;
use super::factor_row::{FactorRow, Row};
use super::mesh::{ClothMesh, HingeVertices};

/// G and its transpose, in rows.
#[derive(Clone, Debug)]
pub(crate) struct PlateStiffness<T> {
    factor: SparseRows<T>,
    transpose: SparseRows<T>,
}

/// A sparse matrix in rows.
#[derive(Clone, Debug, Default)]
struct SparseRows<T> {
    /// One past the last entry of each row.
    ends: Vec<u32>,
    entries: Vec<(u32, T)>,
}

impl<T: Real> SparseRows<T> {
    fn new(rows: &[Row]) -> Self {
        let mut made = Self {
            ends: Vec::with_capacity(rows.len()),
            entries: Vec::new(),
        };
        for row in rows {
            let each = row.iter().map(|(column, value)| (*column, T::of(*value)));
            made.entries.extend(each);
            made.ends.push(made.entries.len() as u32);
        }
        made
    }

    fn row(&self, number: usize) -> &[(u32, T)] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[number] as usize]
    }

    #[inline]
    fn product(&self, number: usize, values: &[T]) -> T {
        let row = self.row(number).iter();
        row.fold(T::zero(), |sum, (j, entry)| {
            sum + *entry * values[*j as usize]
        })
    }
}

impl<T: Real> PlateStiffness<T> {
    pub(super) fn new(mesh: &ClothMesh, stiffness: f64, poissons_ratio: f64) -> Self {
        let hinges: Vec<HingeVertices> = mesh.hinges().collect();
        let compliance = compliance(mesh, &hinges, stiffness, poissons_ratio);
        let diagonal: Vec<f64> = (compliance.iter().enumerate())
            .map(|(i, row)| {
                let own = row.iter().find(|(j, _)| *j as usize == i);
                own.map_or(1.0, |(_, value)| *value)
            })
            .collect();
        let rows: Vec<Row> = (0..hinges.len() as u32)
            .into_par_iter()
            .with_min_len(PARALLEL_TRIANGLES_MIN / 8)
            .map(|hinge| FactorRow::new(&compliance, &diagonal, hinge).solved())
            .collect();
        Self {
            factor: SparseRows::new(&rows),
            transpose: SparseRows::new(&transposed(&rows)),
        }
    }

    /// (G s)ᵢ, √J, of these strains of all hinges.
    #[inline]
    pub(crate) fn combined(&self, row: usize, strains: &[T]) -> T {
        self.factor.product(row, strains)
    }

    /// Row i of G: hinges and √J.
    pub(crate) fn row(&self, row: usize) -> &[(u32, T)] {
        self.factor.row(row)
    }

    /// The root of a hinge's stiffness while no other bends, √J.
    pub(crate) fn root(&self, hinge: usize) -> T {
        let column = self.transpose.row(hinge).iter();
        let square = column.fold(T::zero(), |sum, (_, entry)| sum + *entry * *entry);
        square.sqrt()
    }

    /// The moment l m = Gᵀ (G s) of a hinge, J, from all [`Self::combined`] strains.
    #[inline]
    pub(crate) fn moment(&self, hinge: usize, combined: &[T]) -> T {
        self.transpose.product(hinge, combined)
    }

    /// E, J.
    pub(crate) fn energy(&self, strains: &[T]) -> T {
        let squares = (0..strains.len()).map(|i| self.combined(i, strains).powi(2));
        T::of(0.5) * squares.fold(T::zero(), |sum, square| sum + square)
    }
}

fn transposed(rows: &[Row]) -> Vec<Row> {
    let mut columns = vec![Row::new(); rows.len()];
    for (row, i) in rows.iter().zip(0_u32..) {
        for (j, value) in row {
            columns[*j as usize].push((i, *value));
        }
    }
    columns
}

/// (1 − ν)(nₐ·n_b)² + ν of the three edges of a triangle: D/A times the stiffness of its three angles times lengths.
fn coupling(edges: &[Vector3<f64>; 3], poissons_ratio: f64) -> Matrix3<f64> {
    Matrix3::from_fn(|a, b| {
        let (p, q) = (&edges[a], &edges[b]);
        let cosine_squared = p.dot(q).powi(2) / (p.norm_squared() * q.norm_squared());
        (1.0 - poissons_ratio) * cosine_squared + poissons_ratio
    })
}

/// How many times stiffer than its diagonal the stiffness of the angles of any triangle may be.
pub(super) fn coupling_factor(mesh: &ClothMesh, poissons_ratio: f64) -> f64 {
    let of_triangle = |t: u32| {
        let coupling = coupling(&edges_of(mesh, t), poissons_ratio);
        let rows = coupling.row_iter().map(|row| row.abs().sum());
        rows.fold(0.0, f64::max)
    };
    let triangles = mesh.surface().triangles().len() as u32;
    (0..triangles).map(of_triangle).fold(1.0, f64::max)
}

/// Edge k runs from corner k to the next.
fn edges_of(mesh: &ClothMesh, triangle: u32) -> [Vector3<f64>; 3] {
    let [a, b, c] = mesh.surface().corners(triangle.into());
    [b - a, c - b, a - c]
}

/// The hinge of an edge of a triangle, and whether its angle is that about the triangle's normal, 1, or the opposite, −1: on a surface with one
/// side, neighbours may disagree.
type Side = Option<(u32, f64)>;

/// The hinges of the edges of each triangle.
fn sides(mesh: &ClothMesh, hinges: &[HingeVertices]) -> Vec<[Side; 3]> {
    let triangles: Vec<[u32; 3]> = mesh.surface().raw_triangles().collect();
    let mut sides = vec![[None; 3]; triangles.len()];
    for (hinge, number) in hinges.iter().zip(0_u32..) {
        let [from, to, ..] = hinge.vertices;
        // The angle is positive about the normal of the triangle that runs from the first end to the second, and of its neighbour, which
        // runs back.
        for (t, forward) in hinge.triangles.into_iter().zip([[from, to], [to, from]]) {
            let corners = triangles[t as usize];
            for k in 0..3 {
                let ends = [corners[k], corners[(k + 1) % 3]];
                if ends == forward {
                    sides[t as usize][k] = Some((number, 1.0));
                } else if ends == [forward[1], forward[0]] {
                    sides[t as usize][k] = Some((number, -1.0));
                }
            }
        }
    }
    sides
}

/// Σ_t Lₜ⁻¹ Qₜ Lₜ⁻¹ over the triangles that bend, 1/J. Between two clamped triangles a hinge resists by itself, in case it is released.
fn compliance(
    mesh: &ClothMesh,
    hinges: &[HingeVertices],
    stiffness: f64,
    poissons_ratio: f64,
) -> Vec<Row> {
    let mut rows = vec![Row::new(); hinges.len()];
    for (t, (own, rest)) in (0_u32..).zip(sides(mesh, hinges).iter().zip(mesh.rest())) {
        let edges = edges_of(mesh, t);
        let Some(inverse) = coupling(&edges, poissons_ratio).try_inverse() else {
            continue;
        };
        if mesh.is_clamped(t) {
            continue;
        }
        for (a, first) in own.iter().enumerate() {
            for (b, second) in own.iter().enumerate() {
                let (Some((i, of_i)), Some((j, of_j))) = (first, second) else {
                    continue;
                };
                let scale = rest.area / (stiffness * edges[a].norm() * edges[b].norm());
                add(
                    &mut rows[*i as usize],
                    *j,
                    scale * of_i * of_j * inverse[(a, b)],
                );
            }
        }
    }
    for ((row, hinge), number) in rows.iter_mut().zip(hinges).zip(0_u32..) {
        if row.is_empty() {
            let [from, to, ..] = hinge
                .vertices
                .map(|v| mesh.surface().vertices()[v as usize]);
            row.push((
                number,
                hinge.bent_area / (stiffness * (to - from).norm_squared()),
            ));
        }
    }
    rows
}

fn add(row: &mut Row, at: u32, value: f64) {
    match row.iter_mut().find(|(j, _)| *j == at) {
        Some((_, sum)) => *sum += value,
        None => row.push((at, value)),
    }
}
