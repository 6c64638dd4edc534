//! A recording with one of every shape that a replay can draw.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant::recording::{
    Anchor, Between, BodyIdx, Color, ContactArrow, Deformed, Frame, Observable, PatchForce,
    PointsLook, PressurePolygons, Recording, ThreadEnds, ValueScale, Visual, VisualShape,
};
use pliant_hydroelastic::AnalyticShape;

pub(crate) fn visual(name: &str, anchor: Anchor, shape: VisualShape, color: Color) -> Visual {
    Visual {
        name: name.into(),
        anchor,
        X_BG: Isometry3::identity(),
        shape,
        color,
    }
}

/// A cube of points on a grid, whose top sways.
fn cube(at: Vector3<f64>, t: f64) -> Vec<Point3<f64>> {
    let place = |i: u32| {
        let [x, y, z] = [i % 8, i / 8 % 8, i / 64].map(|n| 0.024 * f64::from(n));
        let sway = z * (3.0 * t).sin();
        Point3::from(at + Vector3::new(x + sway, y, z))
    };
    (0..512).map(place).collect()
}

/// One of every shape, hopping and turning on a floor.
pub(crate) fn one_of_everything() -> Recording {
    let pyramid = VisualShape::Mesh {
        vertices: [
            [-0.1, -0.1, -0.1],
            [0.1, -0.1, -0.1],
            [0.1, 0.1, -0.1],
            [-0.1, 0.1, -0.1],
            [0.0, 0.0, 0.12],
        ]
        .map(Point3::from)
        .to_vec(),
        triangles: vec![
            [0, 2, 1],
            [0, 3, 2],
            [0, 1, 4],
            [1, 2, 4],
            [2, 3, 4],
            [3, 0, 4],
        ],
    };
    let solids: [(&str, VisualShape); 7] = [
        (
            "box",
            AnalyticShape::Box {
                size: Vector3::new(0.26, 0.2, 0.2),
            }
            .into(),
        ),
        ("sphere", AnalyticShape::Sphere { radius: 0.1 }.into()),
        (
            "cylinder",
            AnalyticShape::Cylinder {
                radius: 0.08,
                length: 0.2,
            }
            .into(),
        ),
        (
            "capsule",
            AnalyticShape::Capsule {
                radius: 0.06,
                length: 0.12,
            }
            .into(),
        ),
        (
            "ellipsoid",
            AnalyticShape::Ellipsoid {
                semi_axes: Vector3::new(0.15, 0.1, 0.08),
            }
            .into(),
        ),
        (
            "cone",
            AnalyticShape::Cone {
                radius: 0.1,
                height: 0.2,
            }
            .into(),
        ),
        ("pyramid", pyramid),
    ];
    let n = solids.len();
    let mut visuals = vec![visual(
        "floor",
        Anchor::World,
        AnalyticShape::HalfSpace {}.into(),
        Color::GROUND,
    )];
    visuals.extend(solids.into_iter().enumerate().map(|(i, (name, shape))| {
        visual(name, Anchor::Body(BodyIdx(i)), shape, Color::palette(i))
    }));
    let side: u32 = 16;
    let triangles = (0..side * side).flat_map(|cell| {
        let corner = cell / side * (side + 1) + cell % side;
        [
            [corner, corner + 1, corner + side + 2],
            [corner, corner + side + 2, corner + side + 1],
        ]
    });
    let scale = ValueScale {
        name: "height".into(),
        unit: "m".into(),
        min: 0.0,
        max: 0.4,
    };
    let n_vertices = (side + 1) * (side + 1);
    let sheet = VisualShape::DeformingMesh {
        n_vertices,
        triangles: triangles.collect(),
        tetrahedra: Vec::new(),
        scale: Some(scale.clone()),
    };
    visuals.push(visual("sheet", Anchor::World, sheet, Color::palette(6)));
    let points = |look: PointsLook, scale: Option<ValueScale>| VisualShape::Points {
        radius: 0.012,
        look,
        scale,
    };
    let grains = points(PointsLook::Grains, Some(scale.clone()));
    visuals.push(visual("grains", Anchor::World, grains, Color::palette(2)));
    let rope = VisualShape::Thread {
        radius: 0.012,
        ends: ThreadEnds::Open,
        scale: None,
    };
    visuals.push(visual("rope", Anchor::World, rope, Color::palette(4)));
    for (name, look, scale) in [
        ("dough", PointsLook::Solid, Some(scale)),
        ("water", PointsLook::Liquid, None),
    ] {
        visuals.push(visual(
            name,
            Anchor::World,
            points(look, scale),
            Color::palette(5),
        ));
    }
    visuals.push(Visual {
        X_BG: Isometry3::translation(0.0, 0.0, 0.35),
        ..visual(
            "glass",
            Anchor::World,
            AnalyticShape::Box {
                size: Vector3::repeat(0.24),
            }
            .into(),
            Color {
                opacity: 0.35,
                ..Color::palette(1)
            },
        )
    });

    let names = [
        "box",
        "sphere",
        "cylinder",
        "capsule",
        "ellipsoid",
        "cone",
        "pyramid",
    ];
    let observables = vec![
        Observable::new("box.z", "m"),
        Observable::new("sphere.z", "m"),
        Observable::new("floor force", "N"),
        Observable::new("energy", "J"),
    ];
    let bodies = names.map(str::to_owned).to_vec();
    let mut recording =
        Recording::new("One of everything", bodies, visuals, observables).expect("sound");
    recording.name_parts(vec!["floor".into(), "bodies".into()]);
    for k in 0..=120 {
        let t = f64::from(k) / 60.0;
        let hop = |i: usize| 0.1 + 0.25 * (2.5 * t + 0.8 * i as f64).sin().abs();
        let around = |i: usize| {
            let angle = i as f64 / n as f64 * std::f64::consts::TAU + 0.2 * t;
            Vector3::new(0.55 * angle.cos(), 0.55 * angle.sin(), hop(i))
        };
        let X_WB = (0..n).map(|i| {
            let turn =
                UnitQuaternion::from_scaled_axis(Vector3::new(0.3 * t, 0.2, 1.5 * t + i as f64));
            Isometry3::from_parts(Translation3::from(around(i)), turn)
        });
        let contacts = (0..n).filter(|&i| hop(i) < 0.2).map(|i| ContactArrow {
            p_WC: Point3::new(around(i).x, around(i).y, 0.0),
            f_W: Vector3::new(1.0, 0.5, 12.0 * (0.25 - hop(i)) / 0.15),
        });
        let sheet_height =
            |x: f64, y: f64| 0.12 + 0.05 * (9.0 * x + 4.0 * t).sin() * (9.0 * y).cos();
        let sheet: Vec<Point3<f64>> = (0..n_vertices)
            .map(|v| {
                let [x, y] = [v % (side + 1), v / (side + 1)]
                    .map(|i| 0.4 * (f64::from(i) / f64::from(side) - 0.5));
                Point3::new(x, y, sheet_height(x, y))
            })
            .collect();
        let grains: Vec<Point3<f64>> = (0..60 + 2 * k)
            .map(|i| {
                let (i, turn) = (f64::from(i), 2.4 * f64::from(i));
                Point3::new(
                    0.9 + 0.01 * i.sqrt() * turn.cos(),
                    0.01 * i.sqrt() * turn.sin(),
                    0.012 + 0.4 * (-0.02 * i).exp(),
                )
            })
            .collect();
        let rope = (0..40).map(|i| {
            let s = f64::from(i) / 39.0;
            Point3::new(
                -0.9 + 0.08 * (12.0 * s + 3.0 * t).sin(),
                s - 0.5,
                0.2 + 0.08 * (12.0 * s + 3.0 * t).cos(),
            )
        });
        let colored = |points: Vec<Point3<f64>>| Deformed {
            values: points.iter().map(|p| p.z).collect(),
            points,
            states: None,
        };
        let mut patches = PressurePolygons::default();
        let between = Between { a: 1, b: 0 };
        let patch_forces = (0..n).filter(|&i| hop(i) < 0.2).map(|i| PatchForce {
            between,
            area: 0.01,
            pressure_max: 1e4,
            p_WC: Point3::new(around(i).x, around(i).y, 0.0),
            f_W: Vector3::new(1.0, 0.5, 12.0 * (0.25 - hop(i)) / 0.15),
            m_W: Vector3::new(0.5, 0.0, 1.0),
        });
        for i in (0..n).filter(|&i| hop(i) < 0.2) {
            let (c, r) = (around(i), 0.4 * (0.2 - hop(i)));
            let hexagon = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|k: f64| {
                let (sin, cos) = (k * std::f64::consts::FRAC_PI_3).sin_cos();
                Point3::new(c.x + r * cos, c.y + r * sin, 1e-3)
            });
            patches.push(
                between,
                &hexagon,
                &[0.0, 1e4 * r, 2e4 * r, 3e4 * r, 2e4 * r, 1e4 * r],
            );
        }
        let deformed = vec![
            colored(sheet),
            colored(grains),
            Deformed {
                points: rope.collect(),
                values: vec![],
                states: None,
            },
            colored(cube(Vector3::new(0.0, 0.95, 0.02), t)),
            Deformed {
                points: cube(Vector3::new(0.0, -0.95, 0.02), t),
                values: vec![],
                states: None,
            },
        ];
        recording
            .push_frame(Frame {
                time_s: t,
                X_WB: X_WB.collect(),
                n_contacts: Some(k as u32 + 1),
                contacts: contacts.collect(),
                patches,
                patch_forces: patch_forces.collect(),
                deformed,
            })
            .expect("a sound frame");
        let force = if t < 0.5 {
            f64::NAN
        } else {
            98.1 + 5.0 * (8.0 * t).sin()
        };
        recording
            .push_observables(t, &[hop(0), hop(1), force, 3.0 - t])
            .expect("a sound row");
    }
    recording
}
