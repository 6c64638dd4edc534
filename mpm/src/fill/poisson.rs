//! Random points, no two closer than a radius (Bridson 2007, "Fast Poisson disk sampling in arbitrary dimensions").

use nalgebra::{Point3, Vector3};

use crate::random::Random;

/// n r³ of a full sampling: points for each cube of the radius, measured.
const FULLNESS: f64 = 0.71;
/// Tries around a point before it is given up.
const TRIES: usize = 30;

/// Points inside, as many as there would be cubes of edge `distance`.
pub(super) fn disk(
    min: &Point3<f64>,
    max: &Point3<f64>,
    distance: f64,
    seed: u64,
    inside: impl Fn(&Point3<f64>) -> bool,
) -> Vec<Point3<f64>> {
    let radius = distance * FULLNESS.cbrt();
    let mut field = Field::new(min, max, radius);
    let mut random = Random::new(seed);
    let size = max - min;
    let boxed = (size.x * size.y * size.z / distance.powi(3)).ceil();
    let mut active: Vec<u32> = Vec::new();
    // Darts find every piece of a shape in several pieces.
    let mut darts = (20.0 * boxed) as usize + 1000;
    loop {
        while !active.is_empty() {
            let chosen = random.below(active.len());
            let centre = field.points[active[chosen] as usize];
            let near = (0..TRIES).find_map(|_| {
                let candidate = centre + direction(&mut random) * (radius * (1.0 + random.unit()));
                let fits = field.is_free(&candidate) && inside(&candidate);
                fits.then_some(candidate)
            });
            match near {
                Some(point) => active.push(field.add(point)),
                None => {
                    active.swap_remove(chosen);
                }
            }
        }
        if darts == 0 {
            return field.points;
        }
        darts -= 1;
        let dart = min + Vector3::from_fn(|k, _| size[k] * random.unit());
        if field.is_free(&dart) && inside(&dart) {
            active.push(field.add(dart));
        }
    }
}

fn direction(random: &mut Random) -> Vector3<f64> {
    let z = 2.0 * random.unit() - 1.0;
    let angle = std::f64::consts::TAU * random.unit();
    let r = (1.0 - z * z).max(0.0).sqrt();
    Vector3::new(r * angle.cos(), r * angle.sin(), z)
}

/// Points in cells so small that each holds at most one.
struct Field {
    points: Vec<Point3<f64>>,
    min: Point3<f64>,
    max: Point3<f64>,
    radius: f64,
    cell: f64,
    counts: [usize; 3],
    cells: Vec<u32>,
}

impl Field {
    fn new(min: &Point3<f64>, max: &Point3<f64>, radius: f64) -> Self {
        let cell = radius / 3.0_f64.sqrt();
        let counts = [0, 1, 2].map(|k| ((max[k] - min[k]) / cell) as usize + 1);
        Self {
            points: Vec::new(),
            min: *min,
            max: *max,
            radius,
            cell,
            counts,
            cells: vec![u32::MAX; counts.iter().product()],
        }
    }

    fn cell_of(&self, p: &Point3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|k| (((p[k] - self.min[k]) / self.cell) as usize).min(self.counts[k] - 1))
    }

    fn is_free(&self, p: &Point3<f64>) -> bool {
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
                        && (self.points[point as usize] - p).norm_squared()
                            < self.radius * self.radius
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
