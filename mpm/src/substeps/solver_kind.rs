//! Solvers of the contact problem of a substep, by name.

use super::friction_bounds::CoulombIteration;
use super::gauss_seidel::GaussSeidel;
use super::majoriser::Majoriser;
use super::newton_cg::NewtonCg;
use super::quasi_newton::QuasiNewton;
use super::solver::SubstepContactSolver;

/// Which solver. All that converge reach the same minimiser.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, fill};
/// use pliant_mpm::SubstepSolver;
///
/// // A cube of foam hits the floor: solved accurately, the impulse of the floor is that of any solver.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.5, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let obstacles = [floor];
/// let mut impulses = Vec::new();
/// for solver in [SubstepSolver::GaussSeidel, SubstepSolver::Majoriser, SubstepSolver::NewtonCg] {
///     let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-8, iterations_max: 10_000 };
/// #     let (gravity, obstacles, laws) = (Vector3::zeros(), &obstacles, &LaggedLaws);
/// #     let input = SubstepInput { time_step_s: 2e-3, substeps: 4, gravity, control: &control, obstacles, contact, laws };
/// #     let mut backend = CpuSubsteps::<f64>::new(&model);
/// #     backend.begin(&model.default_state())?;
///     let mut report = SubstepReport::default();
///     backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
///     assert_eq!(report.unsolved, 0);
///     impulses.push(report.pairs[0].impulse_W);
/// #     let _ = backend.end(&mut next)?;
/// }
/// assert!(impulses.iter().all(|impulse| (impulse - impulses[0]).norm() < 1e-6 * impulses[0].norm()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubstepSolver {
    /// Contact by contact, from the impulses of the last substep; continued by [`NewtonCg`](Self::NewtonCg) where that takes too many sweeps,
    /// as it does where many particles touch a light body.
    #[default]
    GaussSeidel,
    /// Steps to the minimum of a quadratic upper bound, accelerated: all contacts at once, with two sums over them in an iteration.
    Majoriser,
    /// Newton's method with conjugate gradients.
    NewtonCg,
    /// Descent along the diagonal blocks, as published. It stalls on stiff contact, and then reports so.
    QuasiNewton,
}

impl SubstepSolver {
    /// All of them, with their names.
    pub const NAMES: [(&str, Self); 4] = [
        ("gauss-seidel", Self::GaussSeidel),
        ("majoriser", Self::Majoriser),
        ("newton-cg", Self::NewtonCg),
        ("quasi-newton", Self::QuasiNewton),
    ];

    /// A solver with an empty workspace.
    pub(super) fn build(self) -> Box<dyn SubstepContactSolver> {
        match self {
            Self::GaussSeidel => Box::new(GaussSeidel::default()),
            Self::Majoriser => Box::new(CoulombIteration::<Majoriser>::default()),
            Self::NewtonCg => Box::new(CoulombIteration::<NewtonCg>::default()),
            Self::QuasiNewton => Box::new(CoulombIteration::<QuasiNewton>::default()),
        }
    }
}

/// The solver in use, built when it is first asked for.
#[derive(Default)]
pub(super) struct ChosenSolver(Option<(SubstepSolver, Box<dyn SubstepContactSolver>)>);

impl ChosenSolver {
    pub(super) fn of(&mut self, chosen: SubstepSolver) -> &mut dyn SubstepContactSolver {
        if self.0.as_ref().is_none_or(|(kind, _)| *kind != chosen) {
            self.0 = Some((chosen, chosen.build()));
        }
        let (_, solver) = self.0.as_mut().expect("just built");
        solver.as_mut()
    }
}
