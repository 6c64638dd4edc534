//! Pairs that must have patch contact.

use pliant_hydroelastic::{ContactChoice, GeometryError, PatchGeometry};

use super::{Geometry, GeometryIdx, Mount, PairRule, RigidSurface, WorldParts};
use crate::error::WorldError;

impl WorldParts {
    /// Refuses pairs whose rule requires patch contact and whose geometries have none. The filter is built before.
    pub(super) fn check_patches(&self) -> Result<(), WorldError> {
        // The surface of a deformable body has a patch with every geometry.
        let is_soft = |g: &GeometryIdx| matches!(self.geometries[g.0].mount, Mount::Surface { .. });
        let is_points =
            |g: &GeometryIdx| matches!(self.geometries[g.0].mount, Mount::Vertices { .. });
        let check = |a: GeometryIdx, b: GeometryIdx| {
            if is_points(&a) || is_points(&b) {
                let said = |g: GeometryIdx| match is_points(&g) {
                    true => format!("{:?} (touched at its points)", self.geometries[g.0].name),
                    false => format!("{:?}", self.geometries[g.0].name),
                };
                return Err(WorldError::Geometry {
                    part: self.pair_part(a, b),
                    source: Box::new(GeometryError::NoPatch {
                        a: said(a),
                        b: said(b),
                        why: "particles and vertices have no area to press with; let finite elements touch by their surface",
                    }),
                });
            }
            if is_soft(&a) || is_soft(&b) {
                return Ok(());
            }
            let side = |g: GeometryIdx| {
                let geometry = &self.geometries[g.0];
                (geometry.name.as_str(), geometry.patch.as_deref())
            };
            let is_field = |g: GeometryIdx| self.geometries[g.0].compliance.is_some();
            let checked = match (is_field(a), is_field(b)) {
                (true, true) => Ok(()),
                // A pressure field has a patch with every geometry that has a patch side.
                (true, false) if side(b).1.is_some() => Ok(()),
                (false, true) if side(a).1.is_some() => Ok(()),
                _ => PatchGeometry::check_pair(side(a), side(b)),
            };
            checked.map_err(|source| WorldError::Geometry {
                part: self.pair_part(a, b),
                source: Box::new(source),
            })
        };
        self.check_impacts_of_patches()?;
        let index = |g: usize| pliant_hydroelastic::GeometryIdx(g as u32);
        let says = |rule: &PairRule, choice| rule.choice == Some(choice);
        for ((a, b), _) in self
            .pair_rules
            .iter()
            .filter(|(_, rule)| says(rule, ContactChoice::Patch))
        {
            check(*a, *b)?;
        }
        if self.contact.choice != ContactChoice::Patch {
            return Ok(());
        }
        for b in 0..self.geometries.len() {
            for a in (0..b).filter(|&a| self.filter.allows(index(a), index(b))) {
                let pair = (GeometryIdx(a), GeometryIdx(b));
                let rule = self.pair_rules.iter().find(|(known, _)| *known == pair);
                if rule.is_none_or(|(_, rule)| rule.choice.is_none()) {
                    check(pair.0, pair.1)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses properties of point contact for pairs of rigid shapes with patches.
    fn check_impacts_of_patches(&self) -> Result<(), WorldError> {
        let has_rule = |rule: &PairRule| rule.rigid_surface() != RigidSurface::default();
        let has_property = |g: &Geometry| g.rigid_surface != RigidSurface::default();
        if !self.geometries.iter().any(has_property)
            && !self.pair_rules.iter().any(|(_, rule)| has_rule(rule))
        {
            return Ok(());
        }
        let with_patch: Vec<usize> = (0..self.geometries.len())
            .filter(|&g| self.geometries[g].patch.is_some())
            .collect();
        let index = |g: usize| pliant_hydroelastic::GeometryIdx(g as u32);
        for (k, &b) in with_patch.iter().enumerate() {
            for &a in with_patch[..k]
                .iter()
                .filter(|&&a| self.filter.allows(index(a), index(b)))
            {
                let pair = (GeometryIdx(a), GeometryIdx(b));
                let rule = self.pair_rules.iter().find(|(known, _)| *known == pair);
                let rule = rule.map(|(_, rule)| *rule).unwrap_or_default();
                let (of_a, of_b) = (&self.geometries[a], &self.geometries[b]);
                let side = |g: &'_ Geometry| (g.name.clone(), g.patch.clone());
                let (a, b) = (side(of_a), side(of_b));
                let sides = ((&*a.0, a.1.as_deref()), (&*b.0, b.1.as_deref()));
                let is_patch = rule.choice.unwrap_or(self.contact.choice) != ContactChoice::Point
                    && PatchGeometry::check_pair(sides.0, sides.1).is_ok();
                let property = rule.rigid_surface().combined_with(&of_a.rigid_surface);
                let property = property.combined_with(&of_b.rigid_surface).first_given();
                if let Some((name, value)) = property.filter(|_| is_patch) {
                    return Err(WorldError::Parameter {
                        part: self.pair_part(pair.0, pair.1),
                        parameter: name.into(),
                        value,
                        allowed: "acts at contact points, and this pair has a contact patch; give the pair the kind `point`, or drop it",
                    });
                }
            }
        }
        Ok(())
    }
}
