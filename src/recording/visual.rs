//! Visuals: shape, colour and pose on a body.

use nalgebra::{Isometry3, Point3};
use pliant_hydroelastic::{AnalyticShape, Shape};

use super::{BodyIdx, Color, RecordingError};

/// A drawn shape. A body may have several; one without a body is fixed in the world.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant::recording::{Anchor, Color, Recording, RecordingError, Visual};
/// use pliant_hydroelastic::AnalyticShape;
///
/// let table = Visual {
///     name: "table".into(),
///     anchor: Anchor::World,
///     X_BG: Isometry3::translation(0.0, 0.0, -0.05),
///     shape: AnalyticShape::Box { size: Vector3::new(1.0, 1.0, 0.1) }.into(),
///     color: Color::GROUND,
/// };
/// Recording::new("a table", Vec::new(), vec![table.clone()], Vec::new())?;
/// // Colours are in 0..=1.
/// let glaring = Visual { color: Color::rgb(2.0, 0.0, 0.0), ..table };
/// assert!(matches!(Recording::new("too red", Vec::new(), vec![glaring], Vec::new()), Err(RecordingError::Shape { .. })));
/// # Ok::<(), RecordingError>(())
/// ```
#[allow(
    non_snake_case,
    reason = "monogram frame names such as X_BG are the field's notation"
)]
#[derive(Clone, Debug)]
pub struct Visual {
    /// Name, shown when the pointer rests on it.
    pub name: String,
    /// The body it is attached to, or the world.
    pub anchor: Anchor,
    /// Pose of the shape's frame G in the frame B of its anchor (the world, for [`Anchor::World`]). Shapes that deform
    /// are recorded in the world frame and ignore it.
    pub X_BG: Isometry3<f64>,
    /// The shape, in frame G.
    pub shape: VisualShape,
    /// Colour; recorded values with a [`ValueScale`] override it.
    pub color: Color,
}

/// What a [`Visual`] is attached to.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant::recording::{Anchor, BodyIdx, Color, Recording, RecordingError, Visual};
/// use pliant_hydroelastic::AnalyticShape;
///
/// let ball = |anchor: Anchor| Visual {
///     name: "ball".into(),
///     anchor,
///     X_BG: Isometry3::identity(),
///     shape: AnalyticShape::Sphere { radius: 0.1 }.into(),
///     color: Color::palette(0),
/// };
/// // A recording without bodies has visuals in the world only.
/// assert!(Recording::new("a ball", Vec::new(), vec![ball(Anchor::World)], Vec::new()).is_ok());
/// let error = Recording::new("a ball", Vec::new(), vec![ball(Anchor::Body(BodyIdx(0)))], Vec::new()).unwrap_err();
/// assert!(matches!(error, RecordingError::UnknownBody { body_idx: 0, n_bodies: 0, .. }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Fixed in the world.
    World,
    /// Attached to a body of the recording.
    Body(BodyIdx),
}

/// The shape of a [`Visual`] in its own frame G; lengths in m.
///
/// ```
/// use nalgebra::Point3;
/// use pliant::recording::VisualShape;
/// use pliant_hydroelastic::AnalyticShape;
///
/// // A shape with sizes, and one that moves point by point.
/// let ball = VisualShape::from(AnalyticShape::Sphere { radius: 0.1 });
/// let triangles = vec![[0, 1, 2], [0, 2, 3]];
/// let cloth = VisualShape::DeformingMesh { n_vertices: 4, triangles: triangles.clone(), tetrahedra: Vec::new(), scale: None };
/// assert!(cloth.deforms() && !ball.deforms());
/// // A mesh on a body has its vertices from the beginning.
/// let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
/// let vertices = corners.map(|[x, y]| Point3::new(x, y, 0.0)).to_vec();
/// assert!(!VisualShape::Mesh { vertices, triangles }.deforms());
/// ```
#[derive(Clone, Debug)]
pub enum VisualShape {
    /// A shape given by its sizes.
    Analytic(AnalyticShape),
    /// A surface of triangles, counter-clockwise seen from outside.
    Mesh {
        /// Positions of the vertices, m.
        vertices: Vec<Point3<f64>>,
        /// Vertex indices of each triangle.
        triangles: Vec<[u32; 3]>,
    },
    /// A deforming surface; its vertices are in [`Frame::deformed`](super::Frame::deformed).
    DeformingMesh {
        /// Number of vertices in every frame.
        n_vertices: u32,
        /// Vertex indices of each triangle, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
        /// Vertex indices of tetrahedra inside, for other programs; empty for a shell. Not drawn.
        tetrahedra: Vec<[u32; 4]>,
        /// Colour scale of recorded values at the vertices.
        scale: Option<ValueScale>,
    },
    /// Particles, whose number may change from frame to frame.
    Points {
        /// Radius of each, m: half the distance of neighbours.
        radius: f64,
        /// As what they are drawn.
        look: PointsLook,
        /// Colour scale of recorded values.
        scale: Option<ValueScale>,
    },
    /// A round thread through moving points.
    Thread {
        /// Radius of its cross-section, m.
        radius: f64,
        /// Whether the last point is joined to the first.
        ends: ThreadEnds,
        /// Colour scale of recorded values.
        scale: Option<ValueScale>,
    },
}

/// As what particles are drawn. In scenes the constitutive law decides.
///
/// ```
/// use pliant::recording::{PointsLook, VisualShape};
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "sand and water"
/// #     simulation = { smoke_s = 1 }
/// #     grid = { spacing = 0.05 }
/// #     [[material_points]]
/// #     name = "sand"
/// #     shape = { box = { size = [0.1, 0.1, 0.1] } }
/// #     constitutive_material = "dry-sand"
/// #     [[material_points]]
/// #     name = "water"
/// #     shape = { box = { size = [0.1, 0.1, 0.1] } }
/// #     pose = { position = [1, 0, 0] }
/// #     constitutive_material = "shallow-water"
/// # "#;
/// # let scene = Scene::parse("wet.toml", text, &SceneOptions::default())?;
/// let recording = Simulation::new(&scene)?.finish()?.recording;
/// let looks = recording.visuals().iter().map(|visual| match &visual.shape {
///     VisualShape::Points { look, .. } => Some(*look),
///     _ => None,
/// });
/// assert_eq!(looks.collect::<Vec<_>>(), [Some(PointsLook::Grains), Some(PointsLook::Liquid)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointsLook {
    /// Each as a sphere.
    #[default]
    Grains,
    /// Together as the surface of a solid.
    Solid,
    /// Together as the surface of a liquid, which is translucent.
    Liquid,
}

/// Whether a thread is a loop.
///
/// ```
/// use pliant::recording::{ThreadEnds, VisualShape};
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a ring of rubber"
///     simulation = { smoke_s = 1 }
///     [[rods]]
///     name = "ring"
///     centreline = { circle = { radius = 0.1, edges = 40 } }
///     section = { circle = { radius = 0.002 } }
///     youngs_modulus = 1e6
/// "#;
/// let scene = Scene::parse("ring.toml", text, &SceneOptions::default())?;
/// let recording = Simulation::new(&scene)?.finish()?.recording;
/// let VisualShape::Thread { radius, ends, .. } = &recording.visuals()[0].shape else { panic!("a rod is a thread") };
/// assert_eq!(*ends, ThreadEnds::Joined);
/// assert!((radius - 0.002).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEnds {
    /// Two free ends.
    Open,
    /// A loop.
    Joined,
}

/// Name, unit and range of recorded values; the range is mapped to colours from dark to bright.
///
/// ```
/// use nalgebra::{Isometry3, Point3};
/// use pliant::recording::{Anchor, Color, Deformed, Frame, PointsLook, Recording, ValueScale, Visual, VisualShape};
///
/// let speed = ValueScale { name: "speed".into(), unit: "m/s".into(), min: 0.0, max: 1.0 };
/// let shape = VisualShape::Points { radius: 0.01, look: PointsLook::Grains, scale: Some(speed) };
/// let sand = Visual { name: "sand".into(), anchor: Anchor::World, X_BG: Isometry3::identity(), shape, color: Color::palette(0) };
/// let mut recording = Recording::new("sand", Vec::new(), vec![sand], Vec::new())?;
/// let deformed = vec![Deformed { points: vec![Point3::origin(); 2], values: vec![3.0, 5.0], states: None }];
/// recording.push_frame(Frame { deformed, ..Frame::default() })?;
/// // The brightest colour was that of 1 m/s; it becomes that of the fastest grains.
/// recording.fit_scales(&[0]);
/// let VisualShape::Points { scale: Some(scale), .. } = &recording.visuals()[0].shape else { panic!("it is of points") };
/// assert!(scale.min == 0.0 && scale.max > 4.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ValueScale {
    /// Name, as in the legend: "pressure".
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Value of the darkest colour.
    pub min: f64,
    /// Value of the brightest colour.
    pub max: f64,
}

impl From<AnalyticShape> for VisualShape {
    fn from(shape: AnalyticShape) -> Self {
        Self::Analytic(shape)
    }
}

impl VisualShape {
    /// Whether its points are in the frames ([`Frame::deformed`](super::Frame::deformed)).
    pub fn deforms(&self) -> bool {
        matches!(
            self,
            Self::DeformingMesh { .. } | Self::Points { .. } | Self::Thread { .. }
        )
    }

    /// The colour scale of recorded values, if any.
    pub(super) fn scale_mut(&mut self) -> Option<&mut ValueScale> {
        match self {
            Self::DeformingMesh { scale, .. }
            | Self::Points { scale, .. }
            | Self::Thread { scale, .. } => scale.as_mut(),
            _ => None,
        }
    }

    /// What is invalid, if anything.
    fn fault(&self) -> Option<String> {
        match self {
            Self::Analytic(shape) => size_fault(shape),
            Self::Points { radius, scale, .. } | Self::Thread { radius, scale, .. } => {
                let sphere = AnalyticShape::Sphere { radius: *radius };
                size_fault(&sphere).or_else(|| scale_fault(scale))
            }
            Self::Mesh {
                vertices,
                triangles,
            } => vertices
                .iter()
                .position(|p| !p.coords.iter().all(|c| c.is_finite()))
                .map(|at| format!("vertex {at} is not finite"))
                .or_else(|| cell_fault("triangle", triangles, vertices.len())),
            Self::DeformingMesh {
                n_vertices,
                triangles,
                tetrahedra,
                scale,
            } => cell_fault("triangle", triangles, *n_vertices as usize)
                .or_else(|| cell_fault("tetrahedron", tetrahedra, *n_vertices as usize))
                .or_else(|| scale_fault(scale)),
        }
    }
}

fn size_fault(shape: &AnalyticShape) -> Option<String> {
    let checked = match *shape {
        // The length of a capsule fitted to a link may be zero.
        AnalyticShape::Capsule {
            radius,
            length: 0.0,
        } => Shape::sphere(radius),
        _ => Shape::try_from(shape),
    };
    checked.err().map(|error| error.to_string())
}

fn cell_fault<const N: usize>(what: &str, cells: &[[u32; N]], n_vertices: usize) -> Option<String> {
    cells
        .iter()
        .enumerate()
        .find(|(_, corners)| corners.iter().any(|&v| v as usize >= n_vertices))
        .map(|(at, corners)| {
            format!("{what} {at} {corners:?} refers to a vertex beyond the last of {n_vertices}")
        })
}

fn scale_fault(scale: &Option<ValueScale>) -> Option<String> {
    scale
        .as_ref()
        .filter(|s| !(s.min.is_finite() && s.max.is_finite() && s.min < s.max))
        .map(|s| {
            format!(
                "values {:?} range from {} to {}; the range must be finite and not empty",
                s.name, s.min, s.max
            )
        })
}

impl Visual {
    pub(super) fn check(&self, n_bodies: usize) -> Result<(), RecordingError> {
        if let Anchor::Body(BodyIdx(body_idx)) = self.anchor
            && body_idx >= n_bodies
        {
            return Err(RecordingError::UnknownBody {
                visual: self.name.clone(),
                body_idx,
                n_bodies,
            });
        }
        let Color {
            red,
            green,
            blue,
            opacity,
        } = self.color;
        let pose_is_finite = self.X_BG.to_homogeneous().iter().all(|x| x.is_finite());
        let fault = if !pose_is_finite {
            Some("its pose on the body is not finite".to_owned())
        } else if ![red, green, blue, opacity]
            .iter()
            .all(|c| (0.0..=1.0).contains(c))
        {
            Some(format!(
                "colour ({red}, {green}, {blue}), opacity {opacity}: each must lie in 0..=1"
            ))
        } else {
            self.shape.fault()
        };
        match fault {
            Some(reason) => Err(RecordingError::Shape {
                visual: self.name.clone(),
                reason,
            }),
            None => Ok(()),
        }
    }
}
