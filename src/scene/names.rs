//! Names of a scene: bodies, fixed shapes, models, deformable bodies, repeats and constraints share one namespace.

use std::collections::BTreeMap;

use super::error::{SceneError, SceneFault, remedy};
use super::item::NamedReference;
use super::text::{SceneText, SourceLocation};

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// The world.
    World,
    /// One of `[[fixed]]`.
    Fixed,
    /// One of `[[bodies]]`, or made by `[[repeat]]`.
    Body,
    /// One of `[[models]]`; its parts are `NAME/PART`.
    Model,
    /// A soft body; its regions are `NAME/REGION`.
    Soft,
    /// All copies of a soft body.
    Copies,
    /// One of `[[repeat]]`: all its bodies.
    Repeat,
    /// One of `[[constraints]]`.
    Constraint,
}

impl NameKind {
    /// What has geometries, and can touch something.
    pub(crate) const TOUCHING: &[Self] = &[
        Self::Fixed,
        Self::Body,
        Self::Model,
        Self::Repeat,
        Self::Soft,
        Self::Copies,
    ];

    fn word(self) -> &'static str {
        match self {
            NameKind::World => "world",
            NameKind::Fixed => "fixed shape",
            NameKind::Body => "body",
            NameKind::Model => "model",
            NameKind::Soft => "soft body",
            NameKind::Copies => "set of copies",
            NameKind::Repeat => "repeat",
            NameKind::Constraint => "constraint",
        }
    }
}

/// The names of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    known: BTreeMap<String, (NameKind, SourceLocation)>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            known: [(
                "world".to_owned(),
                (NameKind::World, SourceLocation::default()),
            )]
            .into(),
        }
    }
}

impl Names {
    /// Declares a name.
    pub(super) fn declare(
        &mut self,
        text: &SceneText,
        reference: &NamedReference,
        kind: NameKind,
    ) -> Result<(), SceneError> {
        if let Some((other, place)) = self.known.get(&reference.name) {
            let fault = SceneFault::DuplicateName {
                name: reference.name.clone(),
                what: other.word(),
                first_line: text.line_and_column(place.start).0,
            };
            return Err(text.error(reference.at, fault));
        }
        self.known
            .insert(reference.name.clone(), (kind, reference.at));
        Ok(())
    }

    /// Location of the declaration of `name`, if any.
    pub(crate) fn place(&self, name: &str) -> Option<SourceLocation> {
        self.known.get(name).map(|(_, place)| *place)
    }

    /// What `NAME` or `NAME/PART` refers to, and its part, if it is one of `allowed`; only models and soft bodies have parts.
    pub(crate) fn find<'m>(
        &self,
        text: &SceneText,
        reference: &'m NamedReference,
        allowed: &[NameKind],
    ) -> Result<(NameKind, &'m str, Option<&'m str>), SceneError> {
        let (head, part) = match reference.name.split_once('/') {
            Some((head, part)) => (head, Some(part)),
            None => (reference.name.as_str(), None),
        };
        match self.known.get(head) {
            Some((kind, _))
                if allowed.contains(kind)
                    && (part.is_none() || matches!(kind, NameKind::Model | NameKind::Soft)) =>
            {
                Ok((*kind, head, part))
            }
            _ => Err(self.unknown(text, reference, head, allowed)),
        }
    }

    fn unknown(
        &self,
        text: &SceneText,
        reference: &NamedReference,
        head: &str,
        allowed: &[NameKind],
    ) -> SceneError {
        let words: Vec<&str> = allowed.iter().map(|kind| kind.word()).collect();
        let fitting = || {
            self.known
                .iter()
                .filter(|(_, (kind, _))| allowed.contains(kind))
                .map(|(name, _)| name.as_str())
        };
        let remedy = match self.known.get(head) {
            Some((kind, _)) if !allowed.contains(kind) => {
                format!("; {head:?} is a {}", kind.word())
            }
            Some((kind, _)) => format!("; {head:?} is a {} and has no parts", kind.word()),
            None => remedy(head, fitting()),
        };
        text.error(
            reference.at,
            SceneFault::UnknownName {
                what: words.join(" or "),
                name: reference.name.clone(),
                remedy,
            },
        )
    }
}
