//! Natural curvature and twist of a rod, constant or over time.

use pliant_der::{NaturalShape, NaturalShapeSchedule, NaturalStrain, Schedule};

use crate::scene::error::SceneError;
use crate::scene::random::Random;
use crate::scene::schema::{Key, TableSchema, ValueKind};
use crate::scene::table::TableReader;

pub(super) static SCATTER: TableSchema = TableSchema {
    name: "natural_scatter",
    keys: &[
        Key {
            name: "curvature",
            value: ValueKind::NonNegative,
            unit: "1/m",
            default: "0",
            about: "standard deviation of each component of the curvature at a node",
        },
        Key {
            name: "twist",
            value: ValueKind::NonNegative,
            unit: "rad/m",
            default: "0",
            about: "standard deviation of the twist rate at a node; the angle per edge is the rate times the edge length",
        },
        Key {
            name: "seed",
            value: ValueKind::Described("integer in 0 .. 4294967295"),
            unit: "",
            default: "0",
            about: "seed of the random numbers; for different copies of a rod use an expression such as `seed = \"i\"`",
        },
    ],
};

/// Random natural strains: independent normal deviates of mean 0 at each node.
///
/// ```
/// use pliant::scene::NaturalScatter;
/// use pliant_der::NaturalStrain;
///
/// // Curvatures that scatter by 2 1/m, and no twist.
/// let scatter = NaturalScatter { curvature: 2.0, twist: 0.0, seed: 1 };
/// let strains = scatter.strains(&NaturalStrain::default(), 10_000);
/// assert!(strains.iter().all(|strain| strain.twist_rate == 0.0));
/// let square: f64 = strains.iter().map(|strain| strain.curvature_1.powi(2)).sum();
/// assert!(((square / 1e4).sqrt() - 2.0).abs() < 0.05); // 3.5 standard errors
/// // Equal seeds give equal rods.
/// assert_eq!(strains, scatter.strains(&NaturalStrain::default(), 10_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NaturalScatter {
    /// Standard deviation of each component of the curvature, 1/m.
    pub curvature: f64,
    /// Standard deviation of the twist rate, rad/m.
    pub twist: f64,
    /// Seed of the random numbers; the same seed gives the same rod on every machine.
    pub seed: u64,
}

impl NaturalScatter {
    /// One strain for each of `n_nodes` nodes, about `mean`. The deviates of one seed scale with the standard deviations.
    #[must_use]
    pub fn strains(&self, mean: &NaturalStrain, n_nodes: usize) -> Vec<NaturalStrain> {
        let mut random = Random::new(self.seed);
        let mut strain = || {
            let [along_2, along_1] = random.normal_pair();
            let [twist, _] = random.normal_pair();
            NaturalStrain {
                curvature_1: mean.curvature_1 + self.curvature * along_2,
                curvature_2: mean.curvature_2 + self.curvature * along_1,
                twist_rate: mean.twist_rate + self.twist * twist,
            }
        };
        (0..n_nodes).map(|_| strain()).collect()
    }
}

/// Unstressed configuration of a rod, apart from its natural strains.
#[derive(Clone, Copy)]
enum Built {
    Straight,
    AsBuilt,
}

/// Reads the natural shape.
pub(super) fn shape(table: &TableReader<'_>) -> Result<NaturalShape, SceneError> {
    let curvature = table
        .optional("natural_curvature")
        .map(|item| item.numbers::<2>())
        .transpose()?;
    let twist = table
        .optional("natural_twist")
        .map(|item| item.number())
        .transpose()?;
    let shape = table.choice_or_first(
        "natural_shape",
        &[("straight", Built::Straight), ("as-built", Built::AsBuilt)],
    )?;
    match (shape, curvature, twist) {
        (Built::AsBuilt, None, None) => Ok(NaturalShape::AsBuilt),
        (Built::Straight, None, None) => Ok(NaturalShape::Straight),
        (Built::AsBuilt, ..) => {
            Err(table.conflict(
                "`natural_shape = \"as-built\"` leaves no `natural_curvature` and no `natural_twist` open",
            ))
        }
        (Built::Straight, curvature, twist) => {
            let [curvature_1, curvature_2] = curvature.unwrap_or_default();
            Ok(NaturalShape::Uniform(NaturalStrain {
                curvature_1,
                curvature_2,
                twist_rate: twist.unwrap_or_default(),
            }))
        }
    }
}

/// Reads the scatter of the natural strains.
pub(super) fn scatter(table: &TableReader<'_>) -> Result<Option<NaturalScatter>, SceneError> {
    let Some(item) = table.optional("natural_scatter") else {
        return Ok(None);
    };
    if let NaturalShape::AsBuilt = shape(table)? {
        return Err(
            table.conflict("`natural_shape = \"as-built\"` leaves no `natural_scatter` open")
        );
    }
    let table = item.table(&SCATTER)?;
    let scatter = NaturalScatter {
        curvature: table.non_negative_or("curvature", 0.0)?,
        twist: table.non_negative_or("twist", 0.0)?,
        seed: table
            .optional("seed")
            .map_or(Ok(0), |item| item.integer(0, u64::from(u32::MAX)))?,
    };
    if scatter.curvature == 0.0 && scatter.twist == 0.0 {
        return Err(table.conflict("no scatter is given; give `twist`, `curvature` or both"));
    }
    table.finish();
    Ok(Some(scatter))
}

/// Reads the natural curvature and twist over time.
pub(super) fn drive(table: &TableReader<'_>) -> Result<Option<NaturalShapeSchedule>, SceneError> {
    let curvature = schedule(table, "curvature_schedule")?;
    let twist = schedule(table, "twist_schedule")?;
    Ok(
        (curvature.is_some() || twist.is_some()).then(|| NaturalShapeSchedule {
            curvature: curvature.unwrap_or_default(),
            twist: twist.unwrap_or_default(),
        }),
    )
}

fn schedule(table: &TableReader<'_>, key: &'static str) -> Result<Option<Schedule>, SceneError> {
    let Some(list) = table.optional(key) else {
        return Ok(None);
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    for item in list.elements()? {
        let [time_s, factor] = item.numbers::<2>()?;
        if points.last().is_some_and(|last| time_s <= last.0) {
            return Err(item.out_of_range(time_s, "must lie after the time before it"));
        }
        points.push((time_s, factor));
    }
    Ok(Some(Schedule { points }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_strains_have_the_mean_and_the_deviation_that_are_asked_for() {
        let mean = NaturalStrain {
            curvature_1: 80.0,
            curvature_2: 0.0,
            twist_rate: -2.0,
        };
        let scatter = NaturalScatter {
            curvature: 5.0,
            twist: 3.0,
            seed: 7,
        };
        let n = 10_000;
        let strains = scatter.strains(&mean, n);
        let of = |component: fn(&NaturalStrain) -> f64, mean: f64, deviation: f64| {
            let values = strains.iter().map(|s| (component(s) - mean) / deviation);
            let sums = values.fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
            // Four standard deviations of a mean, and of a mean square.
            let n = n as f64;
            assert!((sums.0 / n).abs() < 4.0 / n.sqrt(), "{}", sums.0 / n);
            assert!(
                (sums.1 / n - 1.0).abs() < 4.0 * (2.0 / n).sqrt(),
                "{}",
                sums.1 / n
            );
        };
        of(|s| s.curvature_1, 80.0, 5.0);
        of(|s| s.curvature_2, 0.0, 5.0);
        of(|s| s.twist_rate, -2.0, 3.0);
        assert_eq!(strains, scatter.strains(&mean, n));
        let other = NaturalScatter { seed: 8, ..scatter };
        assert_ne!(strains, other.strains(&mean, n));
    }
}
