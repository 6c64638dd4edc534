//! Cutting the lattice at the surface: nearby points are snapped onto it, the remaining cut tetrahedra are divided.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::lattice::Lattice;
use super::solid::{Crossings, Solid};
use crate::cells::cut_cell;

/// Cut points by the ends of their edges, lower index first. Only looked up, never iterated.
pub(crate) type Cuts = HashMap<(u32, u32), Vector3<f64>>;

/// Tetrahedra that fill the body; some points may be unused.
pub(crate) struct Filled {
    pub(crate) vertices: Vec<Vector3<f64>>,
    pub(crate) tets: Vec<[u32; 4]>,
    /// Whether a vertex lies on the surface.
    pub(crate) on_surface: Vec<bool>,
}

/// Finds all cuts, snaps points with a nearby cut onto it, and returns the remaining cuts.
pub(crate) fn snap(lattice: &mut Lattice, solid: &Solid) -> Cuts {
    let mut cuts = Cuts::new();
    let n = lattice.points.len() as u32;
    for i in 0..n {
        lattice.links(i, |link| {
            let j = link.to;
            let (phi_i, phi_j) = (lattice.phi[i as usize], lattice.phi[j as usize]);
            if i < j && phi_i * phi_j < 0.0 {
                let (p, q) = (lattice.points[i as usize], lattice.points[j as usize]);
                cuts.insert((i, j), crossing(solid, (p, phi_i), (q, phi_j)));
            }
        });
    }
    let mut gone = Vec::new();
    for i in 0..n {
        let p = lattice.points[i as usize];
        let mut nearest: Option<(f64, Vector3<f64>)> = None;
        gone.clear();
        lattice.links(i, |link| {
            let key = (i.min(link.to), i.max(link.to));
            let Some(cut) = cuts.get(&key) else {
                return;
            };
            gone.push(key);
            let q = lattice.points[link.to as usize];
            let part = (cut - p).norm() / (q - p).norm();
            if part < link.snap && nearest.is_none_or(|n| part < n.0) {
                nearest = Some((part, *cut));
            }
        });
        if let Some((_, cut)) = nearest {
            lattice.points[i as usize] = cut;
            lattice.phi[i as usize] = 0.0;
            for key in &gone {
                cuts.remove(key);
            }
        }
    }
    cuts
}

/// The point between an inner and an outer point where φ = 0.
fn crossing(solid: &Solid, p: (Vector3<f64>, f64), q: (Vector3<f64>, f64)) -> Vector3<f64> {
    match solid.crossings {
        Crossings::Refuse => root(solid, p, q),
        Crossings::Unite => jump(solid, p, q),
    }
}

/// Regula falsi, with bisection in every third step.
fn root(
    solid: &Solid,
    (mut p, mut phi_p): (Vector3<f64>, f64),
    (mut q, mut phi_q): (Vector3<f64>, f64),
) -> Vector3<f64> {
    let length = (q - p).norm();
    for round in 0..40 {
        let t = if round % 3 == 2 {
            0.5
        } else {
            phi_p / (phi_p - phi_q)
        };
        let x = p + (q - p) * t;
        let phi = solid.signed_distance(&x);
        if phi.abs() <= 1e-10 * length || (q - p).norm() <= 1e-9 * length {
            return x;
        }
        if (phi < 0.0) == (phi_p < 0.0) {
            (p, phi_p) = (x, phi);
        } else {
            (q, phi_q) = (x, phi);
        }
    }
    0.5 * (p + q)
}

/// Distances of a united body change sign discontinuously. No surface is nearer than |φ| to a point, so each evaluation
/// shortens the interval.
fn jump(
    solid: &Solid,
    (p, phi_p): (Vector3<f64>, f64),
    (q, phi_q): (Vector3<f64>, f64),
) -> Vector3<f64> {
    let length = (q - p).norm();
    let (mut low, mut high) = (phi_p.abs(), length - phi_q.abs());
    while high - low > 1e-9 * length {
        let midpoint = 0.5 * (low + high);
        let phi = solid.signed_distance(&(p + (q - p) * (midpoint / length)));
        if (phi < 0.0) == (phi_p < 0.0) {
            low = midpoint + phi.abs();
        } else {
            high = midpoint - phi.abs();
        }
    }
    p + (q - p) * (0.5 * (low + high) / length)
}

/// Keeps the inner part of each tetrahedron.
pub(crate) fn divide(lattice: &Lattice, cuts: Cuts) -> Filled {
    let mut vertices = lattice.points.clone();
    let mut on_surface: Vec<bool> = lattice.phi.iter().map(|phi| *phi == 0.0).collect();
    let mut number: HashMap<(u32, u32), u32> = HashMap::with_capacity(cuts.len());
    let mut tets = Vec::new();
    lattice.tets(|tet| {
        let phi = tet.map(|v| lattice.phi[v as usize]);
        if phi.iter().all(|x| *x >= 0.0) {
            return;
        }
        if phi.iter().all(|x| *x <= 0.0) {
            tets.push(tet);
            return;
        }
        let mut cut = |i: usize, j: usize| {
            let key = (tet[i].min(tet[j]), tet[i].max(tet[j]));
            *number.entry(key).or_insert_with(|| {
                vertices.push(cuts[&key]);
                on_surface.push(true);
                vertices.len() as u32 - 1
            })
        };
        let mut faces: [Vec<u32>; 5] = Default::default();
        for (k, face) in faces[..4].iter_mut().enumerate() {
            let around = [(k + 1) % 4, (k + 2) % 4, (k + 3) % 4];
            for e in 0..3 {
                let (i, j) = (around[e], around[(e + 1) % 3]);
                if phi[i] <= 0.0 {
                    face.push(tet[i]);
                }
                if phi[i] * phi[j] < 0.0 {
                    face.push(cut(i, j));
                }
            }
        }
        // The new face, in order: from each inner corner to the outer ones, in alternating direction; corners on the
        // surface first.
        let outer: Vec<usize> = (0..4).filter(|&i| phi[i] > 0.0).collect();
        let inner: Vec<usize> = (0..4).filter(|&i| phi[i] < 0.0).collect();
        faces[4].extend((0..4).filter(|&i| phi[i] == 0.0).map(|i| tet[i]));
        for (row, &i) in inner.iter().enumerate() {
            for l in 0..outer.len() {
                let j = if row == 0 { l } else { outer.len() - 1 - l };
                faces[4].push(cut(i, outer[j]));
            }
        }
        let faces: Vec<&[u32]> = faces.iter().map(Vec::as_slice).collect();
        cut_cell(&faces, &mut tets);
    });
    Filled {
        vertices,
        tets,
        on_surface,
    }
}
