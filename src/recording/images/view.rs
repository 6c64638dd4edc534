//! The visuals of a recording as surfaces that rays meet, and the image of a frame.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::AnalyticShape;
use rayon::prelude::*;

use super::ImageSensor;
use super::bvh::Bvh;
use super::primitive::{Primitive, Ray};
use crate::recording::paraview::Surface;
use crate::recording::{Anchor, Color, Deformed, Frame, ThreadEnds, Visual, VisualShape};

/// Where no ray meets anything.
const SKY: [u8; 3] = [235, 240, 245];

/// The part of the light that reaches every surface, however it is turned.
const AMBIENT: f64 = 0.35;

/// An image: rows from the top, pixels from the left.
///
/// ```
/// use nalgebra::Point3;
/// use pliant::runner::{Simulation, View};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a red ball"
/// #     simulation = { smoke_s = 1 }
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     color = [1, 0, 0]
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// // A red ball of radius 0.1 m, seen from a distance of 1 m.
/// let view = View::At { eye: Point3::new(0.0, -1.0, 0.0), target: Point3::origin(), field_of_view: 0.6 };
/// let image = Simulation::new(&scene)?.image(&view, [31, 21])?;
/// let pixel = |x: usize, y: usize| image.size[0] * y + x;
/// let [red, green, blue] = image.colors[pixel(15, 10)];
/// assert!(red > 250 && green == 0 && blue == 0);
/// assert!((image.depths[pixel(15, 10)] - 0.9).abs() < 1e-6);
/// // There is nothing in the corner.
/// assert_eq!(image.depths[pixel(0, 0)], f32::INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Width and height, pixels.
    pub size: [usize; 2],
    /// sRGB.
    pub colors: Vec<[u8; 3]>,
    /// Distance along the optical axis, m; infinite where there is nothing.
    pub depths: Vec<f32>,
}

/// The rigid surfaces of visuals, made once for many images.
pub(crate) struct Stage {
    rigid: Vec<Solid>,
}

/// A rigid surface in its own frame.
enum Solid {
    Plane,
    Tree(Bvh),
    /// Deforms, or is transparent.
    None,
}

/// What is in one frame, posed.
enum Posed<'s> {
    /// z ≤ 0 of its frame.
    Plane(Isometry3<f64>),
    Tree(Isometry3<f64>, &'s Bvh),
    World(Bvh),
}

impl Stage {
    pub(crate) fn new(visuals: &[Visual]) -> Self {
        let solid = |visual: &Visual| match &visual.shape {
            _ if visual.color.opacity < 0.5 => Solid::None,
            VisualShape::Analytic(AnalyticShape::HalfSpace {}) => Solid::Plane,
            shape if shape.deforms() => Solid::None,
            // Sizes have been checked with the recording.
            shape => match Surface::of(shape, 1.0) {
                Ok(surface) => {
                    Solid::Tree(Bvh::new(triangles(&surface.vertices, &surface.triangles)))
                }
                Err(_) => Solid::None,
            },
        };
        Self {
            rigid: visuals.iter().map(solid).collect(),
        }
    }

    /// What `sensor` sees in `frame` of the visuals of the stage.
    pub(crate) fn image(&self, visuals: &[Visual], sensor: &ImageSensor, frame: &Frame) -> Image {
        let anchored = |anchor: Anchor| match anchor {
            Anchor::World => Isometry3::identity(),
            Anchor::Body(body) => frame.X_WB[body.0],
        };
        let X_WS = anchored(sensor.anchor) * sensor.X_BS;
        let mut deformed = frame.deformed.iter();
        let mut posed: Vec<(Posed<'_>, Color)> = Vec::new();
        for (visual, solid) in visuals.iter().zip(&self.rigid) {
            let X_WG = anchored(visual.anchor) * visual.X_BG;
            let points = visual.shape.deforms().then(|| deformed.next()).flatten();
            let surface = match (solid, points) {
                (Solid::Plane, _) => Posed::Plane(X_WG),
                (Solid::Tree(tree), _) => Posed::Tree(X_WG, tree),
                (Solid::None, Some(points)) if visual.color.opacity >= 0.5 => {
                    Posed::World(Bvh::new(pieces(&visual.shape, points)))
                }
                (Solid::None, _) => continue,
            };
            posed.push((surface, visual.color));
        }
        let [width, height] = sensor.size;
        let focal = sensor.focal_length();
        let pixel = |index: usize| {
            let (row, column) = (index / width, index % width);
            // Along z by one, so that distances are depths.
            let along = Vector3::new(
                (column as f64 + 0.5 - 0.5 * width as f64) / focal,
                (row as f64 + 0.5 - 0.5 * height as f64) / focal,
                1.0,
            );
            let ray = Ray {
                origin: X_WS.translation.vector.into(),
                direction: X_WS.rotation * along,
            };
            seen(&posed, &ray)
        };
        let pixels: Vec<([u8; 3], f32)> = (0..width * height).into_par_iter().map(pixel).collect();
        let (colors, depths) = pixels.into_iter().unzip();
        Image {
            size: sensor.size,
            colors,
            depths,
        }
    }
}

fn seen(posed: &[(Posed<'_>, Color)], ray: &Ray) -> ([u8; 3], f32) {
    let mut nearest = f64::INFINITY;
    let mut found: Option<(Vector3<f64>, Color)> = None;
    for (surface, color) in posed {
        let hit = match surface {
            Posed::Plane(X_WG) => {
                let normal = X_WG.rotation * Vector3::z();
                let height = normal.dot(&(ray.origin.coords - X_WG.translation.vector));
                let distance = -height / normal.dot(&ray.direction);
                (distance > 0.0 && distance < nearest).then_some((distance, normal))
            }
            Posed::Tree(X_WG, tree) => {
                let local = Ray {
                    origin: X_WG.inverse_transform_point(&ray.origin),
                    direction: X_WG.inverse_transform_vector(&ray.direction),
                };
                let hit = tree.hit(&local, nearest);
                hit.map(|hit| (hit.distance, X_WG.rotation * hit.normal))
            }
            Posed::World(tree) => (tree.hit(ray, nearest)).map(|hit| (hit.distance, hit.normal)),
        };
        if let Some((distance, normal)) = hit {
            nearest = distance;
            found = Some((normal, *color));
        }
    }
    match found {
        Some((normal, color)) => (lit(&color, &normal, &ray.direction), nearest as f32),
        None => (SKY, f32::INFINITY),
    }
}

/// Lit from the camera: a surface is brightest where it faces it.
fn lit(color: &Color, normal: &Vector3<f64>, direction: &Vector3<f64>) -> [u8; 3] {
    let lengths = normal.norm() * direction.norm();
    let facing = match lengths > 0.0 {
        true => (normal.dot(direction) / lengths).abs(),
        false => 0.0,
    };
    let light = AMBIENT + (1.0 - AMBIENT) * facing;
    [color.red, color.green, color.blue].map(|c| (255.0 * c * light).round() as u8)
}

fn triangles(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Vec<Primitive> {
    let corner = |v: u32| Point3::from(vertices[v as usize]);
    let triangles = triangles.iter();
    triangles
        .map(|t| Primitive::Triangle(t.map(corner)))
        .collect()
}

/// The surface of what deforms, in the world.
fn pieces(shape: &VisualShape, deformed: &Deformed) -> Vec<Primitive> {
    let points = &deformed.points;
    match shape {
        VisualShape::DeformingMesh { triangles, .. } => {
            let corners = |t: &[u32; 3]| t.map(|v| points[v as usize]);
            let triangles = triangles.iter();
            triangles.map(|t| Primitive::Triangle(corners(t))).collect()
        }
        VisualShape::Points { radius, .. } => {
            let ball = |p: &Point3<f64>| Primitive::Capsule([*p; 2], *radius);
            points.iter().map(ball).collect()
        }
        VisualShape::Thread { radius, ends, .. } => {
            let joined = match ends {
                ThreadEnds::Joined => points.last().zip(points.first()),
                ThreadEnds::Open => None,
            };
            let segments = points.iter().zip(points.iter().skip(1)).chain(joined);
            segments
                .map(|(a, b)| Primitive::Capsule([*a, *b], *radius))
                .collect()
        }
        VisualShape::Analytic(_) | VisualShape::Mesh { .. } => Vec::new(),
    }
}
