//! A box that slides without friction over tiles that lie flush, and one that meets a tile 1 mm higher.

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{BodyIdx, Geometry, Mount};
use pliant_hydroelastic::Shape;

use super::test_world::{MODELS, Model, Outcome, Run, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "flush-tiles",
    about: "a frictionless box keeps its speed over the seams of a tiled floor; a tile 1 mm higher stops it",
    kind: CaseKind::Function(run),
    needs: None,
};

const STIFFNESS: f64 = 5e5;
const TILE: f64 = 0.1;
const SPEED: f64 = 1.0;
const BOX: [f64; 3] = [0.16, 0.16, 0.08];
const STEP: f64 = 1e-3;
/// The first column of tiles that are higher.
const STEP_COLUMN: i32 = 6;

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    let time_steps = match length {
        CaseLength::Quick => [1e-3].as_slice(),
        CaseLength::Full => [0.5e-3, 1e-3, 3e-3, 1e-2].as_slice(),
    };
    for model in MODELS {
        for &time_step_s in time_steps {
            // Fifteen seams along x, at a small angle to them.
            let (mut run, body) = floor_and_box(model, time_step_s, |_| 0.0)?;
            run.steps((15.0 * TILE / SPEED / time_step_s).round() as usize)?;
            findings.push(Finding::equals(
                format!(
                    "flush-tiles: speed after 15 seams (m/s), {}, {} ms",
                    model.name(),
                    1e3 * time_step_s
                ),
                run.velocity(body).xy().norm(),
                SPEED,
                1e-3 * SPEED,
                "no horizontal force on a frictionless body on a level floor",
            ));
        }
        let (mut run, body) = floor_and_box(model, 1e-3, |column| match column {
            ..STEP_COLUMN => 0.0,
            _ => STEP,
        })?;
        run.steps(1500)?;
        findings.push(Finding::at_most(
            format!("flush-tiles: way to a step of 1 mm (m), {}", model.name()),
            run.position(body).x,
            (f64::from(STEP_COLUMN) - 0.5) * TILE - 0.5 * BOX[0] + STEP,
            "a vertical face stops a box at half of its length",
        ));
    }
    Ok(findings)
}

/// A box on a floor of tiles, whose tops are at the given height in each column along x.
fn floor_and_box(
    model: Model,
    time_step_s: f64,
    height: impl Fn(i32) -> f64,
) -> Outcome<(Run, BodyIdx)> {
    let mut setup = TestWorld::new(model, material(STIFFNESS, 0.0));
    for column in -2..19 {
        for row in -2..=2 {
            let [x, y] = [column, row].map(|k| f64::from(k) * TILE);
            let X_WT = Isometry3::translation(x, y, height(column) - 0.5 * TILE);
            let tile = Shape::cuboid(Vector3::repeat(TILE))?;
            let name = format!("tile {column} {row}");
            let tile = Geometry::new(name, Mount::World(X_WT), tile, setup.material);
            setup.builder.add_geometry(tile);
        }
    }
    let lengths = Vector3::from(BOX);
    let turn = Vector3::z() * 17_f64.to_radians();
    let X_WB = Isometry3::new(Vector3::new(0.0, 0.013, 0.5 * BOX[2]), turn);
    let (sin, cos) = 0.05_f64.sin_cos();
    let v = [0.0, 0.0, 0.0, SPEED * cos, SPEED * sin, 0.0];
    let body = setup.free_box("box", lengths, 1.0, X_WB, v)?;
    Ok((setup.start(time_step_s)?, body))
}
