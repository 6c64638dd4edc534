//! Backends of substeps against the plain reference, and backends with a fault, which are found out.

use pliant_contact_sap::{BodyError, BodyReport, BodyState};
use pliant_mpm::conformance::{SubstepBounds, check_substeps};
use pliant_mpm::{
    CpuSubsteps, MaterialPoints, Obstacle, ParticleImpulse, RigidLinks, SubstepBackend,
    SubstepInput, SubstepLimit, SubstepReport,
};

#[test]
fn the_processor_takes_the_substeps_of_the_reference() {
    let double = check_substeps(
        &|model| Box::new(CpuSubsteps::<f64>::new(model)),
        &SubstepBounds::double(),
    )
    .unwrap();
    let single = check_substeps(
        &|model| Box::new(CpuSubsteps::<f32>::new(model)),
        &SubstepBounds::single(),
    )
    .unwrap();
    eprintln!("f64: {double}\nf32: {single}");
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Gravity is a thousandth too large.
    Gravity,
    /// Contact has no friction.
    NoFriction,
    /// Links keep their velocities.
    LinksStay,
    /// The report has nine tenths of the impulses.
    FewImpulses,
    /// A particle is displaced by 1e-8 m.
    Displaced,
}

struct Faulty {
    inner: CpuSubsteps<f64>,
    fault: Fault,
}

impl SubstepBackend for Faulty {
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        self.inner.begin(state)
    }

    fn limit(&self) -> Option<SubstepLimit> {
        self.inner.limit()
    }

    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError> {
        let mut input = *input;
        let mut smooth: Vec<Obstacle> = input.obstacles.to_vec();
        let pairs = smooth.iter_mut().flat_map(|o| o.pairs.iter_mut());
        pairs.flatten().for_each(|pair| pair.friction = 0.0);
        match self.fault {
            Fault::Gravity => input.gravity *= 1.001,
            Fault::NoFriction => input.obstacles = &smooth,
            Fault::LinksStay => {
                let mut others = links.clone();
                return self.inner.run(&input, &mut others, memory, report);
            }
            _ => {}
        }
        self.inner.run(&input, links, memory, report)?;
        if matches!(self.fault, Fault::FewImpulses) {
            let pairs = report.pairs.iter_mut();
            pairs.for_each(|pair| pair.impulse_W *= 0.9);
        }
        Ok(())
    }

    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let report = self.inner.end(next)?;
        if matches!(self.fault, Fault::Displaced) {
            next.q[0] += 1e-8;
        }
        Ok(report)
    }
}

#[test]
fn faults_are_found_out() {
    for (fault, says) in [
        (Fault::Gravity, "deviate"),
        (Fault::NoFriction, "deviate"),
        (Fault::LinksStay, "deviate"),
        (Fault::FewImpulses, "impulses deviate"),
        (Fault::Displaced, "positions deviate"),
    ] {
        let make = move |model: &MaterialPoints| -> Box<dyn SubstepBackend> {
            let inner = CpuSubsteps::new(model);
            Box::new(Faulty { inner, fault })
        };
        let violation = check_substeps(&make, &SubstepBounds::double()).unwrap_err();
        assert!(
            violation.to_string().contains(says),
            "{fault:?}: {violation}"
        );
    }
}
