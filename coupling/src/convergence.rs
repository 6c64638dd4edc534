//! Whether a step has converged, and if not, why it is untrusted.

use pliant_contact_sap::SolveReport;

use crate::friction_bounds::{FRICTION_TOLERANCE, FrictionError};
use crate::world::{BodyIdx, GeometryIdx, World};

/// How far the iterations of a step converged.
///
/// ```
/// use pliant_coupling::{BodyIdx, Convergence, LaggedReport, Untrusted};
///
/// let mut convergence = Convergence::default();
/// assert_eq!(convergence.untrusted(), None);
/// convergence.lagged = LaggedReport { unconverged: Some(BodyIdx(0)), ..LaggedReport::default() };
/// assert_eq!(convergence.untrusted(), Some(Untrusted::LaggedTerms(BodyIdx(0))));
/// convergence.unsolved_substeps = 3; // more severe
/// assert_eq!(convergence.untrusted(), Some(Untrusted::Substeps(3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// The convex solves, summed over all solves of the step.
    pub solve: SolveReport,
    /// The friction bound iteration.
    pub friction: FrictionError,
    /// A pair of geometries that come into contact, or pass deep into each other, along the solution, and whose contacts the problem
    /// lacks.
    pub missed_contact: Option<(GeometryIdx, GeometryIdx)>,
    /// The fixed-point iteration of lagged terms, such as the rotations of corotated laws.
    pub lagged: LaggedReport,
    /// The relinearisation of nonlinear momentum balances.
    pub implicit: ImplicitReport,
    /// A body of the first island whose contacts gave more energy than they had, in a step of a [`PenaltyForce`](crate::PenaltyForce) stepper.
    pub energy_gain: Option<BodyIdx>,
    /// Substeps of an [`Asynchronous`](crate::Asynchronous) stepper whose contact problem missed its tolerance.
    pub unsolved_substeps: u32,
}

impl Convergence {
    /// Why the step is untrusted, the most severe reason first; `None` if everything converged: the solver to its tolerance or the
    /// limit of f64, no energy from nowhere, no missed contact, the implicit equations where they were to be solved, the lagged terms, and the friction
    /// bounds to [`FRICTION_TOLERANCE`].
    #[must_use]
    pub fn untrusted(&self) -> Option<Untrusted> {
        if !self.solve.is_trusted() {
            Some(Untrusted::Unsolved)
        } else if let Some(body) = self.energy_gain {
            Some(Untrusted::EnergyGain(body))
        } else if self.unsolved_substeps > 0 {
            Some(Untrusted::Substeps(self.unsolved_substeps))
        } else if let Some(pair) = self.missed_contact {
            Some(Untrusted::MissedContact(pair))
        } else if self.implicit.missed {
            Some(Untrusted::ImplicitEquations)
        } else if let Some(body) = self.lagged.unconverged {
            Some(Untrusted::LaggedTerms(body))
        } else {
            let pair = self.friction.pair;
            pair.filter(|_| self.friction.share > FRICTION_TOLERANCE)
                .map(Untrusted::Friction)
        }
    }
}

/// Why a step is untrusted.
///
/// ```
/// # use pliant_coupling::WorldBuilder;
/// use pliant_coupling::Untrusted;
///
/// # let world = WorldBuilder::default().build()?;
/// // The text names the remedy.
/// let text = Untrusted::Substeps(3).describe(&world);
/// assert!(text.starts_with("3 substeps missed the tolerance") && text.contains("shorten the time step"));
/// # Ok::<(), pliant_coupling::WorldError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// The solver missed its tolerance: [`Convergence::solve`].
    Unsolved,
    /// Contacts of a body, or of those coupled to it, gave more energy than they had: [`Convergence::energy_gain`].
    EnergyGain(BodyIdx),
    /// So many substeps missed the tolerance of their contact problem: [`Convergence::unsolved_substeps`].
    Substeps(u32),
    /// A pair may have passed into each other: [`Convergence::missed_contact`].
    MissedContact((GeometryIdx, GeometryIdx)),
    /// The implicit equations of deformable bodies were not met: [`Convergence::implicit`].
    ImplicitEquations,
    /// The lagged terms of a body have not converged: [`Convergence::lagged`].
    LaggedTerms(BodyIdx),
    /// The friction bounds of a pair have not converged: [`Convergence::friction`].
    Friction((GeometryIdx, GeometryIdx)),
}

impl Untrusted {
    /// The reason and its remedy, with the names of body or pair.
    #[must_use]
    pub fn describe(&self, world: &World) -> String {
        let names = |(a, b): (GeometryIdx, GeometryIdx)| {
            let name = |g: GeometryIdx| &world.geometries()[g.0].name;
            format!("\"{}\" and \"{}\"", name(a), name(b))
        };
        match *self {
            Self::Unsolved => "the solver missed its tolerance; allow more iterations".into(),
            Self::EnergyGain(body) => format!(
                "contacts of body \"{}\", or of those it touches, gave more energy than they had; shorten the time step, or lower their stiffness",
                world.body_name(body)
            ),
            Self::Substeps(count) => format!(
                "{count} substeps missed the tolerance of their contact problem; allow more iterations, or shorten the time step"
            ),
            Self::MissedContact(pair) => format!(
                "{} may have passed into each other: each search for missed contacts found new ones; shorten the time step",
                names(pair)
            ),
            Self::ImplicitEquations => {
                "the implicit equations of deformable bodies have not converged; shorten the time step".into()
            }
            Self::LaggedTerms(body) => format!(
                "the lagged rotations of body \"{}\" have not converged; shorten the time step",
                world.body_name(body)
            ),
            Self::Friction(pair) => format!(
                "friction bounds of {} have not converged to within {} %; shorten the time step",
                names(pair),
                100.0 * FRICTION_TOLERANCE
            ),
        }
    }
}

/// The fixed-point iteration of lagged terms in bodies under contact or constraint forces: see
/// [`LaggedTerms`](pliant_contact_sap::LaggedTerms).
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_constitutive::Lame;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, StrongImplicitSettings, WorldBuilder};
/// # use pliant_fem::{FemBuilder, LinearCorotated};
/// # use pliant_hydroelastic::{ContactMaterial, Shape, mesh::generate::tet_cuboid};
/// use pliant_coupling::Untrusted;
///
/// // A soft cube that spins at 40 rad/s runs into the floor; the rotations of its elements must not be updated.
/// # let soft = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3)?);
/// # let (cube, _) = FemBuilder::new(tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?, Arc::new(soft), 1000.0).build()?;
/// # let start = cube.rigid_state(&Isometry3::translation(0.0, 0.0, 0.05), &(Vector3::y() * 40.0), &(Vector3::z() * -2.0));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("cube", Box::new(cube));
/// # builder.add_geometry(Geometry::of_surface("cube", body, ContactMaterial::default()));
/// # let floor = Mount::World(Isometry3::identity());
/// # builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), ContactMaterial::default()));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut state = world.default_state();
/// # state.bodies[body.0] = start;
/// # let stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let settings = StrongImplicitSettings { lagged_iterations_max: 0, ..StrongImplicitSettings::default() };
/// let report = stepper.with_settings(settings)?.step(&world, &state, 0.01, &mut next)?;
/// let lagged = report.convergence.lagged;
/// assert_eq!((lagged.iterations, lagged.unconverged), (0, Some(body)));
/// assert!(lagged.residual > 1.0);
/// assert_eq!(report.untrusted(), Some(Untrusted::LaggedTerms(body)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaggedReport {
    /// Updates of lagged terms, each followed by another solve.
    pub iterations: usize,
    /// The body with the largest residual above its tolerance at the end; `None` if all converged.
    pub unconverged: Option<BodyIdx>,
    /// That residual, as a multiple of the body's tolerance; 0 if all converged.
    pub residual: f64,
}

/// The relinearisation of a step; all zero with [`Linearisation::Once`](crate::Linearisation::Once) and where every momentum
/// balance is linear.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Linearisation, State, Stepper, StrongImplicit, StrongImplicitSettings, WorldBuilder};
/// # use pliant_fem::{FemBuilder, LawKind};
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
/// // A cube of a nonlinear law, stretched by a third, is let go.
/// # let law = LawKind::StableNeoHookean.of(Lame::from_young_poisson(3e4, 0.3)?)?;
/// # let (cube, _) = FemBuilder::new(tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?, law, 1000.0).build()?;
/// # let mut builder = WorldBuilder::default();
/// # builder.add_body("cube", Box::new(cube));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut state = world.default_state();
/// # state.bodies[0].q.iter_mut().step_by(3).for_each(|x| *x *= 1.33);
/// # let stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let settings = StrongImplicitSettings {
///     linearisation: Linearisation::UntilConverged { relative_tolerance: 1e-6, solves_max: 50 },
///     ..StrongImplicitSettings::default()
/// };
/// let report = stepper.with_settings(settings)?.step(&world, &state, 0.01, &mut next)?;
/// let implicit = report.convergence.implicit;
/// assert!(implicit.relinearisations > 0 && implicit.residual <= 1e-6 && !implicit.missed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImplicitReport {
    /// Linearisations after the first.
    pub relinearisations: usize,
    /// Line searches that shortened the step.
    pub shortened: usize,
    /// Residual of the momentum balance, relative to its terms.
    pub residual: f64,
    /// Whether the residual exceeds the tolerance.
    pub missed: bool,
}
