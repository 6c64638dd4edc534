//! The specification of a [`Rod`](crate::Rod).

mod build;
mod ends;
mod initial_frames;

use nalgebra::Vector3;

use crate::centreline::Centreline;
use crate::damping::Rayleigh;
use crate::free_motion_settings::FreeMotionSettings;
use crate::natural_shape::{NaturalShape, NaturalShapeSchedule};
use crate::rod::End;
use crate::section::{Material, RodProperties, Section};

pub use ends::EndCondition;

/// Where a named frame is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FramePosition {
    Edge { edge: usize, fraction: f64 },
    End(End),
}

#[derive(Clone, Debug)]
enum Stiffness {
    None,
    OfSection(Material),
    Uniform(RodProperties),
    PerEdge(Vec<RodProperties>),
}

/// The specification of a rod: centreline, section or stiffnesses, natural shape, ends.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_der::{Centreline, EndCondition, End, Material, RodBuilder, Section};
///
/// let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 40);
/// let rubber = Material::isotropic(1e6, 0.5, 1000.0)?;
/// let rod = RodBuilder::new(line)
///     .section(Section::Circle { radius: 5e-3 }, rubber)
///     .end(End::Start, EndCondition::Clamped { tangent: None })
///     .build()?;
/// assert_eq!(rod.n_nodes(), 41);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RodBuilder {
    centreline: Centreline,
    section: Option<Section>,
    stiffness: Stiffness,
    directors: Vec<Vector3<f64>>,
    natural: NaturalShape,
    natural_shape_schedule: Option<NaturalShapeSchedule>,
    rest_length_scale: f64,
    initial_twist: f64,
    damping: Rayleigh,
    ends: Vec<(End, EndCondition)>,
    pins: Vec<usize>,
    frames: Vec<(String, FramePosition)>,
    settings: FreeMotionSettings,
}

impl RodBuilder {
    /// A rod along `centreline`. By default it is naturally straight, undamped, unstretched and not twisted, and has free ends. It
    /// needs a [`section`](Self::section) or [`properties`](Self::properties); everything else is optional.
    #[must_use]
    pub fn new(centreline: Centreline) -> Self {
        Self {
            centreline,
            section: None,
            stiffness: Stiffness::None,
            directors: Vec::new(),
            natural: NaturalShape::Straight,
            natural_shape_schedule: None,
            rest_length_scale: 1.0,
            initial_twist: 0.0,
            damping: Rayleigh::default(),
            ends: Vec::new(),
            pins: Vec::new(),
            frames: Vec::new(),
            settings: FreeMotionSettings::default(),
        }
    }

    /// A homogeneous rod: stiffnesses, inertia and contact outline follow from its section and material, by
    /// [`Section::properties`]. Axis 1 of the section is the director m1 of each edge, axis 2 is m2 = t × m1.
    #[must_use]
    pub fn section(mut self, section: Section, material: Material) -> Self {
        self.section = Some(section);
        self.stiffness = Stiffness::OfSection(material);
        self
    }

    /// The contact outline alone, for rods whose properties are given directly. Without section and outline, the radius of contact
    /// is zero.
    #[must_use]
    pub fn outline(mut self, section: Section) -> Self {
        self.section = Some(section);
        self
    }

    /// Stiffnesses and inertia given directly, uniform along the rod; replaces those of the section.
    ///
    /// ```
    /// use nalgebra::Point3;
    /// use pliant_der::{Centreline, RodBuilder, RodProperties, Section};
    ///
    /// // A climbing rope of 10 mm: as soft in bending as its strands, far softer than a solid of its stretching stiffness.
    /// let rope = RodProperties { stretch: 2e4, bend_1: 1e-3, bend_2: 1e-3, twist: 1e-3, mass: 0.06, spin_inertia: 7.5e-7 };
    /// let line = Centreline::straight(Point3::origin(), Point3::new(2.0, 0.0, 0.0), 20);
    /// let rod = RodBuilder::new(line).properties(rope).outline(Section::Circle { radius: 5e-3 }).build()?;
    /// assert!((rod.total_mass() - 0.12).abs() < 1e-12); // kg
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    #[must_use]
    pub fn properties(mut self, properties: RodProperties) -> Self {
        self.stiffness = Stiffness::Uniform(properties);
        self
    }

    /// Stiffnesses and inertia of each edge of the centreline, in their order; a joint has the mean of its two edges, weighted by
    /// their rest lengths. [`build`](Self::build) refuses another number of them.
    ///
    /// ```
    /// use nalgebra::Point3;
    /// use pliant_der::{Centreline, Material, RodBuilder, RodError, Section};
    ///
    /// // A fishing rod of carbon that tapers from 8 mm to 2 mm.
    /// let line = Centreline::straight(Point3::origin(), Point3::new(3.0, 0.0, 0.0), 30);
    /// let carbon = Material::isotropic(1e11, 0.3, 1600.0)?;
    /// let radius = |edge: usize| 0.008 - 0.006 * (edge as f64 + 0.5) / 30.0;
    /// let along: Result<Vec<_>, RodError> =
    ///     (0..30).map(|edge| Section::Circle { radius: radius(edge) }.properties(&carbon)).collect();
    /// let rod = RodBuilder::new(line).properties_along(along?).build()?;
    /// assert!(rod.node_mass(1) > 10.0 * rod.node_mass(29));
    /// # Ok::<(), RodError>(())
    /// ```
    #[must_use]
    pub fn properties_along(mut self, properties: Vec<RodProperties>) -> Self {
        self.stiffness = Stiffness::PerEdge(properties);
        self
    }

    /// m1 of the first edge, a unit vector in world axes, at least 5 degrees from the edge; its component along the edge is removed.
    /// The other edges' directors follow by parallel transport, without twist. By default it is the coordinate axis that is least
    /// aligned with the edge.
    ///
    /// ```
    /// use nalgebra::{Point3, Vector3};
    /// use pliant_contact_sap::DeformableModel;
    /// use pliant_der::{Centreline, Material, RodBuilder, Section};
    ///
    /// // A ruler along x that stands on its narrow side: its wide extent, along m1, is vertical.
    /// let line = Centreline::straight(Point3::origin(), Point3::new(0.3, 0.0, 0.0), 10);
    /// let ruler = Section::Rectangle { extent_1: 0.03, extent_2: 0.001 };
    /// let steel = Material::isotropic(2e11, 0.3, 7800.0)?;
    /// let rod = RodBuilder::new(line).section(ruler, steel).director(Vector3::z()).build()?;
    /// let frame = rod.material_frame(&rod.default_state(), 9)?;
    /// assert!((frame * Vector3::x() - Vector3::z()).norm() < 1e-15); // m1
    /// assert!((frame * Vector3::z() - Vector3::x()).norm() < 1e-15); // the tangent
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    #[must_use]
    pub fn director(mut self, director: Vector3<f64>) -> Self {
        self.directors = vec![director];
        self
    }

    /// m1 of every edge of the centreline, unit vectors in world axes: a rod with given material frames, such as a twisted strip.
    /// The rotation from one edge to the next is taken to be less than half a turn.
    #[must_use]
    pub fn directors(mut self, directors: Vec<Vector3<f64>>) -> Self {
        self.directors = directors;
        self
    }

    /// The stress-free shape; straight by default, whatever the centreline.
    #[must_use]
    pub fn natural_shape(mut self, natural: NaturalShape) -> Self {
        self.natural = natural;
        self
    }

    /// Scales the natural curvature and twist over time, counted from 0 in the default state. In a step of backward Euler the shape is
    /// that at its end.
    #[must_use]
    pub fn natural_shape_schedule(mut self, schedule: NaturalShapeSchedule) -> Self {
        self.natural_shape_schedule = Some(schedule);
        self
    }

    /// Ratio of rest lengths to the lengths of the centreline's edges, positive; below 1 for a pretensioned rod. Masses and
    /// stiffnesses are those of the rest lengths.
    ///
    /// ```
    /// use nalgebra::Point3;
    /// use pliant_contact_sap::DeformableModel;
    /// use pliant_der::{Centreline, Material, RodBuilder, Section};
    ///
    /// // A rubber band that is stretched by a quarter where it is placed.
    /// let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
    /// let (section, rubber) = (Section::Circle { radius: 1e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
    /// let band = RodBuilder::new(line).section(section, rubber).rest_length_scale(0.8).build()?;
    /// assert!((band.total_rest_length() - 0.8).abs() < 1e-12);
    /// assert!((band.strains(&band.default_state())?.stretch[3] - 0.25).abs() < 1e-12);
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    #[must_use]
    pub fn rest_length_scale(mut self, scale: f64) -> Self {
        self.rest_length_scale = scale;
        self
    }

    /// Twists the rod uniformly by `angle` (rad) from its first to its last edge, right-handed about the tangent; a closed rod by
    /// multiples of 2π only. The natural shape is not changed.
    ///
    /// ```
    /// use std::f64::consts::TAU;
    /// use pliant_contact_sap::DeformableModel;
    /// use pliant_der::{Centreline, Material, RodBuilder, Section};
    ///
    /// // A ring that was closed after three turns.
    /// let (section, rubber) = (Section::Circle { radius: 2e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
    /// let ring = RodBuilder::new(Centreline::circle(0.1, 40)).section(section, rubber);
    /// let twisted = ring.clone().initial_twist(3.0 * TAU).build()?;
    /// assert!((twisted.total_twist(&twisted.default_state())? - 3.0).abs() < 1e-12);
    /// assert!(ring.initial_twist(1.0).build().is_err()); // its material frame would jump
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    #[must_use]
    pub fn initial_twist(mut self, angle: f64) -> Self {
        self.initial_twist = angle;
        self
    }

    /// Rayleigh damping; none by default. [`build`](Self::build) refuses negative coefficients.
    #[must_use]
    pub fn damping(mut self, damping: Rayleigh) -> Self {
        self.damping = damping;
        self
    }

    /// The boundary condition of an end, free by default. [`build`](Self::build) refuses one on a closed rod, and two different ones on
    /// one end.
    #[must_use]
    pub fn end(mut self, end: End, condition: EndCondition) -> Self {
        self.ends.push((end, condition));
        self
    }

    /// Fixes the position of node `node`, counted from 0 along the centreline, at its initial place, by the default control; the rod
    /// can turn about it.
    #[must_use]
    pub fn pin(mut self, node: usize) -> Self {
        self.pins.push(node);
        self
    }

    /// Adds a named frame on an edge of the centreline, for constraints and loads: its origin at `fraction` of the edge's length, from 0
    /// at its first node to 1 at its second, its axes m1, m2 and the tangent. It turns with the edge's material angle. Names are unique;
    /// [`Rod::frame`](crate::Rod::frame) gives the frame's index.
    ///
    /// ```
    /// use nalgebra::{Point3, Vector3};
    /// use pliant_contact_sap::{DeformableModel, Surface};
    /// use pliant_der::{Centreline, Material, RodBuilder, Section};
    ///
    /// let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
    /// let (section, rubber) = (Section::Circle { radius: 2e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
    /// let rod = RodBuilder::new(line).section(section, rubber).frame("handle", 4, 0.5).build()?;
    /// let mut surface = Surface::default();
    /// rod.surface(&rod.default_state(), &mut surface);
    /// let handle = surface.frames[rod.frame("handle")? as usize];
    /// assert!((handle.translation.vector - Vector3::new(0.45, 0.0, 0.0)).norm() < 1e-15);
    /// assert!((handle * Vector3::z() - Vector3::x()).norm() < 1e-15); // its z axis is the tangent
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    #[must_use]
    pub fn frame(mut self, name: impl Into<String>, edge: usize, fraction: f64) -> Self {
        let position = FramePosition::Edge { edge, fraction };
        self.frames.push((name.into(), position));
        self
    }

    /// Adds a named frame at an end: origin at the end's node, axes of the clamp edge if there is one. Welding it to a body
    /// clamps the rod to that body.
    #[must_use]
    pub fn frame_at_end(mut self, name: impl Into<String>, end: End) -> Self {
        self.frames.push((name.into(), FramePosition::End(end)));
        self
    }

    /// Settings of the free-motion solver, for all steps of the rod.
    #[must_use]
    pub fn free_motion(mut self, settings: FreeMotionSettings) -> Self {
        self.settings = settings;
        self
    }
}
