//! Recordings refuse what they can't show, and write what they were given.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::AnalyticShape;

use super::output::whole_file;
use super::*;

#[path = "../../tests/suite/npz.rs"]
mod npz_reader;

fn ball(name: &str, anchor: Anchor) -> Visual {
    Visual {
        name: name.into(),
        anchor,
        X_BG: Isometry3::identity(),
        shape: AnalyticShape::Sphere { radius: 0.1 }.into(),
        color: Color::palette(1),
    }
}

fn one_ball(observables: Vec<Observable>) -> Recording {
    Recording::new(
        "one ball",
        vec!["ball".into()],
        vec![ball("ball", Anchor::Body(BodyIdx(0)))],
        observables,
    )
    .expect("a sound recording")
}

fn frame(time_s: f64) -> Frame {
    Frame {
        time_s,
        X_WB: vec![Isometry3::translation(time_s, 0.0, 1.0)],
        ..Frame::default()
    }
}

#[track_caller]
fn check_refused<T>(result: Result<T, RecordingError>, words: &[&str]) {
    let message = result.err().expect("this must be refused").to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} lacks {word:?}");
    }
}

/// The bytes that `write` writes to a file.
fn written(write: impl FnOnce(&Path) -> Result<(), RecordingError>) -> Vec<u8> {
    let thread = format!("{:?}", std::thread::current().id());
    let name = format!("pliant-recording-{}-{thread}", std::process::id());
    let path = std::env::temp_dir().join(name);
    write(&path).expect("written");
    let bytes = std::fs::read(&path).expect("a file");
    std::fs::remove_file(&path).expect("removed");
    assert!(!output::beside(&path).exists(), "nothing is left beside it");
    bytes
}

#[test]
fn a_file_that_cannot_be_completed_leaves_the_one_before() {
    let path = std::env::temp_dir().join(format!("pliant-whole-{}", std::process::id()));
    std::fs::write(&path, "before").expect("written");
    let fails = whole_file(&path, |_| {
        Err(RecordingError::NoFrames { title: "t".into() })
    });
    assert!(fails.is_err() && !output::beside(&path).exists());
    assert_eq!(std::fs::read(&path).expect("a file"), b"before");
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn an_empty_recording_is_refused_with_its_title() {
    check_refused(one_ball(vec![]).replay_html(), &["one ball", "no frames"]);
}

#[test]
fn a_pose_that_is_not_a_number_is_refused_and_the_recording_stays_whole() {
    let mut recording = one_ball(vec![]);
    recording.push_frame(frame(0.0)).expect("a sound frame");
    let broken = Frame {
        X_WB: vec![Isometry3::translation(f64::NAN, 0.0, 0.0)],
        ..frame(0.1)
    };
    check_refused(
        recording.push_frame(broken),
        &["t = 0.1 s", "body \"ball\"", "not a finite"],
    );
    let contact = ContactArrow {
        p_WC: Point3::origin(),
        f_W: Vector3::new(0.0, 0.0, f64::INFINITY),
    };
    check_refused(
        recording.push_frame(Frame {
            contacts: vec![contact],
            ..frame(0.1)
        }),
        &["contact 0"],
    );
    assert_eq!(recording.frames().len(), 1);
    recording
        .push_frame(frame(0.1))
        .expect("the next sound frame is still taken");
    recording.replay_html().expect("a page");
}

#[test]
fn frames_and_rows_out_of_order_are_refused() {
    let mut recording = one_ball(vec![Observable::new("z", "m")]);
    recording.push_frame(frame(0.5)).expect("a sound frame");
    check_refused(
        recording.push_frame(frame(0.5)),
        &["frames", "t = 0.5 s", "in order"],
    );
    check_refused(
        recording.push_frame(frame(f64::NAN)),
        &["time of the frames"],
    );
    recording
        .push_observables(0.5, &[1.0])
        .expect("a sound row");
    check_refused(
        recording.push_observables(0.4, &[1.0]),
        &["observables", "t = 0.4 s", "t = 0.5 s"],
    );
}

#[test]
fn counts_that_do_not_fit_are_refused() {
    let mut recording = one_ball(vec![Observable::new("z", "m")]);
    let two_poses = Frame {
        X_WB: vec![Isometry3::identity(); 2],
        ..Frame::default()
    };
    check_refused(recording.push_frame(two_poses), &["2 poses", "declares 1"]);
    check_refused(
        recording.push_observables(0.0, &[1.0, 2.0]),
        &["2 values for 1"],
    );
    check_refused(
        recording.push_observables(0.0, &[f64::INFINITY]),
        &["observable \"z\""],
    );
    check_refused(
        recording.push_frame(Frame {
            deformed: vec![Deformed::default()],
            ..frame(0.0)
        }),
        &["1 deformed shapes", "declares 0"],
    );
}

#[test]
fn shapes_that_can_not_be_drawn_are_refused_by_name() {
    let with = |shape| {
        Recording::new(
            "",
            vec![],
            vec![Visual {
                shape,
                ..ball("odd", Anchor::World)
            }],
            vec![],
        )
    };
    check_refused(
        with(AnalyticShape::Sphere { radius: -1.0 }.into()),
        &["\"odd\"", "sphere: radius = -1 m", "positive"],
    );
    check_refused(
        with(
            AnalyticShape::Box {
                size: Vector3::new(1.0, f64::NAN, 1.0),
            }
            .into(),
        ),
        &["box: length y = NaN m"],
    );
    let mesh = VisualShape::Mesh {
        vertices: vec![Point3::origin(); 3],
        triangles: vec![[0, 1, 2], [0, 1, 3]],
    };
    check_refused(with(mesh), &["triangle 1", "beyond the last of 3"]);
    let homeless = Recording::new(
        "",
        vec![],
        vec![ball("odd", Anchor::Body(BodyIdx(0)))],
        vec![],
    );
    check_refused(homeless, &["\"odd\"", "body 0", "0 bodies"]);
    let twice = vec![Observable::new("z", "m"), Observable::new("z", "mm")];
    check_refused(
        Recording::new("", vec![], vec![], twice),
        &["two observables", "\"z\""],
    );
}

#[test]
fn text_of_the_user_can_not_break_out_of_the_page() {
    let evil = "</script><script>alert(1)</script><!-- & {{player}} </title>";
    let mut visual = ball(evil, Anchor::Body(BodyIdx(0)));
    visual.shape = AnalyticShape::Sphere { radius: 1.0 }.into();
    let mut recording = Recording::new(
        evil,
        vec![evil.into()],
        vec![visual],
        vec![Observable::new(evil, evil)],
    )
    .expect("names may hold anything");
    recording.push_frame(frame(0.0)).expect("a sound frame");
    recording
        .push_observables(0.0, &[1.0])
        .expect("a sound row");
    let page = recording.replay_html().expect("a page");
    let count = |text: &str| page.matches(text).count();
    assert_eq!(
        (
            count("<script"),
            count("</script"),
            count("<!--"),
            count("</title")
        ),
        (3, 3, 0, 1)
    );
    let start = page.find("id=\"recording\">").expect("the document") + "id=\"recording\">".len();
    let json = &page[start..start + page[start..].find("</script").expect("its end")];
    let document: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(document["title"], evil);
    assert_eq!(document["bodies"][0]["name"], evil);
}

#[test]
fn the_page_fetches_nothing() {
    let mut recording = one_ball(vec![]);
    recording.push_frame(frame(0.0)).expect("a sound frame");
    let page = recording.replay_html().expect("a page");
    for sign in [
        "http:",
        "https:",
        "src=",
        "@import",
        "url(",
        "import ",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
    ] {
        assert!(!page.contains(sign), "the page contains {sign:?}");
    }
}

#[test]
fn csv_holds_every_row_to_the_last_bit() {
    let mut recording = one_ball(vec![
        Observable::new("box.z", "m"),
        Observable::new("odd, \"name\"", ""),
    ]);
    let rows = [[0.1 + 0.2, 1e-300], [f64::NAN, -0.0], [1.0 / 3.0, 6.02e23]];
    for (k, row) in rows.iter().enumerate() {
        recording
            .push_observables(0.1 * k as f64, row)
            .expect("a sound row");
    }
    let text = written(|path| recording.write_csv(path));
    let text = String::from_utf8(text).expect("text");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("time [s],box.z [m],\"odd, \"\"name\"\"\"")
    );
    for (k, row) in rows.iter().enumerate() {
        let line: Vec<f64> = lines
            .next()
            .expect("a line")
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        let expected = [0.1 * k as f64, row[0], row[1]];
        assert!(
            line.iter()
                .zip(expected)
                .all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        );
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn npz_holds_every_column_with_its_unit() {
    let mut recording = one_ball(vec![
        Observable::new("box.z", "m"),
        Observable::new("box/force", "N·m"),
    ]);
    for k in 0..5 {
        recording
            .push_observables(f64::from(k), &[0.5 * f64::from(k), -1.0])
            .expect("a sound row");
    }
    let bytes = written(|path| recording.write_npz(path));
    assert_eq!(
        bytes,
        written(|path| recording.write_npz(path)),
        "the same table leaves the same bytes"
    );
    let archive = npz_reader::read(&bytes);
    let names: Vec<&String> = archive.keys().collect();
    assert_eq!(names, ["box.z", "box/force", "names", "time", "units"]);
    let column = |name: &str| -> Vec<f64> {
        assert_eq!(archive[name].shape, [5]);
        archive[name].f64s()
    };
    assert_eq!(column("time"), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(column("box.z"), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(column("box/force"), [-1.0; 5]);
    assert_eq!(archive["units"].descr, "|S4");
    assert_eq!(archive["units"].texts(), ["m", "N·m"]);
}

fn patch_force(m: f64) -> PatchForce {
    PatchForce {
        between: Between { a: 1, b: 0 },
        area: 0.25,
        pressure_max: 8.0,
        p_WC: Point3::new(0.5, 0.0, 0.125),
        f_W: Vector3::new(0.0, 0.0, 2.0),
        m_W: Vector3::new(0.0, m, 0.0),
    }
}

#[test]
fn patches_npz_holds_the_patches_and_polygons_of_every_frame() {
    let mut recording = one_ball(vec![]);
    recording.name_parts(vec!["floor".into(), "ball".into()]);
    let mut patches = PressurePolygons::default();
    let between = Between { a: 0, b: 1 };
    let corner = |x: f64, y: f64| Point3::new(x, y, 0.0);
    let triangle = [corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)];
    let square = [triangle[0], triangle[1], corner(1.0, 1.0), triangle[2]];
    patches.push(between, &triangle, &[1.0, 2.0, 3.0]);
    patches.push(between, &square, &[4.0, 5.0, 6.0, 7.0]);
    recording.push_frame(frame(0.0)).expect("a sound frame");
    let with_patches = Frame {
        patches,
        patch_forces: vec![patch_force(0.5), patch_force(-0.25)],
        ..frame(0.5)
    };
    recording.push_frame(with_patches).expect("a sound frame");
    let bytes = written(|path| recording.write_patches_npz(path).map(|any| assert!(any)));
    let archive = npz_reader::read(&bytes);
    let numbers = |name: &str, shape: &[usize]| -> Vec<f64> {
        assert_eq!(archive[name].shape, shape, "{name}");
        archive[name].f64s()
    };
    assert_eq!(numbers("time", &[2]), [0.0, 0.5]);
    assert_eq!(numbers("patch.area", &[2]), [0.25; 2]);
    assert_eq!(numbers("patch.pressure_max", &[2]), [8.0; 2]);
    let center = [0.5, 0.0, 0.125, 0.5, 0.0, 0.125];
    assert_eq!(numbers("patch.center", &[2, 3]), center);
    let force = [0.0, 0.0, 2.0, 0.0, 0.0, 2.0];
    assert_eq!(numbers("patch.force", &[2, 3]), force);
    let moment = [0.0, 0.5, 0.0, 0.0, -0.25, 0.0];
    assert_eq!(numbers("patch.moment", &[2, 3]), moment);
    let pressures = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    assert_eq!(numbers("corner.pressure", &[7]), pressures);
    let corners = numbers("corner.points", &[7, 3]);
    assert_eq!(corners[15..18], [1.0, 1.0, 0.0]);
    let counts = |name: &str| archive[name].u32s();
    assert_eq!(counts("patch.frame"), [1, 1]);
    assert_eq!(counts("patch.between"), [1, 0, 1, 0]);
    assert_eq!(counts("polygon.frame"), [1, 1]);
    assert_eq!(counts("polygon.between"), [0, 1, 0, 1]);
    assert_eq!(counts("polygon.starts"), [0, 3]);
    assert_eq!(archive["parts"].texts(), ["floor", "ball"]);

    let mut without = one_ball(vec![]);
    without.push_frame(frame(0.0)).expect("a sound frame");
    assert!(!tables::has_patches(&without));
}

#[test]
fn patches_between_unknown_parts_or_without_numbers_are_refused() {
    let mut recording = one_ball(vec![]);
    let with = |patch: PatchForce| Frame {
        patch_forces: vec![patch],
        ..frame(0.0)
    };
    check_refused(
        recording.push_frame(with(patch_force(0.0))),
        &["parts", "2", "declares 0"],
    );
    recording.name_parts(vec!["floor".into(), "ball".into()]);
    check_refused(
        recording.push_frame(with(patch_force(f64::NAN))),
        &["patch 0"],
    );
    recording.push_frame(with(patch_force(1.0))).expect("sound");
    let page = recording.replay_html().expect("a page");
    assert!(page.contains("\"moments\":{\"origin\""));
}

/// Twenty bodies that tumble and collide for 10 s at 60 frames a second, with 80 noisy contact forces: more than a pile
/// of boxes asks for.
#[test]
fn ten_seconds_of_twenty_bodies_stay_under_five_megabytes() {
    let bodies: Vec<String> = (0..20).map(|i| format!("box {i}")).collect();
    let visuals = (0..20)
        .map(|i| ball(&format!("box {i}"), Anchor::Body(BodyIdx(i))))
        .collect();
    let observables = (0..20)
        .map(|i| Observable::new(format!("box {i}.z"), "m"))
        .collect();
    let mut recording =
        Recording::new("pile", bodies, visuals, observables).expect("a sound recording");
    let mut noise = {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        }
    };
    for k in 0..=600 {
        let t = f64::from(k) / 60.0;
        let poses = (0..20).map(|i| {
            let i = f64::from(i);
            let bounce = (3.0 * t + i).sin().abs();
            Isometry3::new(
                Vector3::new((t + i).sin(), (0.7 * t + i).cos(), bounce)
                    + Vector3::from_fn(|_, _| 1e-3 * noise()),
                Vector3::new((2.0 * t + i).sin(), 3.0 * t, 0.1 * i)
                    + Vector3::from_fn(|_, _| 1e-2 * noise()),
            )
        });
        let frame = Frame {
            time_s: t,
            X_WB: poses.collect(),
            contacts: (0..80)
                .map(|_| ContactArrow {
                    p_WC: Point3::from(Vector3::from_fn(|_, _| noise())),
                    f_W: Vector3::from_fn(|_, _| 50.0 * noise()),
                })
                .collect(),
            ..Frame::default()
        };
        recording.push_frame(frame).expect("a sound frame");
        recording
            .push_observables(t, &[0.0; 20].map(|_: f64| noise()))
            .expect("a sound row");
    }
    let size = recording.replay_html().expect("a page").len();
    assert!(size < 5_000_000, "{size} bytes");
}
