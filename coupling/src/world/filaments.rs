//! Filaments of a world at rest, of which a step's collision search moves copies.

use pliant_contact_sap::{FlatEdge, FlatOutline, Surface};
use pliant_hydroelastic::{Filament, FlatSection, Outline};

use super::{Mount, WorldParts};
use crate::error::{WorldError, WorldPart};

impl WorldParts {
    /// The filament of each geometry on segments, as its body is by default.
    pub(super) fn filaments_at_rest(&self) -> Result<Vec<Option<Filament>>, WorldError> {
        let mut surface = Surface::default();
        let of = self.geometries.iter().enumerate().map(|(g, geometry)| {
            let Mount::Segments { body, tips } = geometry.mount else {
                return Ok(None);
            };
            let body = &self.bodies[body.0];
            body.model
                .surface(&body.model.default_state(), &mut surface);
            if surface.edges.is_empty() {
                return Err(WorldError::NoSegments {
                    name: geometry.name.clone(),
                    body: body.name.clone(),
                });
            }
            surface.radii.resize(surface.vertices.len(), 0.0);
            let mut filament =
                Filament::new(g as u64, &surface.vertices, &surface.edges, &surface.radii)
                    .map(|filament| filament.with_tips(tips));
            if let Some(compliance) = &geometry.compliance {
                let sections: Vec<FlatSection> = surface.sections.iter().map(flat).collect();
                filament = filament.and_then(|f| f.with_field(compliance, &sections));
            }
            let refused = |source| WorldError::Geometry {
                part: WorldPart::Geometry(geometry.name.clone()),
                source: Box::new(source),
            };
            filament.map(Some).map_err(refused)
        });
        of.collect()
    }
}

/// A section in the words of the geometry.
pub(crate) fn flat(section: &FlatEdge) -> FlatSection {
    FlatSection {
        m_1: section.m_1,
        half_1: section.half_extents[0],
        half_2: section.half_extents[1],
        outline: match section.outline {
            FlatOutline::Rectangle => Outline::Rectangle,
            FlatOutline::Ellipse => Outline::Ellipse,
        },
    }
}
