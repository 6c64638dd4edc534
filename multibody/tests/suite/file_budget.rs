//! Files without end: robots whose files include one another, that are huge, or that are no files.

use std::fs;
use std::path::{Path, PathBuf};

use pliant_multibody::{RobotOptions, read_robot};

/// A folder of its own with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("budget-{name}"));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

#[track_caller]
fn refused(path: impl AsRef<Path>) -> String {
    read_robot(path, &RobotOptions::default())
        .expect_err("refused")
        .to_string()
}

#[test]
fn mjcf_files_that_include_themselves_under_ever_longer_names_are_refused() {
    // "../t/a.xml" is no file beside the main file, and a longer path in each round beside a.xml.
    let again = "<mujocoinclude><include file=\"../t/a.xml\"/></mujocoinclude>";
    let main = "<mujoco><include file=\"s/t/a.xml\"/></mujoco>";
    let folder = folder("rounds", &[("m.xml", main), ("s/t/a.xml", again)]);
    let text = refused(folder.join("m.xml"));
    assert!(
        text.contains("a.xml:1: <include>: \"../t/a.xml\" is included twice"),
        "{text}"
    );
    fs::write(
        folder.join("own.xml"),
        "<mujoco><include file=\"s/../own.xml\"/></mujoco>",
    )
    .expect("a file");
    let text = refused(folder.join("own.xml"));
    assert!(text.contains("is included twice"), "{text}");
}

#[test]
fn elements_nested_over_many_mjcf_files_are_counted_together() {
    let file = |inside: &str| {
        let (open, close) = ("<frame>".repeat(400), "</frame>".repeat(400));
        format!("<mujoco><worldbody>{open}{inside}{close}</worldbody></mujoco>")
    };
    let files: Vec<(String, String)> = (0..200)
        .map(|k| {
            let next = format!("<include file=\"f{}.xml\"/>", k + 1);
            let inside = if k < 199 { &*next } else { "" };
            (format!("f{k}.xml"), file(inside))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    let text = refused(folder("nested", &files).join("f0.xml"));
    assert!(text.contains("nested more than 500 deep"), "{text}");
}

#[test]
fn sdf_files_that_multiply_are_refused() {
    // Ten copies of the next file in each of six: a million models.
    let file = |k: usize| {
        let copy = |c: usize| {
            format!(
                "<include><uri>f{}.sdf</uri><name>c{c}</name></include>",
                k + 1
            )
        };
        let inside: String = match k {
            6 => "<link name=\"l\"/>".into(),
            _ => (0..10).map(copy).collect(),
        };
        format!("<sdf version=\"1.9\"><model name=\"m{k}\">{inside}</model></sdf>")
    };
    let files: Vec<(String, String)> = (0..=6).map(|k| (format!("f{k}.sdf"), file(k))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    let folder = folder("copies", &files);
    let text = refused(folder.join("f0.sdf"));
    assert!(text.contains("more than 1000"), "{text}");
    // A file that includes itself.
    let own = "<sdf version=\"1.9\"><model name=\"m\"><include><uri>own.sdf</uri></include></model></sdf>";
    fs::write(folder.join("own.sdf"), own).expect("a file");
    let text = refused(folder.join("own.sdf"));
    assert!(
        text.contains("files include one another without end"),
        "{text}"
    );
}

#[test]
fn huge_files_are_refused_before_they_are_read() {
    let include = |uri: &str| {
        format!(
            "<sdf version=\"1.9\"><model name=\"m\"><include><uri>{uri}</uri></include></model></sdf>"
        )
    };
    let folder = folder(
        "huge",
        &[
            ("m.xml", "<mujoco><include file=\"huge.xml\"/></mujoco>"),
            ("m.sdf", &include("huge.sdf")),
            ("m2.sdf", &include("model")),
            ("model/model.config", ""),
        ],
    );
    for huge in ["huge.xml", "huge.sdf", "huge.urdf", "model/model.config"] {
        // 60 GB, all zeros, that take no place on the disk.
        let file = fs::File::create(folder.join(huge)).expect("a file");
        file.set_len(60 << 30).expect("a sparse file");
    }
    for (path, named) in [
        ("m.xml", "huge.xml"),
        ("m.sdf", "huge.sdf"),
        ("m2.sdf", "model.config"),
        ("huge.urdf", "huge.urdf"),
    ] {
        let text = refused(folder.join(path));
        assert!(text.contains(named), "{text}");
        assert!(
            text.contains("has more than 64 MiB, the most that is read"),
            "{text}"
        );
    }
}

#[test]
fn files_of_millions_of_elements_are_refused() {
    let many = "<a/>".repeat(3_000_000);
    let part = "<a/>".repeat(1_500_000);
    let folder = folder(
        "many",
        &[
            ("m.urdf", &format!("<robot name=\"r\">{many}</robot>")),
            (
                "m.sdf",
                &format!("<sdf version=\"1.9\"><model name=\"m\">{many}</model></sdf>"),
            ),
            (
                "a.xml",
                &format!("<mujoco><include file=\"b.xml\"/>{part}</mujoco>"),
            ),
            ("b.xml", &format!("<mujoco>{part}</mujoco>")),
        ],
    );
    for file in ["m.urdf", "m.sdf", "a.xml"] {
        let text = refused(folder.join(file));
        assert!(text.contains("have more than 2000000 elements"), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn devices_are_no_files() {
    let folder = folder(
        "devices",
        &[("m.xml", "<mujoco><include file=\"zero.xml\"/></mujoco>")],
    );
    for name in ["zero.xml", "zero.urdf"] {
        std::os::unix::fs::symlink("/dev/zero", folder.join(name)).expect("a link");
    }
    assert!(refused(folder.join("zero.urdf")).contains("is no file"));
    // An include finds files only.
    assert!(refused(folder.join("m.xml")).contains("was not found"));
}
