//! What the reader of a registered part asks of its table: values of declared keys, and the error that they contradict each other.

use nalgebra::Vector3;

use super::TableReader;
use crate::scene::error::{SceneError, SceneFault};
use crate::scene::schema::{Key, REQUIRED, ValueKind};

impl TableReader<'_> {
    /// The number of a declared key: the one given, or its default.
    ///
    /// # Errors
    /// A value outside the key's [`ValueKind`]; a required key that is absent; a key that is not declared or whose default is
    /// not a number.
    pub fn number(&self, key: &'static str) -> Result<f64, SceneError> {
        let declared = self.declared(key)?;
        if let ValueKind::AtLeast(other) = declared.value {
            return self.number_at_least(key, other);
        }
        match (self.find(key), declared.default.parse()) {
            (Some(item), _) => item.number_of(declared.value),
            (None, Ok(default)) => Ok(default),
            (None, Err(_)) => Err(self.missing(key)),
        }
    }

    fn number_at_least(&self, key: &'static str, other: &'static str) -> Result<f64, SceneError> {
        let least = self.number(other)?;
        let Some(item) = self.find(key) else {
            return Ok(least);
        };
        let value = item.number()?;
        if value < least {
            let allowed = format!("must not be less than {other} = {least}");
            return Err(item.out_of_range(value, &allowed));
        }
        Ok(value)
    }

    /// The number of a declared key that may be absent.
    ///
    /// # Errors
    /// As [`Self::number`], but for an absent key.
    pub fn number_if_given(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        let kind = self.declared(key)?.value;
        self.find(key).map(|item| item.number_of(kind)).transpose()
    }

    /// The whole number of a key declared as [`ValueKind::Integer`]: the one given, or its default.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub fn integer(&self, key: &'static str) -> Result<u64, SceneError> {
        self.number(key).map(|value| value as u64)
    }

    /// The word of a key declared as [`ValueKind::Choice`]: the one given, or the first.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::registry::Snapshot;
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Key, Scene, SceneOptions, ValueKind};
    ///
    /// const AXES: ValueKind = ValueKind::Choice(&["z", "x"]);
    /// const KEYS: &[Key] = &[Key { name: "axis", value: AXES, unit: "", default: "`z`", about: "of the position" }];
    /// let mut registry = Registry::default();
    /// registry.quantity("place", "m", KEYS, |table| {
    ///     let entry = match table.word("axis")? {
    ///         "x" => 0,
    ///         _ => 2,
    ///     };
    ///     Ok(move |snapshot: &Snapshot<'_>| snapshot.state.bodies[0].q[entry])
    /// });
    /// let options = SceneOptions { registry, ..SceneOptions::default() };
    /// let text = r#"
    ///     schema = 1
    ///     title = "a ball"
    ///     simulation = { smoke_s = 1 }
    ///     [[bodies]]
    ///     name = "ball"
    ///     shape = { sphere = { radius = 0.1 } }
    ///     pose = { position = [1, 2, 3] }
    ///     [[observables]]
    ///     name = "ball"
    ///     quantity = "place"
    /// "#;
    /// let place = |keys: &str| -> Result<f64, Box<dyn std::error::Error>> {
    ///     let scene = Scene::parse("ball.toml", &format!("{text}{keys}"), &options)?;
    ///     Ok(Simulation::new(&scene)?.measure()[0])
    /// };
    /// assert_eq!((place("")?, place("axis = \"x\"")?), (3.0, 1.0));
    /// assert!(place("axis = \"y\"").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A word that is not among them; a key that is not declared as a choice.
    pub fn word(&self, key: &'static str) -> Result<&'static str, SceneError> {
        let declared = self.declared(key)?;
        let ValueKind::Choice(words) = declared.value else {
            return Err(self.conflict(format!("`{key}` is not declared as a choice")));
        };
        let choices: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
        match (self.find(key), words.first()) {
            (Some(item), _) => item.choice(&choices),
            (None, Some(first)) if declared.default != REQUIRED => Ok(first),
            _ => Err(self.missing(key)),
        }
    }

    /// Three numbers of a declared key: those given, or its default.
    ///
    /// # Errors
    /// Anything but a list of three numbers; a required key that is absent; a key that is not declared or whose default is not
    /// three numbers.
    pub fn vector3(&self, key: &'static str) -> Result<Vector3<f64>, SceneError> {
        let declared = self.declared(key)?;
        match (self.find(key), declared.default_vector3()) {
            (Some(item), _) => item.vector3(),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.missing(key)),
        }
    }

    /// Whether the file has this key.
    pub fn is_given(&self, key: &'static str) -> bool {
        self.find(key).is_some()
    }

    fn declared(&self, key: &'static str) -> Result<&'static Key, SceneError> {
        self.key(key).ok_or_else(|| {
            self.conflict(format!("its reader reads `{key}`, which is not declared"))
        })
    }

    /// The error that the keys of this table contradict each other.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::registry::Snapshot;
    /// use pliant::scene::{Key, Scene, SceneOptions, ValueKind};
    ///
    /// const fn bound(name: &'static str) -> Key {
    ///     Key { name, value: ValueKind::Number, unit: "", default: "0", about: "a bound" }
    /// }
    /// const KEYS: &[Key] = &[bound("low"), bound("high")];
    /// let mut registry = Registry::default();
    /// registry.quantity("width", "", KEYS, |table| {
    ///     let (low, high) = (table.number("low")?, table.number("high")?);
    ///     match low <= high {
    ///         true => Ok(move |_: &Snapshot<'_>| high - low),
    ///         false => Err(table.conflict("`low` is above `high`; exchange them")),
    ///     }
    /// });
    /// let options = SceneOptions { registry, ..SceneOptions::default() };
    /// let text = r#"
    ///     schema = 1
    ///     title = "a width"
    ///     simulation = { smoke_s = 1 }
    ///     [[observables]]
    ///     name = "width"
    ///     quantity = "width"
    ///     low = 3
    ///     high = 1
    /// "#;
    /// let error = Scene::parse("width.toml", text, &options).unwrap_err();
    /// assert!(error.to_string().contains("`low` is above `high`; exchange them"));
    /// ```
    pub fn conflict(&self, reason: impl Into<String>) -> SceneError {
        self.context.text.error(
            self.at,
            SceneFault::Conflict {
                table: self.label.clone(),
                reason: reason.into(),
            },
        )
    }
}
