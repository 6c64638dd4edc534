//! A rod that lies across an incline.

use std::ops::Range;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::Geometry;
use pliant_der::{Centreline, Material, Rod, RodBuilder, RodError, Section};

use super::laboratory::{G, Laboratory, MODELS, Model, Outcome, material};
use super::stiction::STICTION_SPEED;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "rolling-rod",
    about: "a rod across an incline rolls with 2/3 g sin θ where μ ≥ 1/3 tan θ, and slides with the right spin elsewhere",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 1e-3;
const RADIUS: f64 = 0.01;
const LENGTH: f64 = 0.2;
const EDGES: usize = 8;
const DENSITY: f64 = 1000.0;
/// Of the pair, at each node, N/m: it is pressed in by 1e-3 of its radius.
const STIFFNESS: f64 = 1e4;
/// Creep of a rolling rod in stiction speeds; on its ends rests half of what rests on other nodes.
const CREEPS: f64 = 10.0;

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for model in MODELS {
        // 1/3 tan θ is 0.059, 0.192, 0.192, 0.333.
        for (angle_deg, friction) in [(10.0, 0.5), (30.0, 0.2), (30.0, 0.18), (45.0, 0.25)] {
            findings.extend(roll(model, angle_deg, friction)?);
        }
    }
    Ok(findings)
}

/// How the rod moves.
#[derive(Clone, Copy, Debug)]
enum Motion {
    Rolling,
    Sliding,
}

/// Acceleration and angular acceleration of a cylinder of radius R: with F the friction, m a = m g sin θ − F and ½mR² α = F R.
///
/// ```text
/// rolling   a = α R = 2/3 g sin θ,      as long as F/m = g sin θ/3 ≤ μ g cos θ
/// sliding   a = g(sin θ − μ cos θ),     α = 2 μ g cos θ/R
/// ```
fn accelerations(angle: f64, friction: f64) -> (Motion, f64, f64) {
    let rolling = 2.0 / 3.0 * G * angle.sin();
    let most = friction * G * angle.cos();
    if rolling / 2.0 <= most {
        return (Motion::Rolling, rolling, rolling / RADIUS);
    }
    let alpha = 2.0 * most / RADIUS;
    (Motion::Sliding, G * angle.sin() - most, alpha)
}

fn roll(model: Model, angle_deg: f64, friction: f64) -> Outcome<Vec<Finding>> {
    let angle = angle_deg.to_radians();
    let X_WG = Isometry3::rotation(Vector3::y() * angle);
    let surface = material(STIFFNESS, friction);
    let mut lab = Laboratory::new(model, surface);
    lab.floor(X_WG);
    let section = Section::Circle { radius: RADIUS };
    let end = |y: f64| X_WG * Point3::new(0.0, y, RADIUS);
    let line = Centreline::straight(end(-0.5 * LENGTH), end(0.5 * LENGTH), EDGES);
    let rod = RodBuilder::new(line)
        .section(section, Material::isotropic(1e7, 0.5, DENSITY)?)
        .build()?;
    let body = lab.builder.add_body("rod", Box::new(rod.clone()));
    lab.builder
        .add_geometry(Geometry::of_segments("rod", body, surface));
    let mut run = lab.start(TIME_STEP_S)?;
    let downhill = X_WG.rotation * Vector3::x();
    let rolling = Rolling::of(&rod)?;
    let found = run.growth(|run| {
        let v = &run.body(body).v;
        [rolling.speed(v, &downhill), rolling.spin(v)]
    })?;

    let (motion, a, alpha) = accelerations(angle, friction);
    let name = |what: &str| {
        let model = model.name();
        format!("rolling-rod: {motion:?}, {what} at μ = {friction}, θ = {angle_deg}°, {model}")
    };
    let [v, omega] = found.after;
    let source = "momentum balance of a cylinder; solver stops at 1e-6 of the momentum";
    let mut findings = vec![
        Finding::equals(
            name("acceleration (m/s²)"),
            found.rate[0],
            a,
            run.solver_acceleration(v),
            source,
        ),
        Finding::equals(
            name("angular acceleration (rad/s²)"),
            found.rate[1],
            alpha,
            run.solver_acceleration(omega),
            source,
        ),
    ];
    if let Motion::Rolling = motion {
        findings.push(Finding::equals(
            name("ω r/v"),
            omega * RADIUS / v,
            1.0,
            CREEPS * STICTION_SPEED / v,
            "it does not slip, but creeps as friction is softened, most near its limit",
        ));
    }
    Ok(findings)
}

/// The unknowns of a rod that say how it rolls.
struct Rolling {
    /// Mass of each node, and where its velocity is.
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

    /// Of the centre of mass along a unit vector, m/s.
    fn speed(&self, v: &[f64], along: &Vector3<f64>) -> f64 {
        let (mut momentum, mut mass) = (0.0, 0.0);
        for (of_node, dofs) in &self.nodes {
            momentum += of_node * along.dot(&Vector3::from_column_slice(&v[dofs.clone()]));
            mass += of_node;
        }
        momentum / mass
    }

    /// About the axis, the mean of the edges, rad/s.
    fn spin(&self, v: &[f64]) -> f64 {
        self.spins.iter().map(|dof| v[*dof]).sum::<f64>() / self.spins.len() as f64
    }
}
