//! XML as a tree of owned elements, each with its file and line, and the report on what was left out of it.
//!
//! Readers of formats whose files include one another work on this tree: an included file becomes part of it.

mod element;
mod remarks;

use std::path::Path;
use std::sync::Arc;

use roxmltree::{Node, ParsingOptions};

use crate::error::MultibodyError;
use crate::file_budget;
pub(crate) use element::{Element, Place};
pub(crate) use remarks::Remarks;

/// Deeper files are refused: readers may be recursive.
pub(crate) const DEPTH_MAX: usize = 500;

/// A prefix is declared by reading the file again. Files use three at most.
const UNDECLARED_PREFIXES_MAX: usize = 16;

/// The outermost element of a file, and the number of its elements, comments and texts, of which there may be `nodes_max`.
///
/// # Errors
/// [`MultibodyError::NotUrdf`] if the bytes are not UTF-8 or not well-formed XML. Document type declarations are refused:
/// robot descriptions need no entities, and nested or external ones can be exploited.
pub(crate) fn parse(
    bytes: &[u8],
    path: &Path,
    nodes_max: u32,
) -> Result<(Element, u32), MultibodyError> {
    let mut declared = decode(bytes, path)?.to_owned();
    // Prefixes may be undeclared, as in files for Drake: the reader finds elements by their written names.
    for _ in 0..UNDECLARED_PREFIXES_MAX {
        let Some(prefix) = undeclared_prefix(&declared, nodes_max) else {
            break;
        };
        let Some(at) = end_of_outermost_name(&declared) else {
            return Err(not_robot(path, "has no outermost element".to_owned()));
        };
        declared.insert_str(at, &format!(" xmlns:{prefix}=\"{prefix}\""));
    }
    let document =
        document(&declared, nodes_max).map_err(|error| not_robot(path, described(&error)))?;
    let text = document.input_text();
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let source = Source {
        text,
        line_starts: core::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect(),
        file: Arc::from(path),
    };
    let nodes = document.descendants().count() as u32;
    Ok((source.element(document.root_element(), 0)?, nodes))
}

/// The tree of a file of at most `nodes_max` elements, comments and texts.
pub(crate) fn document(
    text: &str,
    nodes_max: u32,
) -> Result<roxmltree::Document<'_>, roxmltree::Error> {
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: nodes_max,
        ..ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(text, options)
}

/// What is wrong with a file that is no XML or too large.
pub(crate) fn described(error: &roxmltree::Error) -> String {
    let at = error.pos();
    match error {
        roxmltree::Error::DtdDetected => {
            "has a <!DOCTYPE>, which is not supported; remove it".to_owned()
        }
        roxmltree::Error::NodesLimitReached => format!(
            "with it, the files of the robot have more than {} elements, the most that is read; split the robot",
            file_budget::NODES
        ),
        other => format!(
            "line {}, column {}: not well-formed XML: {other}",
            at.row, at.col
        ),
    }
}

fn undeclared_prefix(text: &str, nodes_max: u32) -> Option<String> {
    match document(text, nodes_max) {
        Err(roxmltree::Error::UnknownNamespace(prefix, _)) => Some(prefix),
        _ => None,
    }
}

/// The UTF-8 text of a file, without byte order mark.
fn decode<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str, MultibodyError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(not_robot(path, "the file is empty".to_owned()));
    }
    let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        let text = format!("line {line} is not valid UTF-8; save the file as UTF-8");
        not_robot(path, text)
    })
}

fn not_robot(path: &Path, text: String) -> MultibodyError {
    MultibodyError::NotUrdf {
        file: path.to_owned(),
        text,
    }
}

/// The name of the outermost element, if the file has one.
pub(crate) fn outermost(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?;
    let written = &text[..end_of_outermost_name(text)?];
    written.rsplit('<').next()
}

/// The place after the name of the outermost element, where attributes can be inserted.
fn end_of_outermost_name(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('<')?;
        let rest = &text[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            from = start + 4 + comment.find("-->")?;
        } else if rest.starts_with('?') {
            from = start + 1 + rest.find("?>")?;
        } else {
            let name = rest.find(|c: char| c.is_whitespace() || c == '/' || c == '>')?;
            return Some(start + 1 + name);
        }
    }
}

struct Source<'a> {
    text: &'a str,
    /// Byte offset of each line.
    line_starts: Vec<usize>,
    file: Arc<Path>,
}

impl Source<'_> {
    fn element(&self, node: Node<'_, '_>, depth: usize) -> Result<Element, MultibodyError> {
        let place = Place {
            file: Arc::clone(&self.file),
            line: self
                .line_starts
                .partition_point(|&start| start <= node.range().start) as u32,
        };
        if depth > DEPTH_MAX {
            let text = format!("elements are nested more than {DEPTH_MAX} deep");
            return Err(place.error("file", text));
        }
        let attributes = node.attributes().map(|attribute| {
            let written = &self.text[attribute.range_qname()];
            (written.to_owned(), attribute.value().to_owned())
        });
        let written = &self.text[node.range()];
        let name = written.strip_prefix('<').unwrap_or(written);
        let end = name.find(|c: char| c.is_whitespace() || c == '/' || c == '>');
        let children = node.children().filter(Node::is_element);
        Ok(Element {
            tag: name[..end.unwrap_or(name.len())].to_owned(),
            attributes: attributes.collect(),
            children: children
                .map(|child| self.element(child, depth + 1))
                .collect::<Result<_, _>>()?,
            text: node.text().unwrap_or_default().trim().to_owned(),
            place,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_know_their_lines_and_undeclared_prefixes_are_kept() {
        let text =
            b"<?xml version=\"1.0\"?>\n<!-- a <robot> -->\n<a>\n  <drake:b drake:c='1'/>\n</a>";
        let root = parse(text, Path::new("x.xml"), file_budget::NODES)
            .expect("XML")
            .0;
        assert_eq!((&*root.tag, root.place.line), ("a", 3));
        let inner = &root.children[0];
        assert_eq!((&*inner.tag, inner.place.line), ("drake:b", 4));
        assert_eq!(inner.attribute("drake:c"), Some("1"));
    }

    #[test]
    fn what_is_not_xml_is_refused_with_its_place() {
        let refused = |bytes: &[u8]| {
            parse(bytes, Path::new("x.xml"), 100_000)
                .expect_err("refused")
                .to_string()
        };
        assert!(refused(b" \n ").contains("empty"));
        assert!(refused(b"<a>\n<b></a>").contains("line 2"));
        assert!(refused(b"<a>\n\xff</a>").contains("line 2 is not valid UTF-8"));
        assert!(refused(b"<!DOCTYPE a><a/>").contains("DOCTYPE"));
        let nested = "<a>".repeat(600) + &"</a>".repeat(600);
        assert!(refused(nested.as_bytes()).contains("nested"));
        let many = format!("<a>{}</a>", "<b/>".repeat(100_000));
        assert!(refused(many.as_bytes()).contains("elements, the most that is read"));
        let prefixes: String = (0..20_000).map(|k| format!("<p{k}:b/>")).collect();
        assert!(refused(format!("<a>{prefixes}</a>").as_bytes()).contains("p16"));
    }
}
