//! A quadrature rule of degree 5 over a tetrahedron, with an error estimate.

use std::array::from_fn;

/// Barycentric coordinates.
pub(crate) type Barycentric = [f64; 4];

const N_POINTS: usize = 15;

/// The points and weights of the rule, whose weights sum to 1.
///
/// # Source
/// Keast (1986), Moderate-degree tetrahedral quadrature formulas, rule 6.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) points: [Barycentric; N_POINTS],
    pub(crate) weights: [f64; N_POINTS],
    /// The weights less those of a rule of degree 3 on the first nine points: an estimate of the error, zero for cubic functions.
    pub(crate) differences: [f64; N_POINTS],
}

impl Rule {
    pub(crate) fn new() -> Self {
        let inner = 0.25 * (1.0 - (7.0_f64 / 13.0).sqrt());
        let third = 1.0 / 3.0;
        let mut points = [[0.25; 4]; N_POINTS];
        for k in 0..4 {
            points[1 + k] = from_fn(|j| if j == k { 0.0 } else { third });
            points[5 + k] = from_fn(|j| if j == k { 8.0 / 11.0 } else { 1.0 / 11.0 });
        }
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        for (point, pair) in points[9..].iter_mut().zip(pairs) {
            *point = from_fn(|j| {
                if pair.contains(&j) {
                    inner
                } else {
                    0.5 - inner
                }
            });
        }
        let by_orbit = |values: [f64; 4]| {
            from_fn(|k| match k {
                0 => values[0],
                1..5 => values[1],
                5..9 => values[2],
                _ => values[3],
            })
        };
        let weights = by_orbit([
            6544.0 / 36_015.0,
            81.0 / 2240.0,
            161_051.0 / 2_304_960.0,
            338.0 / 5145.0,
        ]);
        // Of degree 3: the weights w of the three orbits solve w0 + 4 w1 + 4 w2 = 1 and the conditions of x² and x³.
        let lower = by_orbit([24.0 / 245.0, 9.0 / 64.0, 1331.0 / 15_680.0, 0.0]);
        Self {
            points,
            weights,
            differences: from_fn(|k| weights[k] - lower[k]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of a monomial of the barycentric coordinates: 3! Π kᵢ!/(3 + Σ kᵢ)!.
    fn exact(powers: [u32; 4]) -> f64 {
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        6.0 * powers.map(factorial).iter().product::<f64>()
            / factorial(3 + powers.iter().sum::<u32>())
    }

    fn monomials(degree: u32) -> Vec<[u32; 4]> {
        let mut all = Vec::new();
        for code in 0..(degree + 1).pow(4) {
            let powers = from_fn(|k| code / (degree + 1).pow(k as u32) % (degree + 1));
            if powers.iter().sum::<u32>() == degree {
                all.push(powers);
            }
        }
        all
    }

    fn sum(weights: &[f64; N_POINTS], powers: [u32; 4]) -> f64 {
        let rule = Rule::new();
        let value = |point: &Barycentric| -> f64 {
            (0..4).map(|k| point[k].powi(powers[k] as i32)).product()
        };
        rule.points
            .iter()
            .zip(weights)
            .map(|(p, w)| w * value(p))
            .sum()
    }

    #[test]
    fn polynomials_of_degree_five_are_exact() {
        for degree in 0..=5 {
            for powers in monomials(degree) {
                let error = sum(&Rule::new().weights, powers) - exact(powers);
                assert!(error.abs() < 1e-15, "{powers:?}: {error:e}");
            }
        }
        let beyond = sum(&Rule::new().weights, [6, 0, 0, 0]) - exact([6, 0, 0, 0]);
        assert!(beyond.abs() > 1e-6, "{beyond:e}");
    }

    #[test]
    fn the_error_estimate_vanishes_for_cubic_functions_only() {
        for degree in 0..=3 {
            for powers in monomials(degree) {
                let estimate = sum(&Rule::new().differences, powers);
                assert!(estimate.abs() < 1e-15, "{powers:?}: {estimate:e}");
            }
        }
        assert!(sum(&Rule::new().differences, [4, 0, 0, 0]).abs() > 1e-4);
    }
}
