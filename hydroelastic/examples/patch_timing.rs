//! Time of one contact query as a patch and as points: `cargo run --release --example patch_timing`.
#![allow(non_snake_case, reason = "monogram frame names")]
#![allow(clippy::print_stdout, reason = "the example prints a table")]

use std::time::Instant;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::mesh::generate;
use pliant_hydroelastic::{
    Compliance, ContactChoice, ContactGeometry, ContactWorkspace, GeometryDispatcher,
    PatchGeometry, Posed, Query, RigidShape, Shape,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let soft = |shape: &Shape, edge: f64| {
        let compliance = Compliance {
            mesh_resolution_hint: edge,
            slab_thickness: Some(0.1),
            ..Compliance::default()
        };
        PatchGeometry::compliant(shape, &compliance)
    };
    let ball = Shape::sphere(0.05)?;
    let cube = Shape::cuboid(Vector3::repeat(0.1))?;
    let floor = Shape::half_space();
    let bowl = Shape::from_surface(&generate::torus(0.2, 0.165, 96, 64)?)?;
    let finger = Shape::cuboid(Vector3::new(0.02, 0.06, 0.1))?;
    let pepper = Shape::from_surface(&generate::sphere(0.04, 4)?)?;
    let rod = Shape::cylinder(0.05, 0.2)?;
    let cases = [
        (
            "box on half space",
            (&cube, soft(&cube, 0.02)?),
            (&floor, PatchGeometry::rigid(&floor, 0.02)?),
            0.05,
        ),
        (
            "box on box",
            (&cube, soft(&cube, 0.02)?),
            (&cube, soft(&cube, 0.02)?),
            0.1,
        ),
        (
            "ball on ball",
            (&ball, soft(&ball, 0.02)?),
            (&ball, soft(&ball, 0.02)?),
            0.098,
        ),
        (
            "ball in rigid mesh bowl",
            (&ball, soft(&ball, 0.02)?),
            (&bowl, PatchGeometry::rigid(&bowl, 0.02)?),
            0.1164,
        ),
        (
            "cylinder on cylinder",
            (&rod, soft(&rod, 0.01)?),
            (&rod, soft(&rod, 0.01)?),
            0.2,
        ),
        (
            "finger on pepper mesh",
            (&finger, soft(&finger, 0.01)?),
            (&pepper, soft(&pepper, 0.01)?),
            0.09,
        ),
        (
            "soft finger on rigid pepper",
            (&finger, soft(&finger, 0.01)?),
            (&pepper, PatchGeometry::rigid(&pepper, 0.01)?),
            0.09,
        ),
    ];
    let geometry = GeometryDispatcher::default();
    println!("| pair | patch us | points | point contact us | points |");
    println!("|---|---|---|---|---|");
    for (name, (a, patch_A), (b, patch_B), height) in &cases {
        let time = |choice| {
            let mut q = Query::new(1e-3, 9.81)?;
            q.choice = choice;
            let mut out = Vec::new();
            let mut workspace = ContactWorkspace::default();
            let mut best = f64::INFINITY;
            for round in 0..30 {
                let start = Instant::now();
                for i in 0..20 {
                    let wobble = f64::from(i + round) * 1e-7;
                    let X_WA = Isometry3::new(
                        Vector3::new(0.011 + wobble, 0.017, height - 5e-4),
                        Vector3::new(0.003, 0.002, 0.3 + wobble),
                    );
                    let posed = |shape, patch, X_WG| {
                        Posed::Rigid(RigidShape {
                            patch: Some(patch),
                            ..RigidShape::at_rest(shape, X_WG)
                        })
                    };
                    out.clear();
                    geometry
                        .collide(
                            posed(a, patch_A, X_WA),
                            posed(b, patch_B, Isometry3::identity()),
                            &q,
                            &mut workspace,
                            &mut out,
                        )
                        .ok_or("no implementation handles this pair")??;
                }
                best = best.min(start.elapsed().as_secs_f64() / 20.0);
            }
            Ok::<_, Box<dyn std::error::Error>>((best * 1e6, out.len()))
        };
        let patch = time(ContactChoice::Patch)?;
        let point = time(ContactChoice::Point)?;
        println!(
            "| {name} | {:.1} | {} | {:.1} | {} |",
            patch.0, patch.1, point.0, point.1
        );
    }
    Ok(())
}
