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
    /// A pair of geometries whose swept paths intersect and whose contacts the problem lacks.
    pub missed_contact: Option<(GeometryIdx, GeometryIdx)>,
    /// The fixed-point iteration of lagged terms, such as the rotations of corotated laws.
    pub lagged: LaggedReport,
    /// The relinearisation of nonlinear momentum balances.
    pub implicit: ImplicitReport,
    /// Substeps of an [`Asynchronous`](crate::Asynchronous) stepper whose contact problem missed its tolerance.
    pub unsolved_substeps: u32,
}

impl Convergence {
    /// Why the step is untrusted, the most severe reason first; `None` if everything converged: the solver to its tolerance or the
    /// limit of f64, no missed contact, the implicit equations where they were to be solved, the lagged terms, and the friction
    /// bounds to [`FRICTION_TOLERANCE`].
    #[must_use]
    pub fn untrusted(&self) -> Option<Untrusted> {
        if !self.solve.is_trusted() {
            Some(Untrusted::Unsolved)
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
    /// So many substeps missed the tolerance of their contact problem: [`Convergence::unsolved_substeps`].
    Substeps(u32),
    /// A pair may have passed through each other: [`Convergence::missed_contact`].
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
            Self::Substeps(count) => format!(
                "{count} substeps missed the tolerance of their contact problem; allow more iterations, or shorten the time step"
            ),
            Self::MissedContact(pair) => format!(
                "{} may have passed through each other: each search for missed contacts found new ones; shorten the time step",
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
