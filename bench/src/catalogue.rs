//! The scenes of the comparison.

mod patches;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use pliant_hydroelastic::{AnalyticShape, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::scene::{Arm, Fixed, Free, Hydroelastic, Pose, Scene, Solid, Surface};

/// Edge of the cell in which one body of the clutter starts, m.
const CELL: f64 = 0.13;
/// Density of the bodies, kg/m³.
const DENSITY: f64 = 1000.0;

/// Two surfaces give 5e4 N/m: half a kilogram sinks by 0.1 mm.
const SURFACE: Surface = Surface {
    stiffness: 1e5,
    dissipation: 10.0,
    relaxation_time_s: 0.02,
    friction: 0.5,
};

/// The scenes in which points are compared.
pub const NAMES: [&str; 7] = [
    "clutter",
    "box-stack",
    "arm",
    "box-on-box",
    "bowl",
    "boxes",
    "pepper",
];
/// The scenes in which patches are compared.
pub const PATCH_NAMES: [&str; 4] = ["box-on-box", "bowl", "boxes", "pepper"];

/// Hard rubber.
const MODULUS: f64 = 1e7;

/// The scene of this name.
#[must_use]
pub fn find(name: &str) -> Option<Scene> {
    match name {
        "clutter" => Some(clutter(40)),
        "box-stack" => Some(box_stack(10)),
        "arm" => Some(arm()),
        "box-on-box" => Some(patches::box_on_box()),
        "bowl" => Some(patches::bowl()),
        "boxes" => Some(patches::boxes(40)),
        "pepper" => Some(patches::pepper()),
        _ => {
            let n = name.strip_prefix("clutter-")?.parse().ok()?;
            Some(clutter(n))
        }
    }
}

/// `n_bodies` boxes, spheres, cylinders and capsules, dropped into a bin.
///
/// The bin's floor has 38 cm² for each body, so the heap is about as deep for any number.
#[must_use]
pub fn clutter(n_bodies: usize) -> Scene {
    Scene {
        name: format!("clutter-{n_bodies}"),
        ..heap(n_bodies, |i| i)
    }
}

/// A bin and bodies above it; `kind` of a body's number: 0 a box, 1 a sphere, 2 a cylinder, 3 a capsule, and round again.
fn heap(n_bodies: usize, kind: impl Fn(usize) -> usize) -> Scene {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let width = 0.39 * (n_bodies as f64 / 40.0).sqrt();
    // The nudge keeps 3 cells of 0.13 m in 0.39 m.
    let columns = ((width / CELL + 1e-9).floor() as usize).max(1);
    let free = (0..n_bodies)
        .map(|i| {
            let (layer, cell) = (i / (columns * columns), i % (columns * columns));
            let place = |k: usize| (k as f64 - 0.5 * (columns as f64 - 1.0)) * CELL;
            let height = 0.08 + CELL * layer as f64;
            let (x, y) = (place(cell % columns), place(cell / columns));
            free_body(format!("body {i}"), kind(i), [x, y, height], &mut random)
        })
        .collect();
    Scene {
        name: "heap".into(),
        time_step_s: 0.005,
        warm_up_steps: 20,
        steps_per_chunk: 29,
        n_chunks: 20,
        gravity: [0.0, 0.0, -9.81],
        surface: SURFACE,
        fixed: bin(width),
        free,
        arm: None,
    }
}

/// A floor and four walls around a square of edge `width`.
fn bin(width: f64) -> Vec<Fixed> {
    let (thickness, height) = (0.1, 1.5);
    let outer = width + 2.0 * thickness;
    let offset = 0.5 * (width + thickness);
    let part = |name: &str, lengths: [f64; 3], position: [f64; 3]| Fixed {
        name: name.into(),
        hydroelastic: Hydroelastic::Rigid {
            edge_length: thickness,
        },
        solid: AnalyticShape::Box {
            size: lengths.into(),
        }
        .into(),
        pose: Pose::at(position[0], position[1], position[2]),
    };
    let along_x = [outer, thickness, height];
    let along_y = [thickness, width, height];
    let up = 0.5 * height;
    vec![
        part(
            "floor",
            [outer, outer, thickness],
            [0.0, 0.0, -0.5 * thickness],
        ),
        part("wall -x", along_y, [-offset, 0.0, up]),
        part("wall +x", along_y, [offset, 0.0, up]),
        part("wall -y", along_x, [0.0, -offset, up]),
        part("wall +y", along_x, [0.0, offset, up]),
    ]
}

/// A body of random size and orientation that fits into a cell of the starting lattice.
fn free_body(name: String, kind: usize, position: [f64; 3], random: &mut ChaCha8Rng) -> Free {
    loop {
        let mut length = |low: f64, high: f64| random.random_range(low..high);
        let spec = match kind % 4 {
            0 => AnalyticShape::Box {
                size: [length(0.05, 0.11), length(0.05, 0.11), length(0.05, 0.11)].into(),
            },
            1 => AnalyticShape::Sphere {
                radius: length(0.035, 0.06),
            },
            2 => AnalyticShape::Cylinder {
                radius: length(0.03, 0.055),
                length: length(0.05, 0.11),
            },
            _ => AnalyticShape::Capsule {
                radius: length(0.025, 0.04),
                length: length(0.04, 0.08),
            },
        };
        let mut component = || random.random_range(-1.0..1.0);
        let rotation = Quaternion::new(component(), component(), component(), component());
        if rotation.norm() < 0.1 {
            continue;
        }
        let rotation = UnitQuaternion::from_quaternion(rotation);
        let shape = Shape::try_from(&spec).expect("sizes are positive");
        let extent = shape.aabb(&Isometry3::from_parts(Default::default(), rotation));
        if (extent.max - extent.min).max() < CELL - 0.002 {
            return homogeneous(name, spec.into(), &shape, position, rotation);
        }
    }
}

fn homogeneous(
    name: String,
    solid: Solid,
    shape: &Shape,
    position: [f64; 3],
    rotation: UnitQuaternion<f64>,
) -> Free {
    let properties = shape
        .mass_properties(DENSITY)
        .expect("a bounded solid has a mass");
    let X_WB = Isometry3::from_parts(Vector3::from(position).into(), rotation);
    Free {
        name,
        hydroelastic: Hydroelastic::Compliant {
            modulus: MODULUS,
            edge_length: smallest_length(&solid),
        },
        solid,
        mass: properties.mass,
        inertia: properties.inertia.diagonal().into(),
        pose: Pose::of(&X_WB),
    }
}

/// Smallest length of a solid, m.
fn smallest_length(solid: &Solid) -> f64 {
    match solid {
        Solid::Analytic(AnalyticShape::Box { size }) => size.min(),
        Solid::Analytic(
            AnalyticShape::Sphere { radius }
            | AnalyticShape::Cylinder { radius, .. }
            | AnalyticShape::Capsule { radius, .. },
        ) => *radius,
        _ => 0.02,
    }
}

/// `n_boxes` cubes of 0.1 m and 1 kg, one on the other, resting on a half space.
#[must_use]
pub fn box_stack(n_boxes: usize) -> Scene {
    let edge = 0.1;
    let moment = edge * edge / 6.0;
    Scene {
        name: "box-stack".into(),
        // At 5 ms Drake's stack falls over, with points and with patches.
        time_step_s: 0.001,
        warm_up_steps: 200,
        steps_per_chunk: 150,
        n_chunks: 20,
        gravity: [0.0, 0.0, -9.81],
        surface: SURFACE,
        fixed: vec![Fixed {
            name: "floor".into(),
            solid: AnalyticShape::HalfSpace {}.into(),
            hydroelastic: Hydroelastic::Rigid { edge_length: edge },
            pose: Pose::at(0.0, 0.0, 0.0),
        }],
        free: (0..n_boxes)
            .map(|k| Free {
                name: format!("box {k}"),
                solid: AnalyticShape::Box {
                    size: Vector3::repeat(edge),
                }
                .into(),
                hydroelastic: Hydroelastic::Compliant {
                    modulus: MODULUS,
                    edge_length: edge,
                },
                mass: 1.0,
                inertia: [moment; 3],
                pose: Pose::at(0.0, 0.0, (k as f64 + 0.5) * edge),
            })
            .collect(),
        arm: None,
    }
}

/// The project's seven-joint arm, its joints following a path between rest points under PD control.
#[must_use]
pub fn arm() -> Scene {
    Scene {
        name: "arm".into(),
        time_step_s: 0.005,
        warm_up_steps: 50,
        steps_per_chunk: 100,
        n_chunks: 15,
        gravity: [0.0, 0.0, -9.81],
        surface: SURFACE,
        fixed: Vec::new(),
        free: Vec::new(),
        arm: Some(Arm {
            urdf: "robots/arm7.urdf".into(),
            hydroelastic: Hydroelastic::Rigid { edge_length: 0.1 },
            proportional: vec![2000.0, 2000.0, 1500.0, 1500.0, 800.0, 500.0, 300.0],
            derivative: vec![150.0, 150.0, 100.0, 100.0, 50.0, 30.0, 20.0],
            knot_interval_s: 1.5,
            knots: vec![
                vec![0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0],
                vec![0.9, 1.0, -0.5, -0.6, 0.7, 1.2, -0.8],
                vec![-0.7, 0.4, 0.6, -1.5, -0.9, 0.3, 1.1],
                vec![0.3, 0.9, 0.2, -0.9, 0.4, -0.6, 0.5],
                vec![0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0],
                vec![0.5, 0.2, 0.4, -1.6, 0.3, 0.9, -0.4],
            ],
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_scene_survives_its_file() {
        for name in NAMES.into_iter().chain(["clutter-10"]) {
            let scene = find(name).expect("it is in the catalogue");
            let text = serde_json::to_string(&scene).expect("plain data");
            let read: Scene = serde_json::from_str(&text).expect("its own text");
            assert_eq!(scene, read);
        }
        assert!(find("clutter-few").is_none());
    }

    #[test]
    fn bodies_of_the_clutter_start_apart_and_inside_the_bin() {
        for n in [10, 40, 160] {
            let scene = clutter(n);
            let half_width = 0.5 * 0.39 * (n as f64 / 40.0).sqrt();
            let boxes: Vec<_> = scene
                .free
                .iter()
                .map(|b| {
                    let shape = b.solid.shape(&b.name, Path::new(".")).expect("legal");
                    shape.aabb(&b.pose.isometry())
                })
                .collect();
            for (i, a) in boxes.iter().enumerate() {
                let reach = a.max.x.max(a.max.y).max(-a.min.x).max(-a.min.y);
                assert!(reach < half_width && a.min.z > 0.0, "{n}: {a:?}");
                assert!(boxes[..i].iter().all(|b| !a.intersects(b)), "{n}: body {i}");
            }
        }
    }

    #[test]
    fn the_path_passes_its_knots_at_rest() {
        let arm = arm().arm.expect("the scene of the arm has one");
        let (mut q, mut v) = (vec![0.0; 7], vec![0.0; 7]);
        for (k, knot) in arm.knots.iter().enumerate() {
            arm.path(k as f64 * arm.knot_interval_s, &mut q, &mut v);
            assert!(q.iter().zip(knot).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!(v.iter().all(|v| v.abs() < 1e-12));
        }
        let (mut ahead, mut behind) = (vec![0.0; 7], vec![0.0; 7]);
        let (t, h) = (0.7, 1e-6);
        arm.path(t + h, &mut ahead, &mut v);
        arm.path(t - h, &mut behind, &mut v);
        arm.path(t, &mut q, &mut v);
        for j in 0..7 {
            let difference = (ahead[j] - behind[j]) / (2.0 * h);
            assert!((v[j] - difference).abs() < 1e-8);
        }
    }
}
