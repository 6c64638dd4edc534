//! The table `scene` that the shaders read, a part that lasts and one of the time step, and the start of `out`.

use nalgebra::{DMatrix, Isometry3, Vector3};
use pliant_contact_sap::Dissipation;
use pliant_mpm::{
    ClothMaterial, DeviceObject, FrictionAngle, InPlaneLaw, LinkIdx, Obstacle, ReturnForm,
    RigidLinks, ShaderLaw, Tension, Wall, WallKind,
};

use crate::cloth_tables::ClothTables;
use crate::layout::{LINK, PAIR, Params};
use crate::shapes::{DeviceShape, Shapes};

/// Larger numbers, which may be infinite, count as this one.
const LARGE: f64 = 1e30;

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Numbers of another table that comes before this one.
    before: usize,
    numbers: Vec<f32>,
}

impl Table {
    /// The continuation of `other`, which has whole vectors.
    pub(crate) fn after(other: &Self) -> Self {
        Self {
            before: other.before + other.numbers.len(),
            numbers: Vec::new(),
        }
    }

    /// Bytes before it.
    pub(crate) fn offset(&self) -> u64 {
        4 * self.before as u64
    }

    pub(crate) fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    pub(crate) fn push(&mut self, values: [f64; 4]) {
        let each = values.map(|x| x.clamp(-LARGE, LARGE) as f32);
        self.numbers.extend(each);
    }

    /// Vectors so far.
    pub(crate) fn vectors(&self) -> u32 {
        ((self.before + self.numbers.len()) / 4) as u32
    }

    /// Adds numbers, and returns where they begin.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = f64>) -> u32 {
        let at = (self.before + self.numbers.len()) as u32;
        self.numbers.extend(values.map(|x| x as f32));
        at
    }

    /// Fills it up to whole vectors, one at least.
    pub(crate) fn finish(mut self) -> Self {
        let whole = self.numbers.len().next_multiple_of(4).max(4);
        self.numbers.resize(whole, 0.0);
        self
    }
}

/// The part of `scene` that lasts: objects, shapes and cloth. It is made again only when a new shape is met.
#[derive(Debug, Default)]
pub(crate) struct Lasting {
    pub(crate) table: Table,
    /// Where each table begins, and nothing else.
    pub(crate) places: Params,
    /// Where the tables of shapes begin, and how many vectors they have.
    shapes_at: u32,
    shapes: usize,
}

impl Lasting {
    pub(crate) fn new(objects: &[DeviceObject], shapes: &Shapes, cloths: &ClothTables) -> Self {
        let mut lasting = Self {
            shapes: shapes.vectors().len(),
            ..Self::default()
        };
        let (table, places) = (&mut lasting.table, &mut lasting.places);
        add_objects(table, objects);
        lasting.shapes_at = table.vectors();
        table.numbers.extend(shapes.vectors().iter().flatten());
        cloths.add(table, places);
        cloths.add_corners(table, places);
        lasting.table = std::mem::take(table).finish();
        lasting
    }

    /// Whether it has all shapes.
    pub(crate) fn is_of(&self, shapes: &Shapes) -> bool {
        self.shapes == shapes.vectors().len()
    }
}

/// Whole numbers that [`index`] has.
pub(crate) const INDICES: u32 = 1 << 30;
const ONE: u32 = 1.0_f32.to_bits();

/// A whole number in a table, as `index_of` of the shaders reads it: added to the bits of 1, which gives a normal number.
pub(crate) fn index(number: u32) -> f64 {
    f64::from(f32::from_bits(ONE + number))
}

/// (law, mu, lambda, radius), (a, b, c, d) and (e, -, -, -) of an object, as in `material.wgsl` and `cloth_law.wgsl`.
pub(crate) fn add_objects(table: &mut Table, objects: &[DeviceObject]) {
    for object in objects {
        if let Some(cloth) = &object.cloth {
            of_cloth(table, &cloth.material, object.radius);
            continue;
        }
        // A bound that is infinite is none.
        let bound = |x: f64| if x < f64::INFINITY { x } else { -1.0 };
        let (law, mu, lambda, more) = match object.law {
            Some(ShaderLaw::LinearCorotated {
                lame,
                yield_norm,
                form,
            }) => {
                let additive = f64::from(u8::from(form == ReturnForm::Additive));
                let bound = bound(yield_norm / (2.0 * lame.mu()));
                (0.0, lame.mu(), lame.lambda(), [bound, additive, 0.0, 0.0])
            }
            Some(ShaderLaw::HenckyVonMises { lame, yield_stress }) => {
                let bound = bound((2.0_f64 / 3.0).sqrt() * yield_stress / (2.0 * lame.mu()));
                (1.0, lame.mu(), lame.lambda(), [bound, 0.0, 0.0, 0.0])
            }
            Some(ShaderLaw::Sand {
                lame,
                hardening,
                angle,
            }) => {
                let law = match angle {
                    FrictionAngle::TriaxialCompression => 2.0,
                    FrictionAngle::PlaneStrain => 6.0,
                };
                (law, lame.mu(), lame.lambda(), hardening)
            }
            Some(ShaderLaw::Liquid {
                bulk_modulus,
                exponent,
                viscosity,
                tension,
            }) => {
                let full = f64::from(u8::from(tension == Tension::Full));
                (3.0, bulk_modulus, exponent, [viscosity, full, 0.0, 0.0])
            }
            Some(ShaderLaw::NeoHookean(lame)) => (4.0, lame.mu(), lame.lambda(), [0.0; 4]),
            Some(ShaderLaw::FixedCorotated(lame)) => (5.0, lame.mu(), lame.lambda(), [0.0; 4]),
            _ => unreachable!("objects are checked when the backend is made"),
        };
        table.push([law, mu, lambda, object.radius]);
        table.push(more);
        table.push([0.0; 4]);
    }
}

/// The same of a cloth.
pub(crate) fn of_cloth(table: &mut Table, cloth: &ClothMaterial, radius: f64) {
    let law = match cloth.in_plane() {
        InPlaneLaw::FixedCorotated => 7.0,
        InPlaneLaw::StVenantKirchhoff => 8.0,
    };
    let hooke = cloth.plane_stress();
    table.push([law, hooke.mu, hooke.lambda, radius]);
    table.push([
        cloth.normal_stiffness(),
        cloth.shear_stiffness(),
        cloth.friction(),
        cloth.damping_time(),
    ]);
    table.push([cloth.affine_fraction(), 0.0, 0.0, 0.0]);
}

/// Obstacles with poses relative to `corner`, and contact parameters of each pair.
pub(crate) fn add_obstacles(
    table: &mut Table,
    params: &mut Params,
    obstacles: (&[Obstacle], &[DeviceShape], &Lasting),
    corner: &Vector3<f64>,
) {
    let (obstacles, placed, lasting) = obstacles;
    let tables_at = f64::from(lasting.shapes_at);
    params.obstacles_at = table.vectors();
    for (obstacle, shape) in obstacles.iter().zip(placed) {
        let mut size = shape.size;
        if shape.has_table {
            size.x += tables_at;
        }
        let X = &obstacle.X_LG;
        let (place, link) = match obstacle.link {
            Some(link) => (X.translation.vector, link.0 as f64),
            None => (X.translation.vector - corner, -1.0),
        };
        let reach = X.translation.vector.norm() + obstacle.shape.radius_about_origin();
        let (q, belt) = (X.rotation.coords, &obstacle.surface_velocity);
        table.push([f64::from(shape.number), size.x, size.y, size.z]);
        table.push([q.x, q.y, q.z, q.w]);
        table.push([place.x, place.y, place.z, link]);
        table.push([belt.x, belt.y, belt.z, reach]);
    }
    params.pairs_at = table.vectors();
    let pairs = || obstacles.iter().flat_map(|o| &o.pairs);
    for pair in pairs() {
        table.push(pair.map_or([0.0; 4], |p| match p.dissipation {
            Dissipation::HuntCrossley(d) => [p.stiffness, d, 0.0, 1.0],
            Dissipation::RelaxationTime(tau) => [p.stiffness, tau, 0.0, 2.0],
        }));
    }
    for pair in pairs() {
        table.push([pair.map_or(0.0, |p| p.friction), 0.0, 0.0, 0.0]);
    }
}

/// Planes in cells from the corner of the box, and the components of velocity that stay free behind them.
pub(crate) fn add_walls(
    table: &mut Table,
    params: &mut Params,
    walls: &[Wall],
    spacing: f64,
    origin: [i32; 3],
) {
    params.walls_at = table.vectors();
    params.n_walls = walls.len() as u32;
    let origin = Vector3::from(origin.map(f64::from));
    for wall in walls {
        let n = &wall.normal_W;
        let height = n.dot(&wall.p_WQ.coords) / spacing - n.dot(&origin);
        table.push([n.x, n.y, n.z, height]);
        let free = n.map(|n| match wall.kind == WallKind::Sticks || n.abs() > 0.5 {
            true => 0.0,
            false => 1.0,
        });
        table.push([free.x, free.y, free.z, 0.0]);
    }
}

/// Matrices of the links, by rows.
pub(crate) fn add_links(table: &mut Table, params: &mut Params, links: &RigidLinks) {
    let by_rows = |table: &mut Table, m: &DMatrix<f64>| table.extend(m.transpose().iter().copied());
    params.n_links = links.len() as u32;
    params.response_at = by_rows(table, &links.response());
    if let Some((rigid, prescribed)) = links.rigid() {
        params.n_rigid = rigid.velocity.len() as u32;
        params.rows_at = by_rows(table, &rigid.rows);
        params.columns_at = by_rows(table, &rigid.columns);
        params.decay_at = by_rows(table, &rigid.decay);
        params.drive_at = table.extend(rigid.drive.iter().copied());
        params.prescribed_at = table.extend(prescribed.iter().copied());
    }
}

/// Poses and velocities of the links, rigid velocities, and empty sums; room for the impulses of all substeps.
pub(crate) fn start_of_out(
    params: &mut Params,
    links: &RigidLinks,
    corner: &Vector3<f64>,
) -> Vec<f32> {
    let mut out = Vec::new();
    for l in (0..links.len()).map(LinkIdx) {
        let X: &Isometry3<f64> = links.pose(l);
        let mut numbers = [0.0; LINK as usize];
        numbers[..4].copy_from_slice(X.rotation.coords.as_slice());
        numbers[4..7].copy_from_slice((X.translation.vector - corner).as_slice());
        numbers[8..14].copy_from_slice(links.velocity(l).as_slice());
        out.extend(numbers.map(|x| x as f32));
    }
    params.rigid_at = out.len() as u32;
    if let Some((rigid, _)) = links.rigid() {
        out.extend(rigid.velocity.iter().map(|x| *x as f32));
        out.extend(rigid.velocity.iter().map(|_| 0.0));
    }
    params.sums_at = out.len() as u32;
    for _ in 0..params.n_obstacles * params.n_objects {
        let mut sum = [0.0; PAIR as usize];
        sum[7] = LARGE as f32;
        out.extend(sum);
    }
    params.records_at = out.len() as u32;
    let records = 6 * params.n_links * params.substeps;
    out.resize(out.len() + records.max(4) as usize, 0.0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_normal_numbers_that_come_back() {
        for number in [0, 1, 2, 1 << 23, (1 << 24) + 1, 123_456_789, INDICES - 1] {
            let x = index(number) as f32;
            assert!(x.is_normal(), "{number}");
            assert_eq!(x.to_bits() - ONE, number);
        }
    }
}
