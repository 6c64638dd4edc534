//! Suspicious initial states: overlapping bodies, and densities below air or above any metal.

use pliant_contact_sap::Surface;
use pliant_coupling::{Geometry, GeometryIdx, State, StepReport, World};
use pliant_hydroelastic::{Aabb, Shape};

/// Overlap relative to the size of the smaller body above which it is suspicious.
const DEPTH_SHARE: f64 = 0.05;

/// Above this number, pairs are counted and not named.
const NAMED_MAX: usize = 5;

/// Air has 1.2 kg/m³, osmium 22,600.
const DENSITIES: std::ops::RangeInclusive<f64> = 0.5..=25_000.0;

/// Pairs that overlap deeply in `state`, from which the step of `report` started.
pub(super) fn overlaps(world: &World, state: &State, report: &StepReport) -> Vec<String> {
    let name = |geometry: GeometryIdx| &world.geometries()[geometry.0].name;
    let mut notes: Vec<String> = report
        .pairs()
        .filter(|pair| pair.a != pair.b)
        .filter_map(|pair| {
            let depths = pair.contacts.iter().map(|c| -c.signed_distance);
            let depth = depths.fold(0.0, f64::max);
            let size = |geometry: GeometryIdx| size(world, state, &world.geometries()[geometry.0]);
            (depth > DEPTH_SHARE * f64::min(size(pair.a), size(pair.b))).then(|| {
                format!(
                    "suspicious: {:?} starts {depth:.2e} m deep in {:?}, which throws them apart; move one, or filter the pair",
                    name(pair.a),
                    name(pair.b)
                )
            })
        })
        .collect();
    if notes.len() > NAMED_MAX {
        let more = notes.len() - NAMED_MAX;
        notes.truncate(NAMED_MAX);
        notes.push(format!(
            "suspicious: {more} more pairs start as deep in each other"
        ));
    }
    notes
}

/// The diagonal of the box around a geometry, m; infinite for a half space.
pub(super) fn size(world: &World, state: &State, geometry: &Geometry) -> f64 {
    let bounds = match (&geometry.shape, geometry.mount.body()) {
        (Some(shape), _) => shape.local_aabb(),
        (None, Some(body)) => {
            let mut surface = Surface::default();
            let model = world.model(body);
            model.surface(&state.bodies[body.0], &mut surface);
            Aabb::from_points(&surface.vertices)
        }
        (None, None) => Aabb::ALL,
    };
    match bounds.is_bounded() {
        true => 2.0 * bounds.half_extents().norm(),
        false => f64::INFINITY,
    }
}

/// The least side of the box around a shape, m; infinite without a shape, and for a flat one.
pub(super) fn thickness(geometry: &Geometry) -> f64 {
    let bounds = geometry.shape.as_ref().map(Shape::local_aabb);
    let side = bounds.map(|bounds| 2.0 * bounds.half_extents().min());
    side.filter(|side| *side > 0.0).unwrap_or(f64::INFINITY)
}

/// A note on a rigid body of `mass` in `volume` (kg, m³) if its density is implausible.
pub(super) fn density(name: &str, mass: f64, volume: f64) -> Option<String> {
    let density = mass / volume;
    (!DENSITIES.contains(&density)).then(|| {
        format!(
            "suspicious: body {name:?} of {mass} kg in {volume:.3e} m³ has {density:.2e} kg/m³; is its `mass` or the `scale` of its mesh another?"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_of_real_things_pass() {
        for (mass, volume) in [(1e-3, 1e-6), (7.8, 1e-3), (0.02, 1e-3)] {
            assert_eq!(density("b", mass, volume), None);
        }
        let light = density("mug", 0.3, 133.3).expect("lighter than air");
        assert!(
            light.contains("\"mug\"") && light.contains("2.25e-3"),
            "{light}"
        );
        assert!(density("b", 1.0, 1e-9).is_some());
    }
}
