//! Registered parts of one kind, by name.

use std::sync::Arc;

use crate::scene::Key;

/// A named part: the keys of its settings, and what reads them.
pub(crate) struct Part<F: ?Sized> {
    name: String,
    keys: &'static [Key],
    read: Box<F>,
}

impl<F: ?Sized> Part<F> {
    /// The name that scene files use.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The keys of its settings.
    pub(crate) fn keys(&self) -> &'static [Key] {
        self.keys
    }

    /// What reads its settings.
    pub(crate) fn read(&self) -> &F {
        &self.read
    }
}

/// All parts of one kind, in the order of registration.
///
/// ```
/// use pliant::Registry;
///
/// // The built-in solvers; the first is that of scenes that name none.
/// let registry = Registry::default();
/// assert_eq!(registry.solvers().names()[0], "newton");
/// ```
pub struct Parts<F: ?Sized> {
    /// What messages call the kind.
    kind: &'static str,
    parts: Vec<Arc<Part<F>>>,
}

impl<F: ?Sized> Parts<F> {
    pub(super) fn new(kind: &'static str) -> Self {
        Self {
            kind,
            parts: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, name: String, keys: &'static [Key], read: Box<F>) {
        self.parts.push(Arc::new(Part { name, keys, read }));
    }

    /// The part that holds where a scene names none.
    pub(crate) fn first(&self) -> Option<&Part<F>> {
        self.parts.first().map(Arc::as_ref)
    }

    /// The part of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Part<F>> {
        self.iter().find(|part| part.name == name)
    }

    /// All names, in the order of registration.
    pub fn names(&self) -> Vec<&str> {
        self.iter().map(Part::name).collect()
    }

    /// The parts that have a key of that name, as a clause of a message.
    pub(crate) fn owners(&self, key: &str) -> Option<String> {
        let owners = self.iter().filter(|p| p.keys.iter().any(|k| k.name == key));
        let names: Vec<String> = owners.map(|part| format!("`{}`", part.name)).collect();
        (!names.is_empty()).then(|| format!("; it belongs to {}", names.join(", ")))
    }

    /// The first name that is registered twice, with the kind.
    pub(super) fn duplicate(&self) -> Option<String> {
        let twice =
            |(k, part): &(usize, &Part<F>)| self.iter().take(*k).any(|p| p.name == part.name);
        let (_, part) = self.iter().enumerate().find(twice)?;
        Some(format!("the {} `{}`", self.kind, part.name))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Part<F>> {
        self.parts.iter().map(Arc::as_ref)
    }
}

impl<F: ?Sized> Clone for Parts<F> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            parts: self.parts.clone(),
        }
    }
}

impl<F: ?Sized> std::fmt::Debug for Parts<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
