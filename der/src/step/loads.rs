//! What drives a rod in a step: held velocities, weight, efforts, loads.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, Load, StepInput};

use super::RodStep;
use super::places::Place;
use super::surface::frame_axes;

impl RodStep {
    /// Generalised force of a force and a torque at a point, added to `self.force`. A torque on a node acts on an edge of it.
    fn add_load(&mut self, load: &Load) -> Result<(), BodyError> {
        let (edge, fraction, offset) = match self.place(&load.point)? {
            Place::Edge {
                edge,
                fraction,
                offset,
            } => (edge, fraction, offset),
            Place::Node(node) => {
                let (edge, fraction) = self.edge_at(node);
                (edge, fraction, Vector3::zeros())
            }
            Place::Frame { frame, offset } => {
                let frame = &self.rod.frames[frame];
                let turned = frame_axes(&self.start[frame.edge]) * offset;
                (frame.edge, frame.fraction, turned)
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

    /// A torque: along the edge it drives the angle, across it is a pair of forces on the nodes.
    fn add_torque(&mut self, edge: usize, torque_W: &Vector3<f64>) {
        let kinematics = self.start[edge];
        let (a, angle, b) = self.edge_dofs(edge);
        let pair = torque_W.cross(&kinematics.tangent) / kinematics.length;
        for k in 0..3 {
            self.force[a + k] -= pair[k];
            self.force[b + k] += pair[k];
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
                        place: format!("held velocity {i} of a rod"),
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
        Ok(())
    }
}
