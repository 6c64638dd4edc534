//! Rods against continuum theory: the known answers of `pliant-der`.

use pliant_der::known_answers::{self, Comparisons};

use super::test_world::Outcome;
use super::{Case, CaseKind, Computation, Finding};

pub(super) const DEFLECTIONS: Case = case(
    "rod-deflections",
    "cantilevers under a tip force and under their own weight follow the elastica",
    |_| {
        findings(
            "rod-deflections",
            [
                known_answers::tip_force(),
                known_answers::tip_force_convergence(),
                known_answers::own_weight(),
                known_answers::own_weight_convergence(),
            ],
        )
    },
);

pub(super) const SHAPES: Case = case(
    "rod-shapes",
    "natural helices, hanging ropes and helical springs",
    |_| {
        findings(
            "rod-shapes",
            [
                known_answers::natural_helix(),
                known_answers::catenary(),
                known_answers::helical_spring(),
            ],
        )
    },
);

pub(super) const FREQUENCIES: Case = case(
    "rod-frequencies",
    "natural frequencies of clamped rods agree with beams and bars, those of tensioned rods with strings",
    |_| {
        findings(
            "rod-frequencies",
            [
                known_answers::bending_frequencies(),
                known_answers::torsion_frequency(),
                known_answers::axial_frequency(),
                known_answers::frequencies_under_tension(),
            ],
        )
    },
);

pub(super) const COLUMNS: Case = case(
    "rod-buckling",
    "straight rods buckle under compression, twist, twisted under tension, and under an axial torque",
    |_| {
        findings(
            "rod-buckling",
            [
                known_answers::euler_loads(),
                known_answers::twisted_columns(),
                known_answers::twist_under_tension(),
                known_answers::greenhill(),
                known_answers::compressed_column(),
            ],
        )
    },
);

pub(super) const SIDEWAYS: Case = case(
    "rod-sideways",
    "twisted rings, upright strips and natural circles leave their plane",
    |_| {
        findings(
            "rod-sideways",
            [
                known_answers::twisted_ring(),
                known_answers::strip_under_tip_force(),
                known_answers::strip_under_weight(),
                known_answers::natural_circle(),
            ],
        )
    },
);

pub(super) const TURNS: Case = case(
    "rod-turns",
    "the linking number is twist plus writhe, ten turns of a clamp are counted, and momenta are conserved",
    |_| {
        findings(
            "rod-turns",
            [
                known_answers::link_of_a_closed_rod(),
                known_answers::ten_turns(),
                known_answers::momenta(),
            ],
        )
    },
);

pub(super) const DERIVATIVES: Case = case(
    "rod-derivatives",
    "gradient and Hessian agree with dual numbers and with a rod computed by hand",
    |_| {
        findings(
            "rod-derivatives",
            [known_answers::derivatives(), known_answers::l_shaped_rod()],
        )
    },
);

pub(super) const ITERATIONS: Case = case(
    "rod-iterations",
    "free motion takes no more Newton iterations per step than published for the full Hessian",
    |_| {
        let motions = known_answers::newton_iterations()?;
        let finding = |motion: &known_answers::Iterations| {
            Finding::at_most(
                format!(
                    "rod-iterations: Newton iterations per step to 1e-8, {}",
                    motion.what
                ),
                motion.found,
                motion.reference,
                "the study of Hessians, full Hessian, 40 edges",
            )
        };
        Ok(motions.iter().map(finding).collect())
    },
);

const fn case(name: &'static str, about: &'static str, compute: Computation) -> Case {
    Case {
        name,
        about,
        kind: CaseKind::Function(compute),
        needs: None,
    }
}

fn findings<const N: usize>(case: &str, topics: [Comparisons; N]) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for topic in topics {
        for comparison in topic? {
            findings.push(Finding::equals(
                format!("{case}: {}", comparison.what),
                comparison.found,
                comparison.expected,
                comparison.tolerance,
                comparison.source,
            ));
        }
    }
    Ok(findings)
}
