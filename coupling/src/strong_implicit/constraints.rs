//! What constrains a step: what touches, what constraints, bodies by themselves; and the velocities to begin with.

use pliant_contact_sap::{BodyStep, ConvexContactSolver, Dynamics, ParticipantIdx, TimeStep};

use super::StrongImplicit;
use crate::collision::Search;
use crate::contacts::{ContactRecord, Setting};
use crate::error::StepError;
use crate::pair_basis::Bodies;
use crate::report::RowOwner;
use crate::state::State;
use crate::stiction;
use crate::world::{BodyIdx, World};

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// Puts what constrains the step together, and the velocities to begin with.
    pub(super) fn find_contacts(
        &mut self,
        world: &World,
        state: &State,
        time_step: TimeStep,
        steps: &[Box<dyn BodyStep>],
        dynamics: &[&dyn Dynamics],
    ) -> Result<(), StepError> {
        let solve_error = |source| StepError::of_solve(world, state, source);
        self.factors.factor(dynamics).map_err(solve_error)?;
        self.predict(dynamics);
        let time_step_s = time_step.length_s;
        time_step.mean_velocities(&self.start, &self.free, &mut self.path);
        let bodies = Bodies {
            steps,
            start: &self.start,
            free: &self.free,
            path: &self.path,
            offsets: &self.offsets,
            constrained: &state.constrained,
        };
        let collision = &mut self.collision;
        collision.place(world, state, &bodies, time_step_s, Search::All)?;
        collision.find(world, state, &*self.geometry, time_step_s, Search::All)?;

        self.set.clear();
        self.contacts.clear();
        let setting = Setting {
            world,
            state,
            bodies,
            poses: &self.collision.poses,
            time_step,
        };
        self.contacts.add(
            &self.collision.contacts,
            &setting,
            &mut self.set,
            &mut self.factors,
        )?;
        self.limits.foresee(
            (world, state),
            time_step_s,
            &mut self.contacts.records,
            &mut self.set,
        );
        self.owners.clear();
        for (b, step) in steps.iter().enumerate() {
            let participant = ParticipantIdx(b);
            step.constraints(&mut self.set.internal(participant, &self.factors));
            let n = self.set.n_rows();
            self.owners.resize(n, RowOwner::Body(BodyIdx(b)));
        }
        self.constraints.add(
            world,
            state,
            &bodies,
            &self.collision.surfaces,
            time_step,
            &mut self.set,
            &mut self.factors,
            &mut self.owners,
        )?;

        let records = &self.contacts.records;
        guess_velocities(
            world,
            records,
            bodies.offsets,
            bodies.start,
            &mut self.guess,
        );
        find_touched(world, records, &self.owners, &mut self.touched);
        Ok(())
    }

    /// v* ≈ v0 + D⁻¹(b − A v0), exact where the block diagonal D is all of A.
    fn predict(&mut self, dynamics: &[&dyn Dynamics]) {
        self.free.resize(self.start.len(), 0.0);
        for (p, dynamics) in dynamics.iter().enumerate() {
            let range = self.offsets[p]..self.offsets[p + 1];
            let (start, free) = (&self.start[range.clone()], &mut self.free[range]);
            dynamics.apply(start, free);
            for (x, b) in free.iter_mut().zip(dynamics.right_hand_side()) {
                *x = b - *x;
            }
            self.factors.solve(ParticipantIdx(p), free);
            for (x, v0) in free.iter_mut().zip(start) {
                *x += v0;
            }
        }
    }
}

/// The velocities at the start, but for those of bodies that rest in patches.
fn guess_velocities(
    world: &World,
    records: &[ContactRecord],
    offsets: &[usize],
    start: &[f64],
    guess: &mut Vec<f64>,
) {
    guess.clear();
    guess.extend_from_slice(start);
    let settings = &world.parts.contact;
    let mut last = None;
    for record in records {
        let pair = Some((record.a, record.b));
        let held = record.patch.is_some() && settings.stiction.remembers(record.patch);
        if !held || last == pair {
            continue;
        }
        last = pair;
        for g in [record.a, record.b] {
            if let Some(body) = world.parts.geometries[g.0].mount.body() {
                let dofs = offsets[body.0]..offsets[body.0 + 1];
                stiction::stop_what_rests(settings, &mut guess[dofs]);
            }
        }
    }
}

/// Of each body whether a contact, a constraint or a constraint of its own acts on it.
pub(super) fn find_touched(
    world: &World,
    records: &[ContactRecord],
    owners: &[RowOwner],
    touched: &mut Vec<bool>,
) {
    let parts = &world.parts;
    touched.clear();
    touched.resize(parts.bodies.len(), false);
    let in_contact = records.iter().flat_map(|record| [record.a, record.b]);
    for body in in_contact.filter_map(|g| parts.geometries[g.0].mount.body()) {
        touched[body.0] = true;
    }
    for owner in owners {
        match *owner {
            RowOwner::Body(body) => touched[body.0] = true,
            RowOwner::Constraint(constraint) => {
                let constraint = &parts.constraints[constraint.0];
                for body in [constraint.a.body(), constraint.b.body()]
                    .into_iter()
                    .flatten()
                {
                    touched[body.0] = true;
                }
            }
        }
    }
}
