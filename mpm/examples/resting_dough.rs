//! A cube of pizza dough, thrown a little, hangs on to the floor it sticks to, and sags.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::*;
use pliant_hydroelastic::Shape;
use pliant_mpm::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let h = 0.02;
    let cube = Shape::cuboid(Vector3::new(0.1, 0.1, 0.1))?;
    let pose = Isometry3::translation(0.0, 0.0, 0.05);
    let dough = fill("dough", &cube, &pose, h, Sampling::default())?;

    let mut builder = MpmBuilder::new(MpmSettings::new(h));
    let preset = Preset::PizzaDough;
    builder.object(ObjectSpec::new(
        "dough",
        preset.material(),
        preset.density(),
        dough,
    ));
    builder.wall(Wall {
        p_WQ: Point3::origin(),
        normal_W: Vector3::z(),
        kind: WallKind::Sticks,
    });
    let model = builder.build()?;

    // Nothing touches it: a step is one linear system, solved here by Newton's method of the contact crate.
    let control = model.default_control();
    let input = StepInput {
        time_step: 0.01.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let (mut state, mut next) = (model.default_state(), BodyState::default());
    let mut step = model.new_step();
    let (mut solver, mut solution) = (Newton::default(), Solution::default());
    for _ in 0..20 {
        step.begin(&state, &input)?;
        step.linearise_start(&mut Vec::new())?;
        let problem = ContactProblem {
            dynamics: &[step.dynamics()],
            constraints: &ConstraintSet::default(),
        };
        let report = solver.solve(&problem, step.start_velocity(), &mut solution)?;
        assert!(report.is_trusted());
        let _ = step.advance(&solution.velocity, &mut next)?;
        std::mem::swap(&mut state, &mut next);
    }
    let top = model
        .particles(&state)
        .map(|p| p.p_WP.z)
        .fold(0.0, f64::max);
    eprintln!("top of the dough after 0.2 s: {:.1} mm", 1e3 * top);
    assert!(top < 0.095 && top > 0.05);
    Ok(())
}

#[test]
fn the_dough_sags_and_stays_above_the_floor() {
    main().unwrap();
}
