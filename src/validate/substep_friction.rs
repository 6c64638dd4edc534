//! Blocks of material points and sheets of cloth that slide down a slope of 30° in explicit substeps.
//!
//! ```text
//! Δv = g sin 30° t − μ (g cos 30° t + Δv_n)        T/N = μ
//! ```
//!
//! or rest where μ > tan 30°. Changes are those after the vibrations of the sudden load: a body that is loaded at once sticks while it shears, which
//! makes it faster by a part of g L/c_s, whatever the stepper.

use std::f64::consts::FRAC_PI_6;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Geometry, State, Stepper, StrongImplicit,
};
use pliant_hydroelastic::{Shape, mesh::generate};
use pliant_mpm::{
    ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw, LinearCorotated, MpmBuilder, MpmSettings,
    ObjectSpec, Sampling, fill,
};

use super::test_world::{G, Model, Outcome, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "substep-friction",
    about: "blocks of material points and sheets of cloth slide down a slope by Coulomb's law in explicit substeps",
    kind: CaseKind::Function(run),
    needs: None,
};

const EDGE: f64 = 0.08;
const TIME_STEP_S: f64 = 0.004;
const STEPS: usize = 50;
/// Relative, of speeds and forces.
const TOLERANCE: f64 = 0.01;

/// What slides.
#[derive(Clone, Copy)]
enum Slider {
    /// A cube, on a grid of this spacing (m), of this density (kg/m³) and Young's modulus (Pa).
    Block(f64, f64, f64),
    /// A sheet of 0.3 kg/m².
    Cloth,
}

impl Slider {
    fn name(self) -> String {
        match self {
            Self::Block(h, density, modulus) => {
                format!("block, h = {h} m, {density} kg/m³, E = {modulus:e} Pa")
            }
            Self::Cloth => "cloth".into(),
        }
    }

    fn mass(self) -> f64 {
        match self {
            Self::Block(_, density, _) => density * EDGE.powi(3),
            Self::Cloth => 0.3 * EDGE * EDGE,
        }
    }

    fn points(self) -> Outcome<MpmBuilder> {
        let (h, mut points);
        match self {
            Self::Block(spacing, density, modulus) => {
                h = spacing;
                points = MpmBuilder::new(MpmSettings::new(h));
                let shape = Shape::cuboid(Vector3::repeat(EDGE))?;
                let pose = Isometry3::translation(0.0, 0.0, 0.5 * EDGE);
                let set = fill("slider", &shape, &pose, h, Sampling::default())?;
                let law = LinearCorotated::new(Lame::from_young_poisson(modulus, 0.3)?);
                points.object(ObjectSpec::new("slider", Arc::new(law), density, set));
            }
            Self::Cloth => {
                h = 0.02;
                points = MpmBuilder::new(MpmSettings::new(h));
                let sheet = generate::sheet([EDGE, EDGE], [8, 8])?;
                let (mesh, _) = ClothMesh::new("slider", sheet, h)?;
                let law = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 300.0, 1e-3)?;
                let mut spec = ClothSpec::new("slider", mesh, law);
                // Its particles touch the plane.
                spec.positions.iter_mut().for_each(|p| p.z = 0.25 * h);
                points.cloth(spec);
            }
        }
        Ok(points)
    }
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let block = Slider::Block(0.02, 1000.0, 5e5);
    let mut all = vec![
        (block, 0.3),
        (block, 0.5),
        (block, 1.0),
        (Slider::Cloth, 0.1),
    ];
    if length == CaseLength::Full {
        all.extend([
            (block, 0.0),
            (block, 0.1),
            (Slider::Block(0.01, 1000.0, 5e5), 0.5),
            (Slider::Block(0.02, 30.0, 5e5), 0.5),
            (Slider::Block(0.02, 8000.0, 5e5), 0.5),
            (Slider::Block(0.02, 1000.0, 2e4), 0.5),
            (Slider::Cloth, 0.3),
        ]);
    }
    let mut findings = Vec::new();
    for (slider, friction) in all {
        findings.extend(slide(slider, friction)?);
    }
    Ok(findings)
}

fn slide(slider: Slider, friction: f64) -> Outcome<[Finding; 2]> {
    // Stiffness without a bound, which each substep caps.
    let mut setup = TestWorld::new(Model::Lagged, material(f64::INFINITY, friction));
    let (sine, cosine) = FRAC_PI_6.sin_cos();
    (setup.builder).gravity(Vector3::new(sine, 0.0, -cosine) * G);
    let plane = setup.floor(Isometry3::identity());
    let points = slider.points()?.build()?;
    let body = setup.builder.add_body("slider", Box::new(points));
    (setup.builder).add_geometry(Geometry::of_vertices("slider", body, setup.material));
    let world = setup.builder.build()?;
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut stepper = Asynchronous::new(rigid, AsynchronousSettings::default())?;
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut force = Vector3::zeros();
    let velocity = |state: &State| world.energy(state).linear_momentum_W / slider.mass();
    let mut before = Vector3::zeros();
    for step in 0..2 * STEPS {
        let report = stepper.step(&world, &state, TIME_STEP_S, &mut next)?;
        if let Some(untrusted) = report.untrusted() {
            return Err(untrusted.describe(&world).into());
        }
        std::mem::swap(&mut state, &mut next);
        if step < STEPS {
            before = velocity(&state);
        } else {
            force += (report.contact_wrench(&Point3::origin(), |g| g != plane)).force;
        }
    }
    let gained = velocity(&state) - before;
    let t = TIME_STEP_S * STEPS as f64;
    let limit = sine / cosine;
    let name = |what: &str| {
        format!(
            "substep-friction: {what} at μ = {friction}, {}",
            slider.name()
        )
    };
    if friction > limit {
        let ratio = Finding::equals(
            name("friction over normal force"),
            -force.x / force.z,
            limit,
            TOLERANCE * limit,
            "balance of forces",
        );
        let mean = force.z / STEPS as f64;
        let load = slider.mass() * G * cosine;
        let load = Finding::equals(
            name("normal force (N)"),
            mean,
            load,
            TOLERANCE * load,
            "its weight",
        );
        return Ok([load, ratio]);
    }
    let expected = G * sine * t - friction * (G * cosine * t + gained.z);
    Ok([
        Finding::equals(
            name("speed gained (m/s)"),
            gained.x,
            expected,
            TOLERANCE * expected,
            "Coulomb",
        ),
        Finding::equals(
            name("friction over normal force"),
            -force.x / force.z,
            friction,
            0.1 * TOLERANCE * friction + 1e-9,
            "Coulomb",
        ),
    ])
}
