//! A ball at rest in a valley of a height field.

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Geometry, Mount};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate;
use pliant_multibody::SpatialInertia;

use super::test_world::{G, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "valley",
    about: "a ball comes to rest in a valley of a height field, where it touches both slopes",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const RADIUS: f64 = 0.1;
const STIFFNESS: f64 = 1e6;

/// With slopes s, the centre is R √(1 + s²) above the bottom line, less the penetration: 2 k x cos θ = m g for x along each normal,
/// x/cos θ along z.
fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    [0.25, 1.0].into_iter().map(finding).collect()
}

fn finding(slope: f64) -> Outcome<Finding> {
    let rows = [slope, 0.0, slope].repeat(3);
    let ground = generate::height_field([2.0, 2.0], &rows, 3, -0.5)?;
    let mut setup = TestWorld::new(Model::Lagged, material(STIFFNESS, 0.0));
    let shape = Shape::from_surface(&ground)?;
    let mount = Mount::World(Isometry3::identity());
    let ground = Geometry::new("ground", mount, shape, setup.material);
    setup.builder.add_geometry(ground);
    let secant = (1.0 + slope * slope).sqrt();
    let height = RADIUS * secant;
    let body = setup.free(
        "ball",
        Shape::sphere(RADIUS)?,
        SpatialInertia::solid_sphere(1.0, RADIUS),
        Isometry3::from(Vector3::new(0.0, 0.3, height)),
        [0.0; 6],
    )?;
    let mut run = setup.start(TIME_STEP_S)?;
    run.steps(1000)?;
    let sunk = G * secant * secant / (2.0 * STIFFNESS);
    Ok(Finding::equals(
        format!("valley: height (m) of the ball, slopes of {slope}"),
        run.position(body).z,
        height - sunk,
        1e-6,
        "tangent planes of a sphere; Hooke's law of the contacts",
    ))
}
