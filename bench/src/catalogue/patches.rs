//! The scenes in which pressure patches are compared; the same scenes run with points, too.

use nalgebra::Vector3;
use pliant_hydroelastic::AnalyticShape;

use super::{DENSITY, MODULUS, heap};
use crate::scene::{Arm, Fixed, Free, Hydroelastic, Pose, Scene, Solid, Surface};

/// In patches, stiffness follows from the modulus instead.
const SURFACE: Surface = Surface {
    stiffness: 1e5,
    dissipation: 10.0,
    relaxation_time_s: 0.02,
    friction: 0.5,
};

const RESTING: Scene = Scene {
    name: String::new(),
    time_step_s: 0.001,
    warm_up_steps: 200,
    steps_per_chunk: 100,
    n_chunks: 20,
    gravity: [0.0, 0.0, -9.81],
    surface: SURFACE,
    fixed: Vec::new(),
    free: Vec::new(),
    arm: None,
};

/// A compliant cube of 0.1 m and 1 kg, rotated by 0.3 rad, on a fixed one.
pub(super) fn box_on_box() -> Scene {
    let edge = 0.1;
    let solid = Solid::from(AnalyticShape::Box {
        size: Vector3::repeat(edge),
    });
    let hydroelastic = Hydroelastic::Compliant {
        modulus: MODULUS,
        edge_length: edge,
    };
    let (sin, cos) = (0.15_f64.sin(), 0.15_f64.cos());
    Scene {
        name: "box-on-box".into(),
        fixed: vec![Fixed {
            name: "lower".into(),
            solid: solid.clone(),
            hydroelastic,
            pose: Pose::at(0.0, 0.0, 0.5 * edge),
        }],
        free: vec![Free {
            name: "upper".into(),
            solid,
            hydroelastic,
            mass: 1.0,
            inertia: [edge * edge / 6.0; 3],
            pose: Pose {
                position: [0.02, 0.01, 1.5 * edge],
                quat_wxyz: [cos, 0.0, 0.0, sin],
            },
        }],
        ..RESTING
    }
}

/// Ten soft balls fall into a rigid bowl that is a mesh, and come to rest there: the bundled scene `bowl-of-spheres`.
pub(super) fn bowl() -> Scene {
    let radius = 0.03;
    let mass = DENSITY * 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    let edge_length = 0.02;
    // The lowest point of the bowl is 0.15 m below its frame: a ball below the world's origin has left it.
    let height = 0.2;
    let place = |i: usize| {
        let (column, row, layer) = (i % 2, i / 2 % 2, i / 4);
        Pose::at(
            -0.035 + 0.07 * column as f64,
            -0.035 + 0.07 * row as f64,
            height - 0.05 + 0.065 * layer as f64,
        )
    };
    Scene {
        name: "bowl".into(),
        time_step_s: 0.002,
        warm_up_steps: 20,
        steps_per_chunk: 50,
        n_chunks: 20,
        surface: Surface {
            friction: 0.3,
            ..SURFACE
        },
        fixed: vec![Fixed {
            name: "bowl".into(),
            solid: Solid::Mesh {
                file: "meshes/bowl.obj".into(),
            },
            hydroelastic: Hydroelastic::Rigid { edge_length },
            pose: Pose::at(0.0, 0.0, height),
        }],
        free: (0..10)
            .map(|i| Free {
                name: format!("ball {i}"),
                solid: AnalyticShape::Sphere { radius }.into(),
                hydroelastic: Hydroelastic::Compliant {
                    modulus: 1e5,
                    edge_length,
                },
                mass,
                inertia: [0.4 * mass * radius * radius; 3],
                pose: place(i),
            })
            .collect(),
        ..RESTING
    }
}

/// `n_boxes` compliant boxes of random size and orientation fall into a rigid bin: the clutter, all of boxes.
pub(super) fn boxes(n_boxes: usize) -> Scene {
    Scene {
        name: "boxes".into(),
        ..heap(n_boxes, |_| 0)
    }
}

/// Two compliant fingers hold a compliant pepper, and shake it up and down.
pub(super) fn pepper() -> Scene {
    Scene {
        name: "pepper".into(),
        // Up and down twice, then half a second of rest.
        warm_up_steps: 100,
        steps_per_chunk: 120,
        n_chunks: 20,
        surface: Surface {
            friction: 0.8,
            ..SURFACE
        },
        free: vec![Free {
            name: "pepper".into(),
            solid: Solid::Mesh {
                file: "meshes/pepper.obj".into(),
            },
            hydroelastic: Hydroelastic::Compliant {
                modulus: MODULUS,
                edge_length: 0.01,
            },
            // Those of the mesh filled with water, whose principal axes are the frame's.
            mass: 0.217,
            inertia: [1.247e-4, 1.247e-4, 1.215e-4],
            pose: Pose::at(0.0, 0.0, 0.3),
        }],
        arm: Some(Arm {
            urdf: "bench/robots/pincer.urdf".into(),
            hydroelastic: Hydroelastic::Compliant {
                modulus: MODULUS,
                edge_length: 0.01,
            },
            // The fingers' targets are 1.3 mm inside of the pepper.
            proportional: vec![20_000.0, 10_000.0, 10_000.0],
            derivative: vec![400.0, 100.0, 100.0],
            knot_interval_s: 0.5,
            knots: [0.0, 0.08, 0.0, 0.08, 0.0]
                .map(|lift| vec![lift, 0.0375, 0.0375])
                .to_vec(),
        }),
        ..RESTING
    }
}
