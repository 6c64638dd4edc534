//! What the report of a step tells about its substeps.

use pliant_mpm::{PairImpulse, SubstepReport};

use super::split::ParticleSplit;
use crate::report::{ContactForce, StepReport};

/// The substeps of a step.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Asynchronous, AsynchronousSettings, State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_coupling::Stepper;
///
/// // A cube of dough falls for 10 ms, in as few substeps as its elastic waves allow.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut stepper = Asynchronous::new(implicit, AsynchronousSettings::default())?;
/// let report = stepper.step(&world, &world.default_state(), 0.01, &mut next)?.asynchronous.expect("of this stepper");
/// let limit = report.limit.expect("there are particles");
/// assert_eq!((limit.object.as_str(), report.passes), ("dough", 1));
/// assert_eq!(f64::from(report.substeps.substeps), (0.01 / limit.length_s).ceil());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AsynchronousReport {
    /// Counts and times.
    pub substeps: SubstepReport,
    /// The limit of a substep from the state at the start, and what sets it; `None` without particles.
    pub limit: Option<pliant_mpm::SubstepLimit>,
    /// How often the substeps were taken: once, or twice where the rigid problem is not as its linearisation. Counts and times are those of the
    /// last pass.
    pub passes: u32,
    /// By how much the velocities of the rigid bodies at the end of the step differ from those that the substeps lead to with linear forces among
    /// rigid bodies, in kinetic energy's norm, relative to the particles' effect on them. Of the last pass: below 0.1 after one.
    pub linearisation_error: f64,
}

impl ParticleSplit {
    /// Adds the contacts of the particles to `report`.
    pub(super) fn describe(
        &self,
        substeps: &SubstepReport,
        (passes, linearisation_error): (u32, f64),
        time_step_s: f64,
        report: &mut StepReport,
    ) {
        let Some(particles) = &self.particles else {
            return;
        };
        let contact = |pair: &PairImpulse| {
            let soft = particles.objects[pair.object as usize]?;
            let rigid = particles.geometries[pair.obstacle as usize];
            let (a, b, sign) = if soft < rigid {
                (soft, rigid, 1.0)
            } else {
                (rigid, soft, -1.0)
            };
            Some(ContactForce {
                a,
                b,
                p_WCa: pair.p_WC.into(),
                p_WCb: pair.p_WC.into(),
                normal_W: pair.normal_W * sign,
                force_W: pair.impulse_W * (sign / time_step_s),
                torque_W: nalgebra::Vector3::zeros(),
                signed_distance: pair.signed_distance,
                patch: None,
            })
        };
        report
            .contacts
            .extend(substeps.pairs.iter().filter_map(contact));
        report.contacts.sort_by_key(|c| (c.a, c.b));
        report.asynchronous = Some(AsynchronousReport {
            substeps: substeps.clone(),
            limit: particles.limit.clone(),
            passes,
            linearisation_error,
        });
        report.convergence.unsolved_substeps = substeps.unsolved;
        for pair in &substeps.pairs {
            let share = pair.friction_excess / pair.friction.max(f64::MIN_POSITIVE);
            if let Some(contact) = contact(pair)
                && share > report.convergence.friction.share
            {
                report.convergence.friction.share = share;
                report.convergence.friction.pair = Some((contact.a, contact.b));
            }
        }
    }
}
