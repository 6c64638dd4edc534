//! The box around the particles, with a margin for their way in a time step. Its blocks have numbers; nodes there are in those that particles reach.

use nalgebra::Vector3;
use pliant_contact_sap::BodyError;
use pliant_mpm::{Particle, base_node};
use rayon::prelude::*;

use crate::particles::CHUNK;

/// Where particles are, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// Lowest and highest cell.
    low: [i32; 3],
    high: [i32; 3],
    /// The largest squared speed, m²/s².
    fastest: f64,
}

/// That of no particle.
impl Default for Extent {
    fn default() -> Self {
        Self {
            low: [i32::MAX; 3],
            high: [i32::MIN; 3],
            fastest: 0.0,
        }
    }
}

impl Extent {
    pub(crate) fn of(particles: &[Particle<f64>], spacing: f64) -> Self {
        let chunks = particles.par_chunks(CHUNK).map(|chunk| {
            let mut extent = Self::default();
            for p in chunk {
                extent.add(base_node(&p.x, 1.0 / spacing), &p.v);
            }
            extent
        });
        chunks.reduce(Self::default, Self::and)
    }

    pub(crate) fn add(&mut self, cell: [i32; 3], v: &Vector3<f64>) {
        for (k, x) in cell.into_iter().enumerate() {
            self.low[k] = self.low[k].min(x);
            self.high[k] = self.high[k].max(x);
        }
        self.fastest = self.fastest.max(v.norm_squared());
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|k| self.low[k].min(other.low[k])),
            high: std::array::from_fn(|k| self.high[k].max(other.high[k])),
            fastest: self.fastest.max(other.fastest),
        }
    }
}

/// Numbers of blocks are those below the one that stands for none.
const BLOCKS_MAX: f64 = u32::MAX as f64;

/// A box of whole blocks of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeBox {
    pub(crate) origin: [i32; 3],
    pub(crate) dims: [u32; 3],
}

impl NodeBox {
    /// That of `extent` for a time step, with `margin` cells beyond the way of the particles.
    ///
    /// # Errors
    /// More blocks than there are numbers.
    pub(crate) fn new(
        extent: &Extent,
        (time_s, spacing, margin): (f64, f64, i32),
    ) -> Result<Self, BodyError> {
        let way = (extent.fastest.sqrt() * time_s / spacing).ceil().min(1e6) as i32;
        let margin = margin.saturating_add(way);
        let length = |k: usize| {
            let cells =
                i64::from(extent.high[k]) - i64::from(extent.low[k]) + 3 + 2 * i64::from(margin);
            (cells + 3) / 4 * 4
        };
        let blocks: f64 = (0..3).map(|k| length(k) as f64 / 4.0).product();
        if blocks >= BLOCKS_MAX {
            return Err(BodyError::Model(format!(
                "the particles span a box of {blocks:.1e} blocks of grid nodes, more than the {BLOCKS_MAX:.1e} that a device numbers; take the substeps on the processor"
            )));
        }
        Ok(Self {
            origin: extent.low.map(|low| low.saturating_sub(margin)),
            dims: std::array::from_fn(|k| length(k) as u32),
        })
    }

    pub(crate) fn n_blocks(&self) -> u32 {
        self.dims.iter().map(|n| n / 4).product()
    }

    /// Its corner, m.
    pub(crate) fn corner(&self, spacing: f64) -> Vector3<f64> {
        Vector3::from(self.origin.map(f64::from)) * spacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_has_room_for_the_way_of_the_fastest_particle() {
        let at = |x: f64, v: f64| Particle {
            x: Vector3::new(x, 0.0, 0.0),
            v: Vector3::new(0.0, v, 0.0),
            ..Particle::default()
        };
        let particles = [at(0.0, 0.0), at(0.5, 3.0)];
        let extent = Extent::of(&particles, 0.125);
        // Base nodes -1 and 3; a way of three cells, and two cells of margin.
        let way = (0.125, 0.125, 2);
        let room = NodeBox::new(&extent, way).expect("few blocks");
        assert_eq!((room.origin, room.dims), ([-6; 3], [20, 16, 16]));
        assert_eq!(
            (room.n_blocks(), room.corner(0.125)),
            (80, Vector3::repeat(-0.75))
        );
        let refused = NodeBox::new(&extent, (1e3, 0.125, 2)).expect_err("24,000 cells a second");
        assert!(refused.to_string().contains("e12 blocks"), "{refused}");
    }
}
