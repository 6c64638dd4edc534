//! Whether the friction of a solve is what its normal forces allow, and better limits where it isn't.
//!
//! The lagged model solves with limits μn0 that were foreseen. Between rigid bodies w, and with it n0, is what an impulse does, but
//! not what other impulses of the step do beside it. A soft body's vertex knows nothing of the inertia
//! behind stiff elements: there n0 may be wrong in every step. Friction above μγ_n, or below it while the contact slips at its limit,
//! is friction that Coulomb does not know; what sticks by less than either limit is right whatever n0 is. So a pair of
//! geometries is judged by the impulse that its contacts have too much or too little, as a share of what friction
//! can do there; limits that are wrong are set to the load found, and the problem is solved again from where it is. Single contacts
//! that begin, or whose load nothing told of, are set anew, too, whether they slip or not; those of points on a grid, which begin in every
//! step, where their pair slips.
//!
//! Setting n0 to γ_n is a fixed-point iteration; where a contact's load goes up as its friction goes down it overshoots. The step
//! is therefore shortened to a secant's, which turns a cycle of two into its middle. Where the loads of a whole pair follow its
//! friction it is slow, and the step is lengthened by theirs.

mod friction;

use pliant_contact_sap::{ConstraintSet, ContactIdx, FrictionLimit, VelocityLayout};
use serde::{Deserialize, Serialize};

use crate::contacts::ContactRecord;
use crate::settings::ContactModel;
use crate::strong_implicit::StepContext;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};

use friction::{Friction, Slips};

pub(crate) use friction::PreviousBound;

/// A step that ends with friction that is wrong by more than this share of what a pair's friction can do is not trusted.
pub const FRICTION_TOLERANCE: f64 = 0.2;

/// Pairs with a soft body are solved for again from here on,
const TOLERANCE: f64 = 0.05;

/// and rigid ones, whose limits are mostly right and cost a solve of many bodies, from here on, and then until they are as right.
const RIGID_TOLERANCE: f64 = 0.15;

/// After so many corrections a limit goes half of the way only: contacts that bear on each other go on swinging otherwise.
const FULL_UPDATES: usize = 5;

/// Errors below this part of ‖D b‖ are within ten times a solver's usual tolerance.
const ROUND_OFF: f64 = 1e-5;

/// A pair's load is taken to follow its limits by at most this much: twice the way from limit to load.
const SLOPE_MAX: f64 = 0.5;

/// How far the friction of a step is from what its normal forces allow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionError {
    /// Of the worst pair of geometries, as a share of what friction can do there: 0 is Coulomb's law, 1 friction without a load,
    /// or none under one. Always 0 in the similar and the SAP model, which know no limit ahead of the solve, and for the limit
    /// of the lagged model as it was published, which is one step old by intention.
    pub share: f64,
    /// The worst pair, if one is wrong at all.
    pub pair: Option<(GeometryIdx, GeometryIdx)>,
    /// How often the step was solved again with better limits.
    pub updates: usize,
}

/// What pressed two geometries together in a step, in a pair with a soft body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLoad {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B, after A.
    pub b: GeometryIdx,
    /// Σ of the normal forces of their contacts, N.
    pub force_N: f64,
}

/// A solve whose limits are judged.
#[derive(Clone, Copy)]
pub(crate) struct SolveInStep<'a> {
    pub(crate) records: &'a [ContactRecord],
    pub(crate) world: &'a World,
    pub(crate) impulses: &'a [f64],
    /// ‖D b‖ of the problem, √J, by which solvers judge what is left.
    pub(crate) scale: f64,
}

/// Whether the bounds of single contacts are updated whatever the friction of their pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SingleContacts {
    Updated,
    Kept,
}

impl SolveInStep<'_> {
    fn friction(&self, i: usize) -> Friction {
        Friction::of(&self.records[i], &self.impulses[3 * i..3 * i + 3])
    }
}

/// Judges and corrects the limits of one problem.
#[derive(Debug, Default)]
pub(crate) struct FrictionBounds {
    /// Contacts by pair.
    order: Vec<usize>,
    /// Of each pair that is wrong, the contacts in `order`.
    unconverged: Vec<std::ops::Range<usize>>,
    /// Pairs that have been wrong in this step.
    updated: Vec<(GeometryIdx, GeometryIdx)>,
    /// Contacts whose own limit is wrong, whatever the pair's friction is.
    single: Vec<usize>,
    error: FrictionError,
}

/// Whether contacts without a limit of their own slip: those of soft bodies as their pair does, and those of rigid bodies unless two
/// others stick, for about one it can turn.
fn pair_slips(contacts: &[usize], solve: &SolveInStep<'_>) -> Slips {
    let (mut found, mut limit, mut rigid, mut sticking) = (0.0, 0.0, false, 0);
    for &i in contacts {
        let friction = solve.friction(i);
        found += friction.found;
        limit += friction.limit;
        rigid |= solve.records[i].is_rigid();
        let sticks =
            friction.load > 0.0 && !friction.is_undecided() && friction.slips() == Slips::No;
        sticking += usize::from(sticks);
    }
    match rigid {
        true if sticking < 2 => Slips::Yes,
        true => Slips::No,
        false => Slips::at(found, limit),
    }
}

impl FrictionBounds {
    /// Before the first solve of a step.
    pub(crate) fn begin(&mut self) {
        self.updated.clear();
        self.error = FrictionError::default();
    }

    /// Whether limits are foreseen that the first solve hardly ever bears out: friction of soft bodies other than filaments.
    pub(crate) fn are_rough(world: &World, records: &[ContactRecord]) -> bool {
        let model = world.parts.contact.model;
        let guessed = |record: &ContactRecord| {
            !record.is_rigid()
                && record.friction() > 0.0
                && !is_filament(world, record.a)
                && !is_filament(world, record.b)
        };
        model == ContactModel::Lagged(FrictionLimit::LocalImplicit) && records.iter().any(guessed)
    }

    /// What is said of the solve judged last.
    pub(crate) fn error(&self) -> FrictionError {
        self.error
    }

    /// Sets the limits of pairs of geometries with a soft body from what pressed them together in the last step, nothing if they
    /// begin to touch: all of a pair by the same factor, so that they sum up to that load.
    ///
    /// What was predicted contact by contact knows vertices only by the elements next to them, as if all others stood still. Behind
    /// stiff elements it is far too large where bodies move as a whole, and friction without a load makes loads of its own: limits
    /// are found from below in half of the solves.
    pub(crate) fn predict(
        &mut self,
        context: StepContext<'_>,
        records: &mut [ContactRecord],
        set: &mut ConstraintSet,
    ) {
        let StepContext {
            world,
            state,
            time_step,
            ..
        } = context;
        let time_step_s = time_step.length_s;
        let model = world.parts.contact.model;
        if model != ContactModel::Lagged(FrictionLimit::LocalImplicit) {
            return;
        }
        self.sort_deformable_pairs(world, records);
        let mut rest = self.order.as_slice();
        while let Some(&first) = rest.first() {
            let pair = records[first].pair();
            let n = rest.partition_point(|&i| records[i].pair() <= pair);
            let contacts;
            (contacts, rest) = rest.split_at(n);
            let load = match state
                .memory
                .loads
                .binary_search_by_key(&pair, |l| (l.a, l.b))
            {
                Ok(found) => state.memory.loads[found].force_N * time_step_s,
                Err(_) => 0.0,
            };
            let predicted: f64 = contacts.iter().map(|&i| records[i].friction_limit).sum();
            if predicted <= 0.0 {
                continue;
            }
            let factor = load / predicted;
            for &i in contacts {
                let record = &mut records[i];
                record.friction_limit *= factor;
                *set.contact_law_mut(ContactIdx(i)) = record.law(model);
            }
        }
    }

    /// Puts what presses pairs of geometries with a soft body together into `loads`, sorted.
    pub(crate) fn remember(
        &mut self,
        context: StepContext<'_>,
        (records, impulses): (&[ContactRecord], &[f64]),
        loads: &mut Vec<PairLoad>,
    ) {
        let (world, time_step_s) = (context.world, context.time_step.length_s);
        loads.clear();
        if world.parts.contact.model != ContactModel::Lagged(FrictionLimit::LocalImplicit) {
            return;
        }
        self.sort_deformable_pairs(world, records);
        let same_pair = |&i: &usize, &j: &usize| records[i].pair() == records[j].pair();
        loads.extend(self.order.chunk_by(same_pair).map(|contacts| {
            let of = |&i: &usize| Friction::of(&records[i], &impulses[3 * i..3 * i + 3]).load;
            let (a, b) = records[contacts[0]].pair();
            PairLoad {
                a,
                b,
                force_N: contacts.iter().map(of).sum::<f64>() / time_step_s,
            }
        }));
    }

    /// Contacts that `counts`, by pair.
    fn sort_pairs(&mut self, records: &[ContactRecord], counts: impl Fn(&ContactRecord) -> bool) {
        self.order.clear();
        self.order
            .extend((0..records.len()).filter(|&i| counts(&records[i])));
        self.order.sort_unstable_by_key(|&i| (records[i].pair(), i));
    }

    /// Those of them whose bodies have the same velocities in every step and no filament: nodes of a grid that is laid anew know
    /// their inertia, and so do segments.
    fn sort_deformable_pairs(&mut self, world: &World, records: &[ContactRecord]) {
        let has_fixed_velocities = |g: GeometryIdx| has_fixed_velocities(world, g);
        self.sort_pairs(records, |record| {
            !record.is_rigid() && has_fixed_velocities(record.a) && has_fixed_velocities(record.b)
        });
    }

    /// How far bounds are from those of the loads found, as a multiple of the tolerance of each pair or single contact.
    pub(crate) fn residual(
        &mut self,
        solve: &SolveInStep<'_>,
        single_contacts: SingleContacts,
    ) -> f64 {
        self.unconverged.clear();
        self.single.clear();
        self.error.share = 0.0;
        self.error.pair = None;
        let contact = &solve.world.parts.contact;
        if contact.model != ContactModel::Lagged(FrictionLimit::LocalImplicit) {
            return 0.0;
        }
        let records = solve.records;
        let pair = |i: usize| records[i].pair();
        self.sort_pairs(records, |_| true);
        let mut residual = 0.0_f64;
        let mut end = 0;
        for contacts in self.order.chunk_by(|&i, &j| pair(i) == pair(j)) {
            let first = end;
            end += contacts.len();
            let slips = pair_slips(contacts, solve);
            if single_contacts == SingleContacts::Updated {
                for &i in contacts {
                    let (record, load) = (&records[i], solve.friction(i).load);
                    let off = (load - record.friction_limit).abs();
                    let matters = !record.is_on_new_grid() || slips == Slips::Yes;
                    let tolerance = record.tolerated() * load;
                    if record.friction() > 0.0 && matters && off > tolerance {
                        self.single.push(i);
                        residual = residual.max(off / tolerance);
                    }
                }
            }
            let (mut off, mut most) = (0.0, 0.0);
            // What the error does to √(energy).
            let mut energy_norm = 0.0;
            for &i in contacts {
                let friction = solve.friction(i);
                let slips = match records[i].is_rigid() && !friction.is_undecided() {
                    true => friction.slips(),
                    false => slips,
                };
                let own = friction.off(slips);
                off += own;
                most += friction.allowed.max(friction.found);
                energy_norm += own * records[i].inverse_inertia().sqrt();
            }
            if !(off > 0.0 && energy_norm > ROUND_OFF * solve.scale) {
                continue;
            }
            let share = off / most;
            if share > self.error.share {
                self.error.share = share;
                self.error.pair = Some(pair(contacts[0]));
            }
            let is_updated = self.updated.contains(&pair(contacts[0]));
            let tolerance = match records[contacts[0]].is_rigid() && !is_updated {
                true => RIGID_TOLERANCE,
                false => TOLERANCE,
            };
            if share > tolerance {
                residual = residual.max(share / tolerance);
                self.unconverged.push(first..end);
                if !is_updated {
                    self.updated.push(pair(contacts[0]));
                }
            }
        }
        residual
    }

    /// Gives the contacts of wrong pairs better limits.
    pub(crate) fn update(
        &mut self,
        model: ContactModel,
        records: &mut [ContactRecord],
        impulses: &[f64],
        set: &mut ConstraintSet,
    ) {
        self.error.updates += 1;
        let fraction = match self.error.updates > FULL_UPDATES {
            true => 0.5,
            false => 1.0,
        };
        let correct = |record: &mut ContactRecord, i: usize, slope_of_pair: f64| {
            record.update_limit(&impulses[3 * i..3 * i + 3], slope_of_pair, fraction)
        };
        for unconverged in &self.unconverged {
            let contacts = &self.order[unconverged.clone()];
            let slope = slope_of_pair(contacts, records, impulses);
            for &i in contacts {
                correct(&mut records[i], i, slope);
            }
            if records[contacts[0]].is_rigid() && self.error.updates <= FULL_UPDATES {
                share_load(contacts, records, impulses);
            }
        }
        for &i in &self.single {
            correct(&mut records[i], i, 0.0);
        }
        let unconverged = self
            .unconverged
            .iter()
            .flat_map(|unconverged| &self.order[unconverged.clone()]);
        for &i in unconverged.chain(&self.single) {
            *set.contact_law_mut(ContactIdx(i)) = records[i].law(model);
        }
    }
}

/// Scales limits to the sum of the loads: what a rigid pair bears in all hardly depends on how its contacts share it.
fn share_load(contacts: &[usize], records: &mut [ContactRecord], impulses: &[f64]) {
    let (mut limits, mut loads) = (0.0, 0.0);
    for &i in contacts {
        limits += records[i].friction_limit;
        loads += Friction::of(&records[i], &impulses[3 * i..3 * i + 3]).load;
    }
    if limits > 0.0 && loads > 0.0 {
        for &i in contacts {
            records[i].friction_limit *= loads / limits;
        }
    }
}

/// Whether a geometry's body has the same velocities in every step, and no filament.
fn has_fixed_velocities(world: &World, g: GeometryIdx) -> bool {
    let mount = &world.parts.geometries[g.0].mount;
    let is_fixed =
        |body: BodyIdx| world.parts.bodies[body.0].model.velocity_layout() == VelocityLayout::Fixed;
    !is_filament(world, g) && mount.body().is_none_or(is_fixed)
}

fn is_filament(world: &World, g: GeometryIdx) -> bool {
    matches!(world.parts.geometries[g.0].mount, Mount::Segments { .. })
}

/// By how much the load of a pair has followed the sum of its limits since the solve before; 0 if there was none.
fn slope_of_pair(contacts: &[usize], records: &[ContactRecord], impulses: &[f64]) -> f64 {
    let (mut limits, mut loads) = (0.0, 0.0);
    for &i in contacts {
        let record = &records[i];
        if let Some(previous) = record.previous {
            limits += record.friction_limit - previous.limit;
            loads += Friction::of(record, &impulses[3 * i..3 * i + 3]).load - previous.load;
        }
    }
    let slope: f64 = loads / limits;
    if slope.is_finite() {
        slope.clamp(0.0, SLOPE_MAX)
    } else {
        0.0
    }
}
