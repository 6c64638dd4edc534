//! Views of the world on which quantities are measured.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{BodyState, Energy};
use pliant_coupling::{BodyIdx, ConstraintIdx, ContactForce, State, StepReport};

use super::assembly::{Directory, JointRef, MassRef, SoftBody};
use super::soft::weighted_mean;
use crate::registry::Snapshot;
use crate::scene::Component;

/// A point of a frame that is fixed in the world or on a rigid body.
pub(crate) struct FrameView {
    /// Pose of the frame F.
    pub(crate) X_WF: Isometry3<f64>,
    /// The point, m, world frame.
    pub(crate) p_WQ: Point3<f64>,
    /// Velocity of the point, m/s, world axes.
    pub(crate) linear_velocity: Vector3<f64>,
    /// Angular velocity of the frame, rad/s, world axes.
    pub(crate) angular_velocity: Vector3<f64>,
}

/// A soft body or a region of one.
pub(crate) struct SoftView<'a> {
    pub(crate) body: &'a SoftBody,
    /// The region's points; `None`: the whole body.
    pub(crate) region: Option<&'a [u32]>,
    pub(crate) state: &'a BodyState,
    /// The requested component.
    pub(crate) component: Component,
}

impl SoftView<'_> {
    /// Centre of mass, or mean position of a region's points, m.
    pub(crate) fn centre(&self) -> Vector3<f64> {
        let points: Vec<_> = self.points().iter().map(|p| p.coords).collect();
        self.mean(&points)
    }

    /// [`Self::centre`] at the start of the run.
    pub(crate) fn centre_at_start(&self) -> Vector3<f64> {
        let points: Vec<_> = self.body.start.iter().map(|p| p.coords).collect();
        self.mean(&points)
    }

    /// Velocity of the centre of mass, or mean velocity of a region's points, m/s.
    pub(crate) fn velocity(&self) -> Vector3<f64> {
        let mut velocities = Vec::new();
        self.body.model.velocities(self.state, &mut velocities);
        self.mean(&velocities)
    }

    /// The component of the position of each point, m.
    pub(crate) fn coordinates(&self) -> Vec<f64> {
        let points = self.points();
        let coordinate = |p: &Point3<f64>| crate::registry::of_vector(&p.coords, self.component);
        match self.region {
            Some(region) => (region.iter())
                .map(|p| coordinate(&points[*p as usize]))
                .collect(),
            None => points.iter().map(coordinate).collect(),
        }
    }

    /// Mass fraction of the piece of that rank, the heaviest first; 0 if there are fewer.
    pub(crate) fn piece(&self, rank: usize) -> f64 {
        let pieces = self.body.model.pieces(self.state);
        let whole: f64 = pieces.iter().sum();
        pieces.get(rank).map_or(0.0, |piece| piece / whole)
    }

    /// Volume, m³.
    pub(crate) fn volume(&self) -> f64 {
        self.body.model.volume(self.state)
    }

    /// Mean accumulated plastic strain; NaN for materials that do not keep it.
    pub(crate) fn plastic_strain(&self) -> f64 {
        let strain = self.body.model.plastic_strain(self.state);
        strain.unwrap_or(f64::NAN)
    }

    fn points(&self) -> Vec<Point3<f64>> {
        let mut points = Vec::new();
        self.body.model.points(self.state, &mut points);
        points
    }

    /// Points of a region count equally, those of a whole body by their mass.
    fn mean(&self, vectors: &[Vector3<f64>]) -> Vector3<f64> {
        match self.region {
            Some(region) => {
                let values = region.iter().map(|p| vectors[*p as usize]);
                weighted_mean(values, std::iter::repeat(1.0))
            }
            None => weighted_mean(
                vectors.iter().copied(),
                self.body.model.masses(self.state).into_iter(),
            ),
        }
    }
}

/// A joint with one degree of freedom.
pub(crate) struct JointView<'a> {
    pub(crate) joint: JointRef,
    pub(crate) state: &'a BodyState,
    pub(crate) step: Option<(&'a StepReport, &'a State)>,
}

/// Contacts of the last step between two sets of geometries.
pub(crate) struct ContactView<'a> {
    /// Whether each geometry is in the first set.
    pub(crate) of: &'a [bool],
    /// Whether each geometry is in the second set.
    pub(crate) with: &'a [bool],
    pub(crate) contacts: &'a [ContactForce],
}

impl<'a> ContactView<'a> {
    /// The contacts, each with the factor on its force: 1 on the first set, −1 for the reaction on it, 0 within
    /// both sets, where both cancel.
    pub(crate) fn contacts(&self) -> impl Iterator<Item = (&'a ContactForce, f64)> + '_ {
        self.contacts.iter().filter_map(|contact| {
            let (a, b) = (contact.a.0, contact.b.0);
            let on_a = self.of[a] && self.with[b];
            let on_b = self.of[b] && self.with[a];
            let sign = f64::from(i8::from(on_a) - i8::from(on_b));
            (on_a || on_b).then_some((contact, sign))
        })
    }

    /// Centre of pressure, m; `None` without normal force.
    pub(crate) fn centre_of_pressure(&self) -> Option<Vector3<f64>> {
        let (mut total, mut moment) = (0.0, Vector3::zeros());
        for (contact, sign) in self.contacts() {
            let normal = contact.normal_W.dot(&contact.force_W).max(0.0);
            total += normal;
            moment += point_of_action(contact, sign) * normal;
        }
        (total > 0.0).then(|| moment / total)
    }

    /// Net moment of the forces about `centre`, N·m.
    pub(crate) fn moment_about(&self, centre: &Vector3<f64>) -> Vector3<f64> {
        let moment = |(contact, sign): (&ContactForce, f64)| {
            (point_of_action(contact, sign) - centre).cross(&(contact.force_W * sign))
        };
        self.contacts().map(moment).sum()
    }
}

/// Force on A, or the reaction on B.
fn point_of_action(contact: &ContactForce, sign: f64) -> Vector3<f64> {
    let p_WC = match sign < 0.0 {
        true => contact.p_WCb,
        false => contact.p_WCa,
    };
    p_WC.coords
}

/// Bodies with mass.
pub(crate) struct MassView<'a> {
    pub(crate) bodies: &'a [MassRef],
    pub(crate) directory: &'a Directory,
    pub(crate) snapshot: Snapshot<'a>,
}

impl MassView<'_> {
    /// Mass, kg.
    pub(crate) fn mass(&self) -> f64 {
        let mass = |body: &MassRef| match *body {
            MassRef::Body(body) => self.directory.tree(body).moving_mass(),
            MassRef::Soft(soft) => {
                let soft = &self.directory.soft[soft];
                soft.model.masses(self.state(soft.body)).iter().sum()
            }
        };
        self.bodies.iter().map(mass).sum()
    }

    /// Energies and momenta under the gravity of the world.
    pub(crate) fn energy(&self) -> Energy {
        self.energy_under(self.snapshot.world.gravity())
    }

    /// Energies and momenta without gravity.
    pub(crate) fn energy_without_gravity(&self) -> Energy {
        self.energy_under(&Vector3::zeros())
    }

    fn energy_under(&self, gravity: &Vector3<f64>) -> Energy {
        let mut sum = Energy::default();
        for body in self.bodies {
            let (body, shared) = match *body {
                MassRef::Body(body) => (body, None),
                MassRef::Soft(soft) => {
                    let soft = &self.directory.soft[soft];
                    let state = self.state(soft.body);
                    (soft.body, soft.model.share_of_energy(state, gravity))
                }
            };
            let energy = shared.unwrap_or_else(|| {
                let model = self.snapshot.world.model(body);
                model.energy(self.state(body), gravity)
            });
            sum.kinetic += energy.kinetic;
            sum.potential += energy.potential;
            sum.linear_momentum_W += energy.linear_momentum_W;
            sum.angular_momentum_W += energy.angular_momentum_W;
        }
        sum
    }

    fn state(&self, body: BodyIdx) -> &BodyState {
        &self.snapshot.state.bodies[body.0]
    }
}

/// The constraints of one entry after a step.
pub(crate) struct ConstraintView<'a> {
    pub(crate) constraints: &'a [ConstraintIdx],
    pub(crate) report: &'a StepReport,
}

impl ConstraintView<'_> {
    /// Sum of their forces on the second body, N, world axes; none for released ones.
    pub(crate) fn force(&self) -> Vector3<f64> {
        let force = |constraint: &ConstraintIdx| {
            let held = self.report.constraint(*constraint);
            held.map_or_else(Vector3::zeros, |held| -held.on_a.force)
        };
        self.constraints.iter().map(force).sum()
    }
}
