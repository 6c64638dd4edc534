//! Rods beside the continuum: what `pliant-der` knows the answers to.

use pliant_der::known_answers::{self, Comparisons};

use super::laboratory::Outcome;
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
    "clamped rods swing, spin and ring as beams and bars do, pulled ones as strings",
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
    "straight rods buckle when pressed, twisted, twisted under tension, and under an axial torque",
    |_| {
        findings(
            "rod-buckling",
            [
                known_answers::euler_loads(),
                known_answers::twisted_columns(),
                known_answers::twist_under_tension(),
                known_answers::greenhill(),
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
    "link stays twist plus writhe, and ten turns of a clamp are ten turns",
    |_| {
        findings(
            "rod-turns",
            [known_answers::link_of_a_ring(), known_answers::ten_turns()],
        )
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
