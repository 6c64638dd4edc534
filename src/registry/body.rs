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
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant::Registry;
/// use pliant::registry::SceneBody;
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
/// use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, Energy, Surface};
/// use pliant_multibody::{CapsuleChain, CapsuleChainSpec, RestShape};
///
/// /// A chain of capsules of 0.1 m each.
/// struct Chain(CapsuleChain);
/// impl DeformableModel for Chain {
///     fn default_state(&self) -> BodyState { self.0.default_state() }
///     fn new_step(&self) -> Box<dyn BodyStep> { self.0.new_step() }
///     fn surface(&self, state: &BodyState, out: &mut Surface) { self.0.surface(state, out); }
///     fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy { self.0.energy(state, gravity) }
/// }
/// impl SceneBody for Chain {
///     fn masses(&self, _: &BodyState) -> Vec<f64> {
///         (0..self.0.n_nodes()).map(|node| self.0.node_mass(node)).collect()
///     }
///
///     fn velocities(&self, state: &BodyState) -> Vec<Vector3<f64>> {
///         let mut out = Vec::new();
///         self.0.velocities(state, &mut out);
///         out
///     }
/// }
///
/// const KEYS: &[Key] = &[Key { name: "capsules", value: ValueKind::Integer(1, 100), unit: "", default: REQUIRED, about: "their number" }];
/// let mut registry = Registry::default();
/// registry.body("chains", KEYS, |table| {
///     let n = table.integer("capsules")? as u32;
///     Ok(move || {
///         let spec = CapsuleChainSpec {
///             nodes: (0..=n).map(|i| Point3::new(0.1 * f64::from(i), 0.0, 1.0)).collect(),
///             radius: 0.01,
///             linear_density: 0.5,
///             bending_stiffness: 1e-3,
///             twisting_stiffness: 1e-3,
///             stiffness_damping: 0.01,
///             rest: RestShape::AsBuilt,
///         };
///         Chain(CapsuleChain::new(&spec).expect("its numbers are valid"))
///     })
/// });
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// let text = r#"
///     schema = 1
///     title = "a chain falls"
///     simulation = { smoke_s = 0.1, time_step_s = 0.01 }
///     [[chains]]
///     name = "chain"
///     capsules = 4
///     [[observables]]
///     name = "momentum"
///     quantity = "momentum"
///     of = "chain"
///     component = "z"
/// "#;
/// // 0.4 m of 0.5 kg/m fall for 0.1 s.
/// let series = run(&Scene::parse("chain.toml", text, &options)?, &RunOptions::default(), &mut |_| {})?.series;
/// assert!((series.last()[0] + 0.2 * 9.81 * 0.1).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
