//! Structures that the processor and the shaders share; their order is that of `common.wgsl`.

use bytemuck::{Pod, Zeroable};
use nalgebra::{Matrix3, Vector3};
use pliant_mpm::{Particle, base_node};

/// Counters before all else in `lists`.
pub(crate) const COUNTERS: u32 = 32;
pub(crate) const STATUS: usize = 0;
pub(crate) const CONTACTS_TOTAL: usize = 4;
pub(crate) const CONTACTS_MAX: usize = 5;
pub(crate) const ITERATIONS: usize = 6;
pub(crate) const UNSOLVED: usize = 7;
pub(crate) const CRUSHED: usize = 9;
pub(crate) const CRUSHED_FIRST: usize = 10;
pub(crate) const CONTACTS_NEEDED: usize = 12;
pub(crate) const BLOCKS_NEEDED: usize = 14;
pub(crate) const ITERATIONS_MOST: usize = 15;

pub(crate) const LEFT_GRID: u32 = 1;
pub(crate) const NOT_FINITE: u32 = 2;
pub(crate) const TOO_MANY_CONTACTS: u32 = 4;
pub(crate) const LOOP_CUT: u32 = 8;
pub(crate) const TOO_MANY_BLOCKS: u32 = 16;

/// Vectors of an object in `scene`.
#[cfg(test)]
pub(crate) const OBJECT: u32 = 3;

/// Numbers of a link in `out`: pose, velocity, free velocity, impulse.
pub(crate) const LINK: u32 = 32;
/// Numbers of a pair in `out`.
pub(crate) const PAIR: u32 = 13;
/// Bytes of a node in `nodes`.
pub(crate) const NODE_BYTES: u64 = 32;
/// Bytes of stress and impulse of a particle, in the same buffer.
pub(crate) const STRESS_BYTES: u64 = 64;
/// Nodes of a block, and cells.
pub(crate) const BLOCK: u64 = 64;
/// Bytes of a contact.
pub(crate) const CONTACT_BYTES: u64 = 208;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) dims: [u32; 3],
    pub(crate) n_particles: u32,
    pub(crate) gravity: [f32; 3],
    pub(crate) dt: f32,
    pub(crate) spacing: f32,
    pub(crate) inverse_spacing: f32,
    pub(crate) is_mls: u32,
    pub(crate) blocks_max: u32,
    pub(crate) n_obstacles: u32,
    pub(crate) n_objects: u32,
    pub(crate) n_links: u32,
    pub(crate) n_rigid: u32,
    pub(crate) n_walls: u32,
    pub(crate) contacts_max: u32,
    pub(crate) iterations_max: u32,
    pub(crate) substeps: u32,
    pub(crate) tolerance: f32,
    pub(crate) stiction_speed: f32,
    pub(crate) near_rigid: f32,
    pub(crate) light_mass: f32,
    pub(crate) obstacles_at: u32,
    pub(crate) pairs_at: u32,
    pub(crate) walls_at: u32,
    pub(crate) response_at: u32,
    pub(crate) rows_at: u32,
    pub(crate) columns_at: u32,
    pub(crate) decay_at: u32,
    pub(crate) drive_at: u32,
    pub(crate) prescribed_at: u32,
    pub(crate) rigid_at: u32,
    pub(crate) sums_at: u32,
    pub(crate) records_at: u32,
    pub(crate) triangles_at: u32,
    pub(crate) hinges_at: u32,
    pub(crate) vertices_at: u32,
    pub(crate) corner_list_at: u32,
    pub(crate) corners_at: u32,
    pub(crate) n_triangles: u32,
    pub(crate) n_hinges: u32,
    pub(crate) n_vertices: u32,
    pub(crate) held_sets_at: u32,
    pub(crate) n_held_sets: u32,
    pub(crate) holds_nodes: u32,
    pub(crate) loads_at: u32,
    pub(crate) table_size: u32,
    /// Where the parts of the world begin in the buffers of bindings 1 to 8, in their elements.
    pub(crate) parts_at: [u32; 8],
    pub(crate) solve_at: u32,
    pub(crate) padding: [u32; 2],
    /// The cell of the corner of the box.
    pub(crate) origin: [i32; 3],
    pub(crate) n_loads: u32,
}

/// What of a particle changes in a time step, and what it depends on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct DeviceParticle {
    fraction: [f32; 3],
    mass: f32,
    cell: [i32; 3],
    object: u32,
    v: [f32; 3],
    volume: f32,
    c: [[f32; 4]; 3],
    f0: [f32; 3],
    held: u32,
    f1: [f32; 4],
    f2: [f32; 4],
}

/// Cell, and fraction of the way through it.
pub(crate) type Place = ([i32; 3], [f32; 3]);

/// Where a particle is.
pub(crate) fn place(p: &Particle<f64>, spacing: f64) -> Place {
    let cell = base_node(&p.x, 1.0 / spacing);
    let fraction = std::array::from_fn(|k| (p.x[k] / spacing - f64::from(cell[k])) as f32);
    (cell, fraction)
}

fn columns(m: &Matrix3<f64>, last: [f64; 2]) -> [[f32; 4]; 3] {
    let last = [last[0], last[1], 0.0];
    std::array::from_fn(|k| {
        let column = m.column(k);
        [column[0], column[1], column[2], last[k]].map(|x| x as f32)
    })
}

fn matrix(columns: &[[f32; 4]; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| f64::from(columns[j][i]))
}

impl DeviceParticle {
    /// With the bits of the held sets that it belongs to.
    pub(crate) fn of(p: &Particle<f64>, spacing: f64, held: u32) -> Self {
        let (cell, fraction) = place(p, spacing);
        let [f0, f1, f2] = columns(&p.strain.f, [0.0; 2]);
        Self {
            fraction,
            mass: p.mass as f32,
            cell,
            object: p.object,
            v: std::array::from_fn(|k| p.v[k] as f32),
            volume: p.volume as f32,
            c: columns(&p.c, p.strain.internal),
            f0: [f0[0], f0[1], f0[2]],
            held,
            f1,
            f2,
        }
    }

    /// Whether it is at a place, to the last bit.
    pub(crate) fn is_at(&self, (cell, fraction): Place) -> bool {
        cell == self.cell && fraction.map(f32::to_bits) == self.fraction.map(f32::to_bits)
    }

    /// The norm of its Kirchhoff stress, Pa, once it has taken a substep.
    pub(crate) fn stress(&self) -> f32 {
        self.c[2][3]
    }

    /// Writes what moves.
    pub(crate) fn write(&self, p: &mut Particle<f64>, spacing: f64) {
        p.x = Vector3::from_fn(|k, _| {
            (f64::from(self.cell[k]) + f64::from(self.fraction[k])) * spacing
        });
        p.v = Vector3::from(self.v).map(f64::from);
        p.c = matrix(&self.c);
        let [x, y, z] = self.f0;
        p.strain.f = matrix(&[[x, y, z, 0.0], self.f1, self.f2]);
        p.strain.internal = [f64::from(self.c[0][3]), f64::from(self.c[1][3])];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_far_from_the_origin_keep_a_millionth_of_a_cell() {
        // As plain f32 the position would be known to 6e-6 m, 3e-4 of a cell.
        let p = Particle {
            x: Vector3::new(100.003_217_31, -57.000_123_4, 0.009_999_999),
            ..Particle::default()
        };
        let spacing = 0.02;
        let mut back = Particle::default();
        let device = DeviceParticle::of(&p, spacing, 0);
        device.write(&mut back, spacing);
        assert!((back.x - p.x).amax() < 1e-6 * spacing, "{}", back.x - p.x);
    }

    #[test]
    fn a_place_comes_back_to_the_last_bit_but_on_the_border_of_cells() {
        let places = [
            (100.003_217_31, true),
            (-57.000_123_4, true),
            (0.009_999_999, false),
        ];
        for (x, stays) in places {
            let mut p = Particle {
                x: Vector3::new(x, 0.0, 0.0),
                ..Particle::default()
            };
            let device = DeviceParticle::of(&p, 0.02, 0);
            device.write(&mut p, 0.02);
            assert_eq!(device.is_at(place(&p, 0.02)), stays, "{x}");
        }
    }
}
