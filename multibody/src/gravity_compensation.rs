//! Links on which gravity acts in part or not at all: MuJoCo's `gravcomp`, SDFormat's `<gravity>`.

use nalgebra::Vector3;

use crate::kinematics::PositionKinematics;
use crate::model::{LinkIdx, Model};
use crate::spatial::Wrench;

/// Mass of a body whose weight is compensated, and its first moment in the body frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompensatedMass {
    pub(crate) body: usize,
    pub(crate) mass: f64,
    pub(crate) moment_B: Vector3<f64>,
}

impl Model {
    /// Sums the compensated masses of the links of each moving body.
    pub(crate) fn gather_compensated_masses(&mut self) {
        for link in self.links.iter().filter(|link| link.body.0 != 0) {
            let mass = link.gravity_compensation * link.inertia.mass;
            if mass == 0.0 {
                continue;
            }
            let moment_B = (link.p_BL + link.R_BL * link.inertia.com) * mass;
            let body = link.body.0;
            match self.compensated.iter_mut().find(|c| c.body == body) {
                Some(known) => {
                    known.mass += mass;
                    known.moment_B += moment_B;
                }
                None => self.compensated.push(CompensatedMass {
                    body,
                    mass,
                    moment_B,
                }),
            }
        }
    }

    /// Subtracts from `wrenches`, those that the bodies require with the root accelerated by `root`, what the compensated masses require
    /// because of that.
    pub(crate) fn compensate(
        &self,
        positions: &PositionKinematics,
        root: &Vector3<f64>,
        wrenches: &mut [Wrench],
    ) {
        for compensated in &self.compensated {
            let wrench = &mut wrenches[compensated.body];
            let moment = positions.bodies[compensated.body].rotation * compensated.moment_B;
            wrench.force -= root * compensated.mass;
            wrench.torque -= moment.cross(root);
        }
    }

    /// Mass times position of the compensated masses in the world, kg m.
    pub(crate) fn compensated_moment(&self, positions: &PositionKinematics) -> Vector3<f64> {
        let moment = |c: &CompensatedMass| {
            let body = &positions.bodies[c.body];
            body.origin * c.mass + body.rotation * c.moment_B
        };
        self.compensated.iter().map(moment).sum()
    }

    /// Adds the forces that compensate gravity to the wrenches on all links, each about the origin of its link in world axes (N, N m).
    /// `gravity` is the one of the world, m/s².
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use pliant_multibody::{LinkSpec, ModelBuilder, PositionKinematics, Root, SpatialInertia, Wrench};
    ///
    /// // A block of 2 kg, half of whose weight is compensated, with its centre 0.1 m beside the origin.
    /// let inertia = SpatialInertia::new(2.0, Vector3::new(0.1, 0.0, 0.0), Matrix3::identity());
    /// let mut link = LinkSpec::new("block", inertia);
    /// link.gravity_compensation = 0.5;
    /// let model = ModelBuilder::new("block").root(Root::Floating).link(link).build()?;
    /// let mut positions = PositionKinematics::new(&model);
    /// positions.update(&model, &model.neutral_positions());
    /// let mut wrenches = [Wrench::zero()];
    /// model.add_gravity_compensation(&positions, &Vector3::new(0.0, 0.0, -10.0), &mut wrenches);
    /// assert_eq!((wrenches[0].force.z, wrenches[0].torque.y), (10.0, -1.0));
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn add_gravity_compensation(
        &self,
        positions: &PositionKinematics,
        gravity: &Vector3<f64>,
        wrenches: &mut [Wrench],
    ) {
        let gravity = self.gravity_from(gravity);
        for (l, link) in self.links.iter().enumerate() {
            let force = -gravity * (link.gravity_compensation * link.inertia.mass);
            if force != Vector3::zeros() {
                let arm = positions.link_rotation(self, LinkIdx(l)) * link.inertia.com;
                wrenches[l].force += force;
                wrenches[l].torque += arm.cross(&force);
            }
        }
    }
}
