//! Contact forces from substep to substep and from step to step: warm starts of the contact solver.

use nalgebra::Vector3;

use super::contact_problem::{Contact, ContactProblem};

/// The contact impulse of a particle in the last substep: a warm start.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// // A cube of foam hits the floor, in one substep: the impulses of its particles are that of the cube.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
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
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 1, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// let (mut report, mut memory) = (SubstepReport::default(), Vec::new());
/// backend.run(&input, &mut links, &mut memory, &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// assert_eq!(memory.len(), 16); // the lowest of four layers
/// let sum: Vector3<f64> = memory.iter().map(|particle| particle.force_W * input.time_step_s).sum();
/// assert!((sum - report.pairs[0].impulse_W).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleImpulse {
    /// Identity of the particle.
    pub particle: u32,
    /// The obstacle.
    pub obstacle: u32,
    /// Impulse on the particle over the length of the substep, N, world axes.
    pub force_W: Vector3<f64>,
}

/// Contact forces of the last substep, N, ascending by particle of the state and obstacle.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmStart {
    forces: Vec<((u32, u32), Vector3<f64>)>,
}

impl WarmStart {
    /// Reads forces by identity of particles; `ids` are those of the particles of the state, ascending.
    pub(super) fn read(&mut self, memory: &[ParticleImpulse], ids: &[u32]) {
        self.forces.clear();
        let each = memory.iter().filter_map(|m| {
            let place = ids.binary_search(&m.particle).ok()?;
            Some(((place as u32, m.obstacle), m.force_W))
        });
        self.forces.extend(each);
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Writes forces by identity of particles.
    pub(super) fn write(&self, memory: &mut Vec<ParticleImpulse>, ids: &[u32]) {
        memory.clear();
        let each = self.forces.iter();
        memory.extend(each.map(|((place, obstacle), force)| ParticleImpulse {
            particle: ids[*place as usize],
            obstacle: *obstacle,
            force_W: *force,
        }));
    }

    /// The force on a contact in the last substep, N.
    pub(super) fn force(&self, contact: &Contact) -> Vector3<f64> {
        let key = (contact.particle, contact.obstacle);
        let found = self.forces.binary_search_by_key(&key, |(key, _)| *key);
        found.map_or(Vector3::zeros(), |i| self.forces[i].1)
    }

    /// Takes the forces of a solved problem of a substep of `length_s`.
    pub(super) fn take(&mut self, problem: &ContactProblem, length_s: f64) {
        self.forces.clear();
        let contacts = problem.contacts.iter().zip(&problem.states);
        let loaded = contacts.filter(|(_, state)| state.impulse != Vector3::zeros());
        self.forces.extend(loaded.map(|(contact, state)| {
            let key = (contact.particle, contact.obstacle);
            (key, state.impulse / length_s)
        }));
        self.forces.sort_unstable_by_key(|(key, _)| *key);
    }
}
