//! Patches of tetrahedra with one mean F for the volumetric part of the energy.
//!
//! Locking counts constraints: tetrahedra that can't change their volumes are six per vertex, which has three coordinates. A patch per vertex
//! leaves it two, as in the continuum. The tetrahedra around an edge are the natural patch: in an unstructured mesh they are five on average,
//! in boxes cut along a diagonal they are a box, and they share a smoothing domain, so that the patch adds no entries to the matrix.
//!
//! The partition takes the longest inner edges whose stars are free, then the stars of the most remaining tetrahedra, four at least. What is left
//! joins the smallest neighbour.

use std::collections::BinaryHeap;

use pliant_hydroelastic::mesh::{TetIdx, TetMesh};

use crate::smoothing::{EDGES, edge_stars};

/// Tetrahedra of a patch without a complete star.
const SIZE_MIN: usize = 4;

/// Patches that cover the mesh, each of one part.
pub(crate) fn partition(mesh: &TetMesh, part_of: impl Fn(u32) -> u16) -> Vec<Vec<u32>> {
    let stars: Vec<Star> = stars(mesh, &part_of);
    let mut partition = Partition {
        of: vec![None; mesh.tets().len()],
        patches: Vec::new(),
    };
    for star in stars.iter().filter(|star| star.inner) {
        if star.tets.iter().all(|tet| partition.is_free(*tet)) {
            partition.add(star.tets.clone());
        }
    }
    partition.add_largest_rests(&stars);
    partition.join_rest(mesh, &part_of);
    partition.patches
}

/// The tetrahedra around an edge.
struct Star {
    tets: Vec<u32>,
    /// Whether they surround it.
    inner: bool,
}

/// Stars of all edges, the longest first.
fn stars(mesh: &TetMesh, part_of: &impl Fn(u32) -> u16) -> Vec<Star> {
    let mut outer: Vec<([u32; 2], u16)> = Vec::new();
    for (tet, e) in mesh.tets().iter().zip(0_u32..) {
        for (k, other) in mesh.neighbours(TetIdx(e)).iter().enumerate() {
            if other.is_some_and(|other| part_of(other.0) == part_of(e)) {
                continue;
            }
            // The edges of face k are those without corner k.
            for [i, j] in EDGES.into_iter().filter(|edge| !edge.contains(&k)) {
                let [a, b] = [tet[i].0, tet[j].0];
                outer.push(([a.min(b), a.max(b)], part_of(e)));
            }
        }
    }
    outer.sort_unstable();
    outer.dedup();
    let length = |[a, b]: [u32; 2]| {
        let at = |v: u32| mesh.vertices()[v as usize];
        (at(a) - at(b)).norm_squared()
    };
    let stars = edge_stars(mesh, part_of).into_iter();
    let mut stars: Vec<(f64, Star)> = stars
        .map(|(edge, tets)| {
            let inner = outer.binary_search(&edge).is_err();
            (length(edge.0), Star { tets, inner })
        })
        .collect();
    stars.sort_by(|a, b| b.0.total_cmp(&a.0));
    stars.into_iter().map(|(_, star)| star).collect()
}

/// Patches so far.
struct Partition {
    /// The patch of each tetrahedron.
    of: Vec<Option<u32>>,
    patches: Vec<Vec<u32>>,
}

impl Partition {
    fn is_free(&self, tet: u32) -> bool {
        self.of[tet as usize].is_none()
    }

    fn add(&mut self, tets: Vec<u32>) {
        for tet in &tets {
            self.of[*tet as usize] = Some(self.patches.len() as u32);
        }
        self.patches.push(tets);
    }

    /// Makes patches of the stars with the most free tetrahedra.
    fn add_largest_rests(&mut self, stars: &[Star]) {
        let rest = |partition: &Self, k: usize| {
            let tets = stars[k].tets.iter().copied();
            tets.filter(|tet| partition.is_free(*tet))
                .collect::<Vec<_>>()
        };
        // Of equal ones the longest edge first.
        let entry = |count: usize, k: usize| (count, usize::MAX - k);
        let entries = (0..stars.len()).map(|k| entry(rest(self, k).len(), k));
        let mut queue: BinaryHeap<(usize, usize)> = entries.collect();
        while let Some((count, code)) = queue.pop() {
            if count < SIZE_MIN {
                return;
            }
            let k = usize::MAX - code;
            let tets = rest(self, k);
            if tets.len() < count {
                queue.push(entry(tets.len(), k));
            } else {
                self.add(tets);
            }
        }
    }

    /// Gives each remaining tetrahedron to the smallest patch across its faces.
    fn join_rest(&mut self, mesh: &TetMesh, part_of: &impl Fn(u32) -> u16) {
        let mut rest: Vec<u32> = (0..self.of.len() as u32)
            .filter(|tet| self.is_free(*tet))
            .collect();
        while !rest.is_empty() {
            let mut joins = Vec::new();
            for &tet in &rest {
                let across = mesh.neighbours(TetIdx(tet)).into_iter().flatten();
                let same = across.filter(|other| part_of(other.0) == part_of(tet));
                let patches = same.filter_map(|other| self.of[other.index()]);
                let smallest = patches.min_by_key(|p| (self.patches[*p as usize].len(), *p));
                if let Some(patch) = smallest {
                    self.patches[patch as usize].push(tet);
                    joins.push((tet, patch));
                }
            }
            if joins.is_empty() {
                // It has no patch around it: a piece of fewer than four tetrahedra.
                self.add(vec![rest[0]]);
            }
            for (tet, patch) in joins {
                self.of[tet as usize] = Some(patch);
            }
            rest.retain(|tet| self.is_free(*tet));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use pliant_hydroelastic::mesh::TetOptions;
    use pliant_hydroelastic::mesh::generate::tet_cuboid;

    #[test]
    fn a_box_is_cut_into_its_cells() {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.1, 0.2), [5, 2, 3]).unwrap();
        let patches = partition(&mesh, |_| 0);
        assert_eq!(patches.len(), 30);
        for patch in patches {
            // Tetrahedra of a cell are consecutive.
            let cell = patch[0] / 6;
            assert!(patch.len() == 6 && patch.iter().all(|tet| tet / 6 == cell));
        }
    }

    #[test]
    fn every_tetrahedron_has_one_patch_of_its_own_part() {
        let mesh = tet_cuboid(Vector3::repeat(0.5), [4, 3, 3]).unwrap();
        let part_of = |tet: u32| u16::from(tet % 7 < 3);
        let patches = partition(&mesh, part_of);
        let mut all: Vec<u32> = patches.iter().flatten().copied().collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..mesh.tets().len() as u32));
        for patch in &patches {
            assert!(patch.iter().all(|tet| part_of(*tet) == part_of(patch[0])));
        }
    }

    #[test]
    fn a_single_tetrahedron_is_a_patch() {
        let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let one = vec![[0, 1, 2, 3]];
        let (mesh, _) = TetMesh::build(corners.to_vec(), one, &TetOptions::default()).unwrap();
        assert_eq!(partition(&mesh, |_| 0), [[0]]);
    }
}
