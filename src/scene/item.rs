//! A value of a scene file: typed access with errors at its location.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use toml::Spanned;
use toml::de::DeValue;

use super::error::{SceneError, SceneFault, quoted_list, remedy};
use super::schema::{TableSchema, ValueKind};
use super::table::{Context, TableReader};
use super::text::SourceLocation;
use crate::registry::{Part, Parts};

/// A name at a location in the file.
///
/// ```
/// use pliant::scene::{Scene, SceneFault, SceneOptions};
///
/// let scene = Scene::load("rolling-sphere", &SceneOptions::default())?;
/// let name = &scene.bodies[0].name;
/// assert_eq!(name.name, "ball");
/// // An error of one's own at the place of the name.
/// let error = scene.text.error(name.at, SceneFault::World("it is too round".into()));
/// assert!(error.to_string().contains("too round") && error.to_string().contains("name = \"ball\""));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedReference {
    /// The name.
    pub name: String,
    /// Its location.
    pub at: SourceLocation,
}

/// A value with its key.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) context: &'a Context,
    pub(super) value: &'a Spanned<DeValue<'a>>,
    pub(super) key: String,
    pub(super) table: String,
}

impl<'a> Item<'a> {
    /// The same value, with expressions evaluated in another scope.
    pub(super) fn within<'b>(&self, context: &'b Context) -> Item<'b>
    where
        'a: 'b,
    {
        Item {
            context,
            value: self.value,
            key: self.key.clone(),
            table: self.table.clone(),
        }
    }

    pub(super) fn at(&self) -> SourceLocation {
        self.value.span().into()
    }

    pub(super) fn error(&self, fault: SceneFault) -> SceneError {
        self.context.text.error(self.at(), fault)
    }

    pub(super) fn wrong_type(&self, expected: &str) -> SceneError {
        let found = match self.value.get_ref() {
            DeValue::String(s) => format!("the text {:?}", s.as_ref()),
            DeValue::Integer(i) => format!("the number {i}"),
            DeValue::Float(x) => format!("the number {x}"),
            DeValue::Boolean(b) => format!("`{b}`"),
            DeValue::Datetime(_) => "a date".into(),
            DeValue::Array(array) => format!("a list of {}", array.len()),
            DeValue::Table(table) if table.len() > 1 => format!("a table of {}", table.len()),
            DeValue::Table(_) => "a table".into(),
        };
        self.error(SceneFault::WrongType {
            table: self.table.clone(),
            key: self.key.clone(),
            expected: expected.into(),
            found,
        })
    }

    pub(super) fn out_of_range(&self, value: impl ToString, allowed: &str) -> SceneError {
        self.error(SceneFault::OutOfRange {
            table: self.table.clone(),
            key: self.key.clone(),
            value: value.to_string(),
            allowed: allowed.into(),
        })
    }

    /// A finite number, or an expression with a finite value.
    pub(super) fn number(&self) -> Result<f64, SceneError> {
        let value = self.number_or_infinity()?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.out_of_range(value, "must be finite"))
        }
    }

    /// A number or an expression; `inf` is allowed, `nan` is not.
    pub(super) fn number_or_infinity(&self) -> Result<f64, SceneError> {
        let value = match self.value.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix())
                .ok()
                .map(|i| i as f64),
            DeValue::Float(x) => x.as_str().parse().ok(),
            DeValue::String(text) => {
                self.context.evaluates(self.at());
                return self.context.scope.evaluate(text).map_err(|error| {
                    self.error(SceneFault::Expression {
                        key: self.key.clone(),
                        text: text.to_string(),
                        error,
                    })
                });
            }
            _ => None,
        };
        let value: f64 =
            value.ok_or_else(|| self.wrong_type("a number, or an expression in quotes"))?;
        if value.is_nan() {
            return Err(self.out_of_range(value, "must be a number"));
        }
        Ok(value)
    }

    /// A number in the range of `kind`.
    pub(super) fn number_of(&self, kind: ValueKind) -> Result<f64, SceneError> {
        match kind {
            ValueKind::Positive => self.positive(),
            ValueKind::NonNegative => self.non_negative(),
            ValueKind::Integer(least, most) => self.integer(least, most).map(|n| n as f64),
            ValueKind::Between(low, high) => {
                let value = self.number()?;
                if low < value && value < high {
                    return Ok(value);
                }
                Err(self.out_of_range(value, &format!("must lie in ({low}, {high})")))
            }
            ValueKind::Number
            | ValueKind::AtLeast(_)
            | ValueKind::Choice(_)
            | ValueKind::Vector3
            | ValueKind::Text
            | ValueKind::Part(_)
            | ValueKind::Described(_) => self.number(),
        }
    }

    pub(super) fn positive(&self) -> Result<f64, SceneError> {
        let value = self.number()?;
        if value > 0.0 {
            Ok(value)
        } else {
            Err(self.out_of_range(value, "must be positive"))
        }
    }

    pub(super) fn non_negative(&self) -> Result<f64, SceneError> {
        let value = self.number()?;
        if value >= 0.0 {
            Ok(value)
        } else {
            Err(self.out_of_range(value, "must not be negative"))
        }
    }

    /// A number from 0 to 1.
    pub(super) fn fraction(&self) -> Result<f64, SceneError> {
        let value = self.number()?;
        if (0.0..=1.0).contains(&value) {
            Ok(value)
        } else {
            Err(self.out_of_range(value, "must be from 0 to 1"))
        }
    }

    /// A positive number or infinity.
    pub(super) fn positive_or_infinite(&self) -> Result<f64, SceneError> {
        let value = self.number_or_infinity()?;
        if value > 0.0 {
            Ok(value)
        } else {
            Err(self.out_of_range(value, "must be positive; `inf` is allowed"))
        }
    }

    /// A whole number from `least` to `most`.
    pub(super) fn integer(&self, least: u64, most: u64) -> Result<u64, SceneError> {
        let value = self.number()?;
        if value.fract() == 0.0 && (least as f64..=most as f64).contains(&value) {
            Ok(value as u64)
        } else {
            Err(self.out_of_range(
                value,
                &format!("must be a whole number from {least} to {most}"),
            ))
        }
    }

    /// `N` finite numbers.
    pub(super) fn numbers<const N: usize>(&self) -> Result<[f64; N], SceneError> {
        let elements = self.elements()?;
        if elements.len() != N {
            return Err(self.wrong_type(&format!("a list of {N} numbers")));
        }
        let mut numbers = [0.0; N];
        for (number, element) in numbers.iter_mut().zip(&elements) {
            *number = element.number()?;
        }
        Ok(numbers)
    }

    /// Any number of finite numbers.
    pub(super) fn number_list(&self) -> Result<Vec<f64>, SceneError> {
        self.elements()?.iter().map(Item::number).collect()
    }

    /// A finite number, as a list of one, or a list of them.
    pub(super) fn number_or_list(&self) -> Result<Vec<f64>, SceneError> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.number_list(),
            _ => Ok(vec![self.number()?]),
        }
    }

    pub(super) fn vector3(&self) -> Result<Vector3<f64>, SceneError> {
        self.numbers::<3>().map(Vector3::from)
    }

    /// Three positive numbers.
    pub(super) fn lengths3(&self) -> Result<Vector3<f64>, SceneError> {
        let v = self.vector3()?;
        match self
            .elements()?
            .iter()
            .zip(v.iter())
            .find(|(_, x)| **x <= 0.0)
        {
            Some((element, value)) => Err(element.out_of_range(value, "must be positive")),
            None => Ok(v),
        }
    }

    /// A direction: three numbers, not all zero, made a unit vector.
    pub(super) fn direction(&self) -> Result<Vector3<f64>, SceneError> {
        self.vector3()?
            .try_normalize(1e-12)
            .ok_or_else(|| self.out_of_range("[0, 0, 0]", "must have a direction"))
    }

    pub(super) fn text(&self) -> Result<&'a str, SceneError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.wrong_type("a text in quotes")),
        }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    /// A text that is not empty, with its location.
    pub(super) fn reference(&self) -> Result<NamedReference, SceneError> {
        let name = self.text()?;
        if name.trim().is_empty() {
            return Err(self.out_of_range("\"\"", "must not be empty"));
        }
        Ok(NamedReference {
            name: name.into(),
            at: self.at(),
        })
    }

    /// A list of names.
    pub(super) fn references(&self) -> Result<Vec<NamedReference>, SceneError> {
        self.elements()?.iter().map(Item::reference).collect()
    }

    /// Exactly two names.
    pub(super) fn two_references(&self) -> Result<[NamedReference; 2], SceneError> {
        self.references()?
            .try_into()
            .map_err(|_| self.wrong_type("a list of two names"))
    }

    /// A new name: letters, digits, `_`, `-` and `.`; `/` separates parts of a model.
    pub(super) fn new_name(&self) -> Result<NamedReference, SceneError> {
        let reference = self.reference()?;
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if reference.name.chars().all(allowed) && reference.name != "world" {
            Ok(reference)
        } else {
            Err(self.out_of_range(
                format!("{:?}", reference.name),
                "must consist of letters, digits, `_`, `-` and `.`, and `world` is taken",
            ))
        }
    }

    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Result<T, SceneError> {
        let word = self.text()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(*value);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Err(self.unknown_choice(word, &names))
    }

    fn unknown_choice(&self, word: &str, known: &[&str]) -> SceneError {
        let remedy = super::error::nearest(word, known.iter().copied())
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        self.error(SceneFault::UnknownChoice {
            table: self.table.clone(),
            key: self.key.clone(),
            value: word.into(),
            choices: quoted_list(known),
            remedy,
        })
    }

    /// The registered part of this name.
    pub(super) fn part<'p, F: ?Sized>(
        &self,
        parts: &'p Parts<F>,
    ) -> Result<&'p Part<F>, SceneError> {
        let name = self.text()?;
        parts
            .get(name)
            .ok_or_else(|| self.unknown_choice(name, &parts.names()))
    }

    pub(super) fn table(
        &self,
        schema: &'static TableSchema,
    ) -> Result<TableReader<'a>, SceneError> {
        match self.value.get_ref() {
            DeValue::Table(table) => TableReader::open(self.context, table, self.at(), schema),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// A table that names a registered part, and the part.
    pub(super) fn part_table<F: ?Sized>(
        &self,
        schema: &'static TableSchema,
        name_key: &'static str,
        parts: &'a Parts<F>,
    ) -> Result<(TableReader<'a>, &'a Part<F>), SceneError> {
        match self.value.get_ref() {
            DeValue::Table(table) => {
                TableReader::open_part(self.context, table, self.at(), schema, name_key, parts)
            }
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// A table of a registered kind.
    pub(super) fn table_of_kind<F: ?Sized>(
        &self,
        schema: &'static TableSchema,
        kind: &Part<F>,
    ) -> Result<TableReader<'a>, SceneError> {
        match self.value.get_ref() {
            DeValue::Table(table) => {
                TableReader::open_kind(self.context, table, self.at(), schema, kind)
            }
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// The entries of a table whose keys are names, in the order of the file.
    pub(super) fn entries(&self) -> Result<Vec<(NamedReference, Item<'a>)>, SceneError> {
        let DeValue::Table(table) = self.value.get_ref() else {
            return Err(self.wrong_type("a table of names and values"));
        };
        let mut entries: Vec<(NamedReference, Item<'a>)> = table
            .iter()
            .map(|(key, value)| {
                let reference = NamedReference {
                    name: key.get_ref().to_string(),
                    at: key.span().into(),
                };
                let item = Item {
                    context: self.context,
                    value,
                    key: format!("{}.{}", self.key, key.get_ref()),
                    table: self.table.clone(),
                };
                (reference, item)
            })
            .collect();
        entries.sort_by_key(|(reference, _)| reference.at);
        Ok(entries)
    }

    /// The tables of a list that is written with two brackets, or in place.
    pub(super) fn tables(&self) -> Result<Vec<Item<'a>>, SceneError> {
        if matches!(self.value.get_ref(), DeValue::Table(_)) {
            return Err(self.wrong_type(
                "a list of tables, `[[...]]` with two brackets or `[{ ... }, { ... }]`",
            ));
        }
        self.elements()
    }

    pub(super) fn elements(&self) -> Result<Vec<Item<'a>>, SceneError> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return Err(self.wrong_type("a list in brackets"));
        };
        let element = |(at, value)| Item {
            context: self.context,
            value,
            key: format!("{}[{at}]", self.key),
            table: self.table.clone(),
        };
        Ok(array.iter().enumerate().map(element).collect())
    }

    /// The one variant of an externally tagged choice, such as `shape = { sphere = { ... } }`.
    pub(super) fn variant(
        &self,
        schemas: &[&'static TableSchema],
        tag: impl Fn(&'static TableSchema) -> &'static str,
    ) -> Result<(&'static TableSchema, TableReader<'a>), SceneError> {
        let names: BTreeMap<&str, &'static TableSchema> = schemas
            .iter()
            .map(|schema| (tag(schema), *schema))
            .collect();
        let known: Vec<&str> = schemas.iter().map(|schema| tag(schema)).collect();
        let entries = self.entries()?;
        if let Some((unknown, _)) = entries
            .iter()
            .find(|(m, _)| !names.contains_key(m.name.as_str()))
        {
            let fault = SceneFault::UnknownKey {
                table: format!("{}: `{}`", self.table, self.key),
                key: unknown.name.clone(),
                remedy: remedy(&unknown.name, known.iter().copied()),
            };
            return Err(self.context.text.error(unknown.at, fault));
        }
        match entries.as_slice() {
            [(reference, item)] => {
                let schema = names[reference.name.as_str()];
                Ok((schema, item.table(schema)?))
            }
            _ => Err(self.wrong_type(&format!("a table with one of {}", quoted_list(&known)))),
        }
    }
}
