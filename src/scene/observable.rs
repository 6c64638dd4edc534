//! `[[observables]]`: measured values, tabulated, plotted and checked.

use nalgebra::Point3;

use super::error::{SceneError, SceneFault, remedy};
use super::expression::Expression;
use super::item::{Item, NamedReference};
use super::quantity::{Component, Subject};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::{Context, TableReader};
use crate::registry::{Measure, Quantity};

pub(super) static TABLES: [&TableSchema; 1] = [&OBSERVABLE];

static OBSERVABLE: TableSchema = TableSchema {
    name: "[[observables]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "name of its column; plots group names by the part before the first dot: `box.z`, `box.speed`",
        },
        Key {
            name: "quantity",
            value: ValueKind::Described("see the list below"),
            unit: "",
            default: REQUIRED,
            about: "the measured quantity",
        },
        Key {
            name: "of",
            value: ValueKind::Described("name"),
            unit: "",
            default: "everything",
            about: "the measured object: a body, `MODEL/LINK`, `MODEL/JOINT`, a constraint, a repeat, a model, a soft body or `SOFT/REGION`, depending on the quantity",
        },
        Key {
            name: "with",
            value: ValueKind::Described("name"),
            unit: "",
            default: "anything",
            about: "for contacts: only those between `of` and this object",
        },
        Key {
            name: "point",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "for `position`, `velocity` and sensors: a point in the frame of the body",
        },
        Key {
            name: "component",
            value: ValueKind::Described("see the list below"),
            unit: "",
            default: "the first listed",
            about: "component of a vector",
        },
        Key {
            name: "along",
            value: ValueKind::Vector3,
            unit: "",
            default: "none",
            about: "instead of `component`: projection of a vector on this direction, world axes; for sensors their own axes",
        },
        Key {
            name: "among",
            value: ValueKind::Choice(&["min", "max", "mean", "sum"]),
            unit: "",
            default: "none",
            about: "how values of several bodies are combined, if `of` is a repeat or stands for copies",
        },
        Key {
            name: "expression",
            value: ValueKind::Text,
            unit: "",
            default: "none",
            about: "for `quantity = \"expression\"`: arithmetic with parameters, `t` (time), `dt`, and observables above this one",
        },
        Key {
            name: "unit",
            value: ValueKind::Text,
            unit: "",
            default: "the quantity's",
            about: "for `quantity = \"expression\"`: the printed unit",
        },
    ],
};

/// How values of several bodies are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Mean.
    Mean,
    /// Sum.
    Sum,
}

/// A column of the table.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
///     [[observables]]
///     name = "ball.height"
///     of = "ball"
///     quantity = "position"
///     component = "z"
/// "#;
/// let height = &Scene::parse("ball.toml", text, &SceneOptions::default())?.observables[0];
/// assert_eq!((height.quantity.name(), height.unit.as_str()), ("position", "m"));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ObservableEntry {
    /// Name.
    pub name: NamedReference,
    /// The measured quantity.
    pub quantity: Quantity,
    /// The measured object.
    pub(crate) of: Option<NamedReference>,
    /// The other side of contacts.
    pub(crate) with: Option<NamedReference>,
    /// A point in the frame of the body, m.
    pub(crate) point: Point3<f64>,
    /// Component of a vector.
    pub(crate) component: Component,
    /// How values of several bodies are combined.
    pub(crate) among: Option<Among>,
    /// The expression of `quantity = "expression"`.
    pub(crate) expression: Option<Expression>,
    /// The printed unit.
    pub unit: String,
}

/// More columns than this are no table.
const OBSERVABLES_MAX: usize = 10_000;

/// The elements of `[[observables]]`; expressions may use the names `known`, `t` and earlier observables.
pub(super) fn observables(
    context: &Context,
    list: Option<&Item<'_>>,
) -> Result<Vec<ObservableEntry>, SceneError> {
    let mut entries: Vec<ObservableEntry> = Vec::new();
    if let Some(list) = list
        && let n @ (OBSERVABLES_MAX..) = list.tables()?.len()
    {
        let allowed = format!("must be fewer than {OBSERVABLES_MAX}");
        return Err(list.out_of_range(format!("{n} observables"), &allowed));
    }
    for item in list.map_or(Ok(Vec::new()), Item::tables)? {
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
    let quantities = &context.registry.quantities;
    let (mut table, part) = item.part_table(&OBSERVABLE, "quantity", quantities)?;
    let name = table.required("name")?.reference()?;
    table.called(&name.name);
    if let Some(first) = earlier.iter().find(|e| e.name.name == name.name) {
        let fault = SceneFault::DuplicateName {
            name: name.name.clone(),
            what: "observable",
            first_line: context.text.line_and_column(first.name.at.start).0,
        };
        return Err(context.text.error(name.at, fault));
    }
    let quantity = part.read()(&table)?;
    let info = &quantity;
    let is_expression = matches!(quantity.measure, Measure::Expression);
    let entry = ObservableEntry {
        name,
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
        expression: expression(context, &table, info, earlier)?,
        unit: match table.optional("unit") {
            Some(item) if is_expression => item.text()?.to_owned(),
            Some(_) => {
                return Err(table.conflict("`unit` goes with `quantity = \"expression\"` only"));
            }
            None => info.unit.to_owned(),
        },
        quantity: quantity.clone(),
    };
    if entry.among.is_some() && !matches!(info.subject(), Subject::Frame | Subject::Soft) {
        return Err(table.conflict(format!(
            "`among` does not go with the quantity `{}`",
            info.name
        )));
    }
    table.finish();
    Ok(entry)
}

fn subject(table: &TableReader<'_>, info: &Quantity) -> Result<Option<NamedReference>, SceneError> {
    let of = table
        .optional("of")
        .map(|item| item.reference())
        .transpose()?;
    match (info.subject(), &of) {
        (
            Subject::Frame
            | Subject::Link
            | Subject::Joint
            | Subject::Soft
            | Subject::Rod
            | Subject::Constraint,
            None,
        ) => Err(table.conflict(format!("the quantity `{}` needs `of`", info.name))),
        (Subject::Whole, Some(_)) => Err(table.conflict(format!(
            "the quantity `{}` is of the whole and takes no `of`",
            info.name
        ))),
        _ => Ok(of),
    }
}

fn contact_partner(
    table: &TableReader<'_>,
    info: &Quantity,
) -> Result<Option<NamedReference>, SceneError> {
    let Some(item) = table.optional("with") else {
        return Ok(None);
    };
    if info.subject() != Subject::Contact || table.optional("of").is_none() {
        return Err(table.conflict("`with` goes with quantities of contacts, together with `of`"));
    }
    item.reference().map(Some)
}

fn point(table: &TableReader<'_>, info: &Quantity) -> Result<Point3<f64>, SceneError> {
    let takes_point = matches!(info.measure, Measure::Point { .. } | Measure::Sensor(_));
    let point = table.vector3_or_zero("point")?;
    if table.optional("point").is_some() && !takes_point {
        return Err(table.conflict(
            "`point` goes with the quantities `position` and `velocity` and with sensors only",
        ));
    }
    Ok(point.into())
}

fn component(table: &TableReader<'_>, info: &Quantity) -> Result<Component, SceneError> {
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
        (None, Some(_)) if !info.components.contains(&Component::X) => {
            Err(table
                .conflict("an orientation has no component along a direction; give `component`"))
        }
        (None, Some(item)) => item.direction().map(Component::Along),
        (None, None) => Ok(info.components.first().copied().unwrap_or(Component::Norm)),
    }
}

fn expression(
    context: &Context,
    table: &TableReader<'_>,
    quantity: &Quantity,
    earlier: &[ObservableEntry],
) -> Result<Option<Expression>, SceneError> {
    let is_expression = matches!(quantity.measure, Measure::Expression);
    let item = match (table.optional("expression"), is_expression) {
        (Some(item), true) => item,
        (None, true) => return Err(table.missing("expression")),
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
