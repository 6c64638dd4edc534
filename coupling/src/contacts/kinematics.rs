//! Kinematics of contact points: sides, bases, points of action, relative velocities and inverse inertias. None depends on the model
//! of contact.

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{
    BlockFactors, ConstraintSet, ContactIdx, ContactLaw, Interpolation, MaterialPoint,
};
use pliant_hydroelastic::MaterialPoint as TouchedPoint;

use super::Setting;
use super::record::ContactRecord;
use super::turning::{Turning, TurningDirection, TurningLaw};
use crate::collision::PairContact;
use crate::error::StepError;
use crate::pair_basis::{ContactPositions, ContactStatus, PairBasis, PointVelocity, Side};
use crate::world::{GeometryIdx, Mount};

/// Motion and inertia of one contact point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactKinematics {
    /// Points of action.
    pub(super) positions: ContactPositions,
    /// Of the bodies, A against B, world axes.
    pub(super) velocity: PointVelocity,
    /// Velocity of A's surface over its body minus that of B's, m/s, world axes.
    pub(super) surface_velocity: Vector3<f64>,
    /// W, 1/kg.
    pub(super) delassus: Matrix3<f64>,
    /// w = ‖W‖/3, 1/kg.
    pub(super) inverse_inertia: f64,
    /// w of slip, 1/kg.
    pub(super) slip_inertia: f64,
    /// Σ_j |W_ij| in the normal direction over the contacts of the same basis, 1/kg.
    pub(super) row_sum: f64,
    /// Whether both sides are rigid, so that w is exact.
    pub(super) rigid: bool,
}

/// Workspace for the kinematics of many contact points. Contacts of equal sides share a basis and are a group.
#[derive(Debug, Default)]
pub(super) struct ContactGroups {
    basis: PairBasis,
    /// Of each contact; excess entries keep their memory.
    sides: Vec<Sides>,
    /// The contacts, group by group.
    order: Vec<usize>,
    /// Directions of the normals in the open basis.
    directions: Vec<f64>,
}

/// Contacts of equal keys share a basis.
type SideKey = ([Option<(usize, u32)>; 2], ContactStatus);

#[derive(Debug, Default)]
struct Sides {
    key: SideKey,
    a: Side,
    b: Side,
    positions: ContactPositions,
}

impl ContactGroups {
    /// Finds the sides of `contacts` and sorts them into groups.
    pub(super) fn sort(
        &mut self,
        contacts: &[PairContact],
        setting: &Setting<'_>,
    ) -> Result<(), StepError> {
        if self.sides.len() < contacts.len() {
            self.sides.resize_with(contacts.len(), Sides::default);
        }
        for (sides, contact) in self.sides.iter_mut().zip(contacts) {
            sides.set_from(contact, setting)?;
        }
        self.order.clear();
        self.order.extend(0..contacts.len());
        self.order.sort_unstable_by_key(|&i| (self.sides[i].key, i));
        Ok(())
    }

    /// The group that begins at `first`, as a range of [`contact`](Self::contact); `None` after the last.
    pub(super) fn group_at(&self, first: usize) -> Option<std::ops::Range<usize>> {
        let key = |&i: &usize| self.sides[i].key;
        let rest = self.order.get(first..)?;
        let of_group = key(rest.first()?);
        let n = rest.iter().take_while(|i| key(i) == of_group).count();
        Some(first..first + n)
    }

    /// The contact at a position in the order of the groups.
    pub(super) fn contact(&self, position: usize) -> usize {
        self.order[position]
    }

    /// Opens the basis of a group in `set`.
    pub(super) fn open(
        &mut self,
        group: &std::ops::Range<usize>,
        contacts: &[PairContact],
        setting: &Setting<'_>,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
    ) {
        let first = &self.sides[self.order[group.start]];
        self.basis.open(
            set,
            factors,
            &setting.bodies,
            (&first.a, &first.b),
            first.key.1,
            first.positions.a,
        );
        self.directions.clear();
        for &i in &self.order[group.clone()] {
            let sides = &self.sides[i];
            self.basis.normal_direction(
                (&sides.a, &sides.b),
                &sides.positions,
                &contacts[i].point.normal_W,
                &mut self.directions,
            );
        }
        self.basis.sum_rows_of(&self.directions);
    }

    /// Motion and inertia of the contact at `position` of the open `group`; `None` where nothing on either side can move.
    pub(super) fn kinematics(
        &mut self,
        group: &std::ops::Range<usize>,
        position: usize,
        contact: &PairContact,
        setting: &Setting<'_>,
    ) -> Option<ContactKinematics> {
        let sides = &self.sides[self.order[position]];
        let pair = (&sides.a, &sides.b);
        let (r, k) = (self.basis.n_rows(), position - group.start);
        let own = &self.directions[k * r..(k + 1) * r];
        let row_sum = self.basis.row_sum(own, &self.directions);
        let velocity = self.basis.velocity(pair, &sides.positions);
        let delassus = self.basis.delassus(pair, &sides.positions);
        let w = delassus.norm() / 3.0;
        if w == 0.0 {
            return None;
        }
        Some(ContactKinematics {
            positions: sides.positions,
            velocity,
            surface_velocity: surface_velocity(setting, contact),
            delassus,
            inverse_inertia: w,
            slip_inertia: match (&sides.a.interpolation, &sides.b.interpolation) {
                (Interpolation::Dense(_), _) | (_, Interpolation::Dense(_)) => {
                    w.min(least_in_plane(&delassus, &contact.point.normal_W))
                }
                _ => w,
            },
            row_sum,
            rigid: matches!(
                (&sides.a.interpolation, &sides.b.interpolation),
                (Interpolation::Twist, Interpolation::Twist)
            ),
        })
    }

    /// Adds the contact at `position` of the open group to `set`, with a `bias` of its velocity, m/s, world axes.
    pub(super) fn add(
        &mut self,
        set: &mut ConstraintSet,
        position: usize,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        let sides = &self.sides[self.order[position]];
        let pair = (&sides.a, &sides.b);
        self.basis
            .add(&mut set.last_basis(), pair, &sides.positions, bias, law)
    }

    /// Adds the laws of a contact that resist turning of rigid shapes about its point.
    pub(super) fn add_turning(
        &mut self,
        set: &mut ConstraintSet,
        record: &ContactRecord,
        setting: &Setting<'_>,
    ) -> [Option<Turning>; 2] {
        if !record.is_rigid() || record.patch.is_some() {
            return [None; 2];
        }
        let surface = setting.world.rigid_pair(record.a, record.b);
        let normal_W = &record.inputs.normal_W;
        [
            (TurningDirection::Torsion, surface.torsional_friction),
            (TurningDirection::Rolling, surface.rolling_friction),
        ]
        .map(|(direction, length)| {
            (length > 0.0).then(|| {
                let projection = direction.projection(normal_W);
                let delassus = self.basis.angular_delassus();
                let law = TurningLaw::new(record, direction, length, &delassus);
                let contact = self.basis.add_angular(
                    &mut set.last_basis(),
                    &projection,
                    law.law(record.inputs.normal_impulse),
                );
                Turning { contact, law }
            })
        })
    }
}

/// The smaller eigenvalue of W restricted to the plane with unit normal `normal_W`, 1/kg.
fn least_in_plane(delassus: &Matrix3<f64>, normal_W: &Vector3<f64>) -> f64 {
    let t_1 = normal_W
        .cross(&Vector3::ith(normal_W.iamin(), 1.0))
        .normalize();
    let t_2 = normal_W.cross(&t_1);
    let (a, b) = (t_1.dot(&(delassus * t_1)), t_2.dot(&(delassus * t_2)));
    let c = t_1.dot(&(delassus * t_2));
    let larger = 0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt();
    // The product of both is the determinant; their difference would lose digits.
    (a * b - c * c).max(0.0) / larger.max(f64::MIN_POSITIVE)
}

/// Points of action: one point for closed contacts; the material point of each side for speculative ones, so that the remaining gap
/// exerts no moment.
fn positions_of(
    contact: &PairContact,
    status: ContactStatus,
    (a, b): (&Side, &Side),
) -> ContactPositions {
    match (status, a.body, b.body) {
        (ContactStatus::Closed, ..) => ContactPositions {
            a: contact.point.p_WC,
            b: contact.point.p_WC,
        },
        (ContactStatus::Speculative, Some(_), Some(_)) => ContactPositions {
            a: contact.p_WA,
            b: contact.p_WB,
        },
        (ContactStatus::Speculative, Some(_), None) => ContactPositions {
            a: contact.p_WA,
            b: contact.p_WA,
        },
        (ContactStatus::Speculative, ..) => ContactPositions {
            a: contact.p_WB,
            b: contact.p_WB,
        },
    }
}

impl Sides {
    /// Sets the sides to those of `contact`.
    fn set_from(&mut self, contact: &PairContact, setting: &Setting<'_>) -> Result<(), StepError> {
        let geometries = &setting.world.parts.geometries;
        let steps = setting.bodies.steps;
        let become_side = |side: &mut Side, geometry: GeometryIdx, point: &TouchedPoint| {
            let geometry = &geometries[geometry.0];
            let (body, point) = match geometry.mount {
                Mount::World(_) => {
                    side.body = None;
                    return Ok(());
                }
                // The basis of a frame is the same at every point of it.
                Mount::Frame { body, frame, .. } => {
                    (body, MaterialPoint::on_frame(frame, Vector3::zeros()))
                }
                Mount::Vertices { body }
                | Mount::Segments { body, .. }
                | Mount::Surface { body } => (body, crate::collision::material_point(point)),
            };
            side.set_to(body, &point, steps).map_err(|source| {
                let what = format!("geometry \"{}\"", geometry.name);
                StepError::of_point(setting.world, setting.state, what, body, source)
            })
        };
        become_side(&mut self.a, contact.a, &contact.point.a)?;
        become_side(&mut self.b, contact.b, &contact.point.b)?;
        match (self.a.body, self.b.body) {
            (Some(_), Some(_)) => {}
            (Some(_), None) => self.b.set_to_world_against(&self.a),
            (None, Some(_)) => self.a.set_to_world_against(&self.b),
            (None, None) => unreachable!("pairs of the world with itself are filtered"),
        }
        let status = if contact.point.entry > 0.0 {
            ContactStatus::Speculative
        } else {
            ContactStatus::Closed
        };
        let key = [&self.a, &self.b].map(|s| s.body.map(|(p, basis)| (p.0, basis.0)));
        self.key = (key, status);
        self.positions = positions_of(contact, status, (&self.a, &self.b));
        Ok(())
    }
}

/// Velocity of A's surface over its body minus that of B's, world axes.
fn surface_velocity(setting: &Setting<'_>, contact: &PairContact) -> Vector3<f64> {
    let geometries = &setting.world.parts.geometries;
    let of = |g: GeometryIdx| {
        let v_G = geometries[g.0].surface_velocity;
        setting.poses[g.0].rotation * v_G
    };
    of(contact.a) - of(contact.b)
}
