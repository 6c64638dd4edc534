//! The geoms of a body as collision and visual shapes of its link.

use super::geom::{ContactRule, Geom, UNWRITTEN_FRICTION};
use crate::builder::LinkSpec;
use crate::geometry::{Collision, GeometryDescription, ProximityProperties, Visual};

/// Adds geoms to a link, and returns the contact rules of its collision shapes.
pub(super) fn add_shapes(link: &mut LinkSpec, geoms: Vec<Geom>) -> Vec<ContactRule> {
    let mut rules = Vec::new();
    for geom in geoms {
        let (in_contact, shown) = (geom.is_in_contact(), geom.is_shown());
        link.rgba = link.rgba.or(geom.rgba);
        let Some(shape) = geom.shape else { continue };
        let named = |kind: &str, count: usize| {
            let unnamed = || format!("{}_{kind}_{count}", link.name);
            geom.name.clone().unwrap_or_else(unnamed)
        };
        let is_field = matches!(shape, GeometryDescription::HeightField { .. });
        // Height fields are drawn as collision shapes.
        if shown && !is_field {
            link.visuals.push(Visual {
                name: named("visual", link.visuals.len()),
                X_LG: geom.X_BG,
                geometry: shape.clone(),
                rgba: geom.rgba,
            });
        }
        if in_contact {
            rules.push(geom.rule);
            let rule = geom.rule;
            let mu = rule.friction.map(|friction| friction[0]);
            let [_, torsional, rolling] = rule.friction.unwrap_or(UNWRITTEN_FRICTION);
            link.collisions.push(Collision {
                name: named("collision", link.collisions.len()),
                X_LG: geom.X_BG,
                geometry: shape,
                mesh: geom.mesh,
                proximity: ProximityProperties {
                    mu_dynamic: mu,
                    mu_static: mu,
                    torsional_friction: (rule.condim >= 4).then_some(torsional),
                    rolling_friction: (rule.condim >= 6).then_some(rolling),
                    ..ProximityProperties::default()
                },
            });
        }
    }
    rules
}
