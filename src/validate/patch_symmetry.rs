//! Invariance of patches: under motion of the pair, and under exchange of its sides.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_hydroelastic::{PatchSummary, Shape};

use super::patch::{MODULUS, Side, patch_of};
use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch-symmetry",
    about: "patches rotate with the pair, and exchanging its sides reverses the force",
    kind: CaseKind::Function(run),
    needs: None,
};

/// Poses of each pair.
const N_POSES: u32 = 25;

/// Largest relative differences over all poses of a pair, in force, area and size.
#[derive(Default)]
struct Worst {
    reaction: f64,
    area: f64,
    place: f64,
    moved_force: f64,
    moved_place: f64,
    pressed: u32,
}

impl Worst {
    fn compare_sides(&mut self, s: &PatchSummary, back: &PatchSummary, size: f64) {
        let off = (s.force_W + back.force_W).norm() / s.force_W.norm();
        self.reaction = self.reaction.max(off);
        self.area = self.area.max((back.area / s.area - 1.0).abs());
        let apart = (s.center_of_pressure - back.center_of_pressure).norm();
        self.place = self.place.max(apart / size);
    }

    fn compare_frames(
        &mut self,
        X: &Isometry3<f64>,
        s: &PatchSummary,
        moved: &PatchSummary,
        size: f64,
    ) {
        let off = (moved.force_W - X.rotation * s.force_W).norm() / s.force_W.norm();
        self.moved_force = self.moved_force.max(off);
        let apart = (moved.center_of_pressure - X * s.center_of_pressure).norm();
        self.moved_place = self.moved_place.max(apart / size);
    }
}

/// Pseudo-random numbers in [−1, 1].
fn numbers(seed: f64) -> Vector3<f64> {
    Vector3::new(
        (12.9898 * seed).sin(),
        (78.233 * seed + 1.0).sin(),
        (37.719 * seed + 2.0).sin(),
    )
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let size = 0.1;
    let soft = |shape: Shape, modulus: f64| Side::soft(shape, modulus, 0.02);
    let cube = || Shape::cuboid(Vector3::repeat(2.0 * size));
    let pairs = [
        (
            "a ball on a harder box",
            soft(Shape::sphere(size)?, MODULUS)?,
            soft(cube()?, 3.0 * MODULUS)?,
        ),
        (
            "two boxes",
            soft(cube()?, MODULUS)?,
            soft(cube()?, MODULUS)?,
        ),
        (
            "a cylinder on a rigid box",
            soft(Shape::cylinder(size, 2.0 * size)?, MODULUS)?,
            Side::rigid(cube()?)?,
        ),
        (
            "a capsule on a rigid plane",
            soft(Shape::capsule(size, size)?, MODULUS)?,
            Side::rigid(Shape::half_space())?,
        ),
        (
            "a box on a soft plane",
            soft(cube()?, MODULUS)?,
            soft(Shape::half_space(), MODULUS)?,
        ),
    ];
    let mut findings = Vec::new();
    for (what, a, b) in &pairs {
        let mut worst = Worst::default();
        for k in 0..N_POSES {
            let seed = f64::from(k) + 0.37;
            let turn = UnitQuaternion::from_scaled_axis(2.0 * numbers(seed));
            let aside = 0.2 * size * numbers(seed + 0.1);
            let X_WB = Isometry3::identity();
            // The distance of the centres is at most the sum of radii, so that some pairs touch.
            let height = if what.ends_with("plane") { 1.0 } else { 2.0 };
            let place = Vector3::new(aside.x, aside.y, 0.9 * height * size);
            let X_WA = Isometry3::from_parts(Translation3::from(place), turn);
            let s = patch_of((a, &X_WA), (b, &X_WB))?;
            if s.area < 1e-3 * size * size {
                continue;
            }
            worst.pressed += 1;
            let back = patch_of((b, &X_WB), (a, &X_WA))?;
            worst.compare_sides(&s, &back, size);
            let X = Isometry3::from_parts(
                Translation3::from(numbers(seed + 0.2)),
                UnitQuaternion::from_scaled_axis(3.0 * numbers(seed + 0.3)),
            );
            let moved = patch_of((a, &(X * X_WA)), (b, &(X * X_WB)))?;
            worst.compare_frames(&X, &s, &moved, size);
        }
        let mut small = |which: &str, found: f64, bound: f64, source: &str| {
            let name = format!("patch-symmetry: {what}: {which}");
            let found = if worst.pressed > 10 { found } else { f64::NAN };
            findings.push(Finding::at_most(name, found, bound, source));
        };
        let source = "action equals reaction; a sum of some hundred terms, each rounded";
        small(
            "force on A and force on B, their sum",
            worst.reaction,
            1e-12,
            source,
        );
        let source = "the same polygons";
        small("area with A and B exchanged", worst.area, 1e-12, source);
        let source = "as above, in 0.1 m";
        small(
            "centre of pressure with A and B exchanged",
            worst.place,
            1e-12,
            source,
        );
        let source = "a motion of both; depths of 1 cm are differences of coordinates of 1 m, known to 1e-16 m";
        small("force in another frame", worst.moved_force, 1e-10, source);
        small(
            "centre of pressure in another frame",
            worst.moved_place,
            1e-10,
            source,
        );
    }
    Ok(findings)
}
