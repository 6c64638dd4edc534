//! Walls that reflect: nodes one cell behind a wall move like the images of those in front of it.
//!
//! The velocity of an image node is v' = S v with the signs S of the wall. Constrained to such velocities, the kinetic energy
//! ½ m v² + ½ m' v'² is that of the mass m + m' in front of the wall, and impulses p and p' act on v as p + S p'. Gravity acts on the image too.

use nalgebra::Vector3;
use pliant_constitutive::Real;

use crate::model::Mirror;
use crate::sparse_grid::{BLOCK_NODES, SparseGrid};
use crate::transfer::NodeField;

/// The reflected nodes of a grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mirrors {
    walls: Vec<Nodes>,
}

/// The nodes of one wall, by storage index.
#[derive(Clone, Debug)]
struct Nodes {
    signs: [f64; 3],
    /// Image and original.
    images: Vec<(u32, u32)>,
    /// On the plane of the wall.
    on_plane: Vec<u32>,
}

impl Mirrors {
    /// Finds the nodes of `grid`.
    pub(crate) fn find(&mut self, mirrors: &[Mirror], grid: &SparseGrid) {
        self.walls.clear();
        self.walls.extend(mirrors.iter().map(|mirror| Nodes {
            signs: mirror.signs(),
            images: Vec::new(),
            on_plane: Vec::new(),
        }));
        if mirrors.is_empty() {
            return;
        }
        for block in 0..grid.n_blocks() {
            for (mirror, nodes) in mirrors.iter().zip(&mut self.walls) {
                nodes.add_block(mirror, grid, block);
            }
        }
    }

    /// Adds mass and momentum of images to their originals, before gravity acts for `time`, s, on the nodes.
    pub(crate) fn fold<T: Real>(&self, field: &mut NodeField<T>, gravity: &Vector3<T>, time: T) {
        for wall in &self.walls {
            for (image, original) in &wall.images {
                let from: [T; 4] = node(field, *image);
                let to = &mut field.values[4 * *original as usize..][..4];
                for k in 0..3 {
                    let sign = T::of(wall.signs[k]);
                    // The kick of all nodes adds m' g to the original; it must add S m' g.
                    let kick = (sign - T::one()) * from[3] * gravity[k] * time;
                    to[k] += sign * from[k] + kick;
                }
                to[3] += from[3];
            }
        }
    }

    /// Whether there are reflected nodes.
    pub(crate) fn is_empty(&self) -> bool {
        self.walls.iter().all(|wall| wall.images.is_empty())
    }

    /// Takes mass and momentum from images, after [`Mirrors::fold`], so that they are no nodes.
    pub(crate) fn remove(&self, field: &mut NodeField<f64>) {
        for (image, ..) in self.originals() {
            field.values[4 * image as usize..][..4].fill(0.0);
        }
    }

    /// Images and their own masses, before [`Mirrors::fold`].
    pub(crate) fn masses(&self, field: &NodeField<f64>) -> Vec<(u32, f64)> {
        let each = self.originals().map(|(image, ..)| image);
        let mut masses: Vec<_> = each.map(|i| (i, node(field, i)[3])).collect();
        masses.sort_by_key(|(image, _)| *image);
        masses.dedup_by_key(|(image, _)| *image);
        masses
    }

    /// The original of an image, and its signs.
    pub(crate) fn originals(&self) -> impl Iterator<Item = (u32, u32, [f64; 3])> {
        let walls = self.walls.iter();
        walls.flat_map(|wall| wall.images.iter().map(|(i, o)| (*i, *o, wall.signs)))
    }

    /// Sets velocities of images.
    pub(crate) fn reflect<T: Real>(&self, field: &mut NodeField<T>) {
        for wall in self.walls.iter().rev() {
            for (image, original) in &wall.images {
                let from: [T; 4] = node(field, *original);
                let to = &mut field.values[4 * *image as usize..][..3];
                for k in 0..3 {
                    to[k] = T::of(wall.signs[k]) * from[k];
                }
            }
        }
    }

    /// Completes volumes, the fourth values of nodes, with those of the images of all particles.
    pub(crate) fn complete_volumes<T: Real>(&self, field: &mut NodeField<T>) {
        let at = |node: u32| 4 * node as usize + 3;
        for wall in &self.walls {
            for (image, original) in &wall.images {
                let volume = field.values[at(*image)];
                field.values[at(*original)] += volume;
            }
            for node in &wall.on_plane {
                let volume = field.values[at(*node)];
                field.values[at(*node)] += volume;
            }
        }
        for wall in self.walls.iter().rev() {
            for (image, original) in &wall.images {
                field.values[at(*image)] = field.values[at(*original)];
            }
        }
    }
}

fn node<T: Real>(field: &NodeField<T>, node: u32) -> [T; 4] {
    let values = &field.values[4 * node as usize..];
    [0, 1, 2, 3].map(|k| values[k])
}

impl Nodes {
    fn add_block(&mut self, mirror: &Mirror, grid: &SparseGrid, block: usize) {
        let first = grid.node_coordinates(block, 0)[mirror.axis];
        if !(first - 1..=first + 4).contains(&mirror.plane) {
            return;
        }
        for slot in 0..BLOCK_NODES {
            let coordinates = grid.node_coordinates(block, slot);
            let index = (block * BLOCK_NODES + slot) as u32;
            if coordinates[mirror.axis] == mirror.plane {
                self.on_plane.push(index);
            } else if mirror.is_image(coordinates)
                && let Some((block, slot)) = grid.find_node(mirror.original(coordinates))
            {
                self.images
                    .push((index, (block * BLOCK_NODES + slot) as u32));
            }
        }
    }
}
