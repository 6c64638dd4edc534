//! One contact of the problem: its parameters, from materials and kinematics, and its law.

use nalgebra::Vector3;
use pliant_contact_sap::{
    ConstraintSet, ContactIdx, ContactParameters, Dissipation, FrictionLimit, NormalPrediction,
    SlipPrediction, VelocityLayout,
};
use pliant_hydroelastic::{ContactKey, MaterialPoint, PairMaterial, PatchShare, PointStiffness};

use super::Setting;
use super::kinematics::ContactKinematics;
use super::turning::Turning;
use crate::collision::PairContact;
use crate::contact_model::{ContactInputs, ContactModel, DissipationRule, FrictionBound};
use crate::error::StepError;
use crate::friction_bounds::PreviousBound;
use crate::impact::Approach;
use crate::pair_basis::ContactPositions;
use crate::stiction::{self, ContactMemory};
use crate::world::{GeometryIdx, World};

/// A contact of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRecord {
    /// Its index in the set.
    pub(super) contact: ContactIdx,
    pub(super) turning: [Option<Turning>; 2],
    /// The law of its adhesion in the set.
    pub(super) adhesion: Option<ContactIdx>,
    pub(crate) a: GeometryIdx,
    pub(crate) b: GeometryIdx,
    pub(crate) positions: ContactPositions,
    /// The material points of A and B.
    pub(crate) points: [MaterialPoint; 2],
    pub(crate) patch: Option<PatchShare>,
    /// What the law depends on.
    pub(crate) inputs: ContactInputs,
    /// The bound before this one in the same step.
    pub(crate) previous: Option<PreviousBound>,
    /// How it approaches, where it has a coefficient of restitution.
    pub(crate) approach: Option<Approach>,
    key: ContactKey,
    /// Whether the contact was closed in the last step and the velocity changes of its bodies in that step are known.
    carried_on: bool,
    /// Whether both sides are rigid, so that w is exact.
    rigid: bool,
    /// Whether a side's velocities are those of a grid that is rebuilt in every step.
    on_new_grid: bool,
}

impl ContactRecord {
    /// The record of a contact point with this motion and inertia.
    pub(super) fn new(
        contact: &PairContact,
        kinematics: &ContactKinematics,
        setting: &Setting<'_>,
    ) -> Result<Self, StepError> {
        let (world, point) = (setting.world, &contact.point);
        let settings = &world.parts.contact;
        let material = world.pair_at(contact.a, contact.b, &point.stiffness);
        let parameters = parameters(contact, kinematics, &material, setting);
        parameters
            .validate(|| {
                let geometries = &world.parts.geometries;
                format!(
                    "contact of \"{}\" with \"{}\"",
                    geometries[contact.a.0].name, geometries[contact.b.0].name
                )
            })
            .map_err(|source| StepError::of_solve(world, setting.state, source))?;
        let normal_W = point.normal_W;
        let ContactKinematics {
            velocity,
            surface_velocity,
            ..
        } = kinematics;
        let free = normal_W.dot(&(velocity.free + surface_velocity));
        let constrained = velocity.change.map(|v| normal_W.dot(&v));
        // A point of a deformable surface that was open is near others that carry the body: it goes where they let it.
        let others =
            match point.entry > 0.0 || kinematics.rigid || parameters.carried_impulse() > 0.0 {
                true => 0.0,
                false => constrained.unwrap_or(0.0),
            };
        let predicted = NormalPrediction {
            free: free + others,
            constrained,
            row_sum: kinematics.row_sum,
        };
        let rule = match settings.model.friction_bound() {
            FrictionBound::Predicted(rule) => rule,
            FrictionBound::Iterated => FrictionLimit::LocalImplicit,
        };
        Ok(Self {
            contact: ContactIdx(0),
            turning: [None; 2],
            adhesion: None,
            a: contact.a,
            b: contact.b,
            positions: kinematics.positions,
            points: [point.a, point.b],
            patch: point.patch_share(stiffness_in_use(&parameters, &*settings.model)),
            inputs: ContactInputs {
                parameters,
                normal_W,
                normal_impulse: parameters.friction_limit(rule, &predicted),
                slip_inertia: kinematics.slip_inertia,
            },
            previous: None,
            approach: approach(contact, kinematics, &parameters, setting),
            key: point.key,
            carried_on: point.signed_distance < 0.0 && predicted.constrained.is_some(),
            rigid: kinematics.rigid,
            on_new_grid: [contact.a, contact.b]
                .iter()
                .any(|&g| is_on_new_grid(world, g)),
        })
    }

    /// The impulse of its contact law on A, N·s, world axes, of the impulses of all contacts of the set.
    pub(crate) fn impulse(&self, impulses: &[f64]) -> Vector3<f64> {
        impulse_of(self.contact, impulses)
    }

    /// [`impulse`](Self::impulse) and that of adhesion.
    pub(crate) fn total_impulse(&self, impulses: &[f64]) -> Vector3<f64> {
        let adhesion = self.adhesion.map(|contact| impulse_of(contact, impulses));
        self.impulse(impulses) + adhesion.unwrap_or_default()
    }

    /// The impulsive torque of torsional and rolling friction on A, N·m·s, world axes.
    pub(crate) fn turning_impulse(&self, impulses: &[f64]) -> Vector3<f64> {
        let turning = self.turning.iter().flatten();
        turning.map(|turning| turning.impulse(impulses)).sum()
    }

    /// Gives the contact the laws of its present parameters and bound.
    pub(crate) fn update_laws(&self, model: &dyn ContactModel, set: &mut ConstraintSet) {
        *set.contact_law_mut(self.contact) = model.law(&self.inputs);
        for turning in self.turning.iter().flatten() {
            turning.update(self.inputs.normal_impulse, set);
        }
    }

    pub(crate) fn pair(&self) -> (GeometryIdx, GeometryIdx) {
        (self.a, self.b)
    }

    pub(crate) fn signed_distance(&self) -> f64 {
        self.inputs.parameters.signed_distance
    }

    /// μ.
    pub(crate) fn friction(&self) -> f64 {
        self.inputs.parameters.friction
    }

    /// Relative difference of load and bound up to which this contact is not updated by itself: a fifth where it begins, a fiftieth
    /// where the velocity changes of the last step are unknown.
    pub(crate) fn tolerated(&self) -> f64 {
        match (self.carried_on, self.signed_distance() >= 0.0) {
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
        self.inputs.parameters.inverse_inertia
    }

    /// μ‖v_t‖ along the normal, m/s, for a model whose normal impulse follows v_n − μ‖v_t‖.
    pub(super) fn approach_of_slip(
        &self,
        kinematics: &ContactKinematics,
        model: &dyn ContactModel,
    ) -> Vector3<f64> {
        if !model.has_sliding_gap() {
            return Vector3::zeros();
        }
        let slip = SlipPrediction {
            start: kinematics.velocity.start + kinematics.surface_velocity,
            free: kinematics.velocity.free + kinematics.surface_velocity,
            delassus: kinematics.delassus,
            row_sum: kinematics.row_sum,
        };
        let ContactInputs {
            parameters,
            normal_W,
            normal_impulse,
            ..
        } = &self.inputs;
        normal_W * parameters.approach_of_slip(normal_W, &slip, *normal_impulse)
    }

    /// r/δt of the last step's bristle deflection, m/s, world axes.
    pub(super) fn remembered_bristle_rate(&self, setting: &Setting<'_>) -> Vector3<f64> {
        if !setting.world.parts.contact.stiction.remembers(self.patch) {
            return Vector3::zeros();
        }
        let key = (self.a, self.b, self.key);
        let contacts = &setting.state.memory.contacts;
        stiction::remembered_deflection(contacts, key, &self.inputs.normal_W)
            / setting.time_step.length_s
    }

    /// The friction memory of a contact with impulse `gamma`, N·s; `None` without friction.
    pub(crate) fn memory(
        &self,
        model: &dyn ContactModel,
        gamma: &Vector3<f64>,
    ) -> Option<ContactMemory> {
        let rate = model.bristle_rate(&self.inputs, gamma)?;
        Some(ContactMemory {
            a: self.a,
            b: self.b,
            key: self.key,
            bristle_deflection_W: rate * self.inputs.parameters.time_step.length_s,
        })
    }
}

fn impulse_of(contact: ContactIdx, impulses: &[f64]) -> Vector3<f64> {
    let first = 3 * contact.0;
    Vector3::from_column_slice(&impulses[first..first + 3])
}

fn parameters(
    contact: &PairContact,
    kinematics: &ContactKinematics,
    material: &PairMaterial,
    setting: &Setting<'_>,
) -> ContactParameters {
    let point = &contact.point;
    let settings = &setting.world.parts.contact;
    let start = kinematics.velocity.start + kinematics.surface_velocity;
    ContactParameters {
        time_step: setting.time_step,
        signed_distance: point.signed_distance,
        start_velocity: point.normal_W.dot(&start),
        stiffness: point.stiffness.of_pair(material.stiffness),
        dissipation: match settings.dissipation_rule() {
            DissipationRule::HuntCrossley => Dissipation::HuntCrossley(material.dissipation),
            DissipationRule::RelaxationTime => {
                Dissipation::RelaxationTime(material.relaxation_time_s)
            }
        },
        friction: material.friction,
        stiction_speed: settings.stiction_speed,
        inverse_inertia: kinematics.inverse_inertia,
        near_rigid: settings.near_rigid_period(),
    }
}

/// Support of a body by the constraints of the last step counts as acceleration up to this multiple of gravity.
const SUPPORT_MAX: f64 = 2.0;

/// How a point contact of rigid shapes with a coefficient of restitution approaches.
fn approach(
    contact: &PairContact,
    kinematics: &ContactKinematics,
    parameters: &ContactParameters,
    setting: &Setting<'_>,
) -> Option<Approach> {
    let of_points = matches!(contact.point.stiffness, PointStiffness::Share(_));
    if !kinematics.rigid || !of_points {
        return None;
    }
    let restitution = setting.world.rigid_pair(contact.a, contact.b).restitution?;
    let (velocity, normal_W) = (&kinematics.velocity, contact.point.normal_W);
    let step = setting.time_step;
    let free_fall = setting.world.parts.gravity.norm() * step.length_s;
    let support = (velocity.change).map_or(0.0, |change| normal_W.dot(&change));
    let support = match support.abs() <= SUPPORT_MAX * free_fall {
        true => support,
        false => 0.0,
    };
    let gain = normal_W.dot(&(velocity.free - velocity.start)) + support;
    // The positions of free motion lie on a parabola with this velocity.
    let ahead = (step.positions_s() - 0.5 * step.length_s) / step.length_s;
    Some(Approach::new(
        parameters.signed_distance,
        parameters.start_velocity + ahead * gain,
        gain / step.length_s,
        restitution,
    ))
}

/// The stiffness with which the law of `model` resists, N/m: a model with a range does not cap it.
fn stiffness_in_use(parameters: &ContactParameters, model: &dyn ContactModel) -> f64 {
    match model.range_m().is_some() && parameters.stiffness.is_finite() {
        true => parameters.stiffness,
        false => parameters.capped_stiffness(),
    }
}

fn is_on_new_grid(world: &World, g: GeometryIdx) -> bool {
    let body = world.parts.geometries[g.0].mount.body();
    body.is_some_and(|b| {
        let model = &world.parts.bodies[b.0].model;
        model.velocity_layout() == VelocityLayout::RebuiltEachStep
    })
}
