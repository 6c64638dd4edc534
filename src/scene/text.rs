//! The text of a scene file, and how a place in it is shown to the reader.

use std::sync::Arc;

use super::error::{SceneError, SceneFault};

/// A range of bytes of a scene's text.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = "schema = 1\ntitle = \"a ball\"\nsimulation = { smoke_s = 1 }\n\
///             [[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
/// let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // Where the body is named.
/// let at = scene.bodies[0].name.at;
/// assert_eq!(scene.text.as_str()[at.start..at.end].trim_matches('"'), "ball");
/// assert_eq!(scene.text.line_and_column(at.start).0, 5);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl From<std::ops::Range<usize>> for SourceLocation {
    fn from(range: std::ops::Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
        }
    }
}

/// A scene's text and the name it goes by in messages.
///
/// ```
/// use pliant::scene::SceneText;
///
/// let text = SceneText::new("ball.toml", "schema = 1\ntitle = \"ein Würfel\"\n");
/// // Columns are counted in characters: ü has two bytes.
/// let byte = text.as_str().find("rfel").expect("it is there");
/// assert_eq!(text.line_and_column(byte), (2, 16));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct SceneText {
    name: String,
    text: String,
}

impl SceneText {
    /// `name` is the path, or the bundled scene's name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
        })
    }

    /// The path, or the bundled scene's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte, both counted from 1, the column in characters.
    pub fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }

    /// An error that points at `place`: with the name of the file, line and column, the line itself, and carets below it.
    ///
    /// ```
    /// use pliant::scene::{SceneFault, SceneText};
    ///
    /// let text = SceneText::new("ball.toml", "schema = 1\nmass = -3\n");
    /// let error = text.error((18..20).into(), SceneFault::World("it is too light".into()));
    /// assert_eq!(error.to_string(), "ball.toml:2:8: it is too light\n2 | mass = -3\n  |        ^^");
    /// ```
    pub fn error(&self, place: SourceLocation, fault: SceneFault) -> SceneError {
        let (line, column) = self.line_and_column(place.start);
        SceneError::At {
            file: self.name.clone(),
            line,
            column,
            excerpt: self.excerpt(place, line, column),
            fault: Box::new(fault),
        }
    }

    /// The line with carets under the place.
    fn excerpt(&self, place: SourceLocation, line: usize, column: usize) -> String {
        let text = self.text.lines().nth(line - 1).unwrap_or("");
        let rest = text.chars().count().saturating_sub(column - 1);
        let asked = self
            .text
            .get(place.start..place.end)
            .map_or(1, |s| s.lines().next().unwrap_or("").chars().count());
        let gutter = line.to_string();
        let blank = " ".repeat(gutter.len());
        // Tabs stay tabs, so that the carets stand under what they mean.
        let indent: String = text
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let carets = "^".repeat(asked.min(rest).max(1));
        format!("{gutter} | {text}\n{blank} | {indent}{carets}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_characters_from_one() {
        let text = SceneText::new("s", "a\nµ = 3\n");
        assert_eq!(text.line_and_column(0), (1, 1));
        let equals = text.as_str().find('=').unwrap();
        assert_eq!(text.line_and_column(equals), (2, 3));
        assert_eq!(text.line_and_column(1000), (3, 1));
    }

    #[test]
    fn excerpt_puts_carets_under_the_place() {
        let text = SceneText::new("s.toml", "x = 1\n\tmass = -3\n");
        let start = text.as_str().find("-3").unwrap();
        let error = text.error((start..start + 2).into(), SceneFault::Syntax("no".into()));
        assert_eq!(
            error.to_string(),
            "s.toml:2:9: no\n2 | \tmass = -3\n  | \t       ^^"
        );
    }
}
