//! From contact points to constraints: stiffness, inverse inertia, friction bound and law of each.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_contact_sap::{
    BlockFactors, ConstraintSet, ContactLaw, ContactParameters, Dissipation, FrictionLimit,
    Interpolation, Lagged, MaterialPoint, NormalPrediction, Sap, Similar, TimeStep, VelocityLayout,
};
use pliant_hydroelastic::{ContactKey, MaterialPoint as TouchedPoint, PatchShare};

use crate::collision::PairContact;
use crate::contact_energy::ContactEnergy;
use crate::error::StepError;
use crate::friction_bounds::PreviousBound;
use crate::pair_basis::{Bodies, ContactPositions, ContactStatus, PairBasis, Side};
use crate::settings::{ContactModel, DissipationRule};
use crate::state::State;
use crate::stiction::{self, ContactMemory};
use crate::world::{GeometryIdx, Mount, World};

/// A contact of the problem; records are in the order of [`ContactIdx`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRecord {
    pub(crate) a: GeometryIdx,
    pub(crate) b: GeometryIdx,
    pub(crate) positions: ContactPositions,
    pub(crate) normal_W: Vector3<f64>,
    /// The material points of A and B.
    pub(crate) points: [TouchedPoint; 2],
    pub(crate) patch: Option<PatchShare>,
    key: ContactKey,
    parameters: ContactParameters,
    /// w of slip, 1/kg.
    slip_inertia: f64,
    /// n0, N·s.
    pub(crate) friction_limit: f64,
    /// The bound before this one in the same step.
    pub(crate) previous: Option<PreviousBound>,
    /// Whether the contact was closed in the last step and the velocity changes of its bodies in that step are known.
    carried_on: bool,
    /// Whether both sides are rigid, so that w is exact.
    rigid: bool,
    /// Whether a side's velocities are those of a grid that is rebuilt in every step.
    on_new_grid: bool,
}

impl ContactRecord {
    pub(crate) fn pair(&self) -> (GeometryIdx, GeometryIdx) {
        (self.a, self.b)
    }

    pub(crate) fn signed_distance(&self) -> f64 {
        self.parameters.signed_distance
    }

    /// μ.
    pub(crate) fn friction(&self) -> f64 {
        self.parameters.friction
    }

    /// Relative difference of load and bound up to which this contact is not updated by itself: a fifth where it begins, a fiftieth
    /// where the velocity changes of the last step are unknown.
    pub(crate) fn tolerated(&self) -> f64 {
        match (self.carried_on, self.parameters.signed_distance >= 0.0) {
            (true, _) => f64::INFINITY,
            (false, true) => 0.2,
            (false, false) => 0.02,
        }
    }

    /// Whether both sides are rigid.
    pub(crate) fn is_rigid(&self) -> bool {
        self.rigid
    }

    /// Whether a side's velocities are those of a grid that is rebuilt in every step.
    pub(crate) fn is_on_new_grid(&self) -> bool {
        self.on_new_grid
    }

    /// w, 1/kg: velocity change at the contact per impulse. For deformable bodies of the adjacent vertices alone.
    pub(crate) fn inverse_inertia(&self) -> f64 {
        self.parameters.inverse_inertia
    }
}

/// Workspace for turning contact points into constraints.
#[derive(Debug, Default)]
pub(crate) struct ContactAssembly {
    basis: PairBasis,
    /// Of each contact being added; excess entries keep their memory.
    sides: Vec<Sides>,
    order: Vec<usize>,
    directions: Vec<f64>,
    pub(crate) records: Vec<ContactRecord>,
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

/// What the assembly reads.
pub(crate) struct Setting<'a> {
    pub(crate) world: &'a World,
    pub(crate) state: &'a State,
    pub(crate) bodies: Bodies<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
    pub(crate) time_step: TimeStep,
}

impl ContactAssembly {
    /// Forgets the contacts of the last step.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
    }

    /// Adds `contacts` to `set`.
    pub(crate) fn add(
        &mut self,
        contacts: &[PairContact],
        setting: &Setting<'_>,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
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
        let order = std::mem::take(&mut self.order);
        let sides = std::mem::take(&mut self.sides);
        let result = order
            .chunk_by(|&i, &j| sides[i].key == sides[j].key)
            .try_for_each(|group| self.add_group(group, contacts, &sides, setting, set, factors));
        self.order = order;
        self.sides = sides;
        result
    }

    fn add_group(
        &mut self,
        group: &[usize],
        contacts: &[PairContact],
        sides: &[Sides],
        setting: &Setting<'_>,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
    ) -> Result<(), StepError> {
        let first = group[0];
        let pair = |i: usize| (&sides[i].a, &sides[i].b);
        let p_WO = sides[first].positions.a;
        self.basis.open(
            set,
            factors,
            &setting.bodies,
            pair(first),
            sides[first].key.1,
            p_WO,
        );
        let r = self.basis.n_rows();
        self.directions.clear();
        for &i in group {
            self.basis.normal_direction(
                pair(i),
                &sides[i].positions,
                &contacts[i].point.normal_W,
                &mut self.directions,
            );
        }
        self.basis.sum_rows_of(&self.directions);
        for (k, &i) in group.iter().enumerate() {
            let contact = &contacts[i];
            let (point, positions) = (&contact.point, &sides[i].positions);
            let own = &self.directions[k * r..(k + 1) * r];
            let row_sum = self.basis.row_sum(own, &self.directions);
            let velocity = self.basis.velocity(pair(i), positions);
            let delassus = self.basis.delassus(pair(i), positions);
            let w = delassus.norm() / 3.0;
            if w == 0.0 {
                // Nothing on either side can move.
                continue;
            }
            let bias = surface_velocity(setting, contact);
            let normal_W = point.normal_W;
            let material = setting
                .world
                .pair_at(contact.a, contact.b, &point.stiffness);
            let settings = &setting.world.parts.contact;
            let parameters = ContactParameters {
                time_step: setting.time_step,
                signed_distance: point.signed_distance,
                start_velocity: normal_W.dot(&(velocity.start + bias)),
                stiffness: point.stiffness.of_pair(material.stiffness),
                dissipation: match settings.dissipation {
                    DissipationRule::HuntCrossley if settings.model != ContactModel::Sap => {
                        Dissipation::HuntCrossley(material.dissipation)
                    }
                    _ => Dissipation::RelaxationTime(material.relaxation_time_s),
                },
                friction: match settings.glides() && point.entry > 0.0 {
                    true => 0.0,
                    false => material.friction,
                },
                stiction_speed: settings.stiction_speed,
                inverse_inertia: w,
                near_rigid: settings.near_rigid_period(),
            };
            parameters
                .validate(|| {
                    let geometries = &setting.world.parts.geometries;
                    format!(
                        "contact of \"{}\" with \"{}\"",
                        geometries[contact.a.0].name, geometries[contact.b.0].name
                    )
                })
                .map_err(|source| StepError::of_solve(setting.world, setting.state, source))?;
            let predicted = NormalPrediction {
                free: normal_W.dot(&(velocity.free + bias)),
                constrained: velocity.change.map(|v| normal_W.dot(&v)),
                row_sum,
            };
            let rule = match settings.model {
                ContactModel::Lagged(rule) => rule,
                ContactModel::Similar | ContactModel::Sap | ContactModel::Energy { .. } => {
                    FrictionLimit::LocalImplicit
                }
            };
            let record = ContactRecord {
                a: contact.a,
                b: contact.b,
                positions: *positions,
                normal_W,
                points: [point.a, point.b],
                patch: point.patch_share(material.stiffness),
                key: point.key,
                parameters,
                slip_inertia: match (&sides[i].a.interpolation, &sides[i].b.interpolation) {
                    (Interpolation::Dense(_), _) | (_, Interpolation::Dense(_)) => {
                        w.min(least_in_plane(&delassus, &normal_W))
                    }
                    _ => w,
                },
                friction_limit: parameters.friction_limit(rule, &predicted),
                previous: None,
                carried_on: point.signed_distance < 0.0 && predicted.constrained.is_some(),
                rigid: matches!(
                    (&sides[i].a.interpolation, &sides[i].b.interpolation),
                    (Interpolation::Twist, Interpolation::Twist)
                ),
                on_new_grid: [contact.a, contact.b].iter().any(|g| {
                    let body = setting.world.parts.geometries[g.0].mount.body();
                    body.is_some_and(|b| {
                        let model = &setting.world.parts.bodies[b.0].model;
                        model.velocity_layout() == VelocityLayout::RebuiltEachStep
                    })
                }),
            };
            let stretch_rate = if settings.stiction.remembers(record.patch) {
                let key = (contact.a, contact.b, point.key);
                stiction::remembered_deflection(&setting.state.memory.contacts, key, &normal_W)
                    / setting.time_step.length_s
            } else {
                Vector3::zeros()
            };
            let law = record.law(settings.model);
            let mut basis = set.last_basis();
            self.basis
                .add(&mut basis, pair(i), positions, bias + stretch_rate, law);
            self.records.push(record);
        }
        Ok(())
    }
}

impl ContactRecord {
    /// The friction memory of a contact with impulse `gamma`, N·s; `None` without friction.
    pub(crate) fn memory(
        &self,
        model: ContactModel,
        gamma: &Vector3<f64>,
    ) -> Option<ContactMemory> {
        let gamma_n = self.normal_W.dot(gamma);
        let gamma_t = gamma - self.normal_W * gamma_n;
        let p = &self.parameters;
        let bearing = match model {
            ContactModel::Lagged(_) => self.friction_limit,
            ContactModel::Similar | ContactModel::Sap => gamma_n,
            ContactModel::Energy { .. } => return None,
        };
        let limit = p.friction * bearing;
        (limit > 0.0).then(|| ContactMemory {
            a: self.a,
            b: self.b,
            key: self.key,
            bristle_deflection_W: stiction::bristle_deflection(
                model,
                p,
                (limit, self.slip_softening(model)),
                &gamma_t,
            ),
        })
    }

    /// ε, m/s.
    fn slip_softening(&self, model: ContactModel) -> f64 {
        let p = &self.parameters;
        match model {
            ContactModel::Lagged(_) => p.slip_softening_of(self.slip_inertia, self.friction_limit),
            ContactModel::Similar | ContactModel::Sap | ContactModel::Energy { .. } => {
                p.slip_softening(self.friction_limit)
            }
        }
    }

    pub(crate) fn law(&self, model: ContactModel) -> ContactLaw {
        let p = &self.parameters;
        match model {
            ContactModel::Lagged(_) => ContactLaw::Lagged(
                Lagged::new(p, self.normal_W, self.friction_limit)
                    .softened(self.slip_softening(model)),
            ),
            ContactModel::Similar => {
                ContactLaw::Similar(Similar::new(p, self.normal_W, self.friction_limit))
            }
            ContactModel::Sap => ContactLaw::Sap(Sap::new(p, self.normal_W)),
            ContactModel::Energy { range_m } => {
                ContactLaw::Custom(Arc::new(ContactEnergy::new(p, self.normal_W, range_m)))
            }
        }
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
