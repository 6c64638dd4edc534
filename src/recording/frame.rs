//! One frame: poses at one time, and contact forces.

use nalgebra::{Isometry3, Point3, Vector3};

use super::{Between, ParticleStates, PatchForce, RecordingError, Visual, VisualShape};

/// Index into the bodies of a [`Recording`](super::Recording).
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{BodyIdx, Frame, Recording};
///
/// let mut recording = Recording::new("two balls", vec!["red".into(), "blue".into()], Vec::new(), Vec::new())?;
/// let blue = BodyIdx(1);
/// assert_eq!(recording.bodies()[blue.0], "blue");
/// // The poses of a frame are in the same order.
/// let X_WB = vec![Isometry3::identity(), Isometry3::translation(0.0, 0.0, 2.0)];
/// recording.push_frame(Frame { X_WB, ..Frame::default() })?;
/// let frame = recording.frames().last().ok_or("no frame")?;
/// assert_eq!(frame.X_WB[blue.0].translation.z, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIdx(pub usize);

/// The state of the world at one time.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant::recording::{ContactArrow, Frame, Recording, RecordingError};
///
/// let mut recording = Recording::new("a ball on a floor", vec!["ball".into()], Vec::new(), Vec::new())?;
/// let arrow = ContactArrow { p_WC: Point3::origin(), f_W: Vector3::new(0.0, 0.0, 9.81) };
/// let resting = Frame {
///     time_s: 0.0,
///     X_WB: vec![Isometry3::translation(0.0, 0.0, 0.1)],
///     contacts: vec![arrow],
///     ..Frame::default()
/// };
/// recording.push_frame(resting.clone())?;
/// // Times ascend, and a frame has a pose for each body.
/// assert!(matches!(recording.push_frame(resting.clone()), Err(RecordingError::TimeNotIncreasing { .. })));
/// let without = Frame { time_s: 0.1, X_WB: Vec::new(), ..resting };
/// assert!(matches!(recording.push_frame(without), Err(RecordingError::Count { found: 0, expected: 1, .. })));
/// assert_eq!(recording.frames().len(), 1);
/// # Ok::<(), RecordingError>(())
/// ```
#[allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Simulated time, s.
    pub time_s: f64,
    /// Pose of each body's frame B in the world, in the order of the recording's bodies.
    pub X_WB: Vec<Isometry3<f64>>,
    /// Number of contacts, with all of those that are in patches; `None` for that of [`contacts`](Self::contacts).
    pub n_contacts: Option<u32>,
    /// Forces at contacts, in any number. A stable order from frame to frame makes the file smaller.
    pub contacts: Vec<ContactArrow>,
    /// Polygons of contact patches.
    pub patches: PressurePolygons,
    /// Force and moment of the patch of each pair.
    pub patch_forces: Vec<PatchForce>,
    /// The points of the deforming visuals, in the order of the visuals (rigid ones are skipped).
    pub deformed: Vec<Deformed>,
}

impl Frame {
    pub(super) fn contact_count(&self) -> u32 {
        self.n_contacts.unwrap_or(self.contacts.len() as u32)
    }
}

/// A force at a point, drawn as an arrow that starts there.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a box on a floor"
/// #     simulation = { smoke_s = 0.5, time_step_s = 0.01 }
/// #     [[fixed]]
/// #     name = "floor"
/// #     shape = { half_space = {} }
/// #     [[bodies]]
/// #     name = "box"
/// #     shape = { box = { size = [0.2, 0.2, 0.2] } }
/// #     mass = 3
/// #     pose = { position = [0, 0, 0.1] }
/// # "#;
/// # let scene = Scene::parse("box.toml", text, &SceneOptions::default())?;
/// // A box of 3 kg at rest: the forces at its four corners carry its weight.
/// let recording = run(&scene, &RunOptions::default(), &mut |_| {})?.recording;
/// let contacts = &recording.frames().last().ok_or("no frame")?.contacts;
/// let force: Vector3<f64> = contacts.iter().map(|contact| contact.f_W).sum();
/// assert_eq!(contacts.len(), 4);
/// assert!((force.norm() - 3.0 * 9.81).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(
    non_snake_case,
    reason = "monogram frame names such as p_WC are the field's notation"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactArrow {
    /// The contact point in the world, m.
    pub p_WC: Point3<f64>,
    /// The force on the contact's body A, world frame, N.
    pub f_W: Vector3<f64>,
}

/// Convex polygons with a pressure at each corner, world frame.
///
/// ```
/// use nalgebra::Point3;
/// use pliant::recording::{Between, PressurePolygons};
///
/// // A triangle and a square of one patch: their corners stand one after the other.
/// let corner = |x: f64, y: f64| Point3::new(x, y, 0.0);
/// let mut polygons = PressurePolygons::default();
/// polygons.push(Between { a: 0, b: 1 }, &[corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)], &[1e3; 3]);
/// polygons.push(Between { a: 0, b: 1 }, &[corner(1.0, 0.0), corner(2.0, 0.0), corner(2.0, 1.0), corner(1.0, 1.0)], &[2e3; 4]);
/// assert_eq!(polygons.counts(), [3, 4]);
/// assert_eq!(polygons.pressures()[3], 2e3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PressurePolygons {
    points: Vec<Point3<f64>>,
    pressures: Vec<f64>,
    counts: Vec<u32>,
    between: Vec<Between>,
}

impl PressurePolygons {
    /// Adds a polygon of the patch of a pair: its corners in order (m), and the pressure at each (Pa).
    ///
    /// # Panics
    /// Unless there are as many pressures as corners.
    pub fn push(&mut self, between: Between, corners: &[Point3<f64>], pressures: &[f64]) {
        assert_eq!(corners.len(), pressures.len(), "one pressure per corner");
        self.points.extend_from_slice(corners);
        self.pressures.extend_from_slice(pressures);
        self.counts.push(corners.len() as u32);
        self.between.push(between);
    }

    /// The pair of each polygon.
    pub fn between(&self) -> &[Between] {
        &self.between
    }

    /// Number of corners of each polygon.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The corners of all polygons, one polygon after the other, m.
    pub fn points(&self) -> &[Point3<f64>] {
        &self.points
    }

    /// The pressure at each corner, Pa.
    pub fn pressures(&self) -> &[f64] {
        &self.pressures
    }
}

/// The points of a deforming visual.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{Anchor, Color, Deformed, Frame, PointsLook, Recording, RecordingError, Visual, VisualShape};
///
/// let sand = Visual {
///     name: "sand".into(),
///     anchor: Anchor::World,
///     X_BG: Isometry3::identity(),
///     shape: VisualShape::Points { radius: 0.01, look: PointsLook::Grains, scale: None },
///     color: Color::palette(0),
/// };
/// let mut recording = Recording::new("two grains", Vec::new(), vec![sand], Vec::new())?;
/// let at = |values: Vec<f64>| {
///     let points = vec![[0.0, 0.0, 0.1].into(), [0.0, 0.0, 0.2].into()];
///     Frame { deformed: vec![Deformed { points, values, states: None }], ..Frame::default() }
/// };
/// // There are values for all points, or none.
/// assert!(matches!(recording.push_frame(at(vec![1.0])), Err(RecordingError::Count { found: 1, expected: 2, .. })));
/// recording.push_frame(at(Vec::new()))?;
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deformed {
    /// Positions, world frame, m. For a deforming mesh, as many as it has vertices.
    pub points: Vec<Point3<f64>>,
    /// Value of each point, in the unit of the visual's [`ValueScale`](super::ValueScale), or empty.
    pub values: Vec<f64>,
    /// State of particles for other programs, if requested.
    pub states: Option<ParticleStates>,
}

impl Deformed {
    /// A selection of its points.
    pub(super) fn of_points(&self, selected: &[u32]) -> Self {
        let pick = |v: &u32| *v as usize;
        let values = selected.iter().filter(|_| !self.values.is_empty());
        Self {
            points: selected.iter().map(|v| self.points[pick(v)]).collect(),
            values: values.map(|v| self.values[pick(v)]).collect(),
            states: None,
        }
    }
}

impl Frame {
    pub(super) fn check(
        &self,
        bodies: &[String],
        visuals: &[Visual],
        parts: &[String],
    ) -> Result<(), RecordingError> {
        let time_s = self.time_s;
        let count = |what: &str, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            Err(RecordingError::Count {
                what: what.to_owned(),
                time_s,
                found,
                expected,
            })
        };
        let not_finite = |what: String| Err(RecordingError::NotFinite { what, time_s });

        count("poses", self.X_WB.len(), bodies.len())?;
        for (body, pose) in bodies.iter().zip(&self.X_WB) {
            if !(is_finite(&pose.translation.vector)
                && pose.rotation.coords.iter().all(|x| x.is_finite()))
            {
                return not_finite(format!("the pose of body {body:?}"));
            }
        }
        for (at, contact) in self.contacts.iter().enumerate() {
            if !(is_finite(&contact.p_WC.coords) && is_finite(&contact.f_W)) {
                return not_finite(format!(
                    "contact {at} (point {}, force {})",
                    contact.p_WC,
                    contact.f_W.transpose()
                ));
            }
        }
        let patches = &self.patches;
        if let Some(at) = patches.points.iter().position(|p| !is_finite(&p.coords)) {
            return not_finite(format!("corner {at} of the patches"));
        }
        if let Some(at) = patches.pressures.iter().position(|p| !p.is_finite()) {
            return not_finite(format!("pressure {at} of the patches"));
        }
        for (at, patch) in self.patch_forces.iter().enumerate() {
            let PatchForce {
                area,
                pressure_max,
                p_WC,
                f_W,
                m_W,
                ..
            } = patch;
            let vectors = [&p_WC.coords, f_W, m_W];
            if !(area.is_finite() && pressure_max.is_finite() && vectors.into_iter().all(is_finite))
            {
                return not_finite(format!("what passes through patch {at}"));
            }
        }
        let forces = self.patch_forces.iter().map(|patch| &patch.between);
        let highest = forces
            .chain(&self.patches.between)
            .map(|x| x.a.max(x.b) as usize + 1)
            .max();
        if let Some(highest) = highest.filter(|n| *n > parts.len()) {
            count("parts that patches are between", highest, parts.len())?;
        }
        let soft: Vec<&Visual> = visuals
            .iter()
            .filter(|visual| visual.shape.deforms())
            .collect();
        count("deformed shapes", self.deformed.len(), soft.len())?;
        for (visual, deformed) in soft.iter().zip(&self.deformed) {
            if let VisualShape::DeformingMesh { n_vertices, .. } = visual.shape {
                count(
                    &format!("vertices of {:?}", visual.name),
                    deformed.points.len(),
                    n_vertices as usize,
                )?;
            }
            if !deformed.values.is_empty() {
                count(
                    &format!("values of {:?}", visual.name),
                    deformed.values.len(),
                    deformed.points.len(),
                )?;
            }
            if let Some(at) = deformed.points.iter().position(|p| !is_finite(&p.coords)) {
                return not_finite(format!("point {at} of {:?}", visual.name));
            }
            if let Some(at) = deformed.values.iter().position(|value| !value.is_finite()) {
                return not_finite(format!("value {at} of {:?}", visual.name));
            }
            let Some(states) = &deformed.states else {
                continue;
            };
            for (what, found) in states.lengths() {
                let what = format!("{what} of {:?}", visual.name);
                count(&what, found, deformed.points.len())?;
            }
            if let Some(at) = states.not_finite() {
                return not_finite(format!("the state of particle {at} of {:?}", visual.name));
            }
        }
        Ok(())
    }
}

/// Also false for values that overflow single precision, in which pictures are drawn.
fn is_finite(v: &Vector3<f64>) -> bool {
    v.iter().all(|x| x.abs() < 1e15)
}
