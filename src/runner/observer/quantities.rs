//! The built-in quantities: each one's name, unit, meaning and measurement.

use nalgebra::Vector3;
use pliant_contact_sap::RowKind;

use super::LayerCount;
use crate::registry::{Measure, Quantity, SensorKind, Value};
use crate::runner::views::{ContactView, JointView};
use crate::scene::Component;

const SCALAR: &[Component] = &[];
const AXES: &[Component] = &[Component::Z, Component::X, Component::Y];
const VECTOR: &[Component] = &[Component::Norm, Component::X, Component::Y, Component::Z];
const ANGLES: &[Component] = &[
    Component::Tilt,
    Component::Roll,
    Component::Pitch,
    Component::Yaw,
];
const FORCE: &[Component] = &[
    Component::Norm,
    Component::X,
    Component::Y,
    Component::Z,
    Component::Normal,
    Component::Tangential,
];

/// The built-in quantities, in the order of the documentation.
pub(crate) fn built_in_quantities() -> Vec<Quantity> {
    let mut quantities = Vec::new();
    let mut add = |name: &str, unit, components, measure, about| {
        quantities.push(Quantity {
            name: name.into(),
            components,
            unit,
            about,
            measure,
        });
    };
    add(
        "position",
        "m",
        VECTOR,
        Measure::Point {
            rigid: |view| Value::Vector(view.p_WQ.coords),
            soft: |view| Value::Vector(view.centre()),
        },
        "of `point` on a body, link or frame; of a soft body's centre of mass, or the mean position of a region's points",
    );
    add(
        "orientation",
        "rad",
        ANGLES,
        Measure::Frame(|view| Value::Orientation(view.X_WF.rotation)),
        "of a body, link or frame; `tilt` is the angle between its z axis and the world's",
    );
    add(
        "velocity",
        "m/s",
        VECTOR,
        Measure::Point {
            rigid: |view| Value::Vector(view.linear_velocity),
            soft: |view| Value::Vector(view.velocity()),
        },
        "of `point` on a body, link or frame; of a soft body's centre of mass, or the mean position of a region's points",
    );
    add(
        "angular-velocity",
        "rad/s",
        VECTOR,
        Measure::Frame(|view| Value::Vector(view.angular_velocity)),
        "of a body, link or frame",
    );
    add(
        "accelerometer",
        "m/s²",
        VECTOR,
        Measure::Sensor(SensorKind::Accelerometer),
        "specific force at `point` of a body, link or frame in its own axes, mean over the last step: 0 in free fall, the gravity of the world upward at rest",
    );
    add(
        "gyroscope",
        "rad/s",
        VECTOR,
        Measure::Sensor(SensorKind::Gyroscope),
        "angular velocity of a body, link or frame in its own axes",
    );
    add(
        "reaction-force",
        "N",
        VECTOR,
        Measure::Sensor(SensorKind::ReactionForce),
        "what the parent exerts on a link through its joint, fixed joints included, in the axes of the link or frame during the last step; of a joint: on its child link",
    );
    add(
        "reaction-torque",
        "N·m",
        VECTOR,
        Measure::Sensor(SensorKind::ReactionTorque),
        "the torque that goes with `reaction-force`, about `point` of the link or frame",
    );
    add(
        "joint-position",
        "rad or m",
        SCALAR,
        Measure::Joint(|view| view.state.q[view.joint.q]),
        "of a joint",
    );
    add(
        "joint-velocity",
        "rad/s or m/s",
        SCALAR,
        Measure::Joint(|view| view.state.v[view.joint.dof.0]),
        "of a joint",
    );
    add(
        "joint-effort",
        "N·m or N",
        SCALAR,
        Measure::Joint(joint_effort),
        "what the joint's actuator gave during the last step",
    );
    add(
        "joint-error",
        "rad or m",
        SCALAR,
        Measure::Joint(joint_error),
        "target of the joint's actuator at the end of the last step, minus the position",
    );
    add(
        "contact-force",
        "N",
        FORCE,
        Measure::Contact(contact_force),
        "on `of` from `with` during the last step; `normal` sums the forces along the contact normals, `tangential` is the length of the rest",
    );
    add(
        "contact-count",
        "",
        SCALAR,
        Measure::Contact(|view| {
            let loaded = view
                .contacts()
                .filter(|(contact, _)| contact.force_W.norm() > 0.0);
            Value::Scalar(loaded.count() as f64)
        }),
        "contact points of `of` with `with` that carried a force in the last step",
    );
    add(
        "attachments-changed",
        "",
        SCALAR,
        Measure::AttachmentsChanged,
        "with `stepper = \"penalty-force\"`: attachments between `of` and `with` that have moved by as little as one bit, begun or ended since the last row; 0 in static friction",
    );
    add(
        "penetration",
        "m",
        SCALAR,
        Measure::Contact(|view| {
            let depths = view.contacts().map(|(contact, _)| -contact.signed_distance);
            Value::Scalar(depths.fold(0.0, f64::max))
        }),
        "of the deepest contact of `of` with `with` at the start of the last step, 0 without contact",
    );
    add(
        "center-of-pressure",
        "m",
        VECTOR,
        Measure::Contact(|view| {
            let centre = view.centre_of_pressure();
            Value::Vector(centre.unwrap_or(Vector3::repeat(f64::NAN)))
        }),
        "of the contacts of `of` with `with`: mean position of the contacts, weighted by the normal forces of the last step; no value without force",
    );
    add(
        "contact-moment",
        "N·m",
        VECTOR,
        Measure::Contact(|view| {
            let centre = view.centre_of_pressure();
            Value::Vector(centre.map_or_else(Vector3::zeros, |centre| view.moment_about(&centre)))
        }),
        "on `of` from `with` about the centre of pressure during the last step: friction against rotation about the normal, and what curved patches give",
    );
    add(
        "patch-area",
        "m²",
        SCALAR,
        Measure::Contact(|view| {
            let shares = view.contacts().filter_map(|(contact, _)| contact.patch);
            Value::Scalar(shares.map(|share| share.area).sum())
        }),
        "of the patches of `of` with `with` when the last step began; contact in points has none",
    );
    add(
        "patch-pressure",
        "Pa",
        SCALAR,
        Measure::Contact(|view| {
            let shares = view.contacts().filter_map(|(contact, _)| contact.patch);
            Value::Scalar(shares.map(|share| share.pressure_max).fold(0.0, f64::max))
        }),
        "highest elastic pressure in the patches of `of` with `with` when the last step began, 0 without a patch",
    );
    add(
        "kinetic-energy",
        "J",
        SCALAR,
        Measure::Mass(|view| Value::Scalar(view.energy().kinetic)),
        "of a body, model, repeat or soft body, or of everything",
    );
    add(
        "potential-energy",
        "J",
        SCALAR,
        Measure::Mass(|view| Value::Scalar(view.energy().potential)),
        "of gravity, joint springs and strain",
    );
    add(
        "elastic-energy",
        "J",
        SCALAR,
        Measure::Mass(|view| Value::Scalar(view.energy_without_gravity().potential)),
        "of strain and joint springs: the potential energy without gravity's",
    );
    add(
        "energy",
        "J",
        SCALAR,
        Measure::Mass(|view| {
            let energy = view.energy();
            Value::Scalar(energy.kinetic + energy.potential)
        }),
        "kinetic and potential",
    );
    add(
        "momentum",
        "kg·m/s",
        VECTOR,
        Measure::Mass(|view| Value::Vector(view.energy().linear_momentum_W)),
        "of a body, model or repeat, or of everything",
    );
    add(
        "angular-momentum",
        "kg·m²/s",
        VECTOR,
        Measure::Mass(|view| Value::Vector(view.energy().angular_momentum_W)),
        "about the world's origin",
    );
    add(
        "mass",
        "kg",
        SCALAR,
        Measure::Mass(|view| Value::Scalar(view.mass())),
        "of moving bodies; for expressions such as the weight of a repeat",
    );
    add(
        "displacement",
        "m",
        VECTOR,
        Measure::SamePoints(|view| Value::Vector(view.centre() - view.centre_at_start())),
        "of the centre of mass, or of the mean position of a region's points, from where it was at the start",
    );
    add(
        "lowest",
        "m",
        AXES,
        Measure::Soft(|view| {
            Value::Scalar(view.coordinates().into_iter().fold(f64::NAN, f64::min))
        }),
        "least coordinate of its points along an axis of the world, or `along` a direction",
    );
    add(
        "highest",
        "m",
        AXES,
        Measure::Soft(|view| {
            Value::Scalar(view.coordinates().into_iter().fold(f64::NAN, f64::max))
        }),
        "greatest coordinate of its points along an axis of the world, or `along` a direction",
    );
    add(
        "volume",
        "m³",
        SCALAR,
        Measure::SoftBody(|view| Value::Scalar(view.volume())),
        "of a deformed soft body; of material points that have flowed or separated, too; inverted parts are negative",
    );
    add(
        "plastic-strain",
        "",
        SCALAR,
        Measure::SoftBody(|view| Value::Scalar(view.plastic_strain())),
        "mean accumulated plastic strain of a body of material points, by volume at rest; no value for materials that do not yield",
    );
    add(
        "first-piece",
        "",
        SCALAR,
        Measure::SoftBody(|view| Value::Scalar(view.piece(0))),
        "fraction of the mass in the heaviest piece of a body of material points; pieces are more than a grid cell apart; 1 if the body is in one piece",
    );
    add(
        "second-piece",
        "",
        SCALAR,
        Measure::SoftBody(|view| Value::Scalar(view.piece(1))),
        "fraction of the mass in the second heaviest piece of a body of material points; pieces are more than a grid cell apart; 0 if the body is in one piece",
    );
    add(
        "strand-crossings",
        "",
        SCALAR,
        Measure::StrandCrossings,
        "number of times that segments of the rod, or of all its copies, have passed through each other since the start; not 0 if contact was missed",
    );
    add(
        "cloth-intersections",
        "",
        SCALAR,
        Measure::ClothLayers(LayerCount::Intersections),
        "number of times that an edge of a triangle of the cloth, or of all cloths, passes through another triangle with no common vertex: not 0 if a vertex is on the wrong side of a layer",
    );
    add(
        "cloth-layers",
        "",
        SCALAR,
        Measure::ClothLayers(LayerCount::Highest),
        "largest number of layers of the cloth, or of all cloths, on one vertical line",
    );
    add(
        "constraint-force",
        "N",
        VECTOR,
        Measure::Constraint(|view| Value::Vector(view.force())),
        "of a constraint on its second body during the last step; for a region, the sum over its points",
    );
    add(
        "iterations",
        "",
        SCALAR,
        Measure::Step(|report| report.convergence.solve.iterations as f64),
        "of the contact solver in the last step",
    );
    add(
        "expression",
        "",
        SCALAR,
        Measure::Expression,
        "arithmetic of other observables",
    );
    quantities
}

/// Effort of the actuator of a joint, or the prescribed effort of a joint without one.
fn joint_effort(view: &JointView<'_>) -> f64 {
    let Some((report, from)) = view.step else {
        return f64::NAN;
    };
    let (body, dof) = (view.joint.body, view.joint.dof.0);
    let actuator = report.row_force(body, RowKind::Actuator, dof as u32);
    actuator.unwrap_or_else(|| {
        let efforts = &from.controls[body.0].effort;
        efforts.get(dof).copied().unwrap_or(0.0)
    })
}

/// NaN for a joint without an actuator.
fn joint_error(view: &JointView<'_>) -> f64 {
    let Some((_, from)) = view.step else {
        return f64::NAN;
    };
    let targets = &from.controls[view.joint.body.0].position;
    let target = targets.get(view.joint.dof.0);
    target.map_or(f64::NAN, |target| target - view.state.q[view.joint.q])
}

fn contact_force(view: &ContactView<'_>) -> Value {
    let (mut sum, mut tangential, mut normal) = (Vector3::zeros(), Vector3::zeros(), 0.0);
    for (contact, sign) in view.contacts() {
        let along = contact.normal_W.dot(&contact.force_W);
        sum += contact.force_W * sign;
        tangential += (contact.force_W - contact.normal_W * along) * sign;
        normal += along * f64::abs(sign);
    }
    Value::Force {
        sum,
        normal,
        tangential: tangential.norm(),
    }
}
