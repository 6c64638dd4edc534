//! Nearest points and time of impact of two moving segments.

use nalgebra::{Point3, Vector3};

/// A segment whose ends move along straight lines; for a ball the ends coincide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) ends: [Point3<f64>; 2],
    /// m/s.
    pub(crate) velocities: [Vector3<f64>; 2],
    pub(crate) radius: f64,
}

impl Segment {
    pub(crate) fn after(&self, t: f64) -> Self {
        let at = |k: usize| self.ends[k] + self.velocities[k] * t;
        Self {
            ends: [at(0), at(1)],
            ..*self
        }
    }

    pub(crate) fn at(&self, fraction: f64) -> Point3<f64> {
        self.ends[0] + self.direction() * fraction
    }

    pub(crate) fn velocity(&self, fraction: f64) -> Vector3<f64> {
        self.velocities[0] + (self.velocities[1] - self.velocities[0]) * fraction
    }

    pub(crate) fn direction(&self) -> Vector3<f64> {
        self.ends[1] - self.ends[0]
    }
}

/// Fractions along two segments at their nearest points; for parallel segments any such pair.
///
/// # Source
/// Ericson (2005), Real-Time Collision Detection, 5.1.9.
pub(crate) fn nearest(a: &Segment, b: &Segment) -> (f64, f64) {
    let (d_a, d_b, r) = (a.direction(), b.direction(), a.ends[0] - b.ends[0]);
    let (aa, bb) = (d_a.norm_squared(), d_b.norm_squared());
    let (c, f) = (d_a.dot(&r), d_b.dot(&r));
    // Round-off level of the products below.
    let tiny = 1e-30 * (aa + bb + r.norm_squared());
    match (aa <= tiny, bb <= tiny) {
        (true, true) => (0.0, 0.0),
        (true, false) => (0.0, (f / bb).clamp(0.0, 1.0)),
        (false, true) => ((-c / aa).clamp(0.0, 1.0), 0.0),
        (false, false) => {
            let ab = d_a.dot(&d_b);
            // |d_a × d_b|², without cancellation.
            let denominator = d_a.cross(&d_b).norm_squared();
            let s = if denominator > 1e-14 * aa * bb {
                ((ab * f - c * bb) / denominator).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let t = (ab * s + f) / bb;
            if t < 0.0 {
                ((-c / aa).clamp(0.0, 1.0), 0.0)
            } else if t > 1.0 {
                (((ab - c) / aa).clamp(0.0, 1.0), 1.0)
            } else {
                (s, t)
            }
        }
    }
}

const ROUNDS_MAX: usize = 200;

/// The fraction of the step at which two rounded segments that are now separated by more than `touching` (m) reach that
/// distance.
///
/// Conservative advancement: a separating plane stays separating until an end of one segment has reached an end of the
/// other along its normal. Ends move at constant velocity, so each plane gives a safe time step.
pub(crate) fn entry(a: &Segment, b: &Segment, time_step_s: f64, touching: f64) -> Option<f64> {
    let radii = a.radius + b.radius;
    let mut s = 0.0;
    for _ in 0..ROUNDS_MAX {
        let (now_A, now_B) = (a.after(s * time_step_s), b.after(s * time_step_s));
        let (f, g) = nearest(&now_A, &now_B);
        let apart = now_A.at(f) - now_B.at(g);
        let distance = apart.norm();
        if distance - radii <= touching {
            return Some(s);
        }
        let normal = apart / distance;
        let mut step = f64::INFINITY;
        for i in 0..2 {
            for j in 0..2 {
                let gap = normal.dot(&(now_A.ends[i] - now_B.ends[j])) - radii - 0.5 * touching;
                let closing = -normal.dot(&(a.velocities[i] - b.velocities[j])) * time_step_s;
                if closing > 0.0 {
                    step = step.min(gap / closing);
                }
            }
        }
        s += step.max(0.0);
        if s > 1.0 {
            return None;
        }
    }
    // Grazing contact, undecided within the iteration limit: reported as contact.
    Some(s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rng: &mut ChaCha8Rng) -> Segment {
        let mut vector = || Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        Segment {
            ends: [vector().into(), vector().into()],
            velocities: [vector() * 4.0, vector() * 4.0],
            radius: 0.05,
        }
    }

    fn distance(a: &Segment, b: &Segment) -> f64 {
        let (s, t) = nearest(a, b);
        (a.at(s) - b.at(t)).norm()
    }

    #[test]
    fn nearest_points_are_no_further_apart_than_any_others() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for round in 0..300 {
            let (a, mut b) = (random(&mut rng), random(&mut rng));
            match round % 4 {
                1 => b.ends[1] = b.ends[0] + a.direction() * 0.7,
                2 => b.ends[1] = b.ends[0],
                3 => b.ends[0] = a.at(0.3),
                _ => {}
            }
            let found = distance(&a, &b);
            for i in 0..=40 {
                for j in 0..=40 {
                    let other = a.at(f64::from(i) / 40.0) - b.at(f64::from(j) / 40.0);
                    assert!(found <= other.norm() + 1e-12, "round {round}");
                }
            }
        }
    }

    #[test]
    fn entry_is_the_first_moment_at_which_fine_sampling_finds_them_touching() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut hits, mut misses) = (0, 0);
        for _ in 0..400 {
            let (a, b) = (random(&mut rng), random(&mut rng));
            let dt = 0.5;
            if distance(&a, &b) <= 0.11 {
                continue;
            }
            let gap = |s: f64| distance(&a.after(s * dt), &b.after(s * dt)) - 0.1;
            let first = (0..=4000)
                .map(|k| f64::from(k) / 4000.0)
                .find(|s| gap(*s) <= 0.0);
            match (entry(&a, &b, dt, 1e-6), first) {
                (Some(s), Some(sampled)) => {
                    hits += 1;
                    // The rounds left at a grazing contact leave a negligible gap.
                    assert!(gap(s) <= 1e-4 && gap(s) > -1e-9, "{}", gap(s));
                    assert!(s <= sampled && sampled - s < 1e-2, "{s} {sampled}");
                }
                (None, None) => misses += 1,
                (Some(s), None) => assert!(gap(s) <= 1e-4, "a graze between two samples"),
                (None, Some(s)) => panic!("missed at {s}"),
            }
        }
        assert!(hits > 30 && misses > 30, "{hits} {misses}");
    }
}
