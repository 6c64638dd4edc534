//! Decomposition of convex cells into tetrahedra that conforms across shared faces.

use std::collections::BTreeMap;

/// Decomposes a convex cell into tetrahedra: every face is a fan about its vertex of lowest index, and the cell a cone
/// over those faces about its own lowest vertex. The split of a face depends on that face alone, so neighbouring cells
/// conform.
///
/// `faces`: corners of each face in order, in either orientation. Repeated corners and faces that degenerate to an edge
/// are dropped.
pub(crate) fn cut_cell(faces: &[&[u32]], out: &mut Vec<[u32; 4]>) {
    let Some(apex) = faces.iter().flat_map(|f| f.iter()).min().copied() else {
        return;
    };
    let mut ring: Vec<u32> = Vec::new();
    for face in faces {
        if face.contains(&apex) {
            continue;
        }
        ring.clear();
        for &v in *face {
            if ring.last() != Some(&v) && ring.first() != Some(&v) {
                ring.push(v);
            }
        }
        if ring.len() < 3 {
            continue;
        }
        let lowest = (0..ring.len()).min_by_key(|&i| ring[i]).unwrap_or(0);
        ring.rotate_left(lowest);
        for pair in ring[1..].windows(2) {
            out.push([apex, ring[0], pair[0], pair[1]]);
        }
    }
}

/// KeyNumbering keys in the order of their first occurrence.
pub(crate) struct KeyNumbering<K: Ord> {
    known: BTreeMap<K, u32>,
}

impl<K: Ord> KeyNumbering<K> {
    pub(crate) fn new() -> Self {
        Self {
            known: BTreeMap::new(),
        }
    }

    /// The number of `key`. For a new key, `make` is called; it must append to the list that is being numbered.
    pub(crate) fn of(&mut self, key: K, make: impl FnOnce()) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry(key).or_insert_with(|| {
            make();
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn a_cut_cube_has_its_volume_whatever_the_numbers_of_its_corners() {
        let corner = |c: u32| Vector3::from_fn(|k, _| f64::from(c >> k & 1));
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        for shuffle in 0..8_u32 {
            let faces: Vec<Vec<u32>> = quads
                .iter()
                .map(|q| q.iter().map(|v| v ^ shuffle).collect())
                .collect();
            let mut tets = Vec::new();
            cut_cell(
                &faces.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                &mut tets,
            );
            let volume: f64 = tets
                .iter()
                .map(|t| {
                    let [a, b, c, d] = t.map(|v| corner(v ^ shuffle));
                    (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0
                })
                .sum();
            assert!((volume - 1.0).abs() < 1e-15);
        }
    }
}
