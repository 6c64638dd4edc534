//! The keys of scene files as data: the reader enforces them, and `docs/reference/scene` prints them.

use std::fmt;

use super::error::quoted_list;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// Type and range of its value.
    pub value: ValueKind,
    /// SI unit, empty for what has none.
    pub unit: &'static str,
    /// Default; [`REQUIRED`] for required keys. A number that parses is the value that
    /// [`TableReader::number`](super::TableReader::number) returns for an absent key.
    pub default: &'static str,
    /// Meaning.
    pub about: &'static str,
}

/// Type and range of a value; the documentation prints it, the reader enforces it.
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
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Three finite numbers.
    Vector3,
    /// A text that is not empty.
    Text,
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
            Self::Integer(least, most) => write!(f, "whole number from {least} to {most}"),
            Self::Choice(words) => f.write_str(&alternatives(words)),
            Self::Vector3 => f.write_str("3 numbers"),
            Self::Text => f.write_str("text"),
            Self::Described(text) => f.write_str(text),
        }
    }
}

/// "`a`, `b` or `c`".
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or `{last}`", quoted_list(first)),
        _ => quoted_list(words),
    }
}

/// The default of a key that must be given.
pub const REQUIRED: &str = "required";

/// The keys of one kind of table.
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
pub fn tables() -> Vec<&'static TableSchema> {
    let mut tables = vec![&super::read::SCENE];
    tables.extend(super::settings::TABLES);
    tables.extend(super::stepper::TABLES);
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
