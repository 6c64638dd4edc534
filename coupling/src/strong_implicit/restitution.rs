//! Impacts of rigid bodies with a coefficient of restitution: the step is solved twice more where they occur.
//!
//! The sequence of impacts in the step ([`crate::impact`]) gives the gap and the normal velocity of each contact at the end. A contact law
//! that is nearly rigid above a target imposes them, with the friction, limits and other contacts of any step:
//!
//! 1. Displacement: v moves the bodies from the start to the end of the step, with the impacts in between.
//! 2. Velocity: v is the velocity at the end.
//!
//! A single frictionless impact thus has its exact time, position and velocity, for any length of the step.

use pliant_contact_sap::{
    ContactParameters, Dissipation, Interpolation, MaterialPoint, ParticipantIdx, Rows, TimeStep,
};

use nalgebra::{Point3, Vector3};

use super::outer_loop::{Attempt, OuterLoop};
use super::problem::{StepContext, StepProblem};
use super::settings::StrongImplicitSettings;
use crate::convergence::Convergence;
use crate::error::StepError;
use crate::impact::{Approach, Mobility, NormalGradient, Rebound, rebounds};
use crate::world::{GeometryIdx, Mount};

/// The impacts of a step.
#[derive(Debug, Default)]
pub(super) struct Impacts {
    contacts: Vec<ImpactContact>,
    /// Moves the bodies over the step; empty in steps without impacts.
    displacement: Vec<f64>,
    /// Of each body: whether an impact changed its velocity.
    struck: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct ImpactContact {
    record: usize,
    approach: Approach,
    rebound: Rebound,
    /// Without impacts.
    parameters: ContactParameters,
    normal_impulse: f64,
}

/// What the velocity of a solve is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Displacement,
    Velocity,
}

impl Impacts {
    /// Velocities by which the bodies move over the step; `None` in steps without impacts, where they are those of the solution.
    pub(super) fn displacement(&self) -> Option<&[f64]> {
        (!self.displacement.is_empty()).then_some(&self.displacement)
    }

    /// Whether an impact changed the velocity of body `b` in this step.
    pub(super) fn struck(&self, b: usize) -> bool {
        self.struck.get(b).copied().unwrap_or(false)
    }
}

impl OuterLoop {
    /// [`OuterLoop::converge`], and impacts where there are any.
    pub(super) fn converge_with_impacts(
        &mut self,
        attempt: &mut Attempt<'_>,
        settings: &StrongImplicitSettings,
    ) -> Result<Convergence, StepError> {
        let impacts = &mut attempt.problem.impacts;
        impacts.contacts.clear();
        impacts.displacement.clear();
        impacts.struck.clear();
        let mut convergence = self.converge(attempt, settings)?;
        let mut n_contacts = None;
        // The displacement may bring bodies together that were apart without impacts.
        while n_contacts != Some(attempt.problem.contacts.records.len()) {
            n_contacts = Some(attempt.problem.contacts.records.len());
            if !attempt.problem.find_impacts(attempt.context)? {
                return Ok(convergence);
            }
            attempt.problem.impose(attempt.context, Stage::Displacement);
            let again = self.converge(attempt, settings)?;
            convergence = convergence.followed_by(again);
        }
        let problem = &mut *attempt.problem;
        (problem.impacts.displacement).clone_from(&problem.solution.velocity);
        let missed = convergence.missed_contact;
        problem.impose(attempt.context, Stage::Velocity);
        let again = self.converge_velocities(attempt, settings)?;
        convergence = Convergence {
            missed_contact: missed,
            ..convergence.followed_by(again)
        };
        attempt.problem.lift_impact_laws();
        Ok(convergence)
    }
}

impl StepProblem {
    /// Finds the impacts of the step; returns whether there are any.
    fn find_impacts(&mut self, context: StepContext<'_>) -> Result<bool, StepError> {
        self.lift_impact_laws();
        let time_step_s = context.time_step.length_s;
        let contacts = &mut self.impacts.contacts;
        contacts.clear();
        for (record_idx, record) in self.contacts.records.iter().enumerate() {
            if let Some(approach) = record.approach {
                contacts.push(ImpactContact {
                    record: record_idx,
                    approach,
                    rebound: Rebound::default(),
                    parameters: record.inputs.parameters,
                    normal_impulse: record.inputs.normal_impulse,
                });
            }
        }
        if !(contacts.iter()).any(|contact| contact.approach.is_impact(time_step_s)) {
            contacts.clear();
            return Ok(false);
        }
        let gradients = self.normal_gradients(context)?;
        let contacts = &mut self.impacts.contacts;
        let mobility = Mobility::new(contacts.len(), &gradients, &self.factors);
        let approaches: Vec<Approach> = contacts.iter().map(|c| c.approach).collect();
        let found = rebounds(&approaches, &mobility, time_step_s);
        for (contact, rebound) in contacts.iter_mut().zip(found) {
            contact.rebound = rebound;
        }
        self.impacts.struck.clear();
        self.impacts.struck.resize(self.steps.len(), false);
        for gradient in &gradients {
            let contact = &self.impacts.contacts[gradient.contact];
            self.impacts.struck[gradient.participant.0] |= contact.rebound.impulse > 0.0;
        }
        Ok(true)
    }

    /// ∂c/∂v of every contact that may have an impact.
    fn normal_gradients(&self, context: StepContext<'_>) -> Result<Vec<NormalGradient>, StepError> {
        let mut gradients: Vec<NormalGradient> = Vec::new();
        let (mut rows, mut interpolation) = (Rows::default(), Interpolation::Twist);
        for (contact, of_impact) in self.impacts.contacts.iter().enumerate() {
            let record = &self.contacts.records[of_impact.record];
            let sides = [
                (record.a, record.positions.a, record.inputs.normal_W),
                (record.b, record.positions.b, -record.inputs.normal_W),
            ];
            for (geometry, p_WQ, normal_W) in sides {
                let Some((participant, frame)) = frame_of(context, geometry) else {
                    continue;
                };
                let step = &self.steps[participant.0];
                let point = MaterialPoint::on_frame(frame, Vector3::zeros());
                let basis = step
                    .interpolation(&point, &mut interpolation)
                    .map_err(|source| context.of_body(participant.0, source))?;
                step.basis(basis, &Point3::from(p_WQ), &mut rows);
                let n = &normal_W;
                let u = [0.0, 0.0, 0.0, n.x, n.y, n.z];
                let of_same =
                    |g: &NormalGradient| g.contact == contact && g.participant == participant;
                match gradients.last_mut().filter(|g| of_same(g)) {
                    Some(known) => rows.add_transposed(&u, &mut known.gradient),
                    None => {
                        let mut gradient = vec![0.0; self.velocities.range(participant.0).len()];
                        rows.add_transposed(&u, &mut gradient);
                        gradients.push(NormalGradient {
                            contact,
                            participant,
                            gradient,
                        });
                    }
                }
            }
        }
        Ok(gradients)
    }

    /// Gives the contacts with impacts laws that impose the gap or the velocity at the end of the step.
    fn impose(&mut self, context: StepContext<'_>, stage: Stage) {
        for contact in &self.impacts.contacts {
            if contact.rebound.impulse <= 0.0 {
                continue;
            }
            let inputs = &mut self.contacts.records[contact.record].inputs;
            (inputs.parameters, inputs.normal_impulse) = contact.target(stage);
        }
        let model = &*context.world.parts.contact.model;
        for contact in &self.impacts.contacts {
            self.contacts.records[contact.record].update_laws(model, &mut self.set);
        }
    }

    /// Gives the contacts their laws without impacts.
    fn lift_impact_laws(&mut self) {
        for contact in &self.impacts.contacts {
            let inputs = &mut self.contacts.records[contact.record].inputs;
            inputs.parameters = contact.parameters;
            inputs.normal_impulse = contact.normal_impulse;
        }
    }
}

fn frame_of(context: StepContext<'_>, geometry: GeometryIdx) -> Option<(ParticipantIdx, u32)> {
    match context.world.parts.geometries[geometry.0].mount {
        Mount::Frame { body, frame, .. } => Some((ParticipantIdx(body.0), frame)),
        _ => None,
    }
}

impl ImpactContact {
    /// Parameters of a nearly rigid contact that is released at the velocity of this contact after the impacts, and its impulse, N·s.
    fn target(&self, stage: Stage) -> (ContactParameters, f64) {
        let p = &self.parameters;
        let time_step: TimeStep = p.time_step;
        let (dt, lead) = (time_step.length_s, time_step.positions_s());
        let rigid = ContactParameters {
            stiffness: f64::INFINITY,
            dissipation: Dissipation::HuntCrossley(0.0),
            ..*p
        };
        let regularisation = 1.0 / (dt * lead * rigid.capped_stiffness());
        let (velocity, impulse) = match stage {
            Stage::Displacement => {
                let end = p.signed_distance.min(0.0) + self.rebound.gap;
                let velocity = (end - p.coasted_distance()) / lead;
                (velocity, self.rebound.displacing_impulse / lead)
            }
            Stage::Velocity => {
                let ahead = lead - 0.5 * dt;
                let velocity = self.rebound.velocity - ahead * self.rebound.acceleration;
                (velocity, self.rebound.impulse)
            }
        };
        // The law has this impulse at the velocity.
        let release = velocity + regularisation * impulse;
        let coasted_from_zero = time_step.coasted(0.0, p.start_velocity);
        let parameters = ContactParameters {
            signed_distance: -release * lead - coasted_from_zero,
            ..rigid
        };
        (parameters, impulse)
    }
}
