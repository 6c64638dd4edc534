//! One side of a pair: its body, and the velocities of its basis at the start and in free motion.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyStep, Interpolation, MaterialPoint, ParticipantIdx, Rows,
};

use crate::world::BodyIdx;

/// One side of a contact: a body's basis and the interpolation to the contact point, or the world.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) body: Option<(ParticipantIdx, BasisIdx)>,
    pub(crate) interpolation: Interpolation,
}

impl Default for Side {
    /// The world, against a frame.
    fn default() -> Self {
        Self {
            body: None,
            interpolation: Interpolation::Twist,
        }
    }
}

impl Side {
    /// Becomes the world, with an interpolation of the kind of `other`: it adds no rows to a basis of points.
    pub(crate) fn set_to_world_against(&mut self, other: &Self) {
        self.body = None;
        match other.interpolation {
            Interpolation::Twist => self.interpolation = Interpolation::Twist,
            Interpolation::Weights(_) | Interpolation::Dense(_) => {
                self.interpolation.set_weights([])
            }
        }
    }

    /// Becomes the side of a body at a material point of it.
    pub(crate) fn set_to(
        &mut self,
        body: BodyIdx,
        point: &MaterialPoint,
        steps: &[Box<dyn BodyStep>],
    ) -> Result<(), BodyError> {
        let basis = steps[body.0].interpolation(point, &mut self.interpolation)?;
        self.body = Some((ParticipantIdx(body.0), basis));
        Ok(())
    }
}

/// Rows of one side and their values u.
#[derive(Debug, Default)]
pub(super) struct SideRows {
    pub(super) rows: Rows,
    /// u at the start of the step, and predicted without contact.
    pub(super) start: Vec<f64>,
    pub(super) free: Vec<f64>,
    /// Change of u by contacts and constraints in the last step; empty where unknown.
    change: Vec<f64>,
}

impl SideRows {
    pub(super) fn fill(&mut self, side: &Side, p_WO: &Point3<f64>, bodies: &Bodies<'_>) {
        match side.body {
            None => self.rows.reset(match side.interpolation {
                Interpolation::Twist => 6,
                _ => 0,
            }),
            Some((participant, basis)) => {
                bodies.steps[participant.0].basis(basis, p_WO, &mut self.rows);
            }
        }
        let n = self.rows.n_rows();
        self.start.resize(n, 0.0);
        self.free.resize(n, 0.0);
        let (start, free) = match side.body {
            Some((participant, _)) => bodies.of(participant),
            None => (&[][..], &[][..]),
        };
        self.rows.apply(start, &mut self.start);
        self.rows.apply(free, &mut self.free);
        let known = match side.body {
            None => Some(&[][..]),
            Some((participant, _)) => bodies.velocity_change_of(participant),
        };
        self.change.clear();
        if let Some(dv) = known {
            self.change.resize(n, 0.0);
            self.rows.apply_without_bias(dv, &mut self.change);
        }
    }

    /// Change of u by contacts and constraints in the last step, if known.
    pub(super) fn change(&self) -> Option<&[f64]> {
        (self.change.len() == self.rows.n_rows()).then_some(&self.change)
    }
}

/// All participants with their velocities at the start of the step and in free motion.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) steps: &'a [Box<dyn BodyStep>],
    pub(crate) start: &'a [f64],
    pub(crate) free: &'a [f64],
    /// Velocities by which positions advance if all end with their free velocities: θ_vq free + (1 − θ_vq) start.
    pub(crate) path: &'a [f64],
    /// First velocity of each participant, and the end of the last.
    pub(crate) offsets: &'a [usize],
    /// v − v* of each participant's last step; empty where unknown.
    pub(crate) velocity_change: &'a [Vec<f64>],
}

impl<'a> Bodies<'a> {
    fn of(&self, participant: ParticipantIdx) -> (&'a [f64], &'a [f64]) {
        let range = self.offsets[participant.0]..self.offsets[participant.0 + 1];
        (&self.start[range.clone()], &self.free[range])
    }

    /// v − v* of one participant's last step, if known for the same velocities.
    fn velocity_change_of(&self, participant: ParticipantIdx) -> Option<&'a [f64]> {
        let change = self.velocity_change.get(participant.0)?;
        let n = self.offsets[participant.0 + 1] - self.offsets[participant.0];
        (change.len() == n).then_some(change.as_slice())
    }

    /// Velocities of one participant at the start.
    pub(crate) fn start_of(&self, participant: ParticipantIdx) -> &'a [f64] {
        self.of(participant).0
    }

    /// Velocities by which one participant's positions advance in free motion.
    pub(crate) fn path_of(&self, participant: ParticipantIdx) -> &'a [f64] {
        &self.path[self.offsets[participant.0]..self.offsets[participant.0 + 1]]
    }
}

/// v_Q = Φu of a point at `p_OQ` from the basis's origin.
pub(crate) fn point_velocity(
    interpolation: &Interpolation,
    p_OQ: &Vector3<f64>,
    u: &[f64],
) -> Vector3<f64> {
    match interpolation {
        Interpolation::Twist => {
            Vector3::new(u[3], u[4], u[5]) + Vector3::new(u[0], u[1], u[2]).cross(p_OQ)
        }
        Interpolation::Weights(weights) => weights
            .iter()
            .zip(u.chunks_exact(3))
            .map(|(w, u)| Vector3::new(u[0], u[1], u[2]) * *w)
            .sum(),
        Interpolation::Dense(phi) => phi
            .chunks_exact(3)
            .zip(u)
            .map(|(column, u)| Vector3::new(column[0], column[1], column[2]) * *u)
            .sum(),
    }
}
