//! Links, joints and frames by name; an unknown name is an error with the most similar one.

use nalgebra::Isometry3;

use super::{JointIdx, LinkIdx, Model, NamedFrame};
use crate::error::MultibodyError;

impl Model {
    /// The link with a name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn link_named(&self, name: &str) -> Result<LinkIdx, MultibodyError> {
        let found = self.links.iter().position(|l| l.name == name);
        found
            .map(LinkIdx)
            .ok_or_else(|| self.no_such("link", name, self.links.iter().map(|l| &*l.name)))
    }

    /// The joint with a name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn joint_named(&self, name: &str) -> Result<JointIdx, MultibodyError> {
        let found = self.joints.iter().position(|j| j.name == name);
        found
            .map(JointIdx)
            .ok_or_else(|| self.no_such("joint", name, self.joints.iter().map(|j| &*j.name)))
    }

    /// The frame with a name: a named frame, or the frame of a link.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name.
    pub fn frame_named(&self, name: &str) -> Result<NamedFrame, MultibodyError> {
        if let Some(frame) = self.frames.iter().find(|f| f.name == name) {
            return Ok(frame.clone());
        }
        if let Some(link) = self.links.iter().position(|l| l.name == name) {
            return Ok(NamedFrame {
                name: name.to_owned(),
                link: LinkIdx(link),
                X_LF: Isometry3::identity(),
            });
        }
        let names = self.frames.iter().map(|f| &*f.name);
        Err(self.no_such(
            "frame or link",
            name,
            names.chain(self.links.iter().map(|l| &*l.name)),
        ))
    }

    fn no_such<'a>(
        &self,
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> MultibodyError {
        MultibodyError::NoSuchName {
            model: self.name.clone(),
            what,
            name: name.to_owned(),
            nearest: nearest_name(name, names),
        }
    }
}

/// The most similar of `names`, by edit distance; `None` if more than a third of the letters differ.
pub(crate) fn nearest_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|n| (edit_distance(name, n), n))
        .filter(|(d, n)| 3 * d <= name.chars().count().max(n.chars().count()))
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n.to_owned())
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
