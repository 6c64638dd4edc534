//! Which pairs touch, and how: `[[filters]]` and `[[pairs]]`.

use nalgebra::{Unit, Vector3};
use pliant_coupling::EdgeContact;
use pliant_hydroelastic::ContactChoice;

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::material::{Surface, surface_keys};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 2] = [&FILTER, &PAIR];

static FILTER: TableSchema = TableSchema {
    name: "[[filters]]",
    keys: &[
        Key {
            name: "between",
            value: ValueKind::Described("2 names"),
            unit: "",
            default: "none",
            about: "no contact between anything of the first and anything of the second",
        },
        Key {
            name: "within",
            value: ValueKind::Described("list of names"),
            unit: "",
            default: "none",
            about: "instead of `between`: no contact among all that these name, nor within a model among them",
        },
    ],
};

static PAIR: TableSchema = TableSchema {
    name: "[[pairs]]",
    keys: &[
        Key {
            name: "between",
            value: ValueKind::Described("2 names"),
            unit: "",
            default: REQUIRED,
            about: "whose contact this is about; of several entries about the same two shapes the last one counts",
        },
        Key {
            name: "stiffness",
            value: ValueKind::Described("number > 0 or `inf`"),
            unit: "N/m",
            default: "combined",
            about: "of the contact itself, replacing what the two surfaces give",
        },
        Key {
            name: "dissipation",
            value: ValueKind::NonNegative,
            unit: "s/m",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "relaxation_time_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "friction",
            value: ValueKind::NonNegative,
            unit: "",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "restitution",
            value: ValueKind::Described("number from 0 to 1"),
            unit: "",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "torsional_friction",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "rolling_friction",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "combined",
            about: "as above",
        },
        Key {
            name: "adhesion",
            value: ValueKind::NonNegative,
            unit: "N",
            default: "0",
            about: "attractive force of each two of their shapes while they touch, as of a suction cup or a magnet, shared by their contact points: a larger pull parts them. A parameter switches it during a run; not for material points, nor with `stepper = \"penalty-force\"`",
        },
        Key {
            name: "static_friction",
            value: ValueKind::NonNegative,
            unit: "",
            default: "`friction`",
            about: "with `stepper = \"penalty-force\"`: μ_s of what has not slid in the last step, not less than `friction`, which is then that of what slides",
        },
        Key {
            name: "stiffness_per_area",
            value: ValueKind::Positive,
            unit: "N/m³",
            default: "none",
            about: "with `stepper = \"penalty-force\"`: the stiffness of a particle is this times the part of the surface that it stands for, projected on the other surface, in place of `stiffness`; for particles of rigid shapes and of triangles",
        },
        Key {
            name: "friction_axis",
            value: ValueKind::Vector3,
            unit: "",
            default: "none",
            about: "with `stepper = \"penalty-force\"`: a direction in the frame of each shape of the first of `between`, which is rigid, along which friction is `friction_along`; across it, it is `friction`; the baselines `projv` and `yamane-nakamura` have `friction` along it too",
        },
        Key {
            name: "friction_along",
            value: ValueKind::Positive,
            unit: "",
            default: "none",
            about: "μ along `friction_axis`; static friction along it has the same ratio to that across",
        },
        Key {
            name: "edges",
            value: ValueKind::Choice(&["none", "crossing"]),
            unit: "",
            default: "`none`",
            about: "with `stepper = \"penalty-force\"`: whether the edges of two deforming surfaces touch where they cross, beside vertices and triangles, with the stiffness of a particle; hulls and rigid meshes have particles along their edges with `edge_spacing`",
        },
        Key {
            name: "kind",
            value: ValueKind::Choice(&["patch-else-point", "patch", "point"]),
            unit: "",
            default: "that of `[contact]`",
            about: "how the two touch; `patch`: refused unless each two of their shapes have a patch",
        },
    ],
};

/// The words for points and patches, the default first.
pub(super) const CONTACT_KINDS: [(&str, ContactChoice); 3] = [
    ("patch-else-point", ContactChoice::PatchElsePoint),
    ("patch", ContactChoice::Patch),
    ("point", ContactChoice::Point),
];

/// Contact that is not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilterEntry {
    /// Between the one and the other.
    Between([NamedReference; 2]),
    /// Among all of these.
    Within(Vec<NamedReference>),
}

/// Contact parameters of one pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairEntry {
    /// Whose contact.
    pub(crate) between: [NamedReference; 2],
    /// What replaces the combination of both surfaces.
    pub(crate) surface: Surface,
    /// Attractive force, N.
    pub(crate) adhesion: Option<f64>,
    /// μ_s.
    pub(crate) static_friction: Option<f64>,
    /// Stiffness per area, N/m³.
    pub(crate) stiffness_per_area: Option<f64>,
    /// Friction along an axis of the first.
    pub(crate) anisotropy: Option<FrictionAlong>,
    /// Whether edges that cross touch.
    pub(crate) edges: Option<EdgeContact>,
    /// Points or a patch.
    pub(crate) kind: Option<ContactChoice>,
}

/// Friction along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrictionAlong {
    /// In the frame of each shape of the first of the pair.
    pub(crate) direction: Unit<Vector3<f64>>,
    /// μ.
    pub(crate) friction: f64,
}

/// An element of `[[filters]]`.
pub(super) fn filter(item: &Item<'_>) -> Result<FilterEntry, SceneError> {
    let table = item.table(&FILTER)?;
    let filter = match (table.optional("between"), table.optional("within")) {
        (Some(item), None) => FilterEntry::Between(item.two_references()?),
        (None, Some(item)) => {
            let list = item.references()?;
            if list.is_empty() {
                return Err(item.out_of_range("[]", "must name something"));
            }
            FilterEntry::Within(list)
        }
        _ => return Err(table.conflict("give either `between` or `within`")),
    };
    table.finish();
    Ok(filter)
}

/// An element of `[[pairs]]`.
pub(super) fn pair(item: &Item<'_>) -> Result<PairEntry, SceneError> {
    let table = item.table(&PAIR)?;
    let between = table.required("between")?.two_references()?;
    let surface = surface_keys(&table)?;
    let adhesion = table
        .optional("adhesion")
        .map(|item| item.non_negative())
        .transpose()?;
    let static_friction = table
        .optional("static_friction")
        .map(|item| item.non_negative())
        .transpose()?;
    let stiffness_per_area = table
        .optional("stiffness_per_area")
        .map(|item| item.positive())
        .transpose()?;
    let anisotropy = match (
        table.optional("friction_axis"),
        table.optional("friction_along"),
    ) {
        (None, None) => None,
        (Some(axis), Some(along)) => Some(FrictionAlong {
            direction: Unit::new_normalize(axis.direction()?),
            friction: along.positive()?,
        }),
        _ => return Err(table.conflict("`friction_axis` and `friction_along` go together")),
    };
    let edges = table
        .optional("edges")
        .map(|item| item.choice(&EdgeContact::NAMES))
        .transpose()?;
    let kind = table
        .optional("kind")
        .map(|item| item.choice(&CONTACT_KINDS))
        .transpose()?;
    let is_penalty =
        static_friction.or(stiffness_per_area).is_some() || anisotropy.is_some() || edges.is_some();
    if surface == Surface::default() && !is_penalty && kind.is_none() && adhesion.is_none() {
        return Err(table.conflict(
            "changes nothing; give `friction`, `static_friction`, `friction_axis`, `stiffness`, `stiffness_per_area`, `dissipation`, `relaxation_time_s`, `restitution`, `torsional_friction`, `rolling_friction`, `adhesion`, `edges` or `kind`",
        ));
    }
    table.finish();
    Ok(PairEntry {
        between,
        surface,
        adhesion,
        static_friction,
        stiffness_per_area,
        anisotropy,
        edges,
        kind,
    })
}
