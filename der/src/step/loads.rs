//! Forces and prescribed velocities of a step: weight, efforts, loads, held unknowns.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, Load, StepInput};

use super::RodStep;
use super::point_location::PointLocation;
use super::surface::frame_axes;

impl RodStep {
    /// Adds the generalised force of a force and a torque at a point. A torque on a node acts on an adjacent edge.
    fn add_load(&mut self, load: &Load) -> Result<(), BodyError> {
        let (edge, fraction, offset) = match self.locate(&load.point)? {
            PointLocation::Edge {
                edge,
                fraction,
                offset,
            } => (edge, fraction, offset),
            PointLocation::Node(node) => {
                let (edge, fraction) = self.edge_at(node);
                (edge, fraction, Vector3::zeros())
            }
            PointLocation::Frame { frame, offset } => {
                let frame = &self.rod.frames[frame];
                let offset_W = frame_axes(&self.start[frame.edge]) * offset;
                (frame.edge, frame.fraction, offset_W)
            }
        };
        let phi = Self::edge_interpolation(&self.start[edge], fraction, &offset);
        let generalised = phi.transpose() * load.force_W;
        let (a, angle, b) = self.edge_dofs(edge);
        for k in 0..3 {
            self.force[a + k] += generalised[k];
            self.force[b + k] += generalised[4 + k];
        }
        self.force[angle] += generalised[3];
        self.add_torque(edge, &load.torque_W);
        Ok(())
    }

    /// Adds a torque on an edge. Its component along the edge acts on the angle, the others as a couple on the nodes.
    fn add_torque(&mut self, edge: usize, torque_W: &Vector3<f64>) {
        let kinematics = self.start[edge];
        let (a, angle, b) = self.edge_dofs(edge);
        let couple = torque_W.cross(&kinematics.tangent) / kinematics.length;
        for k in 0..3 {
            self.force[a + k] -= couple[k];
            self.force[b + k] += couple[k];
        }
        self.force[angle] += kinematics.tangent.dot(torque_W);
    }

    pub(super) fn read_control(&mut self, input: &StepInput<'_>) -> Result<(), BodyError> {
        let control = input.control;
        let n = self.rod.n_dofs();
        if [&control.position, &control.velocity]
            .iter()
            .any(|x| !x.is_empty())
        {
            return Err(BodyError::Unsupported {
                what: "actuators on a rod",
            });
        }
        for (what, found) in [
            ("held velocities of a rod", control.held.len()),
            ("effort of a rod", control.effort.len()),
        ] {
            if found != 0 && found != n {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected: n,
                });
            }
        }
        let motion = &mut self.motion;
        motion.held.clear();
        motion.held.resize(n, false);
        for (i, held) in control.held.iter().enumerate() {
            if let Some(velocity) = *held {
                if !velocity.is_finite() {
                    return Err(BodyError::NotFinite {
                        location: format!("held velocity {i} of a rod"),
                        value: velocity,
                    });
                }
                motion.held[i] = true;
                motion.start[i] = velocity;
            }
        }
        self.force.clear();
        self.force.resize(n, 0.0);
        for i in 0..self.rod.n_nodes {
            let weight = input.gravity * self.rod.node_mass(i);
            self.force[4 * i..4 * i + 3].copy_from_slice(weight.as_slice());
        }
        for (force, effort) in self.force.iter_mut().zip(&control.effort) {
            *force += effort;
        }
        for load in &control.loads {
            self.add_load(load)?;
        }
        match self.force.iter().position(|force| !force.is_finite()) {
            None => Ok(()),
            Some(i) => Err(BodyError::NotFinite {
                location: format!("the force on {} of a rod", self.rod.unknown_name(i)),
                value: self.force[i],
            }),
        }
    }
}
