//! The bending stiffness of a plate on the angles of all hinges of a mesh.
//!
//! The moment across an edge of length l is m per length, the same in both of its triangles, and zero on free edges. In every triangle the moments
//! of its edges define a constant tensor M with nₐ·M nₐ = mₐ. The edges are bent by θ, and
//!
//! ```text
//! E(θ) = max over m of  Σ l m θ − ½ Σ A M:C M               C: compliance of a plate of stiffness D and Poisson's ratio ν
//! E = ½ θᵀ K θ          K = (Σ_t Lₜ⁻¹ Qₜ Lₜ⁻¹)⁻¹          Qₜ = A/D ((1 − ν)(nₐ·n_b)² + ν)⁻¹
//! ```
//!
//! Moments of uniform bending balance at every vertex of any mesh, so that it has neither preferred directions nor soft ones. K is not sparse, but its
//! entries decay within a few edges; small ones are left out.
//!
//! Source: the method of Hellan, Herrmann and Johnson, see Arnold, Walker (2020), "The Hellan-Herrmann-Johnson method with curved elements"; with angles
//! for the jumps of slopes.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Real;
use rayon::prelude::*;

use super::PARALLEL_TRIANGLES_MIN;
use super::mesh::{ClothMesh, HingeVertices};

/// Hinges up to so many steps away, from hinge to hinge of a triangle, are coupled.
const REACH: usize = 10;
/// Smaller entries of a row, over its diagonal, are left out.
const ENTRY_MIN: f64 = 1e-4;
/// Of the conjugate gradients of a row; the matrix is like a mass matrix.
const ITERATIONS_MAX: usize = 50;
const RESIDUAL_MAX: f64 = 1e-6;

/// K, in rows.
#[derive(Clone, Debug)]
pub(crate) struct PlateStiffness<T> {
    /// One past the last entry of each row.
    ends: Vec<u32>,
    /// Hinge and J.
    entries: Vec<(u32, T)>,
}

/// A row of the compliance, or of K: hinges and values.
type Row = Vec<(u32, f64)>;

impl<T: Real> PlateStiffness<T> {
    pub(super) fn new(mesh: &ClothMesh, stiffness: f64, poissons_ratio: f64) -> Self {
        let hinges: Vec<HingeVertices> = mesh.hinges().collect();
        let compliance = compliance(mesh, &hinges, stiffness, poissons_ratio);
        let columns: Vec<Row> = (0..hinges.len())
            .into_par_iter()
            .with_min_len(PARALLEL_TRIANGLES_MIN / 8)
            .map(|hinge| inverse_column(&compliance, hinge as u32))
            .collect();
        Self::symmetric(&columns)
    }

    /// Half of the columns and half of their transpose.
    fn symmetric(columns: &[Row]) -> Self {
        let mut rows = vec![Row::new(); columns.len()];
        for (column, j) in columns.iter().zip(0_u32..) {
            for (i, value) in column {
                rows[*i as usize].push((j, 0.5 * value));
                rows[j as usize].push((*i, 0.5 * value));
            }
        }
        let (mut ends, mut entries) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &mut rows {
            row.sort_by_key(|(hinge, _)| *hinge);
            for pair in row.chunk_by(|a, b| a.0 == b.0) {
                let value: f64 = pair.iter().map(|(_, value)| value).sum();
                entries.push((pair[0].0, T::of(value)));
            }
            ends.push(entries.len() as u32);
        }
        Self { ends, entries }
    }

    pub(crate) fn row(&self, hinge: usize) -> &[(u32, T)] {
        let start = hinge.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[hinge] as usize]
    }

    /// The moment l m of a hinge, J, with these strains of all hinges.
    #[inline]
    pub(crate) fn moment(&self, hinge: usize, strains: &[T]) -> T {
        let row = self.row(hinge).iter();
        row.fold(T::zero(), |sum, (j, k)| sum + *k * strains[*j as usize])
    }

    /// E, J.
    pub(crate) fn energy(&self, strains: &[T]) -> T {
        let each = strains.iter().enumerate();
        let twice = each.fold(T::zero(), |sum, (i, s)| sum + *s * self.moment(i, strains));
        T::of(0.5) * twice
    }
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

/// Σ_t Lₜ⁻¹ Qₜ Lₜ⁻¹ over the triangles that bend, 1/J.
fn compliance(
    mesh: &ClothMesh,
    hinges: &[HingeVertices],
    stiffness: f64,
    poissons_ratio: f64,
) -> Vec<Row> {
    let triangles: Vec<[u32; 3]> = mesh.surface().raw_triangles().collect();
    let mut hinge_of = vec![[None; 3]; triangles.len()];
    for (hinge, k) in hinges.iter().zip(0_u32..) {
        let ends = [hinge.vertices[0], hinge.vertices[1]];
        for t in hinge.triangles.map(|t| t as usize) {
            let corners = triangles[t];
            let side = (0..3)
                .find(|s| ends.contains(&corners[*s]) && ends.contains(&corners[(*s + 1) % 3]));
            hinge_of[t][side.unwrap_or(0)] = Some(k);
        }
    }
    let mut rows = vec![Row::new(); hinges.len()];
    for (t, (own, rest)) in (0_u32..).zip(hinge_of.iter().zip(mesh.rest())) {
        let edges = edges_of(mesh, t);
        let Some(inverse) = coupling(&edges, poissons_ratio).try_inverse() else {
            continue;
        };
        if mesh.is_clamped(t) {
            continue;
        }
        for a in 0..3 {
            for b in 0..3 {
                if let (Some(i), Some(j)) = (own[a], own[b]) {
                    let scale = rest.area / (stiffness * edges[a].norm() * edges[b].norm());
                    add(&mut rows[i as usize], j, scale * inverse[(a, b)]);
                }
            }
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

/// A column of the inverse: the solution of the equations of the hinges around one. Empty for a hinge between clamped triangles.
fn inverse_column(compliance: &[Row], hinge: u32) -> Row {
    if compliance[hinge as usize].is_empty() {
        return Row::new();
    }
    let around = neighbourhood(compliance, hinge);
    let local = |j: u32| around.binary_search(&j).ok();
    let rows: Vec<Vec<(usize, f64)>> = (around.iter())
        .map(|i| {
            let row = compliance[*i as usize].iter();
            row.filter_map(|(j, value)| Some((local(*j)?, *value)))
                .collect()
        })
        .collect();
    let centre = local(hinge).unwrap_or(0);
    let solution = conjugate_gradients(&rows, centre);
    let least = ENTRY_MIN * solution[centre].abs();
    let each = around.into_iter().zip(solution);
    each.filter(|(_, value)| value.abs() >= least).collect()
}

/// The hinges within [`REACH`], ascending.
fn neighbourhood(compliance: &[Row], hinge: u32) -> Vec<u32> {
    let mut known = vec![hinge];
    let mut front = vec![hinge];
    for _ in 0..REACH {
        let mut next = Vec::new();
        for (j, _) in front.iter().flat_map(|i| &compliance[*i as usize]) {
            if !known.contains(j) {
                known.push(*j);
                next.push(*j);
            }
        }
        front = next;
    }
    known.sort_unstable();
    known
}

/// x of S x = e at `centre`, by the diagonal as preconditioner.
fn conjugate_gradients(rows: &[Vec<(usize, f64)>], centre: usize) -> Vec<f64> {
    let n = rows.len();
    let diagonal: Vec<f64> = (0..n)
        .map(|i| {
            rows[i]
                .iter()
                .find(|(j, _)| *j == i)
                .map_or(1.0, |(_, value)| *value)
        })
        .collect();
    let (mut x, mut residual) = (vec![0.0; n], vec![0.0; n]);
    residual[centre] = 1.0;
    let mut direction: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
    let mut norm = 1.0 / diagonal[centre];
    let enough = norm * RESIDUAL_MAX * RESIDUAL_MAX;
    for _ in 0..ITERATIONS_MAX {
        let product: Vec<f64> = rows
            .iter()
            .map(|row| row.iter().map(|(j, value)| value * direction[*j]).sum())
            .collect();
        let curvature: f64 = direction.iter().zip(&product).map(|(d, p)| d * p).sum();
        if !(curvature > 0.0) {
            break;
        }
        let length = norm / curvature;
        for i in 0..n {
            x[i] += length * direction[i];
            residual[i] -= length * product[i];
        }
        let next: f64 = residual.iter().zip(&diagonal).map(|(r, d)| r * r / d).sum();
        for i in 0..n {
            direction[i] = residual[i] / diagonal[i] + next / norm * direction[i];
        }
        norm = next;
        if norm <= enough {
            break;
        }
    }
    x
}
