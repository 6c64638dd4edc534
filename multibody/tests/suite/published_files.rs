//! Published robots: every file loads, and known peculiarities are reported.

use std::path::{Path, PathBuf};

use crate::robots::{load, robots};
use nalgebra::Isometry3;
use pliant_hydroelastic::mesh::{FilePosition, LoadEntry};
use pliant_multibody::LoadedModel;
use pliant_multibody::{GeometryDescription, MeshHull, Root};

fn urdf_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            urdf_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "urdf") {
            found.push(path);
        }
    }
}

#[test]
fn every_published_urdf_loads_fixed_and_floating() {
    let Some(folder) = robots() else { return };
    let mut files = Vec::new();
    urdf_files(&folder, &mut files);
    assert!(files.len() >= 20, "found {}", files.len());
    for file in files {
        let name = file
            .strip_prefix(&folder)
            .expect("below the folder")
            .to_str()
            .expect("UTF-8")
            .to_owned();
        let fixed = load(&folder, &name, Root::Fixed(Isometry3::identity()));
        assert!(
            fixed
                .report
                .entries
                .iter()
                .all(|e| matches!(e.at.position, FilePosition::Line(1..)) && !e.text.is_empty()),
            "{name}"
        );
        // Some root links, such as that of the dual arm, have no mass, but their descendants do.
        let floating = load(&folder, &name, Root::Floating).model;
        assert_eq!(floating.n_v(), fixed.model.n_v() + 6, "{name}");
    }
}

/// Names of links with a suspicious inertia in the report.
fn suspicious_inertias(loaded: &LoadedModel) -> Vec<String> {
    let named = |f: &LoadEntry| {
        f.text
            .contains("triangle inequality")
            .then(|| f.text.split('"').nth(1).expect("a name").to_owned())
    };
    loaded.report.entries.iter().filter_map(named).collect()
}

#[test]
fn unphysical_inertias_are_reported() {
    let Some(folder) = robots() else { return };
    let hand = load(
        &folder,
        "iiwa7_allegro/iiwa7_allegro.urdf",
        Root::Fixed(Isometry3::identity()),
    );
    let expected: Vec<String> = [1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]
        .iter()
        .map(|k| format!("link_{k}.0"))
        .collect();
    let mut found = suspicious_inertias(&hand);
    found.sort_by_key(|name| {
        name.trim_start_matches("link_")
            .trim_end_matches(".0")
            .parse::<u32>()
            .ok()
    });
    assert_eq!(found, expected);
    let quadruped = load(
        &folder,
        "anymal_c/anymal_c_simple_description/urdf/anymal.urdf",
        Root::Floating,
    );
    let found = suspicious_inertias(&quadruped);
    assert_eq!(
        found
            .iter()
            .filter(|name| name.starts_with("depth_camera"))
            .count(),
        4,
        "{found:?}"
    );
}

#[test]
fn joint_friction_above_the_effort_limit_is_not_used() {
    let Some(folder) = robots() else { return };
    let file = "allegro/allegro_hand_description/urdf/allegro_hand_description_left.urdf";
    let hand = load(&folder, file, Root::Fixed(Isometry3::identity()));
    assert!(
        hand.model
            .joints()
            .iter()
            .all(|j| j.passive.dry_friction == 0.0)
    );
    assert_eq!(
        hand.report
            .entries
            .iter()
            .filter(|f| f.text.contains("never move"))
            .count(),
        16
    );
}

#[test]
fn rotor_inertia_and_gear_ratio_are_read_from_transmissions() {
    let Some(folder) = robots() else { return };
    let file = "iiwa14/iiwa_description/urdf/iiwa14_primitive_collision.urdf";
    let arm = load(&folder, file, Root::Fixed(Isometry3::identity())).model;
    let mut diagonal = vec![0.0; 7];
    arm.add_reflected_inertia(&mut diagonal);
    // As written for axis 1: 0.0001321 kg m² behind a ratio of 160.
    assert!((diagonal[0] - 0.0001321 * 160.0 * 160.0).abs() < 1e-12);
    assert!(
        arm.joints()
            .iter()
            .filter(|j| j.kind.n_v() == 1)
            .all(|j| j.limits.acceleration.is_finite())
    );
}

#[test]
fn collision_meshes_are_read_and_open_ones_replaced_by_their_hull() {
    let Some(folder) = robots() else { return };
    let loaded = load(
        &folder,
        "iiwa7/iiwa7.urdf",
        Root::Fixed(Isometry3::identity()),
    );
    let collisions: Vec<_> = loaded
        .model
        .links()
        .iter()
        .flat_map(|l| &l.collisions)
        .collect();
    assert_eq!(collisions.len(), 8);
    assert!(collisions.iter().all(|c| {
        c.mesh
            .as_ref()
            .is_some_and(|mesh| mesh.vertices().len() > 100)
    }));
    // Six of the eight have gaps as published; two are closed.
    let by_hull = |c: &&&pliant_multibody::Collision| {
        matches!(
            c.geometry,
            GeometryDescription::Mesh {
                hull: MeshHull::Convex,
                ..
            }
        )
    };
    assert_eq!(collisions.iter().filter(by_hull).count(), 6);
    assert_eq!(
        loaded
            .report
            .entries
            .iter()
            .filter(|f| f.text.contains("convex hull is used"))
            .count(),
        6
    );
}
