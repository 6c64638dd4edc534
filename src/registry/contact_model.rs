//! Models of contact by name.

use std::sync::Arc;

use pliant_coupling::ContactModel;

use super::Registry;
use crate::scene::{Key, SceneError, TableReader};

/// Reads the settings of a model of contact.
pub type ReadContactModel =
    dyn Fn(&TableReader<'_>) -> Result<Arc<dyn ContactModel>, SceneError> + Send + Sync;

impl Registry {
    /// Registers a model of contact for `[contact] model = "..."`.
    ///
    /// `keys` are its settings in `[contact]`, beside those of all models; `read` makes the model from them.
    pub fn contact_model<M: ContactModel + 'static>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self {
        let read: Box<ReadContactModel> = Box::new(move |table| Ok(Arc::new(read(table)?)));
        self.contact_models.add(name.into(), keys, read);
        self
    }
}
