//! The objects that quantities are measured on, and components.

use nalgebra::Vector3;

use super::error::quoted_list;

/// The object that a quantity is measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A body or link, which must be named; or a repeat, with `among`.
    Frame,
    /// A body, link, frame or joint, which must be named.
    Link,
    /// A joint, which must be named.
    Joint,
    /// Anything in contact, by default everything.
    Contact,
    /// A body, model or repeat, by default everything.
    Mass,
    /// A soft body or one of its regions, which must be named; or copies, with `among`.
    Soft,
    /// A rod or copies of one, which must be named.
    Rod,
    /// A cloth or copies of one, by default all of them.
    Cloth,
    /// A constraint, which must be named.
    Constraint,
    /// The whole world.
    Whole,
}

/// Component of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Component {
    /// Norm of a vector.
    Norm,
    /// World x.
    X,
    /// World y.
    Y,
    /// World z.
    Z,
    /// Projection on a unit vector, world axes.
    Along(Vector3<f64>),
    /// Sum of the forces along the contact normals.
    Normal,
    /// Norm of the force without its normal parts.
    Tangential,
    /// Angle between the body's z axis and the world's.
    Tilt,
    /// Roll.
    Roll,
    /// Pitch.
    Pitch,
    /// Yaw.
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

    pub(super) fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, c)| *c == self)
            .map_or("along", |(word, _)| word)
    }
}

/// The built-in quantities as a Markdown table: name, unit, components, what each is of, and meaning.
///
/// ```
/// let table = pliant::scene::quantities_markdown();
/// let momentum = table.lines().find(|line| line.starts_with("| `momentum` |")).ok_or("no such quantity")?;
/// assert!(momentum.contains("kg·m/s") && momentum.contains("`norm`, `x`, `y`, `z`"), "{momentum}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn quantities_markdown() -> String {
    let mut table =
        String::from("| quantity | unit | components | of | meaning |\n|---|---|---|---|---|\n");
    for quantity in crate::registry::built_in_quantities() {
        let words: Vec<&str> = quantity.components.iter().map(|c| c.word()).collect();
        let subject = match quantity.subject() {
            Subject::Frame => "body, link, frame, soft body, region",
            Subject::Link => "body, link, frame, joint",
            Subject::Joint => "joint",
            Subject::Contact => "anything in contact",
            Subject::Mass => "body, model, repeat, soft body",
            Subject::Soft => "soft body, region",
            Subject::Rod => "rod",
            Subject::Cloth => "cloth",
            Subject::Constraint => "constraint",
            Subject::Whole => "",
        };
        table += &format!(
            "| `{}` | {} | {} | {subject} | {} |\n",
            quantity.name(),
            quantity.unit,
            quoted_list(&words),
            quantity.about
        );
    }
    table
}
