#![allow(
    non_snake_case,
    dead_code,
    unused_imports,
    missing_docs,
    reason = "temporary"
)]
use nalgebra::{DMatrix, DVector, Isometry3, Point3, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::*;
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LinearCorotated, Liquid, Material, MaterialPoints, MpmBuilder, MpmSettings, NeoHookean,
    ObjectSpec, ParticleSet, Sampling, Wall, WallKind, fill,
};
use std::sync::Arc;
#[path = "suite/explicit.rs"]
mod explicit;
#[path = "suite/one_step.rs"]
mod one_step;
#[path = "suite/support/mod.rs"]
mod support;
struct Random(u64);
impl Random {
    fn new(s: u64) -> Self {
        Self(s)
    }
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
const H: f64 = 0.05;

fn cube(edge: f64, p_WC: Vector3<f64>) -> ParticleSet {
    let shape = Shape::cuboid(Vector3::repeat(edge)).unwrap();
    let pose = Isometry3::translation(p_WC.x, p_WC.y, p_WC.z);
    fill("cube", &shape, &pose, H, Sampling::default()).unwrap()
}

fn solid(e: f64) -> Arc<dyn Material> {
    Arc::new(LinearCorotated::new(e, 0.3).unwrap())
}

fn shaken(model: &MaterialPoints, size: f64) -> BodyState {
    let mut random = Random::new(23);
    let mut state = model.default_state();
    let header = state.history.len() % 22;
    state
        .q
        .iter_mut()
        .for_each(|q| *q += 0.1 * H * random.unit());
    state
        .v
        .iter_mut()
        .for_each(|v| *v += size * (random.unit() - 0.3));
    for record in state.history[header..].chunks_exact_mut(22) {
        record[..9]
            .iter_mut()
            .for_each(|c| *c += size * (random.unit() - 0.5));
        record[9..18]
            .iter_mut()
            .for_each(|f| *f += 0.02 * (random.unit() - 0.5));
    }
    state
}

fn input(control: &Control, dt: f64) -> StepInput<'_> {
    StepInput {
        time_step: dt.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control,
    }
}

#[test]
fn material_points_are_a_body() {
    let materials: [Arc<dyn Material>; 3] = [
        solid(1e5),
        Arc::new(NeoHookean::new(1e4, 0.3).unwrap()),
        Arc::new(Liquid::new(1e4, 7.0).unwrap().with_viscosity(1.0).unwrap()),
    ];
    for (k, material) in materials.into_iter().enumerate() {
        let mut builder = MpmBuilder::new(MpmSettings::new(H));
        builder.object(ObjectSpec::new(
            "soft",
            material,
            800.0,
            cube(0.1, Vector3::new(0.02, 0.01, 0.3)),
        ));
        builder.object(ObjectSpec::new(
            "other",
            solid(3e4),
            500.0,
            cube(0.05, Vector3::new(0.1, 0.0, 0.3)),
        ));
        if k == 0 {
            builder.wall(Wall {
                p_WQ: Point3::new(0.0, 0.0, 0.25),
                normal_W: Vector3::z(),
                kind: WallKind::Slides,
            });
        }
        let model = builder.build().unwrap();
        let mut control = model.default_control();
        for loaded in [false, true] {
            if loaded {
                control.loads.push(Load {
                    point: MaterialPoint::on_vertex(4),
                    force_W: Vector3::new(0.1, -0.2, 0.05),
                    torque_W: Vector3::zeros(),
                });
            }
            check_body(&model, &shaken(&model, 0.5), &input(&control, 0.005)).unwrap();
        }
    }
}
