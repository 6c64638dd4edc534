//! Iterated friction bounds, and better ones where they disagree with the normal loads of a solution.
//!
//! The lagged model solves with friction bounds μn0 from predicted normal impulses n0. Prediction is inexact: between rigid bodies it
//! neglects the other impulses of the step; at a vertex of a deformable body it neglects the inertia behind stiff elements. Friction
//! above μγ_n violates Coulomb's law, and so does friction below it at a contact that slips at its bound. A contact that sticks below
//! both bounds is right whatever n0 is. The error of a pair of geometries is the sum of these violations, relative to the largest
//! friction of the pair. Bounds of pairs with a larger error than the tolerance are set to the loads found. Single contacts that
//! begin, or whose load was not known, are updated too; those of points on a grid, which begin in every step, where their pair slips.
//!
//! Setting n0 to γ_n is a fixed-point iteration. It overshoots where the load of a contact increases as its friction decreases, so the
//! update is a secant step there. It converges slowly where the loads of a whole pair follow its friction, and the update is
//! extrapolated there by the observed slope.

mod friction;

use pliant_contact_sap::{ConstraintSet, VelocityLayout};
use serde::{Deserialize, Serialize};

use crate::contact_model::{ContactModel, FrictionBound};
use crate::contacts::ContactRecord;
use crate::strong_implicit::StepContext;
use crate::world::{BodyIdx, GeometryIdx, Mount, World};

use friction::{Friction, Slips};

pub(crate) use friction::PreviousBound;

/// A step with a larger friction error than this is untrusted; relative to the largest friction of the pair.
pub const FRICTION_TOLERANCE: f64 = 0.2;

/// Tolerance of pairs with a deformable body, and of rigid pairs once they are iterated.
const TOLERANCE: f64 = 0.05;

/// Tolerance up to which rigid pairs are not iterated: their prediction is mostly right, and another solve has many bodies.
const RIGID_TOLERANCE: f64 = 0.15;

/// Updates after which steps are halved: contacts that load each other would oscillate.
const FULL_UPDATES: usize = 5;

/// Smallest error, relative to ‖D b‖: ten times a solver's usual tolerance.
const ROUND_OFF: f64 = 1e-5;

/// Largest slope of a pair's load with its bounds; at it, the update is twice the difference of load and bound.
const SLOPE_MAX: f64 = 0.5;

/// The error of the friction bounds of a step.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_constitutive::Lame;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_fem::{FemBuilder, LinearCorotated};
/// # use pliant_hydroelastic::{ContactMaterial, Shape, mesh::generate::tet_cuboid};
/// use pliant_coupling::FRICTION_TOLERANCE;
///
/// // A soft cube runs into the floor, at 45 degrees.
/// # let soft = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3)?);
/// # let (cube, _) = FemBuilder::new(tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?, Arc::new(soft), 1000.0).build()?;
/// # let at = Isometry3::translation(0.0, 0.0, 0.05);
/// # let start = cube.rigid_state(&at, &Vector3::zeros(), &Vector3::new(1.0, 0.0, -1.0));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("cube", Box::new(cube));
/// # let on_cube = Geometry::of_vertices("cube", body, ContactMaterial::default());
/// # let on_floor =
/// #     Geometry::new("floor", Mount::World(Isometry3::identity()), Shape::half_space(), ContactMaterial::default());
/// let (a, b) = (builder.add_geometry(on_cube), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut state = world.default_state();
/// # state.bodies[body.0] = start;
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let report = stepper.step(&world, &state, 0.01, &mut next)?;
/// let friction = report.convergence.friction;
/// // Bounds that were predicted with vertices alone are updated once or more, until they are near the loads found.
/// assert!(friction.updates > 0 && friction.share <= FRICTION_TOLERANCE);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionError {
    /// Of the worst pair of geometries, relative to its largest friction: 0 is Coulomb's law; 1 is friction without load, or none
    /// under load. 0 where bounds are not iterated: in the similar and the SAP model, whose friction is not lagged, and for the published
    /// bound of the lagged model, which is one step old by definition.
    ///
    /// Of the substeps of an asynchronous stepper: the part of a pair's friction that is beyond μ times the normal impulse of its contact and
    /// substep, whatever the contact model.
    pub share: f64,
    /// The worst pair; `None` without error.
    pub pair: Option<(GeometryIdx, GeometryIdx)>,
    /// Updates of the bounds, each followed by another solve.
    pub updates: usize,
}

/// The normal load of a pair with a deformable body in one step.
///
/// ```
/// # use nalgebra::{Isometry3, Point3, Vector3};
/// # use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// use pliant_coupling::PairLoad;
///
/// // A net of four nodes of 10 g lies on the floor.
/// # let net = NetSettings { n: 2, node_mass: 0.01, radius: 0.01, corner_W: Point3::new(0.0, 0.0, 0.01), ..NetSettings::default() };
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("net", Box::new(MassSpringNet::new(net)?));
/// # let on_net = Geometry::of_vertices("net", body, ContactMaterial::default());
/// # let on_floor =
/// #     Geometry::new("floor", Mount::World(Isometry3::identity()), Shape::half_space(), ContactMaterial::default());
/// let (a, b) = (builder.add_geometry(on_net), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let load: &PairLoad = &next.memory.loads[0];
/// assert_eq!((load.a, load.b), (a, b));
/// let force = report.pair(a, b).expect("they touch").force_on_a();
/// assert!((load.force_N - force.z).abs() < 1e-12 && load.force_N > 0.3); // its weight is 0.39 N
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLoad {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B, after A.
    pub b: GeometryIdx,
    /// Σ of the normal forces of their contacts, N.
    pub force_N: f64,
}

/// A solution and the bounds it was solved with.
#[derive(Clone, Copy)]
pub(crate) struct SolveInStep<'a> {
    pub(crate) records: &'a [ContactRecord],
    pub(crate) world: &'a World,
    pub(crate) impulses: &'a [f64],
    /// ‖D b‖ of the problem, √J, the scale of the solvers' residuals.
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
        Friction::of(&self.records[i], self.impulses)
    }
}

/// Evaluates and updates the friction bounds of one problem.
#[derive(Debug, Default)]
pub(crate) struct FrictionBounds {
    /// Contacts by pair.
    order: Vec<usize>,
    /// The contacts in `order` of each pair above its tolerance.
    unconverged: Vec<std::ops::Range<usize>>,
    /// Pairs updated in this step.
    updated: Vec<(GeometryIdx, GeometryIdx)>,
    /// Contacts updated one by one.
    single: Vec<usize>,
    error: FrictionError,
}

/// Whether undecided contacts slip: in a deformable pair as the pair does; in a rigid pair unless two other contacts stick, since the
/// body can rotate about a single one.
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

    /// Whether predicted bounds are rough: those of deformable bodies other than filaments.
    pub(crate) fn are_rough(world: &World, records: &[ContactRecord]) -> bool {
        let guessed = |record: &ContactRecord| {
            !record.is_rigid()
                && record.friction() > 0.0
                && !is_filament(world, record.a)
                && !is_filament(world, record.b)
        };
        are_iterated(world) && records.iter().any(guessed)
    }

    /// The error at the last solution.
    pub(crate) fn error(&self) -> FrictionError {
        self.error
    }

    /// Scales the bounds of each pair with a deformable body so that they sum to the pair's load in the last step, zero for new pairs.
    ///
    /// The prediction contact by contact assumes that all vertices but those of adjacent elements are at rest. It is far too large where
    /// bodies with stiff elements move as a whole. Iterating from below takes half as many solves.
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
        if !are_iterated(world) {
            return;
        }
        let model = &*world.parts.contact.model;
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
            let predicted: f64 = contacts
                .iter()
                .map(|&i| records[i].inputs.normal_impulse)
                .sum();
            if predicted <= 0.0 {
                continue;
            }
            let factor = load / predicted;
            for &i in contacts {
                let record = &mut records[i];
                record.inputs.normal_impulse *= factor;
                record.update_laws(model, set);
            }
        }
    }

    /// Writes the normal loads of pairs with a deformable body into `loads`, sorted.
    pub(crate) fn remember(
        &mut self,
        context: StepContext<'_>,
        (records, impulses): (&[ContactRecord], &[f64]),
        loads: &mut Vec<PairLoad>,
    ) {
        let (world, time_step_s) = (context.world, context.time_step.length_s);
        loads.clear();
        if !are_iterated(world) {
            return;
        }
        self.sort_deformable_pairs(world, records);
        let same_pair = |&i: &usize, &j: &usize| records[i].pair() == records[j].pair();
        loads.extend(self.order.chunk_by(same_pair).map(|contacts| {
            let of = |&i: &usize| Friction::of(&records[i], impulses).load;
            let (a, b) = records[contacts[0]].pair();
            PairLoad {
                a,
                b,
                force_N: contacts.iter().map(of).sum::<f64>() / time_step_s,
            }
        }));
    }

    /// Sorts the contacts selected by `counts` by pair.
    fn sort_pairs(&mut self, records: &[ContactRecord], counts: impl Fn(&ContactRecord) -> bool) {
        self.order.clear();
        self.order
            .extend((0..records.len()).filter(|&i| counts(&records[i])));
        self.order.sort_unstable_by_key(|&i| (records[i].pair(), i));
    }

    /// Those of deformable bodies with a fixed velocity layout, except filaments: grid nodes and segments have accurate inertias.
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
        if !are_iterated(solve.world) {
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
                    let off = (load - record.inputs.normal_impulse).abs();
                    let matters = !record.is_on_new_grid() || slips == Slips::Yes;
                    let tolerance = record.tolerated() * load;
                    if record.friction() > 0.0 && matters && off > tolerance {
                        self.single.push(i);
                        residual = residual.max(off / tolerance);
                    }
                }
            }
            let (mut off, mut most) = (0.0, 0.0);
            // The error in the norm of the solvers, √J.
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

    /// Updates the bounds of the pairs and contacts above their tolerance.
    pub(crate) fn update(
        &mut self,
        model: &dyn ContactModel,
        records: &mut [ContactRecord],
        impulses: &[f64],
        set: &mut ConstraintSet,
    ) {
        self.error.updates += 1;
        let fraction = match self.error.updates > FULL_UPDATES {
            true => 0.5,
            false => 1.0,
        };
        let correct = |record: &mut ContactRecord, slope_of_pair: f64| {
            record.update_limit(impulses, slope_of_pair, fraction)
        };
        for unconverged in &self.unconverged {
            let contacts = &self.order[unconverged.clone()];
            let slope = slope_of_pair(contacts, records, impulses);
            for &i in contacts {
                correct(&mut records[i], slope);
            }
            if records[contacts[0]].is_rigid() && self.error.updates <= FULL_UPDATES {
                share_load(contacts, records, impulses);
            }
        }
        for &i in &self.single {
            correct(&mut records[i], 0.0);
        }
        let unconverged = self
            .unconverged
            .iter()
            .flat_map(|unconverged| &self.order[unconverged.clone()]);
        for &i in unconverged.chain(&self.single) {
            records[i].update_laws(model, set);
        }
    }
}

/// Whether the model of contact iterates its friction bounds.
fn are_iterated(world: &World) -> bool {
    world.parts.contact.model.friction_bound() == FrictionBound::Iterated
}

/// Scales the bounds of a rigid pair to the sum of its loads, which hardly depends on their distribution over the contacts.
fn share_load(contacts: &[usize], records: &mut [ContactRecord], impulses: &[f64]) {
    let (mut limits, mut loads) = (0.0, 0.0);
    for &i in contacts {
        limits += records[i].inputs.normal_impulse;
        loads += Friction::of(&records[i], impulses).load;
    }
    if limits > 0.0 && loads > 0.0 {
        for &i in contacts {
            records[i].inputs.normal_impulse *= loads / limits;
        }
    }
}

/// Whether a geometry's body has a fixed velocity layout and is no filament.
fn has_fixed_velocities(world: &World, g: GeometryIdx) -> bool {
    let mount = &world.parts.geometries[g.0].mount;
    let is_fixed =
        |body: BodyIdx| world.parts.bodies[body.0].model.velocity_layout() == VelocityLayout::Fixed;
    !is_filament(world, g) && mount.body().is_none_or(is_fixed)
}

fn is_filament(world: &World, g: GeometryIdx) -> bool {
    matches!(world.parts.geometries[g.0].mount, Mount::Segments { .. })
}

/// Change of a pair's load over the change of the sum of its bounds since the previous solution; 0 without one.
fn slope_of_pair(contacts: &[usize], records: &[ContactRecord], impulses: &[f64]) -> f64 {
    let (mut limits, mut loads) = (0.0, 0.0);
    for &i in contacts {
        let record = &records[i];
        if let Some(previous) = record.previous {
            limits += record.inputs.normal_impulse - previous.limit;
            loads += Friction::of(record, impulses).load - previous.load;
        }
    }
    let slope: f64 = loads / limits;
    if slope.is_finite() {
        slope.clamp(0.0, SLOPE_MAX)
    } else {
        0.0
    }
}
