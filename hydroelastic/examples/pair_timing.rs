//! Times one contact query for pairs at rest on each other, overlapping at a random pose, or approaching each other;
//! run with `--release`.
#![allow(non_snake_case, reason = "monogram frame names")]

use std::time::Instant;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::{
    ContactChoice, ContactGeometry, ContactWorkspace, PointContact, Posed, Query, RigidShape,
    Shape, Twist,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cloud: Vec<_> = (0..40_u32)
        .map(|i| {
            let (t, z) = (2.4 * f64::from(i), f64::from(i) / 19.5 - 1.0);
            let r = (1.0 - z * z).max(0.0).sqrt();
            (Vector3::new(r * t.cos(), r * t.sin(), z) * 0.1).into()
        })
        .collect();
    let block = Shape::cuboid(Vector3::repeat(0.2))?;
    let upper = [
        ("sphere", Shape::sphere(0.1)?),
        ("box", block.clone()),
        ("cylinder", Shape::cylinder(0.1, 0.2)?),
        ("capsule", Shape::capsule(0.05, 0.1)?),
        ("ellipsoid", Shape::ellipsoid(Vector3::new(0.1, 0.08, 0.1))?),
        ("cone", Shape::cone(0.1, 0.2)?),
        ("hull of 40", Shape::convex_hull(&cloud)?),
    ];
    let lower = [
        ("half space", Shape::half_space()),
        ("box", block),
        ("cylinder", Shape::cylinder(0.1, 0.2)?),
    ];
    eprintln!(
        "{:>12} on {:<12} {:>10} {:>10} {:>10}  (us)",
        "", "", "resting", "tilted", "flying"
    );
    for (name, a) in &upper {
        for (under, b) in &lower {
            let height = if let Shape::HalfSpace = b { 0.1 } else { 0.2 };
            let time = |height: f64, tilt: f64, speed: f64| {
                let q = Query {
                    time_step_s: 0.01,
                    margin: 1e-4,
                    choice: ContactChoice::Point,
                };
                let mut out = Vec::new();
                let mut workspace = ContactWorkspace::default();
                let mut best = f64::INFINITY;
                let mut total = 0;
                for round in 0..20 {
                    let start = Instant::now();
                    for i in 0..100 {
                        let wobble = f64::from(i + round) * 1e-9;
                        let X_WA = Isometry3::new(
                            Vector3::new(0.01 + wobble, 0.02, height - 1e-5),
                            Vector3::new(tilt + wobble, -0.7 * tilt, tilt),
                        );
                        let posed = |shape, X_WG, linear| {
                            Posed::Rigid(RigidShape {
                                shape,
                                X_WG,
                                V_WG: Twist {
                                    angular: Vector3::zeros(),
                                    linear,
                                },
                                patch: None,
                            })
                        };
                        out.clear();
                        let answer = PointContact.collide(
                            posed(a, X_WA, Vector3::new(0.0, 0.0, -speed)),
                            posed(b, Isometry3::identity(), Vector3::zeros()),
                            &q,
                            &mut workspace,
                            &mut out,
                        );
                        assert!(matches!(answer, Some(Ok(()))));
                        total += out.len();
                    }
                    best = best.min(start.elapsed().as_secs_f64() * 1e4);
                }
                (best, total)
            };
            let (resting, tilted, flying) = (
                time(height, 0.0, 0.0),
                time(height, 0.3, 0.0),
                time(height + 0.15, 0.3, 30.0),
            );
            eprintln!(
                "{name:>12} on {under:<12} {:>10.2} {:>10.2} {:>10.2}",
                resting.0, tilted.0, flying.0
            );
            assert!(resting.1 > 0);
        }
    }
    Ok(())
}
