//! Reads a TOML table by its schema: typed values, and errors with their location.
//!
//! In tests a reader also checks the schema: keys it reads must be listed, all listed keys must be read, and a number's
//! default must be the one the documentation prints.

mod context;
mod declared;

use std::cell::RefCell;

use nalgebra::Vector3;
use toml::de::DeTable;

use super::error::{SceneError, SceneFault, remedy};
use super::item::Item;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::text::SourceLocation;
use crate::registry::{Part, Parts};
pub(super) use context::Context;

/// A table of a scene file, as the reader of a registered part sees it.
///
/// Numbers may be written as expressions of the scene's parameters. Errors carry file, line and column.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::Registry;
/// use pliant::registry::Snapshot;
/// use pliant::runner::Simulation;
/// use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
///
/// const KEYS: &[Key] = &[
///     Key { name: "from", value: ValueKind::Vector3, unit: "m", default: "[0, 0, 0]", about: "where it is measured from" },
///     Key { name: "body", value: ValueKind::Integer(0, 99), unit: "", default: REQUIRED, about: "its number" },
/// ];
/// let mut registry = Registry::default();
/// registry.quantity("distance", "m", KEYS, |table| {
///     let (from, body) = (table.vector3("from")?, table.integer("body")? as usize);
///     Ok(move |snapshot: &Snapshot<'_>| (Vector3::from_column_slice(&snapshot.state.bodies[body].q[..3]) - from).norm())
/// });
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     parameters = { height = 2 }
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = 0.1 } }
///     [[observables]]
///     name = "away"
///     quantity = "distance"
///     body = 0
///     from = [0, 0, "-3*height"]
/// "#;
/// // Numbers may be expressions of parameters.
/// let scene = Scene::parse("ball.toml", text, &options)?;
/// assert_eq!(Simulation::new(&scene)?.measure(), [6.0]);
/// let error = Scene::parse("ball.toml", &text.replace("body = 0", "body = 100"), &options).unwrap_err();
/// assert!(error.to_string().starts_with("ball.toml:12:12: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableReader<'a> {
    pub(super) context: &'a Context,
    pub(super) at: SourceLocation,
    table: &'a DeTable<'a>,
    schema: &'static TableSchema,
    /// Keys of the registered part that the table names, besides those of the schema.
    part_keys: &'static [Key],
    label: String,
    read_keys: RefCell<Vec<&'static str>>,
}

impl<'a> TableReader<'a> {
    /// Begins to read `table`; refuses keys that `schema` does not list.
    pub(super) fn open(
        context: &'a Context,
        table: &'a DeTable<'a>,
        at: SourceLocation,
        schema: &'static TableSchema,
    ) -> Result<Self, SceneError> {
        let reader = Self::new(context, table, at, schema);
        reader.refuse_unknown_keys(|_| None)?;
        Ok(reader)
    }

    /// Begins to read `table`, which names one of `parts` under `name_key`; refuses keys that neither `schema` nor that part
    /// lists. Without a name the first part is meant.
    pub(super) fn open_part<F: ?Sized>(
        context: &'a Context,
        table: &'a DeTable<'a>,
        at: SourceLocation,
        schema: &'static TableSchema,
        name_key: &'static str,
        parts: &'a Parts<F>,
    ) -> Result<(Self, &'a Part<F>), SceneError> {
        let mut reader = Self::new(context, table, at, schema);
        let required = schema.key(name_key).is_some_and(|k| k.default == REQUIRED);
        let part = match (reader.find(name_key), parts.first()) {
            (Some(item), _) => {
                let part = item.part(parts)?;
                reader.label = format!("{} {name_key} = {:?}", schema.name, part.name());
                part
            }
            (None, Some(first)) if !required => first,
            (None, _) => return Err(reader.missing(name_key)),
        };
        reader.part_keys = part.keys();
        reader.refuse_unknown_keys(|key| parts.owners(key))?;
        Ok((reader, part))
    }

    /// [`Self::open_part`] of a table that may be absent: `empty` is then read in its place.
    pub(super) fn open_optional_part<F: ?Sized>(
        context: &'a Context,
        item: Option<&Item<'a>>,
        empty: &'a DeTable<'a>,
        schema: &'static TableSchema,
        name_key: &'static str,
        parts: &'a Parts<F>,
    ) -> Result<(Self, &'a Part<F>), SceneError> {
        match item {
            Some(item) => item.part_table(schema, name_key, parts),
            None => {
                let at = SourceLocation::default();
                Self::open_part(context, empty, at, schema, name_key, parts)
            }
        }
    }

    /// Begins to read a `[[table]]` that is named after the part `kind`.
    pub(super) fn open_kind<F: ?Sized>(
        context: &'a Context,
        table: &'a DeTable<'a>,
        at: SourceLocation,
        schema: &'static TableSchema,
        kind: &Part<F>,
    ) -> Result<Self, SceneError> {
        let mut reader = Self::new(context, table, at, schema);
        reader.part_keys = kind.keys();
        reader.label = format!("[[{}]]", kind.name());
        reader.refuse_unknown_keys(|_| None)?;
        Ok(reader)
    }

    /// The tables of a registered kind of body.
    pub(super) fn of_kind<F: ?Sized>(&self, kind: &Part<F>) -> Result<Vec<Item<'a>>, SceneError> {
        let Some(value) = self.table.get(kind.name()) else {
            return Ok(Vec::new());
        };
        let item = Item {
            context: self.context,
            value,
            key: kind.name().to_owned(),
            table: self.label.clone(),
        };
        item.tables()
    }

    /// Reads the same table for another part: keys that it does not list are ignored.
    pub(super) fn for_part<F: ?Sized>(&self, name_key: &str, part: &Part<F>) -> Self {
        let mut reader = Self::new(self.context, self.table, self.at, self.schema);
        reader.part_keys = part.keys();
        reader.label = format!("{} {name_key} = {:?}", self.schema.name, part.name());
        reader
    }

    pub(super) fn new(
        context: &'a Context,
        table: &'a DeTable<'a>,
        at: SourceLocation,
        schema: &'static TableSchema,
    ) -> Self {
        Self {
            context,
            at,
            table,
            schema,
            part_keys: &[],
            label: schema.name.into(),
            read_keys: RefCell::default(),
        }
    }

    fn refuse_unknown_keys(
        &self,
        owners: impl Fn(&str) -> Option<String>,
    ) -> Result<(), SceneError> {
        let unknown = self
            .table
            .keys()
            .filter(|key| self.key(key.get_ref()).is_none() && !self.is_kind(key.get_ref()))
            .min_by_key(|key| key.span().start);
        let Some(key) = unknown else {
            return Ok(());
        };
        let word: &str = key.get_ref();
        let known = self.schema.keys.iter().chain(self.part_keys);
        let fault = SceneFault::UnknownKey {
            table: self.label.clone(),
            key: word.to_owned(),
            remedy: (super::material::drake_remedy(word))
                .or_else(|| owners(word))
                .unwrap_or_else(|| remedy(word, known.map(|k| k.name))),
        };
        Err(self.context.text.error(key.span().into(), fault))
    }

    /// Whether this is the scene file as a whole and `name` a registered kind of body.
    fn is_kind(&self, name: &str) -> bool {
        let is_scene = std::ptr::eq(self.schema, &super::read::SCENE);
        is_scene && self.context.registry.bodies.get(name).is_some()
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        let part_key = || self.part_keys.iter().find(|key| key.name == name);
        self.schema.key(name).or_else(part_key)
    }

    /// Whether the part that the table names declares this key.
    pub(super) fn declares(&self, key: &str) -> bool {
        self.key(key).is_some()
    }

    /// Lets messages call the table by its name too.
    pub(super) fn called(&mut self, name: &str) {
        self.label = format!("{} {name:?}", self.schema.name);
    }

    /// The error of a value that a factory refuses, at its key if that is given.
    pub(super) fn refused(&self, key: &'static str, reason: String) -> SceneError {
        match self.find(key) {
            Some(item) => item.error(SceneFault::Conflict {
                table: item.table.clone(),
                reason,
            }),
            None => self.conflict(reason),
        }
    }

    /// The value of a key that may be left out.
    pub(super) fn optional(&self, key: &'static str) -> Option<Item<'a>> {
        debug_assert!(
            self.key(key).is_some_and(|k| k.default != REQUIRED),
            "{}: `{key}` is read as optional, unlike in the schema",
            self.schema.name
        );
        self.find(key)
    }

    /// The value of a key that must be there.
    pub(super) fn required(&self, key: &'static str) -> Result<Item<'a>, SceneError> {
        debug_assert!(
            self.key(key).is_some_and(|k| k.default == REQUIRED),
            "{}: `{key}` is read as required, unlike in the schema",
            self.schema.name
        );
        self.find(key).ok_or_else(|| self.missing(key))
    }

    /// The error that `key` is absent.
    pub(super) fn missing(&self, key: &str) -> SceneError {
        let value = self.key(key).map_or(String::new(), |k| k.value.to_string());
        self.context.text.error(
            self.at,
            SceneFault::MissingKey {
                table: self.label.clone(),
                key: key.into(),
                value,
            },
        )
    }

    fn find(&self, key: &'static str) -> Option<Item<'a>> {
        self.read_keys.borrow_mut().push(key);
        self.table.get(key).map(|value| Item {
            context: self.context,
            value,
            key: key.into(),
            table: self.label.clone(),
        })
    }

    /// Whether the schema promises a number of this kind with this default.
    fn promises(&self, key: &str, kind: ValueKind, default: f64) -> bool {
        self.key(key).is_some_and(|declared| {
            let printed = declared.default.parse::<f64>();
            declared.value == kind && printed.is_ok_and(|value| value == default)
        })
    }

    /// Whether the schema promises these words, the first as default.
    fn promises_choice<T>(&self, key: &str, choices: &[(&'static str, T)]) -> bool {
        self.key(key).is_some_and(|declared| {
            let first = declared.default.trim_matches(['`', '"']);
            let listed = match declared.value {
                ValueKind::Choice(words) => {
                    let is_listed = |(word, _): &(&str, T)| words.contains(word);
                    words.len() == choices.len() && choices.iter().all(is_listed)
                }
                _ => true,
            };
            listed && choices.first().is_some_and(|(word, _)| *word == first)
        })
    }

    /// A positive number, or `default`.
    pub(super) fn positive_or(&self, key: &'static str, default: f64) -> Result<f64, SceneError> {
        debug_assert!(
            self.promises(key, ValueKind::Positive, default),
            "{}: {key}",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(default), |item| item.positive())
    }

    /// A number that is not negative, or `default`.
    pub(super) fn non_negative_or(
        &self,
        key: &'static str,
        default: f64,
    ) -> Result<f64, SceneError> {
        debug_assert!(
            self.promises(key, ValueKind::NonNegative, default),
            "{}: {key}",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(default), |item| item.non_negative())
    }

    /// Three numbers, or zeros.
    pub(super) fn vector3_or_zero(&self, key: &'static str) -> Result<Vector3<f64>, SceneError> {
        debug_assert!(
            self.key(key).is_some_and(|k| k.default == "[0, 0, 0]"),
            "{}: {key}",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(Vector3::zeros()), |item| item.vector3())
    }

    /// A text, or none.
    pub(super) fn text_or_empty(&self, key: &'static str) -> Result<String, SceneError> {
        self.optional(key)
            .map_or(Ok(String::new()), |item| item.text().map(str::to_owned))
    }

    /// One of `choices`, or the first, which is the schema's default.
    pub(super) fn choice_or_first<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, SceneError> {
        debug_assert!(
            self.promises_choice(key, choices),
            "{}: the choices of `{key}` are not those of the schema",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(choices[0].1), |item| item.choice(choices))
    }
}

impl Drop for TableReader<'_> {
    fn drop(&mut self) {
        // Readers that end early, by an error, have not read_keys for everything: only complete ones reach `finish`.
        if cfg!(debug_assertions) && !std::thread::panicking() {
            let read_keys = self.read_keys.borrow();
            if read_keys.last() == Some(&FINISHED) {
                for key in self.schema.keys {
                    assert!(
                        read_keys.contains(&key.name),
                        "{}: the schema lists `{}`, which nobody reads",
                        self.schema.name,
                        key.name
                    );
                }
            }
        }
    }
}

const FINISHED: &str = "";

impl TableReader<'_> {
    /// Ends reading: every key of the schema was read_keys for.
    pub(super) fn finish(self) {
        self.read_keys.borrow_mut().push(FINISHED);
    }
}
