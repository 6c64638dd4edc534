//! Ten boxes on top of each other.

use nalgebra::{Isometry3, Point3, Vector3};

use super::stiction::softened_creep;
use super::test_world::{G, MODELS, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "standing-stack",
    about: "a stack of ten boxes stays at rest, and the floor carries its weight",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const SIDE: f64 = 0.1;
const STIFFNESS: f64 = 5e5;
const N_BOXES: usize = 10;
const FRICTION: f64 = 0.5;
/// m.
const ALLOWED_MOTION: f64 = 1e-6;

/// Arrangement of the boxes.
#[derive(Clone, Copy, Debug)]
enum Pile {
    /// Corner on corner.
    Straight,
    /// Each rotated by 0.2 rad against the one below and up to 4 mm off: patches of eight corners, uneven loads.
    Crooked,
}

/// Numbers of steps before and during the measurement.
#[derive(Clone, Copy, Debug)]
struct Steps {
    settle: usize,
    measured: usize,
}

/// The straight stack starts where it rests. The crooked one sways, with a decay time of more than a second: its
/// dissipation is d times the load of a contact.
fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        match length {
            CaseLength::Quick => {
                let steps = Steps {
                    settle: 200,
                    measured: 300,
                };
                findings.extend(stand(model, Pile::Straight, steps)?);
            }
            CaseLength::Full => {
                let steps = Steps {
                    settle: 1_000,
                    measured: 60_000,
                };
                findings.extend(stand(model, Pile::Straight, steps)?);
                let steps = Steps {
                    settle: 30_000,
                    ..steps
                };
                findings.extend(stand(model, Pile::Crooked, steps)?);
            }
        }
    }
    Ok(findings)
}

/// Upper bound of the creep speed of a box in the stack with these centres, in regularised stiction, m/s.
///
/// Off-centre loads tilt the boxes: an interface under the load W whose centre is e away turns by θ = W e/κ, κ at
/// least kL²/2 (four springs k on corners at least L/2 from the centre), and a box by the sum Θ of those below it. A normal
/// tilted by Θ leaves a part Θ of the load to friction, which creeps with v_s Θ/μ, and the box above moves with all below.
fn creep_speed(centres: &[Vector3<f64>]) -> f64 {
    let (mut tilt, mut speed) = (0.0, 0.0);
    for k in 0..centres.len() {
        let above = &centres[k..];
        let centre_of_mass = above.iter().sum::<Vector3<f64>>() / above.len() as f64;
        let below = if k == 0 { centres[0] } else { centres[k - 1] };
        let off =
            (centre_of_mass - nalgebra::center(&below.into(), &centres[k].into()).coords).xy();
        let load = above.len() as f64 * G;
        tilt += load * off.norm() / (0.5 * STIFFNESS * SIDE * SIDE);
        speed += softened_creep(tilt / FRICTION);
    }
    speed
}

fn stand(model: Model, pile: Pile, steps: Steps) -> Outcome<[Finding; 2]> {
    let mut setup = TestWorld::new(model, material(STIFFNESS, FRICTION));
    let ground = setup.floor(Isometry3::identity());
    let mut bodies = Vec::new();
    let mut centres = Vec::new();
    let mut height = 0.0;
    for k in 0..N_BOXES {
        // The springs under box k carry all boxes from k on; their total stiffness is that of four corners, also with eight.
        let load = (N_BOXES - k) as f64 * G;
        height += SIDE - load / (4.0 * STIFFNESS);
        let n = k as f64;
        let (yaw, shift) = match pile {
            Pile::Straight => (0.0, Vector3::zeros()),
            Pile::Crooked => (
                0.2 * n,
                Vector3::new((2.0 * n).sin(), (3.0 * n).cos(), 0.0) * 2e-3,
            ),
        };
        let centre = Vector3::z() * (height - 0.5 * SIDE) + shift;
        let X_WB = Isometry3::new(centre, Vector3::z() * yaw);
        centres.push(centre);
        let name = format!("box {k}");
        bodies.push(setup.free_box(&name, Vector3::repeat(SIDE), 1.0, X_WB, [0.0; 6])?);
    }
    let mut run = setup.start(TIME_STEP_S)?;
    run.steps(steps.settle)?;
    let positions: Vec<_> = bodies.iter().map(|&b| run.position(b)).collect();
    let weight = N_BOXES as f64 * G;
    let (mut moved, mut force): (f64, f64) = (0.0, weight);
    for _ in 0..steps.measured {
        let report = run.step()?;
        let on_floor = report.contact_wrench(&Point3::origin(), |g| g == ground);
        let candidate = -on_floor.force.z;
        if (candidate - weight).abs() > (force - weight).abs() {
            force = candidate;
        }
        for (body, position) in bodies.iter().zip(&positions) {
            moved = moved.max((run.position(*body) - position).norm());
        }
    }
    let duration_s = steps.measured as f64 * TIME_STEP_S;
    let name = model.name();
    Ok([
        Finding::at_most(
            format!("standing-stack: {pile:?}, largest motion (m) in {duration_s} s, {name}"),
            moved,
            match (model, pile) {
                (Model::Lagged | Model::Similar, Pile::Crooked) => {
                    ALLOWED_MOTION.max(creep_speed(&centres) * duration_s)
                }
                _ => ALLOWED_MOTION,
            },
            "statics: 1 µm, and in a crooked stack the creep of regularised stiction",
        ),
        Finding::equals(
            format!("standing-stack: {pile:?}, force on the floor (N), worst step, {name}"),
            force,
            weight,
            1e-4 * weight,
            "statics, to 1e-4",
        ),
    ])
}
