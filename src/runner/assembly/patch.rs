//! Patch geometry of shapes, from scenes and robot files.

use std::sync::Arc;

use pliant_hydroelastic::{Compliance, PatchGeometry, Shape};
use pliant_multibody::{HydroelasticCompliance, ProximityProperties};

use super::Draft;
use crate::scene::{Hydroelastic, SceneError, SceneFault, SoftEntry, Surface};

impl Draft<'_> {
    /// The patch geometry of `shape`, if its surface requests one. `at`: its location in the scene; `what`: its name.
    pub(super) fn patch_geometry(
        &self,
        shape: &Shape,
        surface: Surface,
        at: crate::scene::SourceLocation,
        what: &str,
    ) -> Result<Option<Arc<PatchGeometry>>, SceneError> {
        let surface = self.filled(surface);
        let compliance = compliance(surface);
        let made = match surface.hydroelastic {
            None | Some(Hydroelastic::Absent) => return Ok(None),
            Some(Hydroelastic::Rigid) => {
                PatchGeometry::rigid(shape, compliance.mesh_resolution_hint)
            }
            Some(Hydroelastic::Compliant) => PatchGeometry::compliant(shape, &compliance),
        };
        let refused = |error| {
            let text = format!("{what:?} as a hydroelastic {}: {error}", shape.name());
            self.scene.text.error(at, SceneFault::World(text))
        };
        made.map(|geometry| Some(Arc::new(geometry)))
            .map_err(refused)
    }

    /// Compliance of the segments of a rod, if its surface requests a pressure field.
    pub(super) fn filament_compliance(
        &self,
        entry: &SoftEntry,
    ) -> Result<Option<Compliance>, SceneError> {
        let surface = self.filled(entry.surface);
        match surface.hydroelastic {
            None | Some(Hydroelastic::Absent) => Ok(None),
            Some(Hydroelastic::Compliant) => Ok(Some(compliance(surface))),
            Some(Hydroelastic::Rigid) => {
                let text = format!(
                    "rod {:?} is `hydroelastic = \"rigid\"`, which no rod can be; make it `compliant` or `absent`",
                    entry.name.name
                );
                Err(self
                    .scene
                    .text
                    .error(entry.name.at, SceneFault::World(text)))
            }
        }
    }
}

/// Parameters of a pressure field, from the surface or the defaults.
fn compliance(surface: Surface) -> Compliance {
    let built_in = Compliance::default();
    Compliance {
        hydroelastic_modulus: surface
            .hydroelastic_modulus
            .unwrap_or(built_in.hydroelastic_modulus),
        margin: surface.hydroelastic_margin.unwrap_or(built_in.margin),
        mesh_resolution_hint: surface
            .mesh_resolution_hint
            .unwrap_or(built_in.mesh_resolution_hint),
        slab_thickness: surface.slab_thickness,
    }
}

/// Properties of one shape in a robot file that have no effect with `surface`; whole clauses.
pub(super) fn idle(given: &ProximityProperties, surface: Surface) -> Vec<String> {
    let mut idle = Vec::new();
    if let (Some(dynamic), Some(fixed)) = (given.mu_dynamic, given.mu_static)
        && dynamic != fixed
    {
        idle.push(format!(
            "mu_static = {fixed} is not used: what sticks begins to slide at mu_dynamic = {dynamic}"
        ));
    }
    let part = match surface.hydroelastic {
        Some(Hydroelastic::Compliant) => return idle,
        Some(Hydroelastic::Rigid) => "rigid in patch contact",
        Some(Hydroelastic::Absent) | None => "in point contact only",
    };
    let mut of_fields = vec![
        ("hydroelastic_modulus", given.hydroelastic_modulus),
        ("hydroelastic_margin", given.hydroelastic_margin),
        ("slab_thickness", given.slab_thickness),
    ];
    if surface.hydroelastic != Some(Hydroelastic::Rigid) {
        of_fields.push(("mesh_resolution_hint", given.mesh_resolution_hint));
    }
    idle.extend(of_fields.iter().filter_map(|(name, value)| {
        let value = (*value)?;
        Some(format!(
            "{name} = {value} does nothing, for the shape is {part}; give it `compliant_hydroelastic`"
        ))
    }));
    idle
}

/// `surface` with the properties that a robot file gives for one shape.
pub(super) fn refined(surface: Surface, given: &ProximityProperties) -> Surface {
    Surface {
        stiffness: given.point_contact_stiffness,
        dissipation: given.hunt_crossley_dissipation,
        relaxation_time_s: given.relaxation_time,
        friction: given.mu_dynamic.or(given.mu_static),
        restitution: None,
        torsional_friction: None,
        rolling_friction: None,
        hydroelastic: given
            .hydroelastic_compliance
            .map(|compliance| match compliance {
                HydroelasticCompliance::Rigid => Hydroelastic::Rigid,
                HydroelasticCompliance::Compliant => Hydroelastic::Compliant,
            }),
        hydroelastic_modulus: given.hydroelastic_modulus,
        hydroelastic_margin: given.hydroelastic_margin,
        mesh_resolution_hint: given.mesh_resolution_hint,
        slab_thickness: given.slab_thickness,
    }
    .or(surface)
}
