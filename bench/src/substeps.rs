//! Speed of explicit substeps with contact, by law, number of particles and threads.
//!
//! A cube with eight particles per cell stands on a plane; the lowest layer is in contact. All stages of a substep are timed: sorting, stress and
//! scatter, detection and solution of contacts, gather and return mapping.

use std::sync::Arc;
use std::time::Instant;

use nalgebra::{DMatrix, Isometry3, Point3, Vector3};
use pliant_contact_sap::{DeformableModel, Dissipation};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    CpuSubsteps, GradientForm, LaggedLaws, Material, MaterialPoints, MpmBuilder, MpmSettings,
    ObjectSpec, Obstacle, ObstaclePair, ParticleSet, Precision, RigidLinks, StageTimes,
    SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver,
};

use crate::transfers::cube;

/// Substeps of a run.
const SUBSTEPS: u32 = 10;

/// Length of a substep, s: a twentieth of the time in which a wave crosses a cell.
const LENGTH_S: f64 = 1e-3;

/// Time of a substep, ns a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubstepCost {
    /// All stages.
    pub total_ns: f64,
    /// Each stage.
    pub stages_ns: [(&'static str, f64); 5],
    /// Contacts of a substep.
    pub contacts: f64,
}

fn model(edge: usize, material: Arc<dyn Material>, gradient: GradientForm) -> MaterialPoints {
    let particles = cube::<f64>(edge);
    let set = ParticleSet {
        points: particles.iter().map(|p| Point3::from(p.x)).collect(),
        particle_volume: 0.125,
    };
    let mut settings = MpmSettings::new(1.0);
    settings.gradient = gradient;
    let mut builder = MpmBuilder::new(settings);
    builder.object(ObjectSpec::new("cube", material, 1.0, set));
    builder.build().expect("a legal model")
}

/// Substeps of `edge`³ particles on the current pool of threads, the best of several runs.
///
/// # Panics
/// If the cube does not fit on a grid, which takes more than 10^18 particles.
#[must_use]
pub fn substep_cost<T: Precision>(
    edge: usize,
    material: Arc<dyn Material>,
    gradient: GradientForm,
    rounds: usize,
) -> SubstepCost {
    let model = model(edge, material, gradient);
    let mut backend = CpuSubsteps::<T>::new(&model);
    let state = model.default_state();
    let control = model.default_control();
    let plane = Obstacle {
        shape: Shape::half_space(),
        link: None,
        X_LG: Isometry3::identity(),
        surface_velocity: Vector3::zeros(),
        pairs: vec![Some(ObstaclePair {
            stiffness: 100.0,
            dissipation: Dissipation::HuntCrossley(0.0),
            friction: 0.5,
        })],
    };
    let input = SubstepInput {
        time_step_s: LENGTH_S * f64::from(SUBSTEPS),
        substeps: SUBSTEPS,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
        obstacles: &[plane],
        contact: SubstepContact {
            stiction_speed: 1e-3,
            near_rigid: 1.0,
            solver: SubstepSolver::default(),
            tolerance: 1e-2,
            iterations_max: 200,
        },
        laws: &LaggedLaws,
    };
    let mut best = (f64::INFINITY, SubstepReport::default());
    for _ in 0..rounds {
        backend.begin(&state).expect("the model's own state");
        let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
        let mut report = SubstepReport::default();
        let start = Instant::now();
        backend
            .run(&input, &mut links, &mut Vec::new(), &mut report)
            .expect("legal substeps");
        let time = start.elapsed().as_secs_f64();
        if time < best.0 {
            best = (time, report);
        }
    }
    let (time, report) = best;
    let each = 1e9 / (edge.pow(3) as f64 * f64::from(SUBSTEPS));
    let StageTimes {
        sort_s,
        scatter_s,
        detect_s,
        solve_s,
        gather_s,
    } = report.times;
    SubstepCost {
        total_ns: each * time,
        stages_ns: [
            ("sort", sort_s),
            ("scatter", scatter_s),
            ("detect", detect_s),
            ("solve", solve_s),
            ("gather", gather_s),
        ]
        .map(|(name, s)| (name, each * s)),
        contacts: report.contacts as f64 / f64::from(SUBSTEPS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_constitutive::{Lame, NeoHookean};

    #[test]
    fn every_stage_takes_time_and_the_lowest_layer_is_in_contact() {
        let law = NeoHookean::new(Lame::from_young_poisson(1e3, 0.3).unwrap()).unwrap();
        let cost = substep_cost::<f32>(4, Arc::new(law), GradientForm::Mls, 1);
        assert!(cost.stages_ns.iter().all(|(_, ns)| *ns > 0.0));
        assert!(cost.total_ns.is_finite());
        assert_eq!(cost.contacts, 16.0);
    }
}
