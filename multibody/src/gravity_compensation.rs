//! Links whose weight is carried for them, in part or in whole: a force −c m g at their centres of mass.

use std::ops::Range;

use nalgebra::Vector3;

use crate::error::MultibodyError;
use crate::kinematics::PositionKinematics;
use crate::model::{BodyIdx, Link, LinkIdx, Model};
use crate::spatial::Wrench;

/// The force that carries a link.
pub(crate) struct Compensation {
    pub(crate) link: LinkIdx,
    /// Centre of mass.
    pub(crate) p_WC: Vector3<f64>,
    pub(crate) force_W: Vector3<f64>,
    /// Its body, and the arm from the body's origin, world axes.
    on_body: (BodyIdx, Vector3<f64>),
}

impl Compensation {
    /// The body, and the wrench about its origin.
    pub(crate) fn on_body(&self) -> (BodyIdx, Wrench) {
        let (body, arm) = self.on_body;
        let wrench = Wrench {
            torque: arm.cross(&self.force_W),
            force: self.force_W,
        };
        (body, wrench)
    }
}

impl Model {
    /// Sets the share of a link's weight that is carried for it: 0 is none, 1 all of it, more makes it buoyant. Energies leave out this share
    /// of the weight.
    ///
    /// # Errors
    /// [`MultibodyError::Value`] unless the share is finite.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia, Workspace, bias_forces};
    ///
    /// // A ball of 2 kg at the end of a level arm of 1 m; a quarter of its weight is carried.
    /// let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
    /// bob.com = Vector3::x();
    /// let mut builder = ModelBuilder::new("pendulum");
    /// builder.link(LinkSpec::new("base", SpatialInertia::zero())).link(LinkSpec::new("rod", bob));
    /// builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
    /// let mut model = builder.build()?;
    /// let rod = model.link_named("rod")?;
    /// model.set_gravity_compensation(rod, 0.25)?;
    /// let mut torque = [0.0];
    /// bias_forces(&model, &[0.0], &[0.0], &Vector3::new(0.0, 0.0, -9.81), &mut Workspace::new(&model), &mut torque);
    /// assert!((torque[0] + 0.75 * 2.0 * 9.81).abs() < 1e-12);
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn set_gravity_compensation(
        &mut self,
        link: LinkIdx,
        share: f64,
    ) -> Result<(), MultibodyError> {
        let link = &mut self.links[link.0];
        check_share(&link.name, share)?;
        link.gravity_compensation = share;
        Ok(())
    }

    /// Links whose weight is carried, of moving bodies, with their indices.
    fn compensated_links(&self) -> impl Iterator<Item = (LinkIdx, &Link)> {
        let links = self.links.iter().enumerate();
        links
            .filter(|(_, link)| link.gravity_compensation != 0.0 && link.body.0 != 0)
            .map(|(index, link)| (LinkIdx(index), link))
    }

    /// The forces that carry links, at their centres of mass in the world.
    pub(crate) fn compensations<'a>(
        &'a self,
        positions: &'a PositionKinematics,
        gravity: &Vector3<f64>,
    ) -> impl Iterator<Item = Compensation> + 'a {
        let gravity = self.gravity_from(gravity);
        self.compensated_links().map(move |(index, link)| {
            let body = &positions.bodies[link.body.0];
            let from_body = body.rotation * (link.p_BL + link.R_BL * link.inertia.com);
            Compensation {
                link: index,
                p_WC: body.origin + from_body,
                force_W: gravity * (-link.gravity_compensation * link.inertia.mass),
                on_body: (link.body, from_body),
            }
        })
    }

    /// Σ c m over the links of a range of bodies, kg.
    pub(crate) fn compensated_mass(&self, bodies: &Range<usize>) -> f64 {
        self.compensated_links()
            .filter(|(_, link)| bodies.contains(&link.body.0))
            .map(|(_, link)| link.gravity_compensation * link.inertia.mass)
            .sum()
    }

    /// Σ c m p over the compensated links, kg m, with the centres of mass p in the world.
    pub(crate) fn compensated_moment(&self, positions: &PositionKinematics) -> Vector3<f64> {
        let moment = |(_, link): (LinkIdx, &Link)| {
            let body = &positions.bodies[link.body.0];
            let centre = body.origin + body.rotation * (link.p_BL + link.R_BL * link.inertia.com);
            centre * (link.gravity_compensation * link.inertia.mass)
        };
        self.compensated_links().map(moment).sum()
    }
}

/// Refuses a share that is not finite.
pub(crate) fn check_share(link: &str, share: f64) -> Result<(), MultibodyError> {
    if share.is_finite() {
        return Ok(());
    }
    Err(MultibodyError::Value {
        subject: format!("link \"{link}\""),
        quantity: "gravity compensation".into(),
        value: share.to_string(),
        allowed: "must be finite".into(),
    })
}
