//! What can be wrong with a scene, where, and what would be right.

use super::expression::ExpressionError;

/// A scene that cannot be used.
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
    /// A name that two parts of one kind have in the registry.
    #[error("{0} is registered twice")]
    RegisteredTwice(String),
    /// A `--set` that does not fit the scene.
    #[error("--set {text}: {reason}")]
    Override {
        /// As given.
        text: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A fault at a place of the file.
    #[error("{file}:{line}:{column}: {fault}\n{excerpt}")]
    At {
        /// Path, or name of the bundled scene.
        file: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// The line, with carets under the place.
        excerpt: String,
        /// What is wrong.
        fault: Box<SceneFault>,
    },
    /// The parts are fine one by one, the world made of them is not.
    #[error("{file}: {reason}")]
    World {
        /// Path, or name of the bundled scene.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What is wrong at one place of a scene file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneFault {
    /// Not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A version of the schema this program does not know.
    #[error(
        "schema = {found} is not known to this version of pliant, which reads schema = {known}"
    )]
    SchemaVersion {
        /// As written.
        found: String,
        /// The one that is read.
        known: u32,
    },
    /// A key the table does not have.
    #[error("{table} has no key `{key}`{remedy}")]
    UnknownKey {
        /// Which table, with its name where it has one.
        table: String,
        /// The key.
        key: String,
        /// The nearest known key or all of them, as a clause.
        remedy: String,
    },
    /// A key that must be there.
    #[error("{table} lacks the key `{key}`: {value}")]
    MissingKey {
        /// Which table, with its name where it has one.
        table: String,
        /// The key.
        key: String,
        /// What goes in.
        value: String,
    },
    /// A value of the wrong kind.
    #[error("{table}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// Which table, with its name where it has one.
        table: String,
        /// The key.
        key: String,
        /// What goes in.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A number out of its range.
    #[error("{table}: {key} = {value} {allowed}")]
    OutOfRange {
        /// Which table, with its name where it has one.
        table: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What would be right, as in "must be positive".
        allowed: String,
    },
    /// A word that is not among the known ones.
    #[error("{table}: {key} = {value:?} is not one of {choices}{remedy}")]
    UnknownChoice {
        /// Which table, with its name where it has one.
        table: String,
        /// The key.
        key: String,
        /// The word.
        value: String,
        /// The known words.
        choices: String,
        /// The nearest one, as a clause, or empty.
        remedy: String,
    },
    /// A name nothing goes by.
    #[error("there is no {what} {name:?}{remedy}")]
    UnknownName {
        /// What kind of thing was looked for.
        what: String,
        /// The name.
        name: String,
        /// The nearest known name or all of them, as a clause.
        remedy: String,
    },
    /// A name two things go by.
    #[error(
        "the name {name:?} is taken by the {what} of line {first_line}; names must differ, call one of them otherwise"
    )]
    DuplicateName {
        /// The name.
        name: String,
        /// What has it.
        what: &'static str,
        /// Where that is.
        first_line: usize,
    },
    /// Keys that exclude or need each other.
    #[error("{table}: {reason}")]
    Conflict {
        /// Which table, with its name where it has one.
        table: String,
        /// Which keys, and what to do.
        reason: String,
    },
    /// An expression that has no value.
    #[error("`{key}` = \"{text}\": {error}")]
    Expression {
        /// The key.
        key: String,
        /// The expression.
        text: String,
        /// What is wrong with it.
        error: ExpressionError,
    },
    /// Bodies for which there is no room.
    #[error(
        "repeat {name:?}: body {placed} of {count} has no room after {tries} tries; enlarge the region or request fewer bodies"
    )]
    NoRoom {
        /// Of the repeat.
        name: String,
        /// How many were placed before.
        placed: usize,
        /// How many were requested.
        count: usize,
        /// How often it was tried.
        tries: usize,
    },
    /// A file that the scene names and that is not usable.
    #[error("{0}")]
    File(String),
    /// An entry that is fine by itself and that the world made of all of them refuses.
    #[error("{0}")]
    World(String),
    /// A joint or body that is driven in two incompatible ways.
    #[error("{what} {reason}")]
    Clash {
        /// Which joint or body.
        what: String,
        /// What it does already, and what to do.
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
        // A longer list helps nobody.
        1..=24 => format!("; known are {}", quoted_list(&all)),
        n => format!("; {n} are known, the first is `{}`", all[0]),
    }
}

/// The most similar of `known`, if any is similar: at most a third of the shorter one's letters differ, one at least; or the one begins
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
