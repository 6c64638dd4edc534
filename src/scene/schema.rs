//! The keys of scene files as data: the reader enforces them, and `docs/reference/scene` prints them.

use std::fmt;

use nalgebra::Vector3;

use super::error::quoted_list;

/// A key of a table: what the documentation prints of it, and what its reader enforces.
///
/// ```
/// use pliant::Registry;
/// use pliant::registry::Snapshot;
/// use pliant::runner::Simulation;
/// use pliant::scene::{Key, Scene, SceneError, SceneOptions, ValueKind};
///
/// const KEYS: &[Key] = &[Key { name: "rate", value: ValueKind::Positive, unit: "1/s", default: "2.5", about: "of growth" }];
/// let mut registry = Registry::default();
/// registry.quantity("growth", "1/s", KEYS, |table| {
///     let rate = table.number("rate")?;
///     Ok(move |_: &Snapshot<'_>| rate)
/// });
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// let text = r#"
///     schema = 1
///     title = "growth"
///     simulation = { smoke_s = 1 }
///     [[observables]]
///     name = "growth"
///     quantity = "growth"
/// "#;
/// // Without the key it is the default.
/// assert_eq!(Simulation::new(&Scene::parse("growth.toml", text, &options)?)?.measure(), [2.5]);
/// let negative = Scene::parse("growth.toml", &format!("{text}rate = -1"), &options);
/// assert!(matches!(negative, Err(SceneError::At { line: 8, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// Type and range of its value.
    pub value: ValueKind,
    /// SI unit, empty for what has none.
    pub unit: &'static str,
    /// Default; [`REQUIRED`] for required keys. A number or a vector that parses is the value that
    /// [`TableReader::number`](super::TableReader::number) or `vector3` returns for an absent key.
    pub default: &'static str,
    /// Meaning.
    pub about: &'static str,
}

impl Key {
    /// The default as three numbers, if it is such.
    pub(super) fn default_vector3(&self) -> Option<Vector3<f64>> {
        let list = self.default.strip_prefix('[')?.strip_suffix(']')?;
        let numbers: Vec<f64> = list
            .split(',')
            .map(|number| number.trim().parse().ok())
            .collect::<Option<_>>()?;
        Some(<[f64; 3]>::try_from(numbers).ok()?.into())
    }
}

/// Type and range of a value; the documentation prints it, the reader enforces it.
///
/// ```
/// use pliant::scene::{ValueKind, tables};
///
/// // As the documentation prints it.
/// assert_eq!(ValueKind::Between(0.0, 1.0).to_string(), "number in (0, 1)");
/// assert_eq!(ValueKind::Choice(&["exact", "armijo"]).to_string(), "`exact` or `armijo`");
/// // That of a key of the schema.
/// let recording = tables().into_iter().find(|table| table.name == "[recording]").ok_or("no table")?;
/// assert_eq!(recording.key("frames_per_s").map(|key| key.value), Some(ValueKind::Positive));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// A finite number.
    Number,
    /// A finite number greater than 0.
    Positive,
    /// A finite number of at least 0.
    NonNegative,
    /// A number between two bounds, both excluded.
    Between(f64, f64),
    /// A finite number of at least that of another key, which is its default.
    AtLeast(&'static str),
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Three finite numbers.
    Vector3,
    /// A text that is not empty.
    Text,
    /// The name of a registered part of this kind, such as a stepper.
    Part(&'static str),
    /// Any other value, described in words; a dedicated function reads it.
    Described(&'static str),
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("number"),
            Self::Positive => f.write_str("number > 0"),
            Self::NonNegative => f.write_str("number >= 0"),
            Self::Between(low, high) => write!(f, "number in ({low}, {high})"),
            Self::AtLeast(key) => write!(f, "number >= `{key}`"),
            Self::Integer(least, most) => write!(f, "whole number from {least} to {most}"),
            Self::Choice(words) => f.write_str(&alternatives(words)),
            Self::Vector3 => f.write_str("3 numbers"),
            Self::Text => f.write_str("text"),
            Self::Part(kind) => write!(f, "name of a {kind}"),
            Self::Described(text) => f.write_str(text),
        }
    }
}

/// The words of a choice, for [`ValueKind::Choice`].
pub(super) const fn words<T, const N: usize>(
    choices: &[(&'static str, T); N],
) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = choices[i].0;
        i += 1;
    }
    words
}

/// "`a`, `b` or `c`".
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or `{last}`", quoted_list(first)),
        _ => quoted_list(words),
    }
}

/// The value of a key that is a list, whose elements go by their names.
pub(super) const LIST_OF_TABLES: &str = "list of tables";

/// The default of a key that must be given.
pub const REQUIRED: &str = "required";

/// The keys of one kind of table.
///
/// ```
/// use pliant::scene::{REQUIRED, tables};
///
/// let tables = tables();
/// let simulation = tables.iter().find(|table| table.name == "[simulation]").ok_or("no table")?;
/// assert!(simulation.key("smoke_s").is_some_and(|key| key.default == REQUIRED && key.unit == "s"));
/// assert!(simulation.key("duration").is_none());
/// assert!(simulation.markdown().contains("| `smoke_s` |"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// Its name in messages and in the documentation, such as `[contact]` or `[[bodies]]`.
    pub name: &'static str,
    /// Its keys, in the order of the documentation.
    pub keys: &'static [Key],
}

impl TableSchema {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The keys as a Markdown table.
    pub fn markdown(&self) -> String {
        let mut table =
            String::from("| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
        for key in self.keys {
            let Key {
                name,
                value,
                unit,
                default,
                about,
            } = key;
            table += &format!("| `{name}` | {value} | {unit} | {default} | {about} |\n");
        }
        table
    }
}

/// Every table of a scene file, in the order of the documentation.
///
/// ```
/// use pliant::scene::tables;
///
/// // A key of `[[bodies]]` with its unit.
/// let bodies = tables().into_iter().find(|table| table.name == "[[bodies]]").ok_or("no table")?;
/// assert_eq!(bodies.key("mass").map(|key| key.unit), Some("kg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tables() -> Vec<&'static TableSchema> {
    let mut tables = vec![&super::read::SCENE];
    tables.extend(super::settings::TABLES);
    tables.extend(super::camera::TABLES);
    tables.extend(super::image_sensor::TABLES);
    tables.extend(super::stepper::TABLES);
    tables.extend(super::contact::TABLES);
    tables.extend(super::solver::TABLES);
    tables.extend(super::pose::TABLES);
    tables.extend(super::material::TABLES);
    tables.extend(super::shape::TABLES);
    tables.extend(super::body::TABLES);
    tables.extend(super::soft::table_schemas());
    tables.extend(super::model::TABLES);
    tables.extend(super::repeat::TABLES);
    tables.extend(super::pairs::TABLES);
    tables.extend(super::constraint::TABLES);
    tables.extend(super::drive::TABLES);
    tables.extend(super::observable::TABLES);
    tables.extend(super::expect::TABLES);
    tables
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_of_a_table_differ_and_are_described() {
        for table in tables() {
            let names: BTreeSet<&str> = table.keys.iter().map(|key| key.name).collect();
            assert_eq!(names.len(), table.keys.len(), "{}", table.name);
            for key in table.keys {
                assert!(
                    !key.value.to_string().is_empty()
                        && !key.about.is_empty()
                        && !key.default.is_empty(),
                    "{} {}",
                    table.name,
                    key.name
                );
            }
        }
    }

    #[test]
    fn tables_have_different_names() {
        let names: BTreeSet<&str> = tables().iter().map(|table| table.name).collect();
        assert_eq!(names.len(), tables().len());
    }
}
