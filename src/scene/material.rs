//! Surfaces: `[materials.NAME]`, and `material = "NAME"` or a table in place.

use std::collections::BTreeMap;

use super::error::{SceneError, SceneFault, remedy};
use super::item::Item;
use super::schema::{Key, TableSchema};
use super::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 1] = [&MATERIAL];

static MATERIAL: TableSchema = TableSchema {
    name: "[materials.NAME]",
    keys: &[
        Key {
            name: "stiffness",
            value: "number > 0 or `inf`",
            unit: "N/m",
            default: "1000000",
            about: "k of one contact point; in series with the partner's: k = k₁k₂/(k₁+k₂)",
        },
        Key {
            name: "dissipation",
            value: "number >= 0",
            unit: "s/m",
            default: "50",
            about: "d of Hunt and Crossley: rebound is slower than 1/d; the softer partner's counts more",
        },
        Key {
            name: "relaxation_time_s",
            value: "number >= 0",
            unit: "s",
            default: "0.1",
            about: "τ, used by the contact model `sap` instead of `dissipation`; partners' add",
        },
        Key {
            name: "friction",
            value: "number >= 0",
            unit: "",
            default: "0.5",
            about: "Coulomb's μ; of two surfaces 2μ₁μ₂/(μ₁+μ₂)",
        },
    ],
};

/// A surface, each property only where it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// k, N/m.
    pub stiffness: Option<f64>,
    /// d, s/m.
    pub dissipation: Option<f64>,
    /// τ, s.
    pub relaxation_time_s: Option<f64>,
    /// μ.
    pub friction: Option<f64>,
}

impl Surface {
    /// What this one leaves open, from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            stiffness: self.stiffness.or(other.stiffness),
            dissipation: self.dissipation.or(other.dissipation),
            relaxation_time_s: self.relaxation_time_s.or(other.relaxation_time_s),
            friction: self.friction.or(other.friction),
        }
    }

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The named materials of a scene; `default` holds where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Materials(BTreeMap<String, Surface>);

impl Materials {
    /// `[materials]`.
    pub(super) fn read(item: Option<&Item<'_>>) -> Result<Self, SceneError> {
        let mut materials = BTreeMap::new();
        for (mention, entry) in item.map_or(Ok(Vec::new()), Item::entries)? {
            let mut table = entry.table(&MATERIAL)?;
            table.called(&mention.name);
            materials.insert(mention.name, surface_keys(&table)?);
            table.finish();
        }
        Ok(Self(materials))
    }

    /// The material `default`.
    pub fn default_surface(&self) -> Surface {
        self.0.get("default").copied().unwrap_or_default()
    }

    /// `material = "NAME"` or `material = { ... }`.
    pub(super) fn surface(
        &self,
        context: &Context,
        item: Option<&Item<'_>>,
    ) -> Result<Surface, SceneError> {
        let Some(item) = item else {
            return Ok(Surface::default());
        };
        if !item.is_text() {
            let table = item.table(&MATERIAL)?;
            let surface = surface_keys(&table)?;
            table.finish();
            return Ok(surface);
        }
        let mention = item.mention()?;
        self.0.get(&mention.name).copied().ok_or_else(|| {
            let fault = SceneFault::UnknownName {
                what: "material".into(),
                remedy: remedy(&mention.name, self.0.keys().map(String::as_str)),
                name: mention.name,
            };
            context.text.error(mention.at, fault)
        })
    }
}

/// The keys that `[[pairs]]` has in common with a material.
pub(super) fn surface_keys(table: &TableReader<'_>) -> Result<Surface, SceneError> {
    let non_negative = |key| {
        table
            .optional(key)
            .map(|item| item.non_negative())
            .transpose()
    };
    Ok(Surface {
        stiffness: table
            .optional("stiffness")
            .map(|item| item.positive_or_infinite())
            .transpose()?,
        dissipation: non_negative("dissipation")?,
        relaxation_time_s: non_negative("relaxation_time_s")?,
        friction: non_negative("friction")?,
    })
}
