//! Surface materials: `[materials.NAME]`, and `material = "NAME"` or an inline table.

use std::collections::BTreeMap;

use super::error::{SceneError, SceneFault, remedy};
use super::item::Item;
use super::schema::{Key, TableSchema, ValueKind};
use super::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 1] = [&MATERIAL];

static MATERIAL: TableSchema = TableSchema {
    name: "[materials.NAME]",
    keys: &[
        Key {
            name: "stiffness",
            value: ValueKind::Described("number > 0 or `inf`"),
            unit: "N/m",
            default: "1000000, more for heavy bodies",
            about: "stiffness k of one contact point; two surfaces act in series: k = k₁k₂/(k₁+k₂). The default is max(10⁶ N/m, 2 M g/δ), with which M presses two such surfaces by δ = 0.2 mm on one point; M is the heaviest body of the scene, or a tenth of all of them if that is more",
        },
        Key {
            name: "dissipation",
            value: ValueKind::NonNegative,
            unit: "s/m",
            default: "50",
            about: "Hunt-Crossley dissipation d: the rebound speed is below 1/d; the value of the softer surface dominates",
        },
        Key {
            name: "relaxation_time_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0.1",
            about: "relaxation time τ, used by the contact model `sap` instead of `dissipation`; τ = τ₁+τ₂",
        },
        Key {
            name: "friction",
            value: ValueKind::NonNegative,
            unit: "",
            default: "0.5",
            about: "Coulomb friction coefficient μ; of two surfaces 2μ₁μ₂/(μ₁+μ₂)",
        },
        Key {
            name: "restitution",
            value: ValueKind::Described("number from 0 to 1"),
            unit: "",
            default: "none",
            about: "coefficient of restitution e between rigid shapes in point contact: the normal speed after an impact over the speed before it, at any time step and stiffness; the larger of two surfaces counts. Without it, `stiffness` and `dissipation` decide how bodies rebound. Approaches below 1 cm/s, or below the speed of two steps of free fall, end at rest",
        },
        Key {
            name: "torsional_friction",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0",
            about: "largest torque about the normal per normal force, at each contact point of rigid shapes; under even pressure a disc of radius R has 2/3 μ R. The larger of two surfaces counts; the second number of MuJoCo's `friction`",
        },
        Key {
            name: "rolling_friction",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0",
            about: "largest torque against rolling per normal force, at each contact point of rigid shapes: a ball of radius R rolls on slopes above `rolling_friction`/R. The larger of two surfaces counts; the third number of MuJoCo's `friction`",
        },
        Key {
            name: "hydroelastic",
            value: ValueKind::Choice(&["absent", "compliant", "rigid"]),
            unit: "",
            default: "`absent`",
            about: "role in patch contact: a body with a pressure field, a rigid surface (not for rods), or none, which means point contact; two `rigid` surfaces have point contact",
        },
        Key {
            name: "hydroelastic_modulus",
            value: ValueKind::Positive,
            unit: "Pa",
            default: "10000000",
            about: "of a `compliant` shape: the pressure at its deepest point, of a rod on its centreline; a flat body of thickness H is indented by f H/(E A)",
        },
        Key {
            name: "hydroelastic_margin",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0.0001",
            about: "of a `compliant` shape: distance at which speculative contact begins, so that contact between faces at rest does not open and close",
        },
        Key {
            name: "mesh_resolution_hint",
            value: ValueKind::Positive,
            unit: "m",
            default: "0.02",
            about: "of a `compliant` or `rigid` shape: edge length of the mesh of curved surfaces",
        },
        Key {
            name: "slab_thickness",
            value: ValueKind::Positive,
            unit: "m",
            default: "none",
            about: "of a `compliant` half space, where it is required: the depth at which the pressure reaches the modulus",
        },
    ],
};

/// Properties of Drake's `drake:proximity_properties` with another name here, and that name.
const DRAKE: [(&str, &str); 7] = [
    ("compliant_hydroelastic", "hydroelastic = \"compliant\""),
    ("rigid_hydroelastic", "hydroelastic = \"rigid\""),
    ("hunt_crossley_dissipation", "dissipation"),
    ("relaxation_time", "relaxation_time_s"),
    ("point_contact_stiffness", "stiffness"),
    ("mu_dynamic", "friction"),
    ("mu_static", "friction"),
];

/// The name of a property of `drake:proximity_properties` here, as a clause.
pub(super) fn drake_remedy(key: &str) -> Option<String> {
    let entry = DRAKE.iter().find(|(name, _)| *name == key);
    entry.map(|(_, here)| format!("; the material's key for it is `{here}`"))
}

/// A surface material; `None` for properties that are not given.
///
/// ```
/// use pliant::scene::Surface;
///
/// // What a shape does not say comes from the material `default`.
/// let default = Surface { stiffness: Some(1e5), friction: Some(0.5), ..Surface::default() };
/// let ice = Surface { friction: Some(0.02), ..Surface::default() }.or(default);
/// assert_eq!((ice.stiffness, ice.friction, ice.dissipation), (Some(1e5), Some(0.02), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Stiffness k, N/m.
    pub stiffness: Option<f64>,
    /// Hunt-Crossley dissipation d, s/m.
    pub dissipation: Option<f64>,
    /// Relaxation time τ, s.
    pub relaxation_time_s: Option<f64>,
    /// Friction coefficient μ.
    pub friction: Option<f64>,
    /// Coefficient of restitution e.
    pub restitution: Option<f64>,
    /// Torque about the normal per normal force, m.
    pub torsional_friction: Option<f64>,
    /// Torque against rolling per normal force, m.
    pub rolling_friction: Option<f64>,
    /// Role in patch contact.
    pub hydroelastic: Option<Hydroelastic>,
    /// Hydroelastic modulus, Pa.
    pub hydroelastic_modulus: Option<f64>,
    /// Margin of speculative contact, m.
    pub hydroelastic_margin: Option<f64>,
    /// Mesh resolution hint, m.
    pub mesh_resolution_hint: Option<f64>,
    /// Slab thickness of a half space, m.
    pub slab_thickness: Option<f64>,
}

/// The role of a shape in patch contact: `hydroelastic` of a material.
///
/// ```
/// use pliant::scene::{Hydroelastic, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a soft ball"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
///     material = { hydroelastic = "compliant", hydroelastic_modulus = 1e6 }
/// "#;
/// let surface = Scene::parse("ball.toml", text, &SceneOptions::default())?.bodies[0].body.shapes[0].surface;
/// assert_eq!((surface.hydroelastic, surface.hydroelastic_modulus), (Some(Hydroelastic::Compliant), Some(1e6)));
/// // A rigid surface has no pressure inside, so it has no modulus.
/// let rigid = text.replace("compliant", "rigid");
/// assert!(Scene::parse("ball.toml", &rigid, &SceneOptions::default()).is_err());
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hydroelastic {
    /// No patches: point contact.
    Absent,
    /// A body with a pressure field.
    Compliant,
    /// A rigid surface.
    Rigid,
}

impl Surface {
    /// This material with missing properties from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            stiffness: self.stiffness.or(other.stiffness),
            dissipation: self.dissipation.or(other.dissipation),
            relaxation_time_s: self.relaxation_time_s.or(other.relaxation_time_s),
            friction: self.friction.or(other.friction),
            restitution: self.restitution.or(other.restitution),
            torsional_friction: self.torsional_friction.or(other.torsional_friction),
            rolling_friction: self.rolling_friction.or(other.rolling_friction),
            hydroelastic: self.hydroelastic.or(other.hydroelastic),
            hydroelastic_modulus: self.hydroelastic_modulus.or(other.hydroelastic_modulus),
            hydroelastic_margin: self.hydroelastic_margin.or(other.hydroelastic_margin),
            mesh_resolution_hint: self.mesh_resolution_hint.or(other.mesh_resolution_hint),
            slab_thickness: self.slab_thickness.or(other.slab_thickness),
        }
    }
}

/// The named materials of a scene; `default` holds for missing properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Materials(BTreeMap<String, Surface>);

impl Materials {
    /// `[materials]`.
    pub(super) fn read(item: Option<&Item<'_>>) -> Result<Self, SceneError> {
        let mut materials = BTreeMap::new();
        for (reference, entry) in item.map_or(Ok(Vec::new()), Item::entries)? {
            let mut table = entry.table(&MATERIAL)?;
            table.called(&reference.name);
            materials.insert(reference.name, material_keys(&table)?);
            table.finish();
        }
        Ok(Self(materials))
    }

    /// The material `default`.
    pub(crate) fn default_surface(&self) -> Surface {
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
            let surface = material_keys(&table)?;
            table.finish();
            return Ok(surface);
        }
        let reference = item.reference()?;
        self.0.get(&reference.name).copied().ok_or_else(|| {
            let fault = SceneFault::UnknownName {
                what: "material".into(),
                remedy: remedy(&reference.name, self.0.keys().map(String::as_str)),
                name: reference.name,
            };
            context.text.error(reference.at, fault)
        })
    }

    /// [`Self::surface`] of a soft body: properties of rigid shapes are refused.
    pub(super) fn soft_surface(
        &self,
        context: &Context,
        item: Option<&Item<'_>>,
    ) -> Result<Surface, SceneError> {
        let surface = self.surface(context, item)?;
        match (item, surface.of_rigid_only()) {
            (Some(item), Some((name, value))) => Err(item.error(SceneFault::Conflict {
                table: item.table.clone(),
                reason: format!(
                    "`{name} = {value}` of its material {SOFT_INSTEAD}; drop it, or give the body a material without it"
                ),
            })),
            _ => Ok(surface),
        }
    }
}

impl Surface {
    /// The first property that acts between rigid shapes only, and its value.
    pub(crate) fn of_rigid_only(&self) -> Option<(&'static str, f64)> {
        [
            ("restitution", self.restitution),
            ("torsional_friction", self.torsional_friction),
            ("rolling_friction", self.rolling_friction),
        ]
        .into_iter()
        .find_map(|(name, value)| Some((name, value?)))
    }
}

/// What a soft body has instead of a property of rigid shapes.
pub(crate) const SOFT_INSTEAD: &str = "acts between rigid shapes; a soft body rebounds, rolls and turns by its elasticity and damping";

fn material_keys(table: &TableReader<'_>) -> Result<Surface, SceneError> {
    let positive = |key| table.optional(key).map(|item| item.positive()).transpose();
    let surface = Surface {
        hydroelastic: table
            .optional("hydroelastic")
            .map(|item| {
                item.choice(&[
                    ("absent", Hydroelastic::Absent),
                    ("compliant", Hydroelastic::Compliant),
                    ("rigid", Hydroelastic::Rigid),
                ])
            })
            .transpose()?,
        hydroelastic_modulus: positive("hydroelastic_modulus")?,
        hydroelastic_margin: table
            .optional("hydroelastic_margin")
            .map(|item| item.non_negative())
            .transpose()?,
        mesh_resolution_hint: positive("mesh_resolution_hint")?,
        slab_thickness: positive("slab_thickness")?,
        ..surface_keys(table)?
    };
    let idle = |key: &str, given: Option<f64>, word: &str| match given {
        Some(_) => Err(table.conflict(format!(
            "`{key}` does nothing with `hydroelastic = \"{word}\"`; drop one of the two"
        ))),
        None => Ok(()),
    };
    let of_fields = [
        ("hydroelastic_modulus", surface.hydroelastic_modulus),
        ("hydroelastic_margin", surface.hydroelastic_margin),
        ("slab_thickness", surface.slab_thickness),
    ];
    match surface.hydroelastic {
        Some(Hydroelastic::Rigid) => of_fields
            .iter()
            .try_for_each(|(key, given)| idle(key, *given, "rigid"))?,
        Some(Hydroelastic::Absent) => of_fields
            .iter()
            .chain([&("mesh_resolution_hint", surface.mesh_resolution_hint)])
            .try_for_each(|(key, given)| idle(key, *given, "absent"))?,
        Some(Hydroelastic::Compliant) | None => {}
    }
    Ok(surface)
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
        restitution: table
            .optional("restitution")
            .map(|item| item.fraction())
            .transpose()?,
        torsional_friction: non_negative("torsional_friction")?,
        rolling_friction: non_negative("rolling_friction")?,
        ..Surface::default()
    })
}
