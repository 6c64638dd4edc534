//! A number from what is known of a moment.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{Energy, RowKind};
use pliant_coupling::{BodyIdx, ConstraintIdx, ContactForce};
use pliant_multibody::Workspace;

use super::{Moment, Target, View};
use crate::runner::assembly::{Directory, JointRef, SoftBody, SoftSpot, Spot, Weighed};
use crate::runner::soft::middle;
use crate::scene::{Among, Component, Quantity};

impl View {
    pub(super) fn measure(
        &self,
        directory: &Directory,
        workspaces: &[Option<Workspace>],
        moment: &Moment<'_>,
    ) -> f64 {
        match &self.target {
            Target::Spots(spots) => {
                let mut values = spots
                    .iter()
                    .map(|spot| self.at_spot(spot, directory, workspaces));
                self.of_all(&mut values, spots.len())
            }
            Target::Soft(spots) => {
                let at = |spot: &SoftSpot| self.at_soft(&directory.soft[spot.soft], spot, moment);
                self.of_all(&mut spots.iter().map(at), spots.len())
            }
            Target::Joint(joint) => self.of_joint(joint, moment),
            Target::Contact { of, with } => self.of_contact(of, with, moment),
            Target::Weighed(all) if self.quantity == Quantity::Mass => {
                let state = |body: BodyIdx| &moment.state.bodies[body.0];
                let of = |one: &Weighed| match *one {
                    Weighed::Body(body) => directory.tree(body).moving_mass(),
                    Weighed::Soft(soft) => {
                        let soft = &directory.soft[soft];
                        soft.model.masses(state(soft.body)).iter().sum()
                    }
                };
                all.iter().map(of).sum()
            }
            Target::Weighed(all) => self.of_weighed(directory, all, moment),
            Target::Constraints(constraints) => {
                let forces = constraints
                    .iter()
                    .map(|constraint| constraint_force(*constraint, moment));
                let sum: Option<Vector3<f64>> = forces.sum();
                sum.map_or(f64::NAN, |force| self.part(&force))
            }
            Target::Whole => match (self.quantity, moment.step) {
                (Quantity::Iterations, Some((report, _))) => {
                    report.convergence.solve.iterations as f64
                }
                _ => f64::NAN,
            },
        }
    }

    /// One number of those of all that it looks at.
    fn of_all(&self, values: &mut dyn Iterator<Item = f64>, count: usize) -> f64 {
        match self.among {
            None => values.next().unwrap_or(f64::NAN),
            Some(Among::Min) => values.fold(f64::NAN, f64::min),
            Some(Among::Max) => values.fold(f64::NAN, f64::max),
            Some(Among::Sum) => values.sum(),
            Some(Among::Mean) => values.sum::<f64>() / count as f64,
        }
    }

    fn at_soft(&self, soft: &SoftBody, spot: &SoftSpot, moment: &Moment<'_>) -> f64 {
        let state = &moment.state.bodies[soft.body.0];
        let mut points = Vec::new();
        soft.model.points(state, &mut points);
        // A region's points count alike, those of the whole by their mass.
        let center = |vectors: &[Vector3<f64>]| match &spot.points {
            Some(region) => {
                let own = region.iter().map(|p| vectors[*p as usize]);
                middle(own, std::iter::repeat(1.0))
            }
            None => middle(
                vectors.iter().copied(),
                soft.model.masses(state).into_iter(),
            ),
        };
        let places = |points: &[Point3<f64>]| points.iter().map(|p| p.coords).collect::<Vec<_>>();
        match self.quantity {
            Quantity::Position => self.part(&center(&places(&points))),
            Quantity::Displacement => {
                self.part(&(center(&places(&points)) - center(&places(&soft.start))))
            }
            Quantity::Velocity => {
                let mut velocities = Vec::new();
                soft.model.velocities(state, &mut velocities);
                self.part(&center(&velocities))
            }
            Quantity::Volume => soft.model.volume(state),
            Quantity::FirstPiece | Quantity::SecondPiece => {
                let pieces = soft.model.pieces(state);
                let whole: f64 = pieces.iter().sum();
                let rank = usize::from(self.quantity == Quantity::SecondPiece);
                pieces.get(rank).map_or(0.0, |piece| piece / whole)
            }
            _ => {
                let coordinate = |p: &Point3<f64>| self.part(&p.coords);
                let values: Vec<f64> = match &spot.points {
                    Some(region) => region
                        .iter()
                        .map(|p| coordinate(&points[*p as usize]))
                        .collect(),
                    None => points.iter().map(coordinate).collect(),
                };
                match self.quantity {
                    Quantity::Lowest => values.into_iter().fold(f64::NAN, f64::min),
                    _ => values.into_iter().fold(f64::NAN, f64::max),
                }
            }
        }
    }

    /// The component asked for.
    fn part(&self, vector: &Vector3<f64>) -> f64 {
        match self.component {
            Component::X => vector.x,
            Component::Y => vector.y,
            Component::Z => vector.z,
            Component::Along(direction) => direction.dot(vector),
            _ => vector.norm(),
        }
    }

    fn at_spot(&self, spot: &Spot, directory: &Directory, workspaces: &[Option<Workspace>]) -> f64 {
        let (X_WF, twist) = match spot {
            Spot::World(X_WF) => (*X_WF, None),
            Spot::Link { body, link, X_LF } => {
                let tree = directory.tree(*body);
                let Some(workspace) = &workspaces[body.0] else {
                    return f64::NAN;
                };
                let X_WF = workspace.positions.link_pose(tree, *link) * X_LF;
                let p_WQ = X_WF * self.point;
                let twist =
                    workspace
                        .velocities
                        .twist_at(tree, &workspace.positions, *link, &p_WQ.coords);
                (X_WF, Some(twist))
            }
        };
        match self.quantity {
            Quantity::Position => self.part(&(X_WF * self.point).coords),
            Quantity::Orientation => {
                let (roll, pitch, yaw) = X_WF.rotation.euler_angles();
                match self.component {
                    Component::Roll => roll,
                    Component::Pitch => pitch,
                    Component::Yaw => yaw,
                    _ => {
                        // atan2 keeps its digits near 0 and π, where acos loses half of them.
                        let z = X_WF.rotation * Vector3::z();
                        z.x.hypot(z.y).atan2(z.z)
                    }
                }
            }
            Quantity::Velocity => twist.map_or(0.0, |twist| self.part(&twist.linear)),
            _ => twist.map_or(0.0, |twist| self.part(&twist.angular)),
        }
    }

    fn of_joint(&self, joint: &JointRef, moment: &Moment<'_>) -> f64 {
        let body = &moment.state.bodies[joint.body.0];
        match (self.quantity, moment.step) {
            (Quantity::JointPosition, _) => body.q[joint.q],
            (Quantity::JointVelocity, _) => body.v[joint.dof.0],
            (_, None) => f64::NAN,
            (_, Some((report, from))) => {
                // A joint without an actuator has the effort it was given.
                let given = || {
                    from.controls[joint.body.0]
                        .effort
                        .get(joint.dof.0)
                        .copied()
                        .unwrap_or(0.0)
                };
                let index = joint.dof.0 as u32;
                report
                    .row_force(joint.body, RowKind::Actuator, index)
                    .unwrap_or_else(given)
            }
        }
    }

    fn of_contact(&self, of: &[bool], with: &[bool], moment: &Moment<'_>) -> f64 {
        let Some((report, _)) = moment.step else {
            return f64::NAN;
        };
        let (mut force, mut tangential, mut normal) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        let (mut count, mut depth) = (0u32, 0.0f64);
        match self.quantity {
            Quantity::CenterOfPressure | Quantity::ContactMoment => {
                return self.of_pressure(of, with, &report.contacts);
            }
            Quantity::PatchArea | Quantity::PatchPressure => {
                return self.of_patches(of, with, &report.contacts);
            }
            _ => {}
        }
        for contact in &report.contacts {
            let Some(sign) = side(contact, of, with) else {
                continue;
            };
            let along = contact.normal_W.dot(&contact.force_W);
            force += contact.force_W * sign;
            tangential += (contact.force_W - contact.normal_W * along) * sign;
            normal += along * sign.abs();
            count += u32::from(contact.force_W.norm() > 0.0);
            depth = depth.max(-contact.signed_distance);
        }
        match (self.quantity, self.component) {
            (Quantity::ContactCount, _) => f64::from(count),
            (Quantity::Penetration, _) => depth,
            (_, Component::Normal) => normal,
            (_, Component::Tangential) => tangential.norm(),
            _ => self.part(&force),
        }
    }

    /// Centre of pressure, or the moment about it; on A, on B the reaction.
    fn of_pressure(&self, of: &[bool], with: &[bool], contacts: &[ContactForce]) -> f64 {
        let place = |contact: &ContactForce, sign: f64| {
            let p_WC = if sign < 0.0 {
                contact.p_WCb
            } else {
                contact.p_WCa
            };
            p_WC.coords
        };
        let concerned = contacts
            .iter()
            .filter_map(|contact| Some((contact, side(contact, of, with)?)));
        let (mut total, mut weighed) = (0.0, Vector3::zeros());
        for (contact, sign) in concerned.clone() {
            let normal = contact.normal_W.dot(&contact.force_W).max(0.0);
            total += normal;
            weighed += place(contact, sign) * normal;
        }
        let center = weighed / total;
        match (self.quantity, total > 0.0) {
            (Quantity::CenterOfPressure, true) => self.part(&center),
            (Quantity::CenterOfPressure, false) => f64::NAN,
            (_, true) => {
                let moments =
                    concerned.map(|(c, sign)| (place(c, sign) - center).cross(&(c.force_W * sign)));
                self.part(&moments.sum())
            }
            (_, false) => 0.0,
        }
    }

    /// Area, or highest pressure, of the patches at the start of the step.
    fn of_patches(&self, of: &[bool], with: &[bool], contacts: &[ContactForce]) -> f64 {
        let concerned = contacts
            .iter()
            .filter(|contact| side(contact, of, with).is_some());
        let shares = concerned.filter_map(|contact| contact.patch);
        match self.quantity {
            Quantity::PatchArea => shares.map(|share| share.area).sum(),
            _ => shares.map(|share| share.pressure_max).fold(0.0, f64::max),
        }
    }

    fn of_weighed(&self, directory: &Directory, all: &[Weighed], moment: &Moment<'_>) -> f64 {
        let gravity = match self.quantity {
            Quantity::ElasticEnergy => Vector3::zeros(),
            _ => *moment.world.gravity(),
        };
        let mut sum = Energy::default();
        for one in all {
            let (body, shared) = match *one {
                Weighed::Body(body) => (body, None),
                Weighed::Soft(soft) => {
                    let soft = &directory.soft[soft];
                    let state = &moment.state.bodies[soft.body.0];
                    (soft.body, soft.model.share_of_energy(state, &gravity))
                }
            };
            let energy = shared.unwrap_or_else(|| {
                let model = moment.world.model(body);
                model.energy(&moment.state.bodies[body.0], &gravity)
            });
            sum.kinetic += energy.kinetic;
            sum.potential += energy.potential;
            sum.linear_momentum_W += energy.linear_momentum_W;
            sum.angular_momentum_W += energy.angular_momentum_W;
        }
        match self.quantity {
            Quantity::KineticEnergy => sum.kinetic,
            Quantity::PotentialEnergy | Quantity::ElasticEnergy => sum.potential,
            Quantity::Momentum => self.part(&sum.linear_momentum_W),
            Quantity::AngularMomentum => self.part(&sum.angular_momentum_W),
            _ => sum.kinetic + sum.potential,
        }
    }
}

/// Whether a contact is between `of` and `with`: 1 where its force is on `of`, −1 where the reaction is, 0 within what is
/// asked for, where both cancel.
fn side(contact: &ContactForce, of: &[bool], with: &[bool]) -> Option<f64> {
    let (a, b) = (contact.a.0, contact.b.0);
    let (on_a, on_b) = (of[a] && with[b], of[b] && with[a]);
    (on_a || on_b).then(|| f64::from(i8::from(on_a) - i8::from(on_b)))
}

/// Force of a constraint on its second body, N, world axes; zero once released.
fn constraint_force(constraint: ConstraintIdx, moment: &Moment<'_>) -> Option<Vector3<f64>> {
    let (report, _) = moment.step?;
    let held = report.constraint(constraint);
    Some(held.map_or_else(Vector3::zeros, |held| -held.on_a.force))
}
