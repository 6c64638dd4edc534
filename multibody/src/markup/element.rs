//! An element: its attributes as text and as numbers, and errors that name its place.

use std::path::Path;
use std::sync::Arc;

use crate::error::MultibodyError;

/// Where an element begins.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) file: Arc<Path>,
    /// Counted from 1.
    pub(crate) line: u32,
}

impl Place {
    pub(crate) fn error(&self, subject: &str, text: impl Into<String>) -> MultibodyError {
        self.at(MultibodyError::Element {
            subject: subject.to_owned(),
            text: text.into(),
        })
    }

    pub(crate) fn at(&self, error: MultibodyError) -> MultibodyError {
        MultibodyError::At {
            file: self.file.to_path_buf(),
            line: self.line,
            error: Box::new(error),
        }
    }
}

/// An element with everything in it.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// Name as written, with its prefix.
    pub(crate) tag: String,
    /// Names, with their prefixes, and values, in the order of the file.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
    /// Text before the first child, trimmed.
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| &**value)
    }

    pub(crate) fn error(&self, subject: &str, text: impl Into<String>) -> MultibodyError {
        self.place.error(subject, text)
    }

    pub(crate) fn required(&self, name: &str, subject: &str) -> Result<&str, MultibodyError> {
        self.attribute(name).map(str::trim).ok_or_else(|| {
            let text = format!("<{}> needs the attribute {name}=\"...\"", self.tag);
            self.error(subject, text)
        })
    }

    /// The numbers in an attribute, separated by spaces; at most `most`, all finite.
    pub(crate) fn numbers(
        &self,
        name: &str,
        most: usize,
        subject: &str,
    ) -> Result<Option<Vec<f64>>, MultibodyError> {
        let Some(written) = self.attribute(name) else {
            return Ok(None);
        };
        let what = || format!("<{}> {name}=\"{written}\"", self.tag);
        let numbers = parse_numbers(written)
            .map_err(|problem| self.error(subject, format!("{}: {problem}", what())))?;
        if numbers.len() > most {
            let text = format!(
                "{}: has {} numbers, but must have {most}",
                what(),
                numbers.len()
            );
            return Err(self.error(subject, text));
        }
        Ok(Some(numbers))
    }

    /// The numbers in the element's text, exactly N.
    pub(crate) fn content<const N: usize>(
        &self,
        subject: &str,
    ) -> Result<[f64; N], MultibodyError> {
        let fail = |problem: String| {
            let text = format!("<{}> \"{}\": {problem}", self.tag, self.text);
            self.error(subject, text)
        };
        let numbers = parse_numbers(&self.text).map_err(fail)?;
        let n = numbers.len();
        <[f64; N]>::try_from(numbers)
            .map_err(|_| fail(format!("has {n} numbers, but must have {N}")))
    }

    /// The number in the text of a child, if there is one.
    pub(crate) fn number_in(
        &self,
        tag: &str,
        subject: &str,
    ) -> Result<Option<f64>, MultibodyError> {
        let Some(child) = self.child(tag) else {
            return Ok(None);
        };
        Ok(Some(child.content::<1>(subject)?[0]))
    }

    /// The first child with this tag.
    pub(crate) fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }

    /// Whether a child has this tag.
    pub(crate) fn holds(&self, tag: &str) -> bool {
        self.children.iter().any(|child| child.tag == tag)
    }
}

fn parse_numbers(written: &str) -> Result<Vec<f64>, String> {
    let number = |part: &str| match part.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("{part} must be finite")),
        Err(_) => Err(format!("\"{part}\" is not a number (write 0.5, not 0,5)")),
    };
    written.split_whitespace().map(number).collect()
}
