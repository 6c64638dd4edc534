//! What every reader of a scene file shares.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::registry::Registry;
use crate::scene::expression::Scope;
use crate::scene::text::{SceneText, SourceLocation};

/// What every reader needs: the text for messages, the values of parameters for expressions, the parts that names stand
/// for.
#[derive(Debug)]
pub(in crate::scene) struct Context {
    pub(in crate::scene) text: Arc<SceneText>,
    pub(in crate::scene) scope: Scope,
    pub(in crate::scene) registry: Arc<Registry>,
    /// Where values were read as expressions.
    evaluated: Rc<RefCell<BTreeSet<SourceLocation>>>,
}

impl Context {
    pub(in crate::scene) fn new(text: Arc<SceneText>, registry: Arc<Registry>) -> Self {
        Self {
            text,
            scope: Scope::default(),
            registry,
            evaluated: Rc::default(),
        }
    }

    /// The same with other values of names.
    pub(in crate::scene) fn with_scope(&self, scope: Scope) -> Self {
        Self {
            text: Arc::clone(&self.text),
            scope,
            registry: Arc::clone(&self.registry),
            evaluated: Rc::clone(&self.evaluated),
        }
    }

    /// The value at this place is an expression.
    pub(in crate::scene) fn evaluates(&self, at: SourceLocation) {
        self.evaluated.borrow_mut().insert(at);
    }

    /// Where values were read as expressions.
    pub(in crate::scene) fn evaluated(&self) -> BTreeSet<SourceLocation> {
        self.evaluated.borrow().clone()
    }
}

#[cfg(test)]
impl Context {
    /// No text, no parameters, the built-in parts.
    pub(in crate::scene) fn empty() -> Self {
        Self::new(SceneText::new("test", ""), Arc::default())
    }
}
