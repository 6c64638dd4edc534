//! The shape in which a rod is unstressed, and how it follows the clock.

use pliant_der::{Drive, NaturalShape, NaturalStrain, Schedule};

use crate::scene::error::SceneError;
use crate::scene::table::TableReader;

/// In which shape a rod is unstressed, its own natural strains besides.
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

/// Reads how the natural curvature and twist change, where they do.
pub(super) fn drive(table: &TableReader<'_>) -> Result<Option<Drive>, SceneError> {
    let curvature = schedule(table, "curvature_schedule")?;
    let twist = schedule(table, "twist_schedule")?;
    Ok((curvature.is_some() || twist.is_some()).then(|| Drive {
        curvature: curvature.unwrap_or_default(),
        twist: twist.unwrap_or_default(),
    }))
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
