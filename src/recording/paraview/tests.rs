//! What is written for ParaView, read back by the mesh reader of `pliant-hydroelastic`.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

use base64::prelude::{BASE64_STANDARD, Engine as _};
use nalgebra::{Matrix3, Point3};
use pliant_hydroelastic::AnalyticShape;
use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, read_surface};

use super::*;
use crate::recording::{
    Between, BodyIdx, Color, ContactArrow, PointsLook, PressurePolygons, Visual,
};

fn recording_of(shape: VisualShape) -> Recording {
    let visual = Visual {
        name: "it".into(),
        anchor: Anchor::Body(BodyIdx(0)),
        X_BG: Isometry3::identity(),
        shape,
        color: Color::GROUND,
    };
    let mut recording =
        Recording::new("it", vec!["it".into()], vec![visual], vec![]).expect("sound");
    for k in 0..2 {
        let X_WB = vec![Isometry3::new(
            Vector3::new(f64::from(k), 0.0, 1.0),
            Vector3::x() * 0.3,
        )];
        recording
            .push_frame(Frame {
                time_s: f64::from(k),
                X_WB,
                ..Frame::default()
            })
            .expect("a sound frame");
    }
    recording
}

fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("pliant-paraview-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The surface in the second frame is closed, has the volume of the shape (less what its facets cut off), and sits
/// where its body is.
#[track_caller]
fn check_solid(name: &str, shape: VisualShape, volume: f64) {
    let folder = folder(name);
    let list = write(&recording_of(shape), &folder).expect("written");
    let text = std::fs::read_to_string(&list).expect("the list");
    assert!(
        text.contains("timestep=\"1\" part=\"0\" file=\"vtu/surfaces_00001.vtu\""),
        "{text}"
    );
    let (mesh, _) = read_surface(
        folder.join("vtu/surfaces_00001.vtu"),
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .expect("a mesh");
    let moments = mesh.solid_moments().expect("a closed surface");
    // 32 corners cut 0.6% off a disc; both tessellations of a sphere stay below 2%.
    let share = moments.volume / volume;
    assert!(
        (0.98..1.0 + 1e-12).contains(&share),
        "{name}: {share} of the volume"
    );
    let centre = mesh.bounds().center();
    assert!(
        (centre - Vector3::new(1.0, 0.0, 1.0)).amax() < 0.05,
        "{name} is around {centre}"
    );
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn every_solid_is_written_closed_and_in_its_place() {
    use std::f64::consts::PI;
    let (r, h) = (0.1, 0.3);
    check_solid(
        "sphere",
        AnalyticShape::Sphere { radius: r }.into(),
        4.0 / 3.0 * PI * r.powi(3),
    );
    check_solid(
        "box",
        AnalyticShape::Box {
            size: Vector3::new(0.2, 0.4, 0.6),
        }
        .into(),
        0.048,
    );
    check_solid(
        "cylinder",
        AnalyticShape::Cylinder {
            radius: r,
            length: h,
        }
        .into(),
        PI * r * r * h,
    );
    check_solid(
        "capsule",
        AnalyticShape::Capsule {
            radius: r,
            length: h,
        }
        .into(),
        PI * r * r * h + 4.0 / 3.0 * PI * r.powi(3),
    );
    check_solid(
        "ball-capsule",
        AnalyticShape::Capsule {
            radius: r,
            length: 0.0,
        }
        .into(),
        4.0 / 3.0 * PI * r.powi(3),
    );
    check_solid(
        "cone",
        AnalyticShape::Cone {
            radius: r,
            height: h,
        }
        .into(),
        PI * r * r * h / 3.0,
    );
    let semi_axes = Vector3::new(0.1, 0.2, 0.3);
    check_solid(
        "ellipsoid",
        AnalyticShape::Ellipsoid { semi_axes }.into(),
        4.0 / 3.0 * PI * 0.006,
    );
}

#[test]
fn contacts_particles_threads_and_patches_have_files_of_their_own() {
    let visual = |name: &str, shape| Visual {
        name: name.into(),
        anchor: Anchor::World,
        X_BG: Isometry3::identity(),
        shape,
        color: Color::GROUND,
    };
    let visuals = vec![
        visual(
            "grains",
            VisualShape::Points {
                radius: 0.1,
                look: PointsLook::Grains,
                scale: None,
            },
        ),
        visual(
            "loop",
            VisualShape::Thread {
                radius: 0.1,
                ends: ThreadEnds::Joined,
                scale: None,
            },
        ),
    ];
    let mut recording = Recording::new("soft", vec![], visuals, vec![]).expect("sound");
    recording.name_parts(vec!["floor".into(), "ball".into()]);
    let points = |n: usize| Deformed {
        points: (0..n).map(|i| Point3::new(i as f64, 0.0, 0.0)).collect(),
        values: vec![],
        states: None,
    };
    let contacts = vec![
        ContactArrow {
            p_WC: Point3::origin(),
            f_W: Vector3::z()
        };
        4
    ];
    let mut patches = PressurePolygons::default();
    let corner = |x: f64, y: f64| Point3::new(x, y, 0.5);
    let between = Between { a: 0, b: 1 };
    patches.push(
        between,
        &[corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)],
        &[1.0e3, 2.0e3, 3.0e3],
    );
    let square = [
        corner(1.0, 0.0),
        corner(2.0, 0.0),
        corner(2.0, 1.0),
        corner(1.0, 1.0),
    ];
    patches.push(between, &square, &[4.0e3; 4]);
    recording
        .push_frame(Frame {
            contacts,
            patches,
            deformed: vec![points(5), points(3)],
            ..Frame::default()
        })
        .expect("sound");
    recording
        .push_frame(Frame {
            time_s: 1.0,
            deformed: vec![points(5), points(3)],
            ..Frame::default()
        })
        .expect("sound");
    let folder = folder("soft");
    write(&recording, &folder).expect("written");
    let counts = |file: &str| {
        let text = std::fs::read_to_string(folder.join("vtu").join(file)).expect(file);
        let count = |what: &str| -> usize {
            text.split_once(&format!("{what}=\""))
                .and_then(|(_, after)| after.split('"').next()?.parse().ok())
                .expect("a count")
        };
        (count("NumberOfPoints"), count("NumberOfCells"))
    };
    assert_eq!(counts("particles_00000.vtu"), (5, 5));
    assert_eq!(counts("threads_00000.vtu"), (3, 3));
    assert_eq!(counts("contacts_00000.vtu"), (4, 4));
    assert_eq!(counts("patches_00000.vtu"), (7, 2));
    // Nothing touches: an empty file, so that the last patch does not stay in the picture.
    assert_eq!(counts("patches_00001.vtu"), (0, 0));
    let list = std::fs::read_to_string(folder.join("replay.pvd")).expect("the list");
    assert!(
        list.contains("timestep=\"1\" part=\"5\" file=\"vtu/patches_00001.vtu\""),
        "{list}"
    );
    assert!(!folder.join("vtu/surfaces_00000.vtu").exists());
    std::fs::remove_dir_all(folder).expect("removed");
}

/// The numbers of a field of a VTU file: base64 of a count of bytes, then eight for each number.
fn field<T>(text: &str, name: &str, components: usize, number: fn([u8; 8]) -> T) -> Vec<T> {
    let (_, after) = text
        .split_once(&format!(
            "Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">\n"
        ))
        .unwrap_or_else(|| panic!("no field {name} of {components} components"));
    let (content, _) = after.split_once('<').expect("an end");
    let bytes = BASE64_STANDARD.decode(content.trim()).expect("base64");
    let words = bytes.chunks_exact(8).map(|w| w.try_into().expect("eight"));
    let mut words = words.collect::<Vec<[u8; 8]>>().into_iter();
    let length = u64::from_le_bytes(words.next().expect("a length"));
    assert_eq!(length as usize, bytes.len() - 8);
    words.map(number).collect()
}

#[test]
fn particles_bring_their_states_as_point_data() {
    let grains = |name: &str| Visual {
        name: name.into(),
        anchor: Anchor::World,
        X_BG: Isometry3::identity(),
        shape: VisualShape::Points {
            radius: 0.1,
            look: PointsLook::Grains,
            scale: None,
        },
        color: Color::GROUND,
    };
    let visuals = vec![grains("sand"), grains("dough")];
    let mut recording = Recording::new("grains", vec![], visuals, vec![]).expect("sound");
    let state = |body: u32, ids: &[u32]| {
        let each = || ids.iter().map(|id| f64::from(*id));
        ParticleStates {
            ids: ids.to_vec(),
            bodies: vec![body; ids.len()],
            velocities: each().map(|x| Vector3::new(x, -x, 0.5)).collect(),
            masses: each().map(|x| 0.1 * x).collect(),
            volumes: each().map(|x| 1e-3 * x).collect(),
            deformation_gradients: each()
                .map(|x| Matrix3::new(1.0, x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25, 1.0))
                .collect(),
            plastic_strains: vec![if body == 0 { f64::NAN } else { 0.5 }; ids.len()],
        }
    };
    let of = |states: ParticleStates| Deformed {
        points: vec![Point3::origin(); states.ids.len()],
        values: vec![],
        states: Some(states),
    };
    let deformed = vec![of(state(0, &[4, 7])), of(state(1, &[5]))];
    let frame = |deformed| Frame {
        deformed,
        ..Frame::default()
    };
    let mut lacking = deformed.clone();
    lacking[1].states.as_mut().expect("just given").masses.pop();
    let refused = recording.push_frame(frame(lacking)).expect_err("refused");
    assert!(
        refused.to_string().contains("masses of \"dough\""),
        "{refused}"
    );
    let mut broken = deformed.clone();
    broken[0].states.as_mut().expect("just given").velocities[1].x = f64::NAN;
    let refused = recording.push_frame(frame(broken)).expect_err("refused");
    assert!(
        refused.to_string().contains("particle 1 of \"sand\""),
        "{refused}"
    );
    recording.push_frame(frame(deformed)).expect("sound");
    let folder = folder("states");
    write(&recording, &folder).expect("written");
    let text = std::fs::read_to_string(folder.join("vtu/particles_00000.vtu")).expect("written");
    let whole = |name| field(&text, name, 1, i64::from_le_bytes);
    let real = |name, components| field(&text, name, components, f64::from_le_bytes);
    assert_eq!(whole("id"), [4, 7, 5]);
    assert_eq!(whole("body"), [0, 0, 1]);
    let velocity = [4.0, -4.0, 0.5, 7.0, -7.0, 0.5, 5.0, -5.0, 0.5];
    assert_eq!(real("velocity", 3), velocity);
    assert_eq!(real("mass", 1), [0.4, 0.7000000000000001, 0.5]);
    assert_eq!(real("volume", 1), [4e-3, 7e-3, 5e-3]);
    // Row by row.
    let gradient = [1.0, 4.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25, 1.0];
    assert_eq!(real("deformation_gradient", 9)[..9], gradient);
    let plastic = real("plastic_strain", 1);
    assert!(plastic[..2].iter().all(|x| x.is_nan()) && plastic[2] == 0.5);
    std::fs::remove_dir_all(folder).expect("removed");
}
