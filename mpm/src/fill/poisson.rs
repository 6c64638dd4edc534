//! Poisson-disk sampling: random points at least a radius apart (Bridson 2007, "Fast Poisson disk sampling in arbitrary dimensions").

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::SignedDistance;

use crate::random::Random;

/// n r³ of a maximal sampling (n points per volume), measured.
const FULLNESS: f64 = 0.71;
/// n r² of a maximal sampling of a surface, measured; 0.547 · 4/π for random sequential adsorption of discs.
const LAYER_FULLNESS: f64 = 0.70;
/// Candidates around a point before it becomes inactive.
const TRIES: usize = 30;

/// Points inside, as many as cubes of edge `distance` fill the volume.
pub(super) fn disk(
    min: &Point3<f64>,
    max: &Point3<f64>,
    distance: f64,
    seed: u64,
    inside: impl Fn(&Point3<f64>) -> bool,
) -> Vec<Point3<f64>> {
    let radius = distance * FULLNESS.cbrt();
    let mut scatter = Scatter::new(min, max, distance, radius, seed);
    scatter.fill(radius, |p| inside(p).then_some(*p));
    scatter.field.points
}

/// As [`disk`], with a layer of points half of `distance` below the surface, as many as squares of edge `distance` cover it.
pub(super) fn conforming(
    min: &Point3<f64>,
    max: &Point3<f64>,
    distance: f64,
    seed: u64,
    surface: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
) -> Vec<Point3<f64>> {
    let layer = distance * LAYER_FULLNESS.sqrt();
    let radius = distance * FULLNESS.cbrt();
    let mut scatter = Scatter::new(min, max, distance, layer, seed);
    let depth = 0.5 * distance;
    scatter.fill(layer, |p| {
        let mut p = *p;
        // One step is exact while the nearest feature of the surface stays the same; beyond an edge or a ridge, another step is needed.
        for _ in 0..4 {
            let there = surface(&p);
            let off = there.value + depth;
            if off.abs() < 1e-6 * distance {
                return Some(p);
            }
            if off.abs() > 2.0 * distance {
                return None;
            }
            p -= there.gradient * off;
        }
        None
    });
    scatter.fill(radius, |p| (surface(p).value < -depth).then_some(*p));
    scatter.field.points
}

/// A sampling in progress.
struct Scatter {
    field: Field,
    random: Random,
    min: Point3<f64>,
    size: Vector3<f64>,
    darts: usize,
}

impl Scatter {
    /// `closest` is the smallest distance of two points in all calls of `fill`.
    fn new(min: &Point3<f64>, max: &Point3<f64>, distance: f64, closest: f64, seed: u64) -> Self {
        let size = max - min;
        let boxed = (size.x * size.y * size.z / distance.powi(3)).ceil();
        Self {
            field: Field::new(min, max, closest),
            random: Random::new(seed),
            min: *min,
            size,
            // Random darts reach every component of a shape.
            darts: (20.0 * boxed) as usize + 1000,
        }
    }

    /// Adds points at least `radius` from all others until no more fit. `admit` maps a candidate to an allowed point near it, if any.
    fn fill(&mut self, radius: f64, admit: impl Fn(&Point3<f64>) -> Option<Point3<f64>>) {
        let Self { field, random, .. } = self;
        let mut active: Vec<u32> = Vec::new();
        let mut darts = self.darts;
        loop {
            while !active.is_empty() {
                let chosen = random.below(active.len());
                let centre = field.points[active[chosen] as usize];
                let near = (0..TRIES).find_map(|_| {
                    let away = direction(random) * (radius * (1.0 + random.unit()));
                    let candidate = centre + away;
                    admit(&candidate).filter(|p| field.is_free(p, radius))
                });
                match near {
                    Some(point) => active.push(field.add(point)),
                    None => {
                        active.swap_remove(chosen);
                    }
                }
            }
            if darts == 0 {
                return;
            }
            darts -= 1;
            let dart = self.min + Vector3::from_fn(|k, _| self.size[k] * random.unit());
            let point = admit(&dart).filter(|p| field.is_free(p, radius));
            active.extend(point.map(|p| field.add(p)));
        }
    }
}

fn direction(random: &mut Random) -> Vector3<f64> {
    let z = 2.0 * random.unit() - 1.0;
    let angle = std::f64::consts::TAU * random.unit();
    let r = (1.0 - z * z).max(0.0).sqrt();
    Vector3::new(r * angle.cos(), r * angle.sin(), z)
}

/// Points in cells that are small enough to contain at most one.
struct Field {
    points: Vec<Point3<f64>>,
    min: Point3<f64>,
    max: Point3<f64>,
    cell: f64,
    counts: [usize; 3],
    cells: Vec<u32>,
}

impl Field {
    /// A grid for points at least `closest` apart.
    fn new(min: &Point3<f64>, max: &Point3<f64>, closest: f64) -> Self {
        let cell = closest / 3.0_f64.sqrt();
        let counts = [0, 1, 2].map(|k| ((max[k] - min[k]) / cell) as usize + 1);
        Self {
            points: Vec::new(),
            min: *min,
            max: *max,
            cell,
            counts,
            cells: vec![u32::MAX; counts.iter().product()],
        }
    }

    fn cell_of(&self, p: &Point3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|k| (((p[k] - self.min[k]) / self.cell) as usize).min(self.counts[k] - 1))
    }

    /// Whether `p` is within bounds and no point is closer than `radius`, which is at most two cells.
    fn is_free(&self, p: &Point3<f64>, radius: f64) -> bool {
        if (0..3).any(|k| p[k] < self.min[k] || p[k] > self.max[k]) {
            return false;
        }
        let home = self.cell_of(p);
        let range = |k: usize| home[k].saturating_sub(2)..(home[k] + 3).min(self.counts[k]);
        for i in range(0) {
            for j in range(1) {
                for k in range(2) {
                    let point = self.cells[(i * self.counts[1] + j) * self.counts[2] + k];
                    if point != u32::MAX
                        && (self.points[point as usize] - p).norm_squared() < radius * radius
                    {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn add(&mut self, p: Point3<f64>) -> u32 {
        let [i, j, k] = self.cell_of(&p);
        let number = self.points.len() as u32;
        self.cells[(i * self.counts[1] + j) * self.counts[2] + k] = number;
        self.points.push(p);
        number
    }
}
