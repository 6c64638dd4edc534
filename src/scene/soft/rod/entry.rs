//! Rods as data.

use nalgebra::Vector3;
use pliant_der::{
    Linearised, NaturalShape, NaturalShapeSchedule, Rayleigh, RodProperties, Section,
};
use pliant_hydroelastic::Tips;

use super::NaturalScatter;
use crate::scene::soft::{CentrelineEntry, SelfContact};

/// A rod.
///
/// ```
/// use pliant::scene::{Matter, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a steel wire"
///     simulation = { smoke_s = 1 }
///     [[rods]]
///     name = "wire"
///     centreline = { line = { from = [0, 0, 1], to = [1, 0, 1], edges = 20 } }
///     section = { circle = { radius = 0.001 } }
///     youngs_modulus = 200e9
///     stretching_stiffness = 5e5
///     tips = "flat"
/// "#;
/// let scene = Scene::parse("wire.toml", text, &SceneOptions::default())?;
/// let Matter::Rod(wire) = &scene.soft.entries[0].matter else { panic!("it is a rod") };
/// // Bending follows from the section, E π r⁴/4; stretching is given.
/// let expected = 200e9 * std::f64::consts::PI * 1e-12 / 4.0;
/// assert!((wire.properties.bend_1 / expected - 1.0).abs() < 1e-12);
/// assert_eq!((wire.properties.stretch, wire.tips), (5e5, pliant_hydroelastic::Tips::Flat));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RodEntry {
    /// Initial nodes.
    pub centreline: CentrelineEntry,
    /// Cross-section.
    pub section: Section,
    /// Stiffnesses and inertia.
    pub properties: RodProperties,
    /// Rayleigh damping.
    pub damping: Rayleigh,
    /// Mechanical model.
    pub(crate) model: RodModel,
    /// Where the balance of momentum is linearised for contact.
    pub linearised: Linearised,
    /// Director m1 of the first edge.
    pub director: Option<Vector3<f64>>,
    /// Unstressed configuration.
    pub natural: NaturalShape,
    /// Random scatter of the natural strains.
    pub scatter: Option<NaturalScatter>,
    /// Factor on the natural curvature over time.
    pub drive: Option<NaturalShapeSchedule>,
    /// Rest length of edges over their length in the centreline.
    pub rest_length_scale: f64,
    /// How the first and the last node are held.
    pub(crate) ends: [RodEnd; 2],
    /// Shape of the free ends in contact.
    pub tips: Tips,
    /// Self-contact.
    pub(crate) self_contact: SelfContact,
}

/// Mechanical model of a rod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RodModel {
    /// A discrete elastic rod.
    ElasticRod,
    /// Rigid capsules on joints with springs.
    CapsuleChain,
}

/// How an end of a rod is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RodEnd {
    /// Free.
    Free,
    /// Fixed position.
    Pinned,
    /// Fixed position, tangent and spin.
    Clamped,
    /// Fixed position, tangent and spin, by a constraint to another body.
    Welded,
}
