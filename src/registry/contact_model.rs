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
    /// `keys` are its settings in `[contact]`, beside those of all models; `read` makes the model from them. The program
    /// `examples/own_contact_law.rs` has a law of its own.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::scene::{Scene, SceneOptions};
    /// use pliant_contact_sap::ContactLaw;
    /// use pliant_coupling::{ContactInputs, ContactModel, SapModel};
    ///
    /// /// The model `sap` without friction.
    /// #[derive(Debug)]
    /// struct Frictionless;
    /// impl ContactModel for Frictionless {
    ///     fn law(&self, contact: &ContactInputs) -> ContactLaw {
    ///         let mut smooth = contact.clone();
    ///         smooth.parameters.friction = 0.0;
    ///         SapModel.law(&smooth)
    ///     }
    /// }
    ///
    /// let mut registry = Registry::default();
    /// registry.contact_model("frictionless", &[], |_| Ok(Frictionless));
    /// let options = SceneOptions { parameters: vec!["contact.model=frictionless".parse()?], registry, ..SceneOptions::default() };
    /// assert_eq!(format!("{:?}", Scene::load("box-on-incline", &options)?.contact.model), "Frictionless");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
