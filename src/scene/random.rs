//! Random numbers that are the same on every machine: SplitMix64.
//!
//! Source: Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// A stream of numbers that its seed determines.
#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), 53 random bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Two independent normal numbers of mean 0 and variance 1. Source: Box and Muller (1958), A note on the generation of random normal deviates.
    pub(super) fn normal_pair(&mut self) -> [f64; 2] {
        // In (0, 1], whose logarithm is finite.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.unit()).sin_cos();
        [radius * cos, radius * sin]
    }

    /// Uniform in the box between two corners.
    pub(super) fn in_box(&mut self, low: &Vector3<f64>, high: &Vector3<f64>) -> Vector3<f64> {
        // In this order, whatever the compiler thinks of closures.
        let x = self.between(low.x, high.x);
        let y = self.between(low.y, high.y);
        let z = self.between(low.z, high.z);
        Vector3::new(x, y, z)
    }

    /// Index of one of `weights`, as likely as its share of their sum.
    pub(super) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return index;
            }
        }
        weights.len() - 1
    }

    /// All rotations alike. Source: Shoemake (1992), Uniform random rotations, Graphics Gems III.
    pub(super) fn rotation(&mut self) -> UnitQuaternion<f64> {
        let (u, v, w) = (
            self.unit(),
            std::f64::consts::TAU * self.unit(),
            std::f64::consts::TAU * self.unit(),
        );
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        UnitQuaternion::from_quaternion(Quaternion::new(
            b * w.cos(),
            a * v.sin(),
            a * v.cos(),
            b * w.sin(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_is_the_published_one() {
        // First outputs of the reference implementation (splitmix64.c, Vigna) for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([random.next(), random.next(), random.next()], expected);
    }

    #[test]
    fn weights_are_met_on_average() {
        let mut random = Random::new(3);
        let mut counts = [0u32; 3];
        for _ in 0..10_000 {
            counts[random.weighted(&[1.0, 0.0, 3.0])] += 1;
        }
        assert_eq!(counts[1], 0);
        // Four standard deviations of a binomial with p = 1/4.
        assert!(counts[0].abs_diff(2500) < 4 * 44, "{counts:?}");
    }

    #[test]
    fn rotations_have_no_preferred_direction() {
        let mut random = Random::new(5);
        let n = 20_000;
        let mean = (0..n)
            .map(|_| random.rotation() * Vector3::z())
            .sum::<Vector3<f64>>()
            / f64::from(n);
        // Each component has variance 1/3: four standard deviations of the mean.
        assert!(
            mean.amax() < 4.0 * (1.0 / (3.0 * f64::from(n))).sqrt(),
            "{mean}"
        );
    }
}
