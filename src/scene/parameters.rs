//! `[parameters]`: named numbers for expressions, which `--set` overrides.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{SceneError, SceneFault, remedy};
use super::expression::{Expression, ExpressionError, Scope};
use super::item::{Item, NamedReference};
use super::key_override::is_of_key;
use super::text::SceneText;

/// Names that expressions reserve.
const RESERVED: [&str; 5] = ["pi", "deg", "dt", "t", "inf"];

/// An override: `name=expression` for a parameter, `section.key=value` for any key; elements of lists go by name.
///
/// ```
/// use pliant::scene::ParameterOverride;
///
/// let friction: ParameterOverride = "mu = 0.3".parse()?;
/// assert_eq!((friction.name.as_str(), friction.value.as_str()), ("mu", "0.3"));
/// assert!("mu".parse::<ParameterOverride>().is_err());
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterOverride {
    /// The parameter, or the path of a key.
    pub name: String,
    /// A number or an expression of constants, such as `30*deg`; for a key a TOML value or plain text.
    pub value: String,
}

impl std::str::FromStr for ParameterOverride {
    type Err = SceneError;

    fn from_str(text: &str) -> Result<Self, SceneError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Self {
                    name: name.trim().into(),
                    value: value.trim().into(),
                })
            }
            _ => Err(SceneError::Override {
                text: text.into(),
                reason: "must look like name=value".into(),
            }),
        }
    }
}

/// Parameters with their values.
pub(super) struct Parameters {
    pub(super) values: BTreeMap<String, f64>,
    /// The names in the definition of each.
    pub(super) definitions: BTreeMap<String, BTreeSet<String>>,
}

/// The parameters of the file with overrides applied. They may use each other in any order, but not in a cycle.
pub(super) fn resolve(
    text: &SceneText,
    section: Option<&Item<'_>>,
    overrides: &[ParameterOverride],
) -> Result<Parameters, SceneError> {
    let mut given = BTreeMap::new();
    if let Some(section) = section {
        for (reference, item) in section.entries()? {
            check_name(text, &reference)?;
            given.insert(reference.name, Definition::InFile(item));
        }
    }
    for setting in overrides.iter().filter(|s| !is_of_key(s)) {
        let Some(definition) = given.get_mut(&setting.name) else {
            return Err(SceneError::Override {
                text: format!("{}={}", setting.name, setting.value),
                reason: format!(
                    "{} has no parameter {:?}{}",
                    text.name(),
                    setting.name,
                    remedy(&setting.name, given.keys().map(String::as_str))
                ),
            });
        };
        *definition = Definition::Override(setting.value.clone());
    }
    let definitions = (given.iter())
        .map(|(name, definition)| (name.clone(), definition.names()))
        .collect();
    let mut resolver = Resolver {
        text,
        given: &given,
        known: Scope::default(),
        open: BTreeSet::new(),
    };
    let values = (given.keys())
        .map(|name| Ok((name.clone(), resolver.value(name)?)))
        .collect::<Result<_, SceneError>>()?;
    Ok(Parameters {
        values,
        definitions,
    })
}

fn check_name(text: &SceneText, reference: &NamedReference) -> Result<(), SceneError> {
    let name = &reference.name;
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if starts_well && is_word && !RESERVED.contains(&name.as_str()) {
        return Ok(());
    }
    let fault = SceneFault::OutOfRange {
        table: "[parameters]".into(),
        key: "the name".into(),
        value: name.clone(),
        allowed:
            "must be a word of letters, digits and `_`, and not `pi`, `deg`, `dt`, `t` or `inf`"
                .into(),
    };
    Err(text.error(reference.at, fault))
}

enum Definition<'a> {
    InFile(Item<'a>),
    Override(String),
}

impl Definition<'_> {
    /// The names in it; none in what is no expression.
    fn names(&self) -> BTreeSet<String> {
        let text = match self {
            Self::InFile(item) => item.text().unwrap_or_default(),
            Self::Override(value) => value,
        };
        let expression = Expression::parse(text);
        let names = expression.as_ref().map(Expression::names);
        names
            .unwrap_or_default()
            .into_iter()
            .map(str::to_owned)
            .collect()
    }
}

/// The most parameters that may be defined one by another in a row.
const DEPTH_MAX: usize = 100;

struct Resolver<'a, 'b> {
    text: &'a SceneText,
    given: &'a BTreeMap<String, Definition<'b>>,
    known: Scope,
    /// Parameters that are being evaluated: meeting one again is a cycle.
    open: BTreeSet<String>,
}

impl Resolver<'_, '_> {
    fn value(&mut self, name: &str) -> Result<f64, SceneError> {
        if self.known.contains(name) {
            return Ok(self.known.get(name).unwrap_or(f64::NAN));
        }
        let definition = &self.given[name];
        let expression = match definition {
            Definition::InFile(item) if item.is_text() => item.text()?.to_owned(),
            Definition::InFile(item) => {
                let value = item.number()?;
                self.known.set(name, value);
                return Ok(value);
            }
            Definition::Override(value) => value.clone(),
        };
        let complain = |error: ExpressionError| match definition {
            Definition::InFile(item) => self.text.error(
                item.at(),
                SceneFault::Expression {
                    key: name.into(),
                    text: expression.clone(),
                    error,
                },
            ),
            Definition::Override(value) => SceneError::Override {
                text: format!("{name}={value}"),
                reason: error.to_string(),
            },
        };
        let parsed = Expression::parse(&expression).map_err(complain)?;
        if !self.open.insert(name.to_owned()) {
            return Err(complain(ExpressionError::Circular { name: name.into() }));
        }
        if self.open.len() > DEPTH_MAX {
            return Err(complain(ExpressionError::TooDeep { limit: DEPTH_MAX }));
        }
        for used in parsed.names() {
            if self.given.contains_key(used) {
                self.value(used)?;
            }
        }
        self.open.remove(name);
        let value = self.known.evaluate(&expression).map_err(complain)?;
        self.known.set(name, value);
        Ok(value)
    }
}
