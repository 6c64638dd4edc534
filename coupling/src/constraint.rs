//! Bilateral constraints between frames or material points.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::MaterialPoint;

use crate::world::BodyIdx;

/// A bilateral constraint between two frames or points of bodies, or of a body and the world.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Isometry3;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
///
/// // A ball of 1 kg on a thread of 1 m.
/// let thread = builder.add_constraint(Constraint {
///     name: "thread".into(),
///     kind: ConstraintKind::Distance(1.0),
///     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
///     b: Anchor::World(Isometry3::translation(0.0, 0.0, 1.0)),
///     compliance: ConstraintCompliance::NearRigid,
/// });
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let force = report.constraint(thread).expect("it holds").on_a.force;
/// assert!((force.z - 9.81).abs() < 1e-2); // the thread carries the weight
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name, unique in the world.
    pub name: String,
    /// What it prescribes.
    pub kind: ConstraintKind,
    /// One end.
    pub a: Anchor,
    /// The other end.
    pub b: Anchor,
    /// Stiffness and bound.
    pub compliance: ConstraintCompliance,
}

/// What a constraint prescribes.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::ConstraintKind;
///
/// // A ball of 1 kg and r = 0.1 m, held at its surface beside its centre: a weld carries the moment of the weight.
/// let kind = ConstraintKind::Weld;
/// # let beside = Isometry3::translation(0.1, 0.0, 0.0);
/// # let held = builder.add_constraint(Constraint {
/// #     name: "held".into(),
/// #     kind,
/// #     a: Anchor::Frame { body, frame: 0, X_FA: beside },
/// #     b: Anchor::World(beside),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let on_ball = report.constraint(held).expect("it holds").on_a;
/// assert!((on_ball.force.z - 9.81).abs() < 0.1);
/// assert!((on_ball.torque.y - 0.1 * 9.81).abs() < 0.01); // about the anchor; with ConstraintKind::Ball it is zero
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstraintKind {
    /// The anchors' origins coincide.
    Ball,
    /// The anchors' origins keep this distance, m, positive.
    Distance(f64),
    /// The anchors coincide.
    Weld,
    /// The anchors' origins and z axes coincide: a hinge.
    Revolute,
    /// The anchors' axes are parallel, and the origin of A lies on the z axis of B: a slide.
    Prismatic,
}

/// Compliance of a constraint.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Isometry3;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{Anchor, Constraint, ConstraintKind, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::ConstraintCompliance;
///
/// // A ball of 1 kg on a spring of 1 m and 981 N/m, whose weight stretches it by 1 cm.
/// let compliance = ConstraintCompliance::Spring { stiffness: 981.0, relaxation_time_s: 0.0 };
/// # builder.add_constraint(Constraint {
/// #     name: "spring".into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(0.0, 0.0, 1.01)),
/// #     compliance,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// assert!(next.bodies[0].v[5].abs() < 1e-9); // at 1.01 m it is in equilibrium
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ConstraintCompliance {
    /// As stiff as the step can resolve.
    #[default]
    NearRigid,
    /// Spring with stiffness k (N/m or N·m/rad) and relaxation time τ (s).
    Spring {
        /// k.
        stiffness: f64,
        /// τ, s.
        relaxation_time_s: f64,
    },
}

/// One end of a constraint: a frame fixed on a body or in the world, or a material point.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_coupling::{Constraint, ConstraintCompliance, ConstraintKind, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_contact_sap::MaterialPoint;
/// use pliant_coupling::Anchor;
///
/// // A ball of r = 0.1 m, held at a point of its surface beside its centre.
/// let on_ball = Anchor::Point { body, point: MaterialPoint::on_frame(0, Vector3::new(0.1, 0.0, 0.0)) };
/// let in_world = Anchor::World(Isometry3::translation(0.1, 0.0, 0.0));
/// assert_eq!((on_ball.body(), in_world.body()), (Some(body), None));
/// # builder.add_constraint(Constraint {
/// #     name: "joint".into(), kind: ConstraintKind::Ball, a: on_ball, b: in_world, compliance: ConstraintCompliance::NearRigid,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// // It begins to swing about that point: α = g r/(2/5 r² + r²), of which a step gives δt.
/// let alpha = 9.81 / (1.4 * 0.1);
/// assert!((next.bodies[0].v[1].abs() - 1e-3 * alpha).abs() < 1e-2 * 1e-3 * alpha);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// Fixed in the world, X_WA.
    World(Isometry3<f64>),
    /// Fixed on a frame F of a body, X_FA.
    Frame {
        /// The body.
        body: BodyIdx,
        /// Index of the frame in the body's surface.
        frame: u32,
        /// Pose of the anchor in that frame.
        X_FA: Isometry3<f64>,
    },
    /// A material point of a body, a vertex of a soft one for instance. It has no axes: not for welds.
    Point {
        /// The body.
        body: BodyIdx,
        /// The point.
        point: MaterialPoint,
    },
}

impl Anchor {
    /// Its body; `None` in the world.
    #[must_use]
    pub fn body(&self) -> Option<BodyIdx> {
        match *self {
            Self::World(_) => None,
            Self::Frame { body, .. } | Self::Point { body, .. } => Some(body),
        }
    }
}

/// One scalar row of a constraint: error g and the direction in which its rate is measured on the relative twist of A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConstraintRow {
    /// g, m or rad.
    pub(crate) error: f64,
    /// ġ = angular · ω_AB + linear · v_AB(O).
    pub(crate) angular: Vector3<f64>,
    pub(crate) linear: Vector3<f64>,
}

/// The rows of a constraint with anchors at `X_WA`, `X_WB` on the relative twist (ω_A − ω_B, v_AO − v_BO) at O = `p_WO`, for which the
/// midpoint of the anchors is to be taken, so that action and reaction are exact. `None`: a distance without direction.
pub(crate) fn rows(
    kind: ConstraintKind,
    X_WA: &Isometry3<f64>,
    X_WB: &Isometry3<f64>,
    out: &mut Vec<ConstraintRow>,
) -> Option<()> {
    out.clear();
    let p_BA = X_WA.translation.vector - X_WB.translation.vector;
    match kind {
        ConstraintKind::Distance(length) => {
            let distance = p_BA.norm();
            if distance < 1e-7 + 0.01 * length {
                return None;
            }
            out.push(along(p_BA / distance, distance - length));
        }
        ConstraintKind::Ball => {
            for k in 0..3 {
                out.push(along(axis(k), p_BA[k]));
            }
        }
        ConstraintKind::Weld => {
            push_rotation(X_WA, X_WB, out);
            for k in 0..3 {
                out.push(along(axis(k), p_BA[k]));
            }
        }
        ConstraintKind::Revolute => {
            // z_A = z_B + θ × z_B for a small rotation θ, so that z_B × z_A is the part of θ across z_B.
            let tilt = (X_WB.rotation * Vector3::z()).cross(&(X_WA.rotation * Vector3::z()));
            for k in 0..2 {
                let across = X_WB.rotation * axis(k);
                out.push(about(across, across.dot(&tilt)));
            }
            for k in 0..3 {
                out.push(along(axis(k), p_BA[k]));
            }
        }
        ConstraintKind::Prismatic => {
            push_rotation(X_WA, X_WB, out);
            for k in 0..2 {
                let across = X_WB.rotation * axis(k);
                out.push(along(across, across.dot(&p_BA)));
            }
        }
    }
    Some(())
}

/// Three rows that align the axes of the anchors.
fn push_rotation(X_WA: &Isometry3<f64>, X_WB: &Isometry3<f64>, out: &mut Vec<ConstraintRow>) {
    let turn: UnitQuaternion<f64> = X_WA.rotation * X_WB.rotation.inverse();
    let rotation = turn.scaled_axis();
    out.extend((0..3).map(|k| about(axis(k), rotation[k])));
}

fn about(direction: Vector3<f64>, error: f64) -> ConstraintRow {
    ConstraintRow {
        error,
        angular: direction,
        linear: Vector3::zeros(),
    }
}

fn along(direction: Vector3<f64>, error: f64) -> ConstraintRow {
    ConstraintRow {
        error,
        angular: Vector3::zeros(),
        linear: direction,
    }
}

/// Where the impulses of a constraint act.
pub(crate) fn midpoint(X_WA: &Isometry3<f64>, X_WB: &Isometry3<f64>) -> Point3<f64> {
    nalgebra::center(
        &X_WA.translation.vector.into(),
        &X_WB.translation.vector.into(),
    )
}

fn axis(k: usize) -> Vector3<f64> {
    let mut e = Vector3::zeros();
    e[k] = 1.0;
    e
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates of all errors by differences of a relative motion of A, against the rows.
    #[track_caller]
    fn check_rates(
        kind: ConstraintKind,
        X_WA: Isometry3<f64>,
        X_WB: Isometry3<f64>,
        tolerance: f64,
    ) {
        let omega = Vector3::new(0.3, -0.2, 0.5);
        let v = Vector3::new(-0.7, 0.4, 0.1);
        let h = 1e-6;
        let O = midpoint(&X_WA, &X_WB);
        let moved = |h: f64| {
            let turn = UnitQuaternion::from_scaled_axis(omega * h);
            let p = O.coords + turn * (X_WA.translation.vector - O.coords) + v * h;
            Isometry3::from_parts(p.into(), turn * X_WA.rotation)
        };
        let (mut at, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        rows(kind, &X_WA, &X_WB, &mut at).expect("has a direction");
        rows(kind, &moved(-h), &X_WB, &mut before).expect("has a direction");
        rows(kind, &moved(h), &X_WB, &mut after).expect("has a direction");
        for (row, (b, a)) in at.iter().zip(before.iter().zip(&after)) {
            let rate = row.angular.dot(&omega) + row.linear.dot(&v);
            let difference = (a.error - b.error) / (2.0 * h);
            // Point rows leave out ω × p_OA: the anchors of a held constraint coincide with O.
            let interpolation = omega.cross(&(X_WA.translation.vector - O.coords));
            let missing = row.linear.dot(&interpolation);
            assert!(
                (rate + missing - difference).abs() < tolerance,
                "{rate} + {missing} against {difference}"
            );
        }
    }

    fn near() -> (Isometry3<f64>, Isometry3<f64>) {
        let X_WB = Isometry3::new(Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.4, 0.1, -0.2));
        let X_BA = Isometry3::new(
            Vector3::new(1e-3, -2e-3, 1e-3),
            Vector3::new(1e-3, 2e-3, 0.0),
        );
        (X_WB * X_BA, X_WB)
    }

    #[test]
    fn rows_are_rates_of_their_errors() {
        let (X_WA, X_WB) = near();
        check_rates(ConstraintKind::Ball, X_WA, X_WB, 1e-8);
        // The rotation vector's rate is ω up to half the error angle.
        check_rates(ConstraintKind::Weld, X_WA, X_WB, 2e-3);
        check_rates(ConstraintKind::Revolute, X_WA, X_WB, 2e-3);
        check_rates(ConstraintKind::Prismatic, X_WA, X_WB, 2e-3);
        let X_WC = Isometry3::translation(0.0, 0.0, 0.5);
        check_rates(ConstraintKind::Distance(0.4), X_WC, X_WB, 1e-8);
    }

    #[test]
    fn hinges_and_slides_leave_their_axis_free() {
        let (_, X_WB) = near();
        let mut out = Vec::new();
        let turned = X_WB * UnitQuaternion::from_scaled_axis(1.3 * Vector3::z());
        rows(ConstraintKind::Revolute, &turned, &X_WB, &mut out).expect("has rows");
        assert!(out.len() == 5 && out.iter().all(|row| row.error.abs() < 1e-15));
        let shifted = X_WB * Isometry3::translation(0.0, 0.0, 0.7);
        rows(ConstraintKind::Prismatic, &shifted, &X_WB, &mut out).expect("has rows");
        assert!(out.len() == 5 && out.iter().all(|row| row.error.abs() < 1e-15));
    }

    #[test]
    fn a_distance_of_coinciding_anchors_has_no_direction() {
        let X = Isometry3::identity();
        assert!(rows(ConstraintKind::Distance(1.0), &X, &X, &mut Vec::new()).is_none());
    }
}
