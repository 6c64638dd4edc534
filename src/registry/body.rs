//! Kinds of bodies by the name of their table.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{BodyState, DeformableModel};

use super::Registry;
use crate::scene::{Key, SceneError, TableReader};

/// A body that scenes can hold: a model, and what observables measure at the vertices of its surface.
///
/// The body starts in the model's default state. It is touched by the triangles of its surface, without triangles by its
/// edges, without edges by its vertices.
pub trait SceneBody: DeformableModel {
    /// kg of each vertex of the surface.
    fn masses(&self, state: &BodyState) -> Vec<f64>;
    /// Velocity of each vertex of the surface, m/s, world axes.
    fn velocities(&self, state: &BodyState) -> Vec<Vector3<f64>>;
}

/// Makes a body.
pub type MakeBody = Arc<dyn Fn() -> Arc<dyn SceneBody> + Send + Sync>;

/// Reads the settings of a body.
pub type ReadBody = dyn Fn(&TableReader<'_>) -> Result<MakeBody, SceneError> + Send + Sync;

impl Registry {
    /// Registers a kind of body: each table `[[name]]` of a scene is one body of it.
    ///
    /// `keys` are its settings, beside `name`, `material` (surface) and `color`, which all bodies have; `read` reads them and
    /// returns what makes the body.
    pub fn body<B, M>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self
    where
        B: SceneBody + 'static,
        M: Fn() -> B + Send + Sync + 'static,
    {
        let read: Box<ReadBody> = Box::new(move |table| {
            let make = read(table)?;
            Ok(Arc::new(move || Arc::new(make()) as _))
        });
        self.bodies.add(name.into(), keys, read);
        self
    }
}
