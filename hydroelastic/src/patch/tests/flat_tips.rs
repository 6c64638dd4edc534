//! Filaments with flat tips: force of the face, and its resistance to tipping.

use std::f64::consts::PI;

use super::fields_of_filaments::{E, line, soft};
use super::*;
use crate::{Filament, FlatSection, Outline, Tips};

const RADIUS: f64 = 0.01;

/// A round filament on its flat tip in the plane z = 0: the centre of the face is `sunk` (m) below it, and the filament
/// leans towards x by an angle (rad).
fn leaning(id: u64, sunk: f64, angle: f64) -> Filament {
    let top = [0.1 * angle.sin(), 0.0, 0.1 * angle.cos() - sunk];
    let f = line(id, [0.0, 0.0, -sunk], top, 3, RADIUS);
    let f = f.with_tips(Tips::Flat).with_field(&soft(0.001), &[]);
    f.unwrap()
}

/// Contact points of the floor on the filament.
fn points_of(f: &Filament) -> Vec<ContactPoint> {
    let floor = Body::rigid(Shape::half_space());
    points(Posed::Filament(f), floor.at(Isometry3::identity()))
}

/// Upward force, and moment about y about the centre of the face: E min(z/r, 1 − ρ/r) integrated over the plane, with z
/// from the face along the axis and ρ from the axis.
fn exact_load(sunk: f64, angle: f64) -> (f64, f64) {
    let axis = Vector3::new(angle.sin(), 0.0, angle.cos());
    let n = 800;
    let cell = 2.2 * RADIUS / f64::from(n);
    let (mut force, mut moment) = (0.0, 0.0);
    for i in 0..n {
        for j in 0..n {
            let position = |k: i32| (f64::from(k) + 0.5) * cell - 1.1 * RADIUS;
            let (x, y) = (position(i), position(j));
            let from_face = Vector3::new(x, y, sunk);
            let depth = from_face.dot(&axis);
            let off_axis = (from_face - axis * depth).norm();
            let p = E * (depth / RADIUS).min(1.0 - off_axis / RADIUS).max(0.0);
            force += p * cell * cell;
            moment -= p * x * cell * cell;
        }
    }
    (force, moment)
}

fn rectangle() -> FlatSection {
    FlatSection {
        m_1: Vector3::x(),
        half_1: 0.02,
        half_2: 0.005,
        outline: Outline::Rectangle,
    }
}

fn oval() -> FlatSection {
    FlatSection {
        outline: Outline::Ellipse,
        ..rectangle()
    }
}

#[test]
fn force_of_a_flat_tip_is_that_of_its_face_and_ends_with_the_filament() {
    let disc = PI * RADIUS * RADIUS;
    for (sections, area, depth) in [
        (vec![], disc, RADIUS),
        (vec![rectangle(); 2], 0.04 * 0.01, 0.005),
        (vec![oval(); 2], disc, 0.005),
    ] {
        let force = |sunk: f64, tips: Tips| {
            let f = line(0, [0.0, 0.0, -sunk], [0.0, 0.0, 0.1], 2, RADIUS);
            let f = f.with_tips(tips).with_field(&soft(0.001), &sections);
            wrench(&points_of(&f.unwrap())).0
        };
        for sunk in [1e-5, 1e-4] {
            let found = force(sunk, Tips::Flat);
            // The pressure falls to zero over the depth towards the face, and towards the rim over the same depth
            // sideways.
            let exact = E * sunk / depth * area;
            let rim = 2.5 * sunk / depth;
            assert!(
                (found.z / exact - 1.0).abs() < 0.01 + rim && found.xy().norm() < 1e-9 * exact,
                "{sections:?} sunk by {sunk}: {found:?} for {exact}"
            );
        }
        assert_eq!(force(-1e-5, Tips::Flat), Vector3::zeros());
        assert!(force(-1e-5, Tips::Round).z > 0.0, "its cone is in contact");
    }
}

#[test]
fn force_of_a_tilted_face_is_the_integral_of_its_pressure() {
    for (sunk, angle) in [
        (2e-4, 0.0),
        (1e-3, 0.03),
        (3e-4, 0.03),
        (0.0, 0.05),
        (-5e-4, 0.1),
        (1e-3, 0.2),
    ] {
        let (force, moment) = wrench(&points_of(&leaning(0, sunk, angle)));
        let exact = exact_load(sunk, angle);
        let worst = 0.02 * exact.0;
        assert!(
            (force.z - exact.0).abs() < worst && force.xy().norm() < 1e-9 * exact.0,
            "{sunk} m, {angle} rad: {force:?} for {}",
            exact.0
        );
        assert!(
            (moment.y - exact.1).abs() < worst * RADIUS && moment.x.abs() < 0.1 * worst * RADIUS,
            "{sunk} m, {angle} rad: {moment:?} for {}",
            exact.1
        );
    }
}

#[test]
fn the_points_of_a_face_have_the_tipping_stiffness_of_its_pressure() {
    let sunk = 5e-5;
    for sections in [vec![], vec![oval(); 3], vec![rectangle(); 3]] {
        let depth = sections.first().map_or(RADIUS, |s| s.half_2);
        let f = line(0, [0.0, 0.0, -sunk], [0.0, 0.0, 0.1], 3, RADIUS);
        let f = f.with_tips(Tips::Flat).with_field(&soft(0.001), &sections);
        let f = f.unwrap();
        // Points behind the face, not behind its rim.
        let part = 1.0 - sunk / depth;
        let [about_x, about_y] = match sections.first() {
            None => [0.25 * PI * RADIUS.powi(4) * part.powi(4); 2],
            Some(s) if s.outline == Outline::Ellipse => [
                0.25 * PI * s.half_1 * (s.half_2 * part).powi(3) * part,
                0.25 * PI * (s.half_1 * part).powi(3) * s.half_2 * part,
            ],
            Some(s) => {
                let [a, b] = [s.half_1, s.half_2].map(|half| half - sunk);
                [4.0 / 3.0 * a * b.powi(3), 4.0 / 3.0 * a.powi(3) * b]
            }
        };
        let points = points_of(&f);
        let resists = |arm: fn(&ContactPoint) -> f64| -> f64 {
            let points = points.iter();
            points
                .map(|c| c.stiffness.of_pair(f64::NAN) * arm(c).powi(2))
                .sum()
        };
        for (found, second) in [
            (resists(|c| c.p_WC.y), about_x),
            (resists(|c| c.p_WC.x), about_y),
        ] {
            let exact = E / depth * second;
            // Points at the rim of a non-round section are too stiff.
            let rim = 2.0 * sunk / depth;
            assert!(
                (found / exact - 1.0).abs() < 0.01 + rim,
                "{sections:?}: {found} for {exact} N m/rad"
            );
        }
    }
}

#[test]
fn a_face_is_stable_until_the_load_leaves_its_edge() {
    // A small fraction of the possible load, so that all pressure is at the edge when it tips.
    let load = 1e-5 * E * PI * RADIUS * RADIUS;
    let mut most: f64 = 0.0;
    for angle in [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1] {
        // The depth that carries the load.
        let (mut low, mut high) = (-RADIUS * angle, RADIUS);
        for _ in 0..60 {
            let midpoint = 0.5 * (low + high);
            let carries = wrench(&points_of(&leaning(0, midpoint, angle))).0.z > load;
            (low, high) = if carries {
                (low, midpoint)
            } else {
                (midpoint, high)
            };
        }
        let (force, moment) = wrench(&points_of(&leaning(0, high, angle)));
        let arm = -moment.y / force.z;
        assert!(arm > most, "{angle} rad: {arm} m after {most}");
        most = arm;
    }
    assert!((0.97..1.005).contains(&(most / RADIUS)), "{most} m");
}

#[test]
fn end_on_end_two_faces_touch_in_three_points_apart() {
    let upper = leaning(0, 1e-4, 0.0);
    let lower = line(1, [0.0, 0.0, -0.1], [0.0, 0.0, 0.0], 3, RADIUS);
    let lower = lower.with_tips(Tips::Flat).with_field(&soft(0.001), &[]);
    let lower = lower.unwrap();
    let found = points(Posed::Filament(&upper), Posed::Filament(&lower));
    let (force, moment) = wrench(&found);
    // Each takes up half of the approach.
    let exact = E * 0.5e-4 / RADIUS * PI * RADIUS * RADIUS;
    assert!(
        (force.z / exact - 1.0).abs() < 0.02,
        "{force:?} for {exact}"
    );
    assert!(moment.norm() < 1e-3 * exact * RADIUS);
    let far = found
        .iter()
        .filter(|c| c.p_WC.coords.xy().norm() > 0.4 * RADIUS);
    assert_eq!(far.count(), 3, "{found:?}");
}
