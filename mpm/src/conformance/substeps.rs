//! Does a backend take the substeps that the reference takes?

use std::fmt;

use nalgebra::{Vector3, Vector6};
use pliant_contact_sap::BodyState;

use super::Violation;
use super::reference::Reference;
use super::scenes::{SPACING, Scene};
use crate::model::{MaterialPoints, Records};
use crate::particle::Particle;
use crate::substeps::{
    LaggedLaws, LinkIdx, RigidLinks, SubstepBackend, SubstepContact, SubstepInput, SubstepReport,
    SubstepSolver,
};

/// Numbers of substeps that are compared.
const COUNTS: [u32; 2] = [1, 10];

/// Makes the backend of a model.
pub type MakeBackend<'a> = &'a dyn Fn(&MaterialPoints) -> Box<dyn SubstepBackend>;

/// The largest deviations from the reference that are allowed, after one substep and after ten.
///
/// ```
/// use pliant_mpm::CpuSubsteps;
/// use pliant_mpm::conformance::{SubstepBounds, SubstepDeviations, check_substeps};
///
/// // Substeps in f32 that are asked for the deformations of f64.
/// let strict = SubstepDeviations { deformation: 1e-9, ..SubstepBounds::single().deviations };
/// let bounds = SubstepBounds { deviations: strict, ..SubstepBounds::single() };
/// let broken = check_substeps(&|model| Box::new(CpuSubsteps::<f32>::new(model)), &bounds).unwrap_err();
/// assert!(broken.to_string().contains("deformations deviate by"), "{broken}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubstepBounds {
    /// ε_r of the contact problems.
    pub tolerance: f64,
    /// The deviations.
    pub deviations: SubstepDeviations,
}

/// Deviations of a backend from the reference.
///
/// ```
/// use pliant_mpm::conformance::{SubstepBounds, SubstepDeviations};
///
/// // What check_substeps finds prints in a line; in f32 some deviations may be a hundred thousand times those in f64.
/// let found = SubstepDeviations { position: 2e-12, ..SubstepDeviations::default() };
/// assert!(found.to_string().starts_with("position 2.0e-12, velocity 0.0e0"));
/// let (single, double) = (SubstepBounds::single().deviations, SubstepBounds::double().deviations);
/// assert!((single.position / double.position - 1e5).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubstepDeviations {
    /// Of positions of particles and links, relative to the grid spacing.
    pub position: f64,
    /// Of velocities of particles and links, relative to the largest of particles; of affine velocities, times the grid spacing.
    pub velocity: f64,
    /// Of deformation gradients and internal variables.
    pub deformation: f64,
    /// Of the impulses of all pairs and on all links, relative to the largest momentum or impulse.
    pub impulse: f64,
    /// Of the momentum of the particles from that of gravity and of the reported impulses, relative to the same.
    pub momentum: f64,
}

impl SubstepBounds {
    /// For particles and grid in f64.
    #[must_use]
    pub fn double() -> Self {
        Self {
            tolerance: 1e-10,
            deviations: SubstepDeviations {
                position: 1e-9,
                velocity: 1e-7,
                deformation: 1e-8,
                impulse: 1e-7,
                momentum: 1e-12,
            },
        }
    }

    /// For particles and grid in f32: some hundred times its round-off of 6e-8, which contact and stress amplify.
    #[must_use]
    pub fn single() -> Self {
        Self {
            tolerance: 1e-6,
            deviations: SubstepDeviations {
                position: 1e-4,
                velocity: 1e-3,
                deformation: 1e-4,
                impulse: 1e-3,
                momentum: 1e-5,
            },
        }
    }
}

impl SubstepDeviations {
    fn largest(self, other: Self) -> Self {
        Self {
            position: self.position.max(other.position),
            velocity: self.velocity.max(other.velocity),
            deformation: self.deformation.max(other.deformation),
            impulse: self.impulse.max(other.impulse),
            momentum: self.momentum.max(other.momentum),
        }
    }

    fn check(&self, bounds: &Self) -> Result<(), Violation> {
        for (what, found, bound) in [
            ("positions", self.position, bounds.position),
            ("velocities", self.velocity, bounds.velocity),
            ("deformations", self.deformation, bounds.deformation),
            ("impulses", self.impulse, bounds.impulse),
            ("momentum", self.momentum, bounds.momentum),
        ] {
            // NaN is no pass.
            if !(found <= bound) {
                return Err(Violation(format!(
                    "{what} deviate by {found:.1e}, more than {bound:.1e}"
                )));
            }
        }
        Ok(())
    }
}

impl fmt::Display for SubstepDeviations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "position {:.1e}, velocity {:.1e}, deformation {:.1e}, impulse {:.1e}, momentum {:.1e}",
            self.position, self.velocity, self.deformation, self.impulse, self.momentum
        )
    }
}

/// Compares a backend with the reference in eight built-in scenes: free flight with spin; an elastic cube between a free and a driven plate,
/// whose responses are coupled; dough under a turning ball on a conveyor belt; sand on an inclined floor; a ball on liquid above a wall; a cube among
/// an ellipsoid, an elliptic cylinder, a cone, a convex hull and a mesh; a cube with held particles and loads; two cloths that fall on a ball and on
/// one another, one of them held at a corner.
///
/// - After one substep and after ten, particles and links are where the reference has them, within `bounds`.
/// - The impulses of pairs and links are those of the reference. The momentum of the particles changes by gravity and by the reported
///   impulses, and by nothing else.
/// - Every contact problem is solved.
/// - The same step again gives the same bits.
///
/// # Errors
/// The first promise found broken, with the name of the scene.
pub fn check_substeps(
    make: MakeBackend<'_>,
    bounds: &SubstepBounds,
) -> Result<SubstepDeviations, Violation> {
    let mut most = SubstepDeviations::default();
    for scene in Scene::all() {
        let mut backend = make(&scene.model);
        for n in COUNTS {
            let named = |v: Violation| Violation(format!("{}, N = {n}: {v}", scene.name));
            let found = check_scene(&mut *backend, &scene, n, bounds.tolerance).map_err(named)?;
            found.check(&bounds.deviations).map_err(named)?;
            most = most.largest(found);
        }
    }
    Ok(most)
}

struct Run {
    end: BodyState,
    links: RigidLinks,
    report: SubstepReport,
}

/// Whether a time step is announced by [`SubstepBackend::prepare`], and begun by [`SubstepBackend::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announcement {
    None,
    Made,
}

fn run(
    backend: &mut dyn SubstepBackend,
    scene: &Scene,
    (n, announcement): (u32, Announcement),
    tolerance: f64,
) -> Result<Run, Violation> {
    let failed = |e: pliant_contact_sap::BodyError| Violation(format!("it fails: {e}"));
    let input = SubstepInput {
        time_step_s: scene.length_s * f64::from(n),
        substeps: n,
        gravity: scene.gravity,
        control: &scene.control,
        obstacles: &scene.obstacles,
        contact: SubstepContact {
            stiction_speed: scene.stiction_speed,
            near_rigid: scene.near_rigid,
            solver: SubstepSolver::default(),
            tolerance,
            iterations_max: 10_000,
        },
        laws: &LaggedLaws,
    };
    let mut links = RigidLinks::new(scene.motions.clone(), scene.response.clone());
    let mut report = SubstepReport::default();
    let mut end = BodyState::default();
    backend.begin(&scene.start).map_err(failed)?;
    if announcement == Announcement::Made {
        backend.prepare(&input, &links, &[]).map_err(failed)?;
        let _ = backend.start();
    }
    backend
        .run(&input, &mut links, &mut Vec::new(), &mut report)
        .map_err(failed)?;
    let _ = backend.end(&mut end).map_err(failed)?;
    Ok(Run { end, links, report })
}

fn check_scene(
    backend: &mut dyn SubstepBackend,
    scene: &Scene,
    n: u32,
    tolerance: f64,
) -> Result<SubstepDeviations, Violation> {
    let broken = |what: &str| Err(Violation(what.into()));
    let mut reference = Reference::new(scene);
    for _ in 0..n {
        if !reference.substep() {
            return broken("the reference does not converge");
        }
    }
    if !scene.obstacles.is_empty() && reference.contacts_max == 0 {
        return broken("the reference has no contact");
    }
    let found = run(backend, scene, (n, Announcement::None), tolerance)?;
    if found.report.unsolved > 0 {
        return broken("a contact problem is reported as not solved");
    }
    let again = run(backend, scene, (n, Announcement::Made), tolerance)?;
    if again.end != found.end || again.report.pairs != found.report.pairs {
        return broken("the same step again has other bits");
    }
    let particles = Records::read(&scene.model.parts, &found.end)
        .map_err(|e| Violation(format!("the end is no state of the model: {e}")))?
        .particles;
    if particles.len() != reference.particles.len() {
        return broken("particles are missing");
    }
    let mut deviations = of_particles(&particles, &reference);
    compare_links(&found.links, &reference, &mut deviations);
    compare_impulses(scene, &found, &reference, n, &particles, &mut deviations);
    Ok(deviations)
}

fn of_particles(found: &[Particle<f64>], reference: &Reference<'_>) -> SubstepDeviations {
    let speed = speed_max(&reference.particles);
    let mut deviations = SubstepDeviations::default();
    for (p, r) in found.iter().zip(&reference.particles) {
        let internal = (0..2).map(|k| (p.strain.internal[k] - r.strain.internal[k]).abs());
        deviations = deviations.largest(SubstepDeviations {
            position: (p.x - r.x).norm() / SPACING,
            velocity: (p.v - r.v).norm().max((p.c - r.c).norm() * SPACING) / speed,
            deformation: internal.fold((p.strain.f - r.strain.f).norm(), f64::max),
            ..SubstepDeviations::default()
        });
    }
    deviations
}

fn speed_max(particles: &[Particle<f64>]) -> f64 {
    particles.iter().map(|p| p.v.norm()).fold(0.0, f64::max)
}

fn compare_links(
    links: &RigidLinks,
    reference: &Reference<'_>,
    deviations: &mut SubstepDeviations,
) {
    let speed = speed_max(&reference.particles);
    for (l, pose) in reference.poses.iter().enumerate() {
        let found = links.pose(LinkIdx(l));
        let moved = (found.translation.vector - pose.translation.vector).norm();
        let turned = found.rotation.angle_to(&pose.rotation) * SPACING;
        let v = reference.velocities.fixed_rows::<6>(6 * l);
        let mut change = links.velocity(LinkIdx(l)) - v;
        // Of a point at the distance of the grid spacing.
        (0..3).for_each(|k| change[k] *= SPACING);
        deviations.position = deviations.position.max(moved.max(turned) / SPACING);
        deviations.velocity = deviations.velocity.max(change.norm() / speed);
    }
}

fn compare_impulses(
    scene: &Scene,
    found: &Run,
    reference: &Reference<'_>,
    n: u32,
    particles: &[Particle<f64>],
    deviations: &mut SubstepDeviations,
) {
    let mass: f64 = particles.iter().map(|p| p.mass).sum();
    let largest = reference.pairs.values().map(Vector3::norm);
    let size = largest.fold(mass * speed_max(&reference.particles), f64::max);
    let mut total = Vector3::zeros();
    let reported = |object: usize, obstacle: usize| {
        let of_pair = found.report.pairs.iter();
        of_pair
            .filter(|p| (p.object as usize, p.obstacle as usize) == (object, obstacle))
            .map(|p| p.impulse_W)
            .sum::<Vector3<f64>>()
    };
    for pair in &found.report.pairs {
        total += pair.impulse_W;
    }
    for ((object, obstacle), impulse) in &reference.pairs {
        let apart = (reported(*object, *obstacle) - impulse).norm();
        deviations.impulse = deviations.impulse.max(apart / size);
    }
    for (l, impulse) in found.links.impulses().iter().enumerate() {
        let expected = reference.on_links.fixed_rows::<6>(6 * l);
        let mut apart: Vector6<f64> = impulse.total - expected;
        (0..3).for_each(|k| apart[k] /= SPACING);
        deviations.impulse = deviations.impulse.max(apart.norm() / size);
    }
    if scene.is_free {
        let momentum = |state: &BodyState| -> Vector3<f64> {
            let each = state.v.chunks_exact(3).zip(particles);
            each.map(|(v, p)| Vector3::from_column_slice(v) * p.mass)
                .sum()
        };
        let gained = momentum(&found.end) - momentum(&scene.start);
        let loads: Vector3<f64> = scene.loads.iter().map(|(_, force)| force).sum();
        let by_forces = (scene.gravity * mass + loads) * (scene.length_s * f64::from(n));
        deviations.momentum = (gained - by_forces - total).norm() / size;
    }
}
