//! Errors of scenes, with location and remedy.

use super::expression::ExpressionError;

/// Why a scene cannot be used.
///
/// ```
/// use pliant::scene::{Scene, SceneError, SceneOptions};
///
/// let error = Scene::parse("ball.toml", "schema = 1\ntitel = \"a ball\"\n", &SceneOptions::default()).unwrap_err();
/// assert!(matches!(&error, SceneError::At { line: 2, column: 1, .. }));
/// assert!(error.to_string().contains("`title`")); // the remedy
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// Neither a bundled scene nor a file.
    #[error(
        "no scene {name:?}: neither a bundled scene nor a file here{remedy}; `pliant scenes` lists the bundled ones"
    )]
    NoSuchScene {
        /// The requested name.
        name: String,
        /// The nearest known name, as a clause, or empty.
        remedy: String,
    },
    /// A file that cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// Its path.
        file: String,
        /// The reason that the operating system gives.
        reason: String,
    },
    /// Two parts of one kind with the same name in the registry.
    #[error("{0} is registered twice")]
    RegisteredTwice(String),
    /// A `--set` that does not fit the scene.
    #[error("--set {text}: {reason}")]
    Override {
        /// As given.
        text: String,
        /// The fault and the remedy.
        reason: String,
    },
    /// A fault at a location in the file.
    #[error("{file}:{line}:{column}: {fault}\n{excerpt}")]
    At {
        /// Path, or name of the bundled scene.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1, in characters.
        column: usize,
        /// The line, with carets under the column.
        excerpt: String,
        /// The fault.
        fault: Box<SceneFault>,
    },
    /// The entries are valid one by one, but not together.
    #[error("{file}: {reason}")]
    World {
        /// Path, or name of the bundled scene.
        file: String,
        /// The fault.
        reason: String,
    },
}

/// A fault at one location of a scene file.
///
/// ```
/// use pliant::scene::{Scene, SceneError, SceneFault, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ball"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "ball"
///     shape = { sphere = { radius = -0.1 } }
/// "#;
/// let error = Scene::parse("ball.toml", text, &SceneOptions::default()).unwrap_err();
/// let SceneError::At { line: 7, fault, .. } = error else { panic!("{error}") };
/// assert!(matches!(&*fault, SceneFault::OutOfRange { key, .. } if key == "radius"));
/// assert!(fault.to_string().contains("must be positive")); // the remedy
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneFault {
    /// Invalid TOML.
    #[error("{0}")]
    Syntax(String),
    /// An unsupported version of the schema.
    #[error(
        "schema = {found} is not supported by this version of pliant, which reads schema = {known}"
    )]
    SchemaVersion {
        /// The version in the file.
        found: String,
        /// The supported version.
        known: u32,
    },
    /// An unknown key.
    #[error("{table} has no key `{key}`{remedy}")]
    UnknownKey {
        /// The table, with its name if it has one.
        table: String,
        /// The key.
        key: String,
        /// The nearest known key or all of them, as a clause.
        remedy: String,
    },
    /// A missing key.
    #[error("{table} lacks the key `{key}`: {value}")]
    MissingKey {
        /// The table, with its name if it has one.
        table: String,
        /// The key.
        key: String,
        /// The expected value.
        value: String,
    },
    /// A value of the wrong type.
    #[error("{table}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// The table, with its name if it has one.
        table: String,
        /// The key.
        key: String,
        /// The expected value.
        expected: String,
        /// The value in the file.
        found: String,
    },
    /// A number out of range.
    #[error("{table}: {key} = {value} {allowed}")]
    OutOfRange {
        /// The table, with its name if it has one.
        table: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The range, as in "must be positive".
        allowed: String,
    },
    /// An unknown choice.
    #[error("{table}: {key} = {value:?} is not one of {choices}{remedy}")]
    UnknownChoice {
        /// The table, with its name if it has one.
        table: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The choices.
        choices: String,
        /// The nearest choice, as a clause, or empty.
        remedy: String,
    },
    /// An unknown name.
    #[error("there is no {what} {name:?}{remedy}")]
    UnknownName {
        /// The kind of object.
        what: String,
        /// The name.
        name: String,
        /// The nearest known name or all of them, as a clause.
        remedy: String,
    },
    /// A name that is used twice.
    #[error(
        "the name {name:?} is taken by the {what} of line {first_line}; names must differ, call one of them otherwise"
    )]
    DuplicateName {
        /// The name.
        name: String,
        /// The object that has it.
        what: &'static str,
        /// Location of that object.
        first_line: usize,
    },
    /// Keys that exclude or require each other.
    #[error("{table}: {reason}")]
    Conflict {
        /// The table, with its name if it has one.
        table: String,
        /// The keys and the remedy.
        reason: String,
    },
    /// An expression without a value.
    #[error("`{key}` = \"{text}\": {error}")]
    Expression {
        /// The key.
        key: String,
        /// The expression.
        text: String,
        /// The fault.
        error: ExpressionError,
    },
    /// Not enough room for the bodies of a repeat.
    #[error(
        "repeat {name:?}: body {placed} of {count} has no room after {tries} tries; enlarge the region or request fewer bodies"
    )]
    NoRoom {
        /// Name of the repeat.
        name: String,
        /// Number of bodies placed.
        placed: usize,
        /// Number of bodies requested.
        count: usize,
        /// Number of attempts.
        tries: usize,
    },
    /// A file of the scene that cannot be used.
    #[error("{0}")]
    File(String),
    /// An entry that is valid by itself and invalid in the world.
    #[error("{0}")]
    World(String),
    /// A joint or body that is driven in two incompatible ways.
    #[error("{what} {reason}")]
    Clash {
        /// The joint or body.
        what: String,
        /// How it is driven already, and the remedy.
        reason: String,
    },
}

/// ", did you mean `x`?" for the nearest of `known`, otherwise "; known are ...".
pub(crate) fn remedy<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(name, known.clone()) {
        return format!("; did you mean `{near}`?");
    }
    let mut all: Vec<&str> = known.collect();
    all.sort_unstable();
    match all.len() {
        0 => "; there are none".into(),
        // A longer list would not help.
        1..=24 => format!("; known are {}", quoted_list(&all)),
        n => format!("; {n} are known, the first is `{}`", all[0]),
    }
}

/// The most similar of `known`, if at most a third of the letters of the shorter one differ (at least one), or if one begins
/// with the other, as abbreviations do.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let begins = |long: &str, short: &str| short.chars().count() >= 3 && long.starts_with(short);
    known
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(name, candidate);
            let letters = name.chars().count().min(candidate.chars().count());
            let is_similar = distance <= (letters / 3).max(1)
                || begins(candidate, name)
                || begins(name, candidate);
            (is_similar, distance, candidate)
        })
        .filter(|(is_similar, ..)| *is_similar)
        .min_by_key(|(_, distance, candidate)| (*distance, *candidate))
        .map(|(.., candidate)| candidate)
}

pub(super) fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_forgives_a_third_of_the_letters_and_abbreviations() {
        let known = ["friction", "stiffness", "mu"];
        assert_eq!(nearest("fricton", known.into_iter()), Some("friction"));
        assert_eq!(nearest("stifness", known.into_iter()), Some("stiffness"));
        assert_eq!(nearest("um", known.into_iter()), Some("mu"));
        assert_eq!(nearest("stiff", known.into_iter()), Some("stiffness"));
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(nearest("file", ["filled", "box"].into_iter()), None);
    }
}
