//! The file as text and XML: encoding, undeclared namespace prefixes, lines, attributes, numbers.

use std::path::Path;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::{FilePosition, LoadReport, Location, Severity};
use roxmltree::Node;

use super::PackageMap;
use crate::error::MultibodyError;
use crate::{file_budget, markup};

pub(super) struct Document;

impl Document {
    /// The UTF-8 text of the file, without byte order mark.
    pub(super) fn decode<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str, MultibodyError> {
        let fail = |text: String| MultibodyError::NotUrdf {
            file: path.to_owned(),
            text,
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(fail("the file is empty".into()));
        }
        if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
            return Err(fail(
                "encoding UTF-16 is not supported; save the file as UTF-8".into(),
            ));
        }
        let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
        std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()]
                .iter()
                .filter(|&&b| b == b'\n')
                .count();
            fail(format!(
                "line {line} is not valid UTF-8; save the file as UTF-8"
            ))
        })
    }

    /// Declares namespace prefixes that the file uses without declaring them, as other readers accept.
    pub(super) fn declare_prefixes(
        text: &str,
        path: &Path,
        report: &mut LoadReport,
    ) -> Result<String, MultibodyError> {
        let mut text = text.to_owned();
        // Each iteration declares one prefix; a URDF has only a few.
        for _ in 0..8 {
            let prefix = match markup::document(&text, file_budget::NODES) {
                Err(roxmltree::Error::UnknownNamespace(prefix, at)) => {
                    let what = format!(
                        "namespace prefix \"{prefix}\" was not declared; declaration added"
                    );
                    let place = Location::new(path.to_string_lossy(), FilePosition::Line(at.row));
                    report.add(Severity::Repaired, place, what);
                    prefix
                }
                Ok(_) | Err(_) => break,
            };
            let Some(at) = text.find("<robot") else { break };
            text.insert_str(
                at + "<robot".len(),
                &format!(" xmlns:{prefix}=\"{prefix}\""),
            );
        }
        Self::parse(&text, path)?;
        Ok(text)
    }

    /// Parses XML. Document type declarations are rejected: URDF needs no entities, and nested or external ones can be
    /// exploited.
    pub(super) fn parse<'t>(
        text: &'t str,
        path: &Path,
    ) -> Result<roxmltree::Document<'t>, MultibodyError> {
        markup::document(text, file_budget::NODES).map_err(|error| MultibodyError::NotUrdf {
            file: path.to_owned(),
            text: markup::described(&error),
        })
    }
}

/// Reads the elements of one document and collects the report.
pub(super) struct Reader<'d, 't> {
    path: &'d Path,
    xml: &'d roxmltree::Document<'t>,
    report: LoadReport,
    pub(super) packages: &'d PackageMap,
    /// Byte offset of each line.
    line_starts: Vec<usize>,
    /// Colours of named materials.
    pub(super) materials: std::collections::BTreeMap<String, [f64; 4]>,
    /// Line of each visual mesh that is left out, and why.
    unshown: Vec<(u32, String)>,
}

impl<'d, 't> Reader<'d, 't> {
    pub(super) fn new(
        path: &'d Path,
        xml: &'d roxmltree::Document<'t>,
        report: LoadReport,
        packages: &'d PackageMap,
    ) -> Self {
        let breaks = xml
            .input_text()
            .bytes()
            .enumerate()
            .filter(|(_, b)| *b == b'\n');
        Self {
            path,
            xml,
            report,
            packages,
            line_starts: core::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect(),
            materials: std::collections::BTreeMap::new(),
            unshown: Vec::new(),
        }
    }

    pub(super) fn root(&self) -> Node<'d, 't> {
        self.xml.root_element()
    }

    pub(super) fn path(&self) -> &'d Path {
        self.path
    }

    pub(super) fn line(&self, node: Node<'_, '_>) -> u32 {
        let at = node.range().start;
        self.line_starts.partition_point(|&start| start <= at) as u32
    }

    /// The element's name with its prefix.
    pub(super) fn tag(&self, node: Node<'_, '_>) -> &'d str {
        let written = &self.xml.input_text()[node.range()];
        let name = written.strip_prefix('<').unwrap_or(written);
        let end = name.find(|c: char| c.is_whitespace() || c == '/' || c == '>');
        &name[..end.unwrap_or(name.len())]
    }

    pub(super) fn error(
        &self,
        node: Node<'_, '_>,
        subject: &str,
        text: impl Into<String>,
    ) -> MultibodyError {
        let inner = MultibodyError::Element {
            subject: subject.to_owned(),
            text: text.into(),
        };
        self.at(node, inner)
    }

    pub(super) fn at(&self, node: Node<'_, '_>, error: MultibodyError) -> MultibodyError {
        MultibodyError::At {
            file: self.path.to_owned(),
            line: self.line(node),
            error: Box::new(error),
        }
    }

    pub(super) fn note(&mut self, severity: Severity, line: u32, text: impl Into<String>) {
        let at = Location::new(self.path.to_string_lossy(), FilePosition::Line(line));
        self.report.add(severity, at, text);
    }

    /// Leaves a visual mesh out. A robot may have dozens of them: the report has one entry for all.
    pub(super) fn not_shown(&mut self, node: Node<'_, '_>, reason: String) {
        let line = self.line(node);
        self.unshown.push((line, reason));
    }

    /// The report, in the order of the lines.
    pub(super) fn into_report(mut self) -> LoadReport {
        if let Some((line, first)) = self.unshown.first().cloned() {
            let text = match self.unshown.len() {
                1 => format!("{first}; not shown"),
                n => format!("{n} visual meshes not shown, the first one: {first}"),
            };
            self.note(Severity::Suspicious, line, text);
        }
        self.report
            .entries
            .sort_by_key(|entry| match entry.at.position {
                FilePosition::Line(line) => line,
                FilePosition::Whole | FilePosition::Byte(_) => 0,
            });
        self.report
    }

    pub(super) fn suspicious(&mut self, node: Node<'_, '_>, text: impl Into<String>) {
        let line = self.line(node);
        self.note(Severity::Suspicious, line, text);
    }

    pub(super) fn ignored(&mut self, node: Node<'_, '_>, subject: &str) {
        let contents = if node.children().any(|c| c.is_element()) {
            " and its contents"
        } else {
            ""
        };
        let text = format!("{subject}: <{}>{contents}", self.tag(node));
        let line = self.line(node);
        self.note(Severity::Ignored, line, text);
    }

    /// Reports all other attributes as ignored.
    pub(super) fn only_attributes(&mut self, node: Node<'_, '_>, known: &[&str]) {
        let line = self.line(node);
        for attribute in node.attributes().filter(|a| !known.contains(&a.name())) {
            let text = format!("attribute \"{}\" of <{}>", attribute.name(), self.tag(node));
            self.note(Severity::Ignored, line, text);
        }
    }

    /// Children of `node` by tag. Repeated and unknown children are reported as ignored.
    pub(super) fn single_children(
        &mut self,
        node: Node<'d, 't>,
        subject: &str,
        known: &[&str],
    ) -> Vec<Option<Node<'d, 't>>> {
        let mut found = vec![None; known.len()];
        for child in node.children().filter(Node::is_element) {
            let tag = self.tag(child);
            match known.iter().position(|k| *k == tag) {
                Some(i) if found[i].is_none() => found[i] = Some(child),
                _ => self.ignored(child, subject),
            }
        }
        found
    }

    pub(super) fn required(
        &self,
        node: Node<'d, 't>,
        subject: &str,
        attribute: &str,
    ) -> Result<&'d str, MultibodyError> {
        let missing = || {
            let text = format!(
                "<{}> needs the attribute {attribute}=\"...\"",
                self.tag(node)
            );
            self.error(node, subject, text)
        };
        node.attribute(attribute).ok_or_else(missing)
    }

    /// The required, non-empty name attribute, without surrounding space.
    pub(super) fn name(&self, node: Node<'d, 't>) -> Result<String, MultibodyError> {
        let name = self.required(node, self.tag(node), "name")?.trim();
        if name.is_empty() {
            return Err(self.error(
                node,
                self.tag(node),
                "the name is empty; choose a unique one",
            ));
        }
        Ok(name.to_owned())
    }

    /// Exactly N finite numbers, separated by spaces.
    pub(super) fn numbers<const N: usize>(
        &self,
        node: Node<'_, '_>,
        subject: &str,
        attribute: &str,
    ) -> Result<Option<[f64; N]>, MultibodyError> {
        let Some(written) = node.attribute(attribute) else {
            return Ok(None);
        };
        let fail = |problem: String| {
            let what = format!("<{}> {attribute}=\"{written}\": {problem}", self.tag(node));
            Err(self.error(node, subject, what))
        };
        let parts: Vec<&str> = written.split_whitespace().collect();
        if parts.len() != N {
            return fail(format!("has {} numbers, but must have {N}", parts.len()));
        }
        let mut values = [0.0; N];
        for (value, part) in values.iter_mut().zip(parts) {
            match part.parse::<f64>() {
                Ok(x) if x.is_finite() => *value = x,
                Ok(_) => return fail(format!("{part} must be finite")),
                Err(_) => return fail(format!("\"{part}\" is not a number (write 0.5, not 0,5)")),
            }
        }
        Ok(Some(values))
    }

    pub(super) fn number(
        &self,
        node: Node<'_, '_>,
        subject: &str,
        attribute: &str,
    ) -> Result<Option<f64>, MultibodyError> {
        Ok(self.numbers::<1>(node, subject, attribute)?.map(|[x]| x))
    }

    pub(super) fn required_number(
        &self,
        node: Node<'d, 't>,
        subject: &str,
        attribute: &str,
    ) -> Result<f64, MultibodyError> {
        self.required(node, subject, attribute)?;
        Ok(self.number(node, subject, attribute)?.unwrap_or_default())
    }

    /// A length that must be positive.
    pub(super) fn length(
        &self,
        node: Node<'d, 't>,
        subject: &str,
        attribute: &str,
    ) -> Result<f64, MultibodyError> {
        let value = self.required_number(node, subject, attribute)?;
        if value > 0.0 {
            return Ok(value);
        }
        let text = format!(
            "<{}> {attribute} = {value} m must be positive",
            self.tag(node)
        );
        Err(self.error(node, subject, text))
    }

    /// The pose of an `<origin>`: xyz, and rpy as rotations about the fixed axes x, y, z; the identity for `None`.
    pub(super) fn pose(
        &mut self,
        origin: Option<Node<'d, 't>>,
        subject: &str,
    ) -> Result<Isometry3<f64>, MultibodyError> {
        let Some(node) = origin else {
            return Ok(Isometry3::identity());
        };
        self.only_attributes(node, &["xyz", "rpy", "quat_xyzw", "name", "link"]);
        let xyz = self.numbers::<3>(node, subject, "xyz")?.unwrap_or_default();
        let [roll, pitch, yaw] = self.numbers::<3>(node, subject, "rpy")?.unwrap_or_default();
        let mut rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        if let Some([x, y, z, w]) = self.numbers::<4>(node, subject, "quat_xyzw")? {
            rotation =
                UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6).ok_or_else(|| {
                    self.error(
                        node,
                        subject,
                        "quat_xyzw is zero, but must be a unit quaternion",
                    )
                })?;
        }
        Ok(Isometry3::from_parts(Vector3::from(xyz).into(), rotation))
    }
}
