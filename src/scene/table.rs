//! Reading a TOML table by its schema: typed values, with the place of whatever is wrong.
//!
//! In tests a reader also checks the schema: keys it asks for must be listed, all listed keys must be asked for, and
//! a number's default must be the one the documentation prints.

use std::cell::RefCell;
use std::sync::Arc;

use nalgebra::Vector3;
use toml::de::DeTable;

use super::error::{SceneError, SceneFault, remedy};
use super::expression::Scope;
use super::item::Item;
use super::schema::{REQUIRED, TableSchema};
use super::text::{Place, SceneText};

/// What every reader needs: the text for messages, the values of parameters for expressions.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) text: Arc<SceneText>,
    pub(super) scope: Scope,
}

/// A table being read.
pub(super) struct TableReader<'a> {
    pub(super) context: &'a Context,
    pub(super) at: Place,
    table: &'a DeTable<'a>,
    schema: &'static TableSchema,
    label: String,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> TableReader<'a> {
    /// Begins to read `table`; refuses keys that `schema` does not list.
    pub(super) fn open(
        context: &'a Context,
        table: &'a DeTable<'a>,
        at: Place,
        schema: &'static TableSchema,
    ) -> Result<Self, SceneError> {
        let mut unknown: Vec<_> = table
            .keys()
            .filter(|key| schema.key(key.get_ref()).is_none())
            .collect();
        unknown.sort_by_key(|key| key.span().start);
        if let Some(key) = unknown.first() {
            let fault = SceneFault::UnknownKey {
                table: schema.name.into(),
                key: key.get_ref().to_string(),
                remedy: super::material::drake_remedy(key.get_ref())
                    .unwrap_or_else(|| remedy(key.get_ref(), schema.keys.iter().map(|k| k.name))),
            };
            return Err(context.text.error(key.span().into(), fault));
        }
        Ok(Self {
            context,
            at,
            table,
            schema,
            label: schema.name.into(),
            asked: RefCell::default(),
        })
    }

    /// Lets messages call the table by its name too.
    pub(super) fn called(&mut self, name: &str) {
        self.label = format!("{} {name:?}", self.schema.name);
    }

    /// The value of a key that may be left out.
    pub(super) fn optional(&self, key: &'static str) -> Option<Item<'a>> {
        debug_assert!(
            self.schema.key(key).is_some_and(|k| k.default != REQUIRED),
            "{}: `{key}` is read as optional, the schema says otherwise",
            self.schema.name
        );
        self.find(key)
    }

    /// The value of a key that must be there.
    pub(super) fn required(&self, key: &'static str) -> Result<Item<'a>, SceneError> {
        debug_assert!(
            self.schema.key(key).is_some_and(|k| k.default == REQUIRED),
            "{}: `{key}` is read as required, the schema says otherwise",
            self.schema.name
        );
        self.find(key).ok_or_else(|| self.missing(key))
    }

    /// The complaint that `key` is not there.
    pub(super) fn missing(&self, key: &str) -> SceneError {
        let value = self.schema.key(key).map_or("", |k| k.value);
        self.context.text.error(
            self.at,
            SceneFault::MissingKey {
                table: self.label.clone(),
                key: key.into(),
                value: value.into(),
            },
        )
    }

    fn find(&self, key: &'static str) -> Option<Item<'a>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key).map(|value| Item {
            context: self.context,
            value,
            key: key.into(),
            table: self.label.clone(),
        })
    }

    /// The complaint that the keys of this table do not go together.
    pub(super) fn conflict(&self, reason: impl Into<String>) -> SceneError {
        self.context.text.error(
            self.at,
            SceneFault::Conflict {
                table: self.label.clone(),
                reason: reason.into(),
            },
        )
    }

    fn default_agrees(&self, key: &str, default: f64) -> bool {
        let printed = self.schema.key(key).map_or("", |k| k.default);
        printed.parse::<f64>().is_ok_and(|value| value == default)
    }

    /// A positive number, or `default`.
    pub(super) fn positive_or(&self, key: &'static str, default: f64) -> Result<f64, SceneError> {
        debug_assert!(
            self.default_agrees(key, default),
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
            self.default_agrees(key, default),
            "{}: {key}",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(default), |item| item.non_negative())
    }

    /// Three numbers, or zeros.
    pub(super) fn vector3_or_zero(&self, key: &'static str) -> Result<Vector3<f64>, SceneError> {
        debug_assert!(
            self.schema
                .key(key)
                .is_some_and(|k| k.default == "[0, 0, 0]"),
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
            self.schema
                .key(key)
                .is_some_and(|k| k.default.trim_matches(['`', '"']) == choices[0].0),
            "{}: the first choice of `{key}` is not the default of the schema",
            self.schema.name
        );
        self.optional(key)
            .map_or(Ok(choices[0].1), |item| item.choice(choices))
    }
}

impl Drop for TableReader<'_> {
    fn drop(&mut self) {
        // Readers that end early, by an error, have not asked for everything: only complete ones reach `finish`.
        if cfg!(debug_assertions) && !std::thread::panicking() {
            let asked = self.asked.borrow();
            if asked.last() == Some(&FINISHED) {
                for key in self.schema.keys {
                    assert!(
                        asked.contains(&key.name),
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
    /// Ends reading: every key of the schema was asked for.
    pub(super) fn finish(self) {
        self.asked.borrow_mut().push(FINISHED);
    }
}
