//! Welding: vertices at the same position.

use super::moments::Bounds;
use super::options::Weld;
use nalgebra::Vector3;
use std::collections::{HashMap, HashSet};

/// For each vertex the first vertex that it coincides with (itself, if there is none).
pub(crate) fn representatives(vertices: &[Vector3<f64>], weld: Weld) -> Vec<u32> {
    match weld {
        Weld::Never => (0..vertices.len() as u32).collect(),
        Weld::Exact => exact(vertices),
        Weld::Within { relative_distance } => {
            let diagonal = Bounds::of(vertices).map_or(0.0, |bounds| bounds.extent().norm());
            let distance = relative_distance * diagonal;
            if distance > 0.0 {
                within(vertices, distance)
            } else {
                exact(vertices)
            }
        }
    }
}

/// Number of vertices with the same coordinates as an earlier one.
pub(crate) fn coincident_count<'a>(vertices: impl Iterator<Item = &'a Vector3<f64>>) -> usize {
    let mut positions = HashSet::new();
    vertices
        .filter(|vertex| !positions.insert(position_bits(vertex)))
        .count()
}

/// The coordinates' bits; `+ 0.0` maps −0 to +0, which is the same position.
fn position_bits(vertex: &Vector3<f64>) -> [u64; 3] {
    [0, 1, 2].map(|k| (vertex[k] + 0.0).to_bits())
}

fn exact(vertices: &[Vector3<f64>]) -> Vec<u32> {
    let mut first_at = HashMap::with_capacity(vertices.len());
    vertices
        .iter()
        .zip(0_u32..)
        .map(|(vertex, i)| *first_at.entry(position_bits(vertex)).or_insert(i))
        .collect()
}

/// Each vertex joins the first representative within `distance`; representatives are stored in a grid of that spacing.
fn within(vertices: &[Vector3<f64>], distance: f64) -> Vec<u32> {
    let Some(bounds) = Bounds::of(vertices) else {
        return Vec::new();
    };
    let mut in_cell: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(vertices.len());
    let cell_of = |vertex: &Vector3<f64>| {
        [0, 1, 2].map(|k| ((vertex[k] - bounds.min[k]) / distance).floor() as i64)
    };
    let mut first = Vec::with_capacity(vertices.len());
    for (vertex, i) in vertices.iter().zip(0_u32..) {
        let [x, y, z] = cell_of(vertex);
        let mut found = None;
        for n in 0..27_i64 {
            let near = [x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1];
            for &candidate in in_cell.get(&near).map_or(&[][..], Vec::as_slice) {
                if (vertices[candidate as usize] - vertex).norm() <= distance
                    && found.is_none_or(|best| candidate < best)
                {
                    found = Some(candidate);
                }
            }
        }
        if found.is_none() {
            in_cell.entry([x, y, z]).or_default().push(i);
        }
        first.push(found.unwrap_or(i));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_zeros_are_the_same_place() {
        let vertices = [
            Vector3::new(0.0, 1.0, 2.0),
            Vector3::new(-0.0, 1.0, 2.0),
            Vector3::new(0.0, 1.0, 2.1),
        ];
        assert_eq!(representatives(&vertices, Weld::Exact), [0, 0, 2]);
    }

    #[test]
    fn welding_distance_scales_with_the_mesh() {
        for size in [1e-30, 1.0, 1e30] {
            let vertices = [
                Vector3::zeros(),
                Vector3::x() * size,
                Vector3::x() * (size * (1.0 + 1e-9)),
            ];
            let weld = Weld::Within {
                relative_distance: 1e-6,
            };
            assert_eq!(representatives(&vertices, weld), [0, 1, 1], "size {size}");
        }
    }
}
