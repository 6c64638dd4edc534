//! `[[observables]]`: numbers of a run that are tabulated, plotted and expected.

use nalgebra::{Point3, Vector3};

use super::error::{SceneError, SceneFault, quoted_list, remedy};
use super::expression::Expression;
use super::schema::{Key, REQUIRED, TableSchema};
use super::table::{Context, Item, Mention, TableReader};

pub(super) static TABLES: [&TableSchema; 1] = [&OBSERVABLE];

static OBSERVABLE: TableSchema = TableSchema {
    name: "[[observables]]",
    keys: &[
        Key {
            name: "name",
            value: "text",
            unit: "",
            default: REQUIRED,
            about: "its column; names of one body share what stands before the first dot: `box.z`, `box.speed`",
        },
        Key {
            name: "quantity",
            value: "see the list below",
            unit: "",
            default: REQUIRED,
            about: "what is measured",
        },
        Key {
            name: "of",
            value: "name",
            unit: "",
            default: "everything",
            about: "of what: a body, `MODEL/LINK`, `MODEL/JOINT`, a tie, a repeat, a model, as the quantity needs",
        },
        Key {
            name: "with",
            value: "name",
            unit: "",
            default: "anything",
            about: "for contacts: only those of `of` with this",
        },
        Key {
            name: "point",
            value: "3 numbers",
            unit: "m",
            default: "[0, 0, 0]",
            about: "for `position` and `velocity`: which point, in the frame of the body",
        },
        Key {
            name: "component",
            value: "see the list below",
            unit: "",
            default: "the first listed",
            about: "which number of a quantity that has several",
        },
        Key {
            name: "along",
            value: "3 numbers",
            unit: "",
            default: "none",
            about: "instead of `component`: the part of a vector along this direction, world axes",
        },
        Key {
            name: "among",
            value: "`min`, `max`, `mean` or `sum`",
            unit: "",
            default: "none",
            about: "what becomes of the numbers of several bodies, where `of` is a repeat",
        },
        Key {
            name: "expression",
            value: "text",
            unit: "",
            default: "none",
            about: "for `quantity = \"expression\"`: arithmetic of parameters, `t` (the time), `dt`, and observables above this one",
        },
        Key {
            name: "unit",
            value: "text",
            unit: "",
            default: "the quantity's",
            about: "for `quantity = \"expression\"`: what is printed",
        },
    ],
};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Of a point of a body, m.
    Position,
    /// Of a body, rad.
    Orientation,
    /// Of a point of a body, m/s.
    Velocity,
    /// Of a body, rad/s.
    AngularVelocity,
    /// Of a joint, rad or m.
    JointPosition,
    /// Of a joint, rad/s or m/s.
    JointVelocity,
    /// What the actuator of a joint gave during the step, N·m or N.
    JointEffort,
    /// On something during the step, N.
    ContactForce,
    /// Contact points.
    ContactCount,
    /// Of the deepest contact, m.
    Penetration,
    /// J.
    KineticEnergy,
    /// J.
    PotentialEnergy,
    /// Kinetic and potential, J.
    Energy,
    /// kg·m/s.
    Momentum,
    /// About the world's origin, kg·m²/s.
    AngularMomentum,
    /// Of what moves, kg.
    Mass,
    /// On the second body of a tie during the step, N.
    TieForce,
    /// Of the solver in the step.
    Iterations,
    /// Arithmetic of others.
    Expression,
}

/// What a quantity is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A body or link, which must be named; or a repeat, with `among`.
    Frame,
    /// A joint, which must be named.
    Joint,
    /// Anything that touches, by default everything.
    Touching,
    /// A body, model or repeat, by default everything.
    Mass,
    /// A tie, which must be named.
    Tie,
    /// The whole.
    Whole,
}

/// A quantity as the documentation lists it.
#[derive(Clone, Copy, Debug)]
pub struct QuantityInfo {
    /// Which.
    pub quantity: Quantity,
    /// The word for it.
    pub name: &'static str,
    /// Its components, the default first; empty for a plain number.
    pub components: &'static [Component],
    /// What it is measured of.
    pub subject: Subject,
    /// Its unit.
    pub unit: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// Which number of a quantity that has several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// Length of the vector.
    Norm,
    /// World x.
    X,
    /// World y.
    Y,
    /// World z.
    Z,
    /// Along a unit vector, world axes.
    Along(Vector3<f64>),
    /// Sum of the forces along the contact normals.
    Normal,
    /// Length of what is left of the force without the normal parts.
    Tangential,
    /// Angle between the body's z axis and the world's.
    Tilt,
    /// Of roll, pitch, yaw.
    Roll,
    /// Of roll, pitch, yaw.
    Pitch,
    /// Of roll, pitch, yaw.
    Yaw,
}

impl Component {
    const WORDS: [(&'static str, Component); 10] = [
        ("norm", Component::Norm),
        ("x", Component::X),
        ("y", Component::Y),
        ("z", Component::Z),
        ("normal", Component::Normal),
        ("tangential", Component::Tangential),
        ("tilt", Component::Tilt),
        ("roll", Component::Roll),
        ("pitch", Component::Pitch),
        ("yaw", Component::Yaw),
    ];

    fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, c)| *c == self)
            .map_or("along", |(word, _)| word)
    }
}

const VECTOR: &[Component] = &[Component::Norm, Component::X, Component::Y, Component::Z];

/// Every quantity.
pub const QUANTITIES: [QuantityInfo; 19] = [
    QuantityInfo {
        quantity: Quantity::Position,
        name: "position",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "m",
        about: "of `point` on a body, link or frame",
    },
    QuantityInfo {
        quantity: Quantity::Orientation,
        name: "orientation",
        components: &[
            Component::Tilt,
            Component::Roll,
            Component::Pitch,
            Component::Yaw,
        ],
        subject: Subject::Frame,
        unit: "rad",
        about: "of a body, link or frame; `tilt` is the angle between its z axis and the world's",
    },
    QuantityInfo {
        quantity: Quantity::Velocity,
        name: "velocity",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "m/s",
        about: "of `point` on a body, link or frame",
    },
    QuantityInfo {
        quantity: Quantity::AngularVelocity,
        name: "angular-velocity",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "rad/s",
        about: "of a body, link or frame",
    },
    QuantityInfo {
        quantity: Quantity::JointPosition,
        name: "joint-position",
        components: &[],
        subject: Subject::Joint,
        unit: "rad or m",
        about: "of a joint",
    },
    QuantityInfo {
        quantity: Quantity::JointVelocity,
        name: "joint-velocity",
        components: &[],
        subject: Subject::Joint,
        unit: "rad/s or m/s",
        about: "of a joint",
    },
    QuantityInfo {
        quantity: Quantity::JointEffort,
        name: "joint-effort",
        components: &[],
        subject: Subject::Joint,
        unit: "N·m or N",
        about: "what the joint's actuator gave during the last step",
    },
    QuantityInfo {
        quantity: Quantity::ContactForce,
        name: "contact-force",
        components: &[
            Component::Norm,
            Component::X,
            Component::Y,
            Component::Z,
            Component::Normal,
            Component::Tangential,
        ],
        subject: Subject::Touching,
        unit: "N",
        about: "on `of` from `with` during the last step; `normal` sums the forces along the contact normals, `tangential` is the length of the rest",
    },
    QuantityInfo {
        quantity: Quantity::ContactCount,
        name: "contact-count",
        components: &[],
        subject: Subject::Touching,
        unit: "",
        about: "contact points of `of` with `with` that carried a force in the last step",
    },
    QuantityInfo {
        quantity: Quantity::Penetration,
        name: "penetration",
        components: &[],
        subject: Subject::Touching,
        unit: "m",
        about: "of the deepest contact of `of` with `with` at the start of the last step, 0 without contact",
    },
    QuantityInfo {
        quantity: Quantity::KineticEnergy,
        name: "kinetic-energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "of a body, model or repeat, or of everything",
    },
    QuantityInfo {
        quantity: Quantity::PotentialEnergy,
        name: "potential-energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "of gravity and joint springs",
    },
    QuantityInfo {
        quantity: Quantity::Energy,
        name: "energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "kinetic and potential",
    },
    QuantityInfo {
        quantity: Quantity::Momentum,
        name: "momentum",
        components: VECTOR,
        subject: Subject::Mass,
        unit: "kg·m/s",
        about: "of a body, model or repeat, or of everything",
    },
    QuantityInfo {
        quantity: Quantity::AngularMomentum,
        name: "angular-momentum",
        components: VECTOR,
        subject: Subject::Mass,
        unit: "kg·m²/s",
        about: "about the world's origin",
    },
    QuantityInfo {
        quantity: Quantity::Mass,
        name: "mass",
        components: &[],
        subject: Subject::Mass,
        unit: "kg",
        about: "of what moves; for expressions such as the weight of a repeat",
    },
    QuantityInfo {
        quantity: Quantity::TieForce,
        name: "tie-force",
        components: VECTOR,
        subject: Subject::Tie,
        unit: "N",
        about: "of a tie on its second body during the last step",
    },
    QuantityInfo {
        quantity: Quantity::Iterations,
        name: "iterations",
        components: &[],
        subject: Subject::Whole,
        unit: "",
        about: "of the contact solver in the last step",
    },
    QuantityInfo {
        quantity: Quantity::Expression,
        name: "expression",
        components: &[],
        subject: Subject::Whole,
        unit: "",
        about: "arithmetic of other observables",
    },
];

impl Quantity {
    /// What the documentation says of it.
    pub fn info(self) -> &'static QuantityInfo {
        &QUANTITIES[self as usize]
    }
}

/// The quantities as a Markdown table.
pub fn quantities_markdown() -> String {
    let mut table =
        String::from("| quantity | unit | components | of | meaning |\n|---|---|---|---|---|\n");
    for info in &QUANTITIES {
        let words: Vec<&str> = info.components.iter().map(|c| c.word()).collect();
        let subject = match info.subject {
            Subject::Frame => "body, link, frame",
            Subject::Joint => "joint",
            Subject::Touching => "anything that touches",
            Subject::Mass => "body, model, repeat",
            Subject::Tie => "tie",
            Subject::Whole => "",
        };
        table += &format!(
            "| `{}` | {} | {} | {subject} | {} |\n",
            info.name,
            info.unit,
            quoted_list(&words),
            info.about
        );
    }
    table
}

/// How the numbers of several bodies become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub struct ObservableEntry {
    /// Its name.
    pub name: Mention,
    /// What is measured.
    pub quantity: Quantity,
    /// Of what.
    pub of: Option<Mention>,
    /// Contacts with what.
    pub with: Option<Mention>,
    /// Which point, in the frame of the body, m.
    pub point: Point3<f64>,
    /// Which number of several.
    pub component: Component,
    /// What becomes of several bodies.
    pub among: Option<Among>,
    /// For [`Quantity::Expression`].
    pub expression: Option<Expression>,
    /// As printed.
    pub unit: String,
}

/// The elements of `[[observables]]`; `known` are the names expressions may use besides `t` and earlier observables.
pub(super) fn observables(
    context: &Context,
    list: Option<&Item<'_>>,
) -> Result<Vec<ObservableEntry>, SceneError> {
    let mut entries: Vec<ObservableEntry> = Vec::new();
    for item in list.map_or(Ok(Vec::new()), Item::elements)? {
        let entry = observable(context, &item, &entries)?;
        entries.push(entry);
    }
    Ok(entries)
}

fn observable(
    context: &Context,
    item: &Item<'_>,
    earlier: &[ObservableEntry],
) -> Result<ObservableEntry, SceneError> {
    let mut table = item.table(&OBSERVABLE)?;
    let name = table.required("name")?.mention()?;
    table.called(&name.name);
    if let Some(first) = earlier.iter().find(|e| e.name.name == name.name) {
        let fault = SceneFault::DuplicateName {
            name: name.name.clone(),
            what: "observable",
            first_line: context.text.line_and_column(first.name.at.start).0,
        };
        return Err(context.text.error(name.at, fault));
    }
    let quantity = table
        .required("quantity")?
        .choice(&QUANTITIES.map(|info| (info.name, info.quantity)))?;
    let info = quantity.info();
    let entry = ObservableEntry {
        name,
        quantity,
        of: subject(&table, info)?,
        with: contact_partner(&table, info)?,
        point: point(&table, info)?,
        component: component(&table, info)?,
        among: table
            .optional("among")
            .map(|item| {
                item.choice(&[
                    ("min", Among::Min),
                    ("max", Among::Max),
                    ("mean", Among::Mean),
                    ("sum", Among::Sum),
                ])
            })
            .transpose()?,
        expression: expression(context, &table, quantity, earlier)?,
        unit: match table.optional("unit") {
            Some(item) if quantity == Quantity::Expression => item.text()?.to_owned(),
            Some(_) => {
                return Err(table.conflict("`unit` goes with `quantity = \"expression\"` only"));
            }
            None => info.unit.to_owned(),
        },
    };
    if entry.among.is_some() && !matches!(info.subject, Subject::Frame) {
        return Err(table.conflict(format!(
            "`among` does not go with the quantity `{}`",
            info.name
        )));
    }
    table.finish();
    Ok(entry)
}

fn subject(table: &TableReader<'_>, info: &QuantityInfo) -> Result<Option<Mention>, SceneError> {
    let of = table
        .optional("of")
        .map(|item| item.mention())
        .transpose()?;
    match (info.subject, &of) {
        (Subject::Frame | Subject::Joint | Subject::Tie, None) => {
            Err(table.conflict(format!("the quantity `{}` needs `of`", info.name)))
        }
        (Subject::Whole, Some(_)) => Err(table.conflict(format!(
            "the quantity `{}` is of the whole and takes no `of`",
            info.name
        ))),
        _ => Ok(of),
    }
}

fn contact_partner(
    table: &TableReader<'_>,
    info: &QuantityInfo,
) -> Result<Option<Mention>, SceneError> {
    let Some(item) = table.optional("with") else {
        return Ok(None);
    };
    if info.subject != Subject::Touching || table.optional("of").is_none() {
        return Err(table.conflict("`with` goes with quantities of contacts, together with `of`"));
    }
    item.mention().map(Some)
}

fn point(table: &TableReader<'_>, info: &QuantityInfo) -> Result<Point3<f64>, SceneError> {
    let takes_point = matches!(info.quantity, Quantity::Position | Quantity::Velocity);
    let point = table.vector3_or_zero("point")?;
    if table.optional("point").is_some() && !takes_point {
        return Err(
            table.conflict("`point` goes with the quantities `position` and `velocity` only")
        );
    }
    Ok(point.into())
}

fn component(table: &TableReader<'_>, info: &QuantityInfo) -> Result<Component, SceneError> {
    let plain = info.components.is_empty();
    match (table.optional("component"), table.optional("along")) {
        (Some(_), Some(_)) => {
            Err(table.conflict("`component` and `along` are both given; keep one"))
        }
        (Some(_), None) | (None, Some(_)) if plain => Err(table.conflict(format!(
            "the quantity `{}` is a plain number and has no components",
            info.name
        ))),
        (Some(item), None) => {
            let choices: Vec<(&str, Component)> =
                info.components.iter().map(|c| (c.word(), *c)).collect();
            item.choice(&choices)
        }
        (None, Some(_)) if info.quantity == Quantity::Orientation => {
            Err(table.conflict("an orientation has no part along a direction; give `component`"))
        }
        (None, Some(item)) => item.direction().map(Component::Along),
        (None, None) => Ok(info.components.first().copied().unwrap_or(Component::Norm)),
    }
}

fn expression(
    context: &Context,
    table: &TableReader<'_>,
    quantity: Quantity,
    earlier: &[ObservableEntry],
) -> Result<Option<Expression>, SceneError> {
    let item = match (table.optional("expression"), quantity) {
        (Some(item), Quantity::Expression) => item,
        (None, Quantity::Expression) => return Err(table.missing("expression")),
        (Some(_), _) => {
            return Err(table.conflict("`expression` goes with `quantity = \"expression\"` only"));
        }
        (None, _) => return Ok(None),
    };
    let text = item.text()?;
    let fault = |error| {
        item.error(SceneFault::Expression {
            key: "expression".into(),
            text: text.into(),
            error,
        })
    };
    let expression = Expression::parse(text).map_err(fault)?;
    let names = || {
        let observables = earlier.iter().map(|e| e.name.name.as_str());
        context.scope.names().chain(["t"]).chain(observables)
    };
    if let Some(unknown) = expression
        .names()
        .iter()
        .find(|name| !names().any(|known| known == **name))
    {
        return Err(item.error(SceneFault::UnknownName {
            what: "parameter or earlier observable".into(),
            name: unknown.to_string(),
            remedy: remedy(unknown, names()),
        }));
    }
    Ok(Some(expression))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_stand_in_the_order_of_their_enum() {
        for (index, info) in QUANTITIES.iter().enumerate() {
            assert_eq!(info.quantity as usize, index);
            assert_eq!(info.quantity.info().name, info.name);
        }
    }
}
