//! Warns of overlap too deep for a pressure field.
//!
//! A field's pressure increases from the surface to its medial axis and no further: the force of a plate is largest at an overlap of half
//! its thickness. A solver converges there as anywhere else, so the report warns of it.

use pliant_hydroelastic::{ContactChoice, PatchGeometry};

use crate::report::ContactForce;
use crate::world::{Geometry, World};

/// Fraction of a field's highest pressure from which on a patch counts as deep.
const DEEP: f64 = 0.9;

/// Appends a warning for every pair whose overlap reaches the medial axis of a field, or is so deep that no pressures balance.
pub(crate) fn warn_of_depth(world: &World, contacts: &[ContactForce], warnings: &mut Vec<String>) {
    for pair in contacts.chunk_by(|x, y| (x.a, x.b) == (y.a, y.b)) {
        let (a, b) = (pair[0].a, pair[0].b);
        let sides = [a, b].map(|g| &world.parts.geometries[g.0]);
        let [Some(patch_a), Some(patch_b)] = sides.map(|side| side.patch.as_deref()) else {
            continue;
        };
        if !patch_a.has_patch_with(patch_b) || world.choice(a, b) == ContactChoice::Point {
            continue;
        }
        let highest =
            |side: &&Geometry| side.patch.as_deref().and_then(PatchGeometry::pressure_max);
        let softer = sides
            .into_iter()
            .filter_map(|side| Some((side, highest(&side)?)))
            .min_by(|x, y| x.1.total_cmp(&y.1));
        let Some((softer, highest)) = softer else {
            continue;
        };
        let [name_a, name_b] = sides.map(|side| &side.name);
        let is_deep = |c: &ContactForce| c.patch.is_some_and(|p| p.pressure_max >= DEEP * highest);
        if pair.iter().any(is_deep) {
            warnings.push(format!(
                "patch of \"{name_a}\" and \"{name_b}\": as deep as the pressure of \"{}\" rises, from where on the force falls; \
                 raise its hydroelastic_modulus",
                softer.name
            ));
        } else if pair
            .iter()
            .any(|c| c.patch.is_none() && c.signed_distance < 0.0)
        {
            warnings.push(format!(
                "\"{name_a}\" and \"{name_b}\" lie so deep in each other that no pressures balance: points push them apart; raise \
                 hydroelastic_modulus, or shorten the time step"
            ));
        }
    }
}
