//! A rod that lies across an incline.

use std::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_coupling::Geometry;
use pliant_der::{Centreline, Material, Rod, RodBuilder, RodError, Section};

use super::rolling::{Incline, Motion, TIME_STEP_S};
use super::stiction::STICTION_SPEED;
use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "rolling-rod",
    about: "a rod across an incline rolls with 2/3 g sin θ where μ ≥ 1/3 tan θ, and slides with the right spin elsewhere",
    kind: CaseKind::Function(run),
    needs: None,
};

const RADIUS: f64 = 0.01;
const LENGTH: f64 = 0.2;
const EDGES: usize = 8;
const DENSITY: f64 = 1000.0;
/// Stiffness of the pair at each node, N/m: the static depth is 1e-3 of the radius.
const STIFFNESS: f64 = 1e4;
/// Creep of a rolling rod in stiction speeds; its end nodes carry half of the load of others.
const CREEPS: f64 = 10.0;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    // 1/3 tan θ is 0.059, 0.192, 0.192, 0.333.
    let inclines = [(10.0, 0.5), (30.0, 0.2), (30.0, 0.18), (45.0, 0.25)];
    let mut findings = Vec::new();
    for incline in Incline::all(CASE.name, STIFFNESS, inclines) {
        findings.extend(roll(&incline)?);
    }
    Ok(findings)
}

fn roll(incline: &Incline) -> Outcome<Vec<Finding>> {
    let X_WG = incline.X_WG();
    let end = |y: f64| X_WG * Point3::new(0.0, y, RADIUS);
    let line = Centreline::straight(end(-0.5 * LENGTH), end(0.5 * LENGTH), EDGES);
    let section = Section::Circle { radius: RADIUS };
    let rod = RodBuilder::new(line)
        .section(section, Material::isotropic(1e7, 0.5, DENSITY)?)
        .build()?;
    let mut setup = incline.test_world();
    let body = setup.builder.add_body("rod", Box::new(rod.clone()));
    let segments = Geometry::of_segments("rod", body, incline.surface());
    setup.builder.add_geometry(segments);
    let mut run = setup.start(TIME_STEP_S)?;
    let downhill = incline.downhill();
    let rolling = Rolling::of(&rod)?;
    let growth = run.growth(|run| {
        let v = &run.body(body).v;
        [rolling.speed(v, &downhill), rolling.spin(v)]
    })?;
    let law = incline.law(RADIUS, 0.5 * RADIUS * RADIUS);
    let source = "momentum balance of a cylinder; solver stops at 1e-6 of the momentum";
    let mut findings = Vec::from(incline.findings(&law, &run, &growth, [0.0; 2], source));
    if let Motion::Rolling = law.motion {
        let [v, omega] = growth.after;
        findings.push(Finding::equals(
            incline.name(law.motion, "ω r/v"),
            omega * RADIUS / v,
            1.0,
            CREEPS * STICTION_SPEED / v,
            "it rolls without slip, except for creep of regularised friction, largest near its bound",
        ));
    }
    Ok(findings)
}

/// Degrees of freedom of a rod that describe rolling.
struct Rolling {
    /// Mass of each node, and the index of its velocity.
    nodes: Vec<(f64, Range<usize>)>,
    /// Spin of each edge.
    spins: Vec<usize>,
}

impl Rolling {
    fn of(rod: &Rod) -> Result<Self, RodError> {
        let nodes = (0..rod.n_nodes()).map(|i| Ok((rod.node_mass(i), rod.node_dofs(i)?)));
        let spins = (0..rod.n_edges()).map(|edge| rod.angle_dof(edge));
        Ok(Self {
            nodes: nodes.collect::<Result<_, RodError>>()?,
            spins: spins.collect::<Result<_, RodError>>()?,
        })
    }

    /// Speed of the centre of mass along a unit vector, m/s.
    fn speed(&self, v: &[f64], along: &Vector3<f64>) -> f64 {
        let (mut momentum, mut mass) = (0.0, 0.0);
        for (of_node, dofs) in &self.nodes {
            momentum += of_node * along.dot(&Vector3::from_column_slice(&v[dofs.clone()]));
            mass += of_node;
        }
        momentum / mass
    }

    /// Mean spin of the edges about the axis, rad/s.
    fn spin(&self, v: &[f64]) -> f64 {
        self.spins.iter().map(|dof| v[*dof]).sum::<f64>() / self.spins.len() as f64
    }
}
