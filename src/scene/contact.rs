//! `[contact]`: the model of contact and its settings.

use pliant_contact_sap::FrictionLimit;
use pliant_coupling::{
    ContactSettings, DissipationRule, EnergyModel, LaggedModel, SapModel, SimilarModel,
    Speculation, Stiction,
};
use toml::de::DeTable;

use super::error::SceneError;
use super::item::Item;
use super::pairs::CONTACT_KINDS;
use super::schema::{Key, TableSchema, ValueKind, words};
use super::table::{Context, TableReader};
use crate::registry::Registry;

pub(super) static TABLES: [&TableSchema; 3] = [&CONTACT, &LAGGED, &ENERGY];

const STICTION: [(&str, Stiction); 3] = [
    ("held-in-patches", Stiction::HeldInPatches),
    ("held", Stiction::Held),
    ("creeping", Stiction::Creeping),
];
const DISSIPATION: [(&str, DissipationRule); 2] = [
    ("hunt-crossley", DissipationRule::HuntCrossley),
    ("relaxation-time", DissipationRule::RelaxationTime),
];
const SPECULATION: [(&str, Speculation); 3] = [
    ("swept", Speculation::Swept),
    ("resting-margin", Speculation::RestingMargin),
    ("overlapping", Speculation::Overlapping),
];
const FRICTION_LIMIT: [(&str, FrictionLimit); 2] = [
    ("local-implicit", FrictionLimit::LocalImplicit),
    ("lagged", FrictionLimit::Lagged),
];

static CONTACT: TableSchema = TableSchema {
    name: "[contact]",
    keys: &[
        Key {
            name: "model",
            value: ValueKind::Part("contact model"),
            unit: "",
            default: "`lagged`",
            about: "`lagged`: friction bound fixed in each solve; `similar`, `sap`: friction coupled to the normal force; `energy`, a baseline: springs of the materials' stiffness, without swept paths (Tong et al. 2023)",
        },
        Key {
            name: "stiction_speed",
            value: ValueKind::Positive,
            unit: "m/s",
            default: "0.0001",
            about: "slip below which friction counts as sticking",
        },
        Key {
            name: "stiction",
            value: ValueKind::Choice(&words(&STICTION)),
            unit: "",
            default: "`held-in-patches`",
            about: "`held`: sticking contacts keep their bristle deflection from step to step and are at rest under load; `creeping`: they creep under load, at up to a few times `stiction_speed`; `held-in-patches`: points creep, patches are held, those of soft surfaces among them",
        },
        Key {
            name: "near_rigid",
            value: ValueKind::Positive,
            unit: "time steps",
            default: "0.1, and 1 for `similar`",
            about: "stiffness is capped where the lighter body would oscillate on a contact with this period; smaller for heavier loads on light bodies",
        },
        Key {
            name: "dissipation",
            value: ValueKind::Choice(&words(&DISSIPATION)),
            unit: "",
            default: "`hunt-crossley`",
            about: "which of a material's two; `sap` always takes the relaxation time",
        },
        Key {
            name: "speculation",
            value: ValueKind::Choice(&words(&SPECULATION)),
            unit: "",
            default: "`swept`",
            about: "`swept`: contacts that begin within the step are found along swept paths; rigid bodies are also checked along the solution, and a step that lets one pass deep into another counts in `missed_contact_steps`; `resting-margin`: within the resting margin only; `overlapping`, a baseline: only what overlaps at the start of the step",
        },
        Key {
            name: "kind",
            value: ValueKind::Choice(&words(&CONTACT_KINDS)),
            unit: "",
            default: "`patch-else-point`",
            about: "patches for pairs of which both are `hydroelastic` and one `compliant`, or one the surface of a soft body, points for the others; `patch`: such others are refused; `point`: points for all. `[[pairs]]` overrides it",
        },
    ],
};

static LAGGED: TableSchema = TableSchema {
    name: "[contact] model = \"lagged\"",
    keys: &[Key {
        name: "friction_limit",
        value: ValueKind::Choice(&words(&FRICTION_LIMIT)),
        unit: "",
        default: "`local-implicit`",
        about: "how the friction bound is predicted: by a local implicit solve of the contact, then iterated; or, as published, from the start of the step, with which bodies stick in the step of an impact",
    }],
};

static ENERGY: TableSchema = TableSchema {
    name: "[contact] model = \"energy\"",
    keys: &[Key {
        name: "energy_range",
        value: ValueKind::Positive,
        unit: "m",
        default: "0.0001",
        about: "distance from which on a pair repels",
    }],
};

/// Registers the built-in models, the default first.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .contact_model("lagged", LAGGED.keys, |table| {
            Ok(LaggedModel {
                friction_limit: table.choice_or_first("friction_limit", &FRICTION_LIMIT)?,
            })
        })
        .contact_model("similar", &[], |_| Ok(SimilarModel))
        .contact_model("sap", &[], |_| Ok(SapModel))
        .contact_model("energy", ENERGY.keys, |table| {
            Ok(EnergyModel {
                range_m: table.number("energy_range")?,
            })
        });
}

/// `[contact]`.
pub(super) fn contact(
    context: &Context,
    item: Option<&Item<'_>>,
) -> Result<ContactSettings, SceneError> {
    let (empty, models) = (DeTable::new(), &context.registry.contact_models);
    let (table, model) =
        TableReader::open_optional_part(context, item, &empty, &CONTACT, "model", models)?;
    let settings = ContactSettings {
        model: model.read()(&table)?,
        dissipation: table.choice_or_first("dissipation", &DISSIPATION)?,
        stiction_speed: table.number("stiction_speed")?,
        stiction: table.choice_or_first("stiction", &STICTION)?,
        near_rigid: table.number_if_given("near_rigid")?,
        speculation: table.choice_or_first("speculation", &SPECULATION)?,
        choice: table.choice_or_first("kind", &CONTACT_KINDS)?,
    };
    table.finish();
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_of_the_documentation_are_those_of_the_settings() {
        let settings = contact(&Context::empty(), None).unwrap();
        assert_eq!(
            format!("{settings:?}"),
            format!("{:?}", ContactSettings::default())
        );
    }
}
