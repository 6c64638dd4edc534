//! Collects the load report of files: equal remarks on many elements become one entry with their number.

use std::collections::BTreeMap;

use pliant_hydroelastic::mesh::{FilePosition, LoadEntry, LoadReport, Location, Severity};

use super::{Element, Place};

#[derive(Default)]
pub(crate) struct Remarks {
    entries: Vec<LoadEntry>,
    /// What was ignored, where first, and how often.
    ignored: BTreeMap<String, (Place, u32)>,
}

impl Remarks {
    /// Something without effect on the model; `what` without names, so that equal ones are counted.
    pub(crate) fn ignored(&mut self, place: &Place, what: impl Into<String>) {
        let entry = self.ignored.entry(what.into());
        entry.or_insert_with(|| (place.clone(), 0)).1 += 1;
    }

    /// An element that is left out with everything in it.
    pub(crate) fn left_out(&mut self, element: &Element) {
        let contents = match element.children.is_empty() {
            true => "",
            false => " and its contents",
        };
        let what = format!("<{}>{contents}", element.tag);
        self.ignored(&element.place, what);
    }

    /// Reports all attributes of `element` that are not in `known`.
    pub(crate) fn only_attributes(&mut self, element: &Element, known: &[&str]) {
        for (name, _) in &element.attributes {
            let prefix = name.split(':').next().unwrap_or_default();
            if !known.contains(&&**name) && prefix != "xmlns" {
                let what = format!("attribute \"{name}\" of <{}>", element.tag);
                self.ignored(&element.place, what);
            }
        }
    }

    /// Reports all children of `element` that are not in `known`.
    pub(crate) fn only_children(&mut self, element: &Element, known: &[&str]) {
        let others = element.children.iter();
        for child in others.filter(|child| !known.contains(&&*child.tag)) {
            self.left_out(child);
        }
    }

    pub(crate) fn suspicious(&mut self, place: &Place, text: impl Into<String>) {
        self.add(Severity::Suspicious, place, text);
    }

    pub(crate) fn add(&mut self, severity: Severity, place: &Place, text: impl Into<String>) {
        self.entries.push(LoadEntry {
            severity,
            at: location(place),
            text: text.into(),
        });
    }

    /// The report, in the order of files and lines.
    pub(crate) fn into_report(self) -> LoadReport {
        let counted = self
            .ignored
            .into_iter()
            .map(|(what, (place, count))| LoadEntry {
                severity: Severity::Ignored,
                at: location(&place),
                text: match count {
                    1 => what,
                    _ => format!("{what}, {count} times"),
                },
            });
        let mut entries: Vec<LoadEntry> = self.entries.into_iter().chain(counted).collect();
        let line = |entry: &LoadEntry| match entry.at.position {
            FilePosition::Line(line) => line,
            FilePosition::Whole | FilePosition::Byte(_) => 0,
        };
        entries.sort_by(|a, b| (&a.at.file, line(a), &a.text).cmp(&(&b.at.file, line(b), &b.text)));
        LoadReport { entries }
    }
}

fn location(place: &Place) -> Location {
    Location::new(place.file.to_string_lossy(), FilePosition::Line(place.line))
}
