//! One step against a brute-force reference that shares no code with it: dense matrices over nodes in a map.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, Dynamics, Integration, StepInput,
};

use super::*;
use crate::material::{FrictionAngle, LinearCorotated, Liquid, Sand};
use crate::model::{MatrixForm, MpmBuilder, MpmSettings, ObjectSpec, RotationTarget};
use crate::random::Random;
use crate::{MaterialPoints, ParticleSet};

const H: f64 = 0.1;
const DT: f64 = 0.004;
const G: f64 = -9.81;

/// Two objects of different materials that share cells, in motion and strained.
fn model(settings: MpmSettings, materials: [Arc<dyn Material>; 2]) -> (MaterialPoints, BodyState) {
    let mut random = Random::new(17);
    let mut builder = MpmBuilder::new(settings);
    for (k, material) in materials.into_iter().enumerate() {
        let points = (0..14)
            .map(|_| {
                Vector3::from_fn(|_, _| 0.2 * random.unit()) + Vector3::x() * (0.15 * k as f64)
            })
            .map(|x| x.into())
            .collect();
        let set = ParticleSet {
            points,
            particle_volume: 5e-5,
        };
        builder.object(ObjectSpec::new(
            format!("object {k}"),
            material,
            900.0 + 300.0 * k as f64,
            set,
        ));
    }
    let model = builder.build().unwrap();
    let mut state = model.default_state();
    state.v.iter_mut().for_each(|v| *v = random.unit() - 0.5);
    for record in state.history[2..].chunks_exact_mut(22) {
        record[..9]
            .iter_mut()
            .for_each(|c| *c = 2.0 * random.unit() - 1.0);
        record[9..18]
            .iter_mut()
            .for_each(|f| *f += 0.1 * (random.unit() - 0.5));
    }
    (model, state)
}

struct Dense {
    /// m(v), and its derivative.
    residual: DVector<f64>,
    tangent: DMatrix<f64>,
    nodes: Vec<[i32; 3]>,
}

/// Eqs. 9, 11-14 of the paper, term by term, at velocities given by a function of the node.
fn brute_force(system: &GridSystem, v: impl Fn([i32; 3]) -> Vector3<f64>) -> Dense {
    let weights = |p: &Particle<f64>| {
        let mut out = Vec::new();
        let base = p.x.map(|x| (x / H - 0.5).floor());
        for n in 0..27 {
            let offset = Vector3::new(n / 9, n / 3 % 3, n % 3).map(f64::from);
            let node = base + offset;
            // N(u) by cases of distance.
            let (mut shape, mut slope) = (Vector3::zeros(), Vector3::zeros());
            for k in 0..3 {
                let u = p.x[k] / H - node[k];
                let a = u.abs();
                shape[k] = if a < 0.5 {
                    0.75 - a * a
                } else {
                    0.5 * (1.5 - a).powi(2)
                };
                slope[k] = if a < 0.5 {
                    -2.0 * u
                } else {
                    (a - 1.5) * u.signum()
                } / H;
            }
            let w: f64 = shape.product();
            let g = match system.form {
                GradientForm::True => Vector3::new(
                    slope.x * shape.y * shape.z,
                    shape.x * slope.y * shape.z,
                    shape.x * shape.y * slope.z,
                ),
                GradientForm::Mls => (node * H - p.x) * (4.0 / (H * H) * w),
            };
            out.push((
                [node.x as i32, node.y as i32, node.z as i32],
                w,
                g,
                node * H - p.x,
            ));
        }
        out
    };
    let mut mass: BTreeMap<[i32; 3], (f64, Vector3<f64>)> = BTreeMap::new();
    for p in &system.particles {
        for (node, w, _, arm) in weights(p) {
            let entry = mass.entry(node).or_insert((0.0, Vector3::zeros()));
            entry.0 += w * p.mass;
            entry.1 += (p.v + p.c * arm) * (w * p.mass);
        }
    }
    let nodes: Vec<_> = mass.keys().copied().collect();
    let number: BTreeMap<_, _> = nodes.iter().enumerate().map(|(i, n)| (*n, i)).collect();
    let n = 3 * nodes.len();
    let mut dense = Dense {
        residual: DVector::zeros(n),
        tangent: DMatrix::zeros(n, n),
        nodes,
    };
    for (i, node) in dense.nodes.iter().enumerate() {
        let (m, momentum) = mass[node];
        let r = v(*node) * m - momentum - Vector3::z() * (G * DT * m);
        dense.residual.fixed_rows_mut::<3>(3 * i).copy_from(&r);
        (0..3).for_each(|k| dense.tangent[(3 * i + k, 3 * i + k)] = m);
    }
    for (p, particle) in system.particles.iter().enumerate() {
        let around = weights(particle);
        let gradient: Matrix3<f64> = around
            .iter()
            .map(|(node, _, g, _)| v(*node) * g.transpose())
            .sum();
        let step = gradient * DT;
        let law = system.material(p);
        let stress = law.stress(&particle.strain, &system.lagged[p], &step);
        for (a, _, g, _) in &around {
            let row = 3 * number[a];
            let force = stress * g * (DT * particle.volume);
            dense.residual.fixed_rows_mut::<3>(row).add_assign(&force);
        }
        // Finite differences of the stress would lose digits: unit velocities are multiplied by the tangent.
        let tangent = law.tangent(
            &particle.strain,
            &system.lagged[p],
            &step,
            Definiteness::Projected,
        );
        for (b, _, gb, _) in &around {
            for k in 0..3 {
                let change = tangent.apply(&(Vector3::ith(k, DT) * gb.transpose()));
                for (a, _, ga, _) in &around {
                    let force = change * ga * (DT * particle.volume);
                    let (row, column) = (3 * number[a], 3 * number[b] + k);
                    dense
                        .tangent
                        .fixed_view_mut::<3, 1>(row, column)
                        .add_assign(&force);
                }
            }
        }
    }
    dense
}

use std::ops::AddAssign;

fn pairs() -> Vec<[Arc<dyn Material>; 2]> {
    let solid = LinearCorotated::new(Lame::from_young_poisson(2e4, 0.3).unwrap());
    vec![
        [
            Arc::new(solid),
            Arc::new(LinearCorotated::new(
                Lame::from_young_poisson(5e4, 0.4).unwrap(),
            )),
        ],
        [
            Arc::new(solid),
            Arc::new(NeoHookean::new(Lame::from_young_poisson(2e4, 0.3).unwrap()).unwrap()),
        ],
        [
            Arc::new(Liquid::new(3e4, 7.0).unwrap().with_viscosity(5.0).unwrap()),
            Arc::new(
                Sand::new(
                    Lame::from_young_poisson(1e5, 0.3).unwrap(),
                    30.0,
                    FrictionAngle::PlaneStrain,
                )
                .unwrap(),
            ),
        ],
    ]
}

#[test]
fn a_step_agrees_with_a_brute_force_reference() {
    for materials in pairs() {
        for form in [GradientForm::True, GradientForm::Mls] {
            let mut velocities = Vec::new();
            for matrix in [MatrixForm::Assembled, MatrixForm::MatrixFree] {
                let mut settings = MpmSettings::new(H);
                settings.gradient = form;
                settings.matrix = matrix;
                settings.rotation_target = RotationTarget::Start;
                settings.free_motion.rel_tolerance = 1e-13;
                let (model, mut state) = model(settings, materials.clone());
                for record in state.history[2..].chunks_exact_mut(22) {
                    // Admissible strains of liquids and sand.
                    let object = record[20] as usize;
                    record[18] = materials[object].fresh()[0] * 0.98;
                }
                velocities.push(check_step(&model, &state));
            }
            let off = (&velocities[0] - &velocities[1]).norm() / velocities[0].norm();
            assert!(off < 1e-8, "assembled and matrix-free differ by {off:e}");
        }
    }
}

/// A, b and the free motion of a step against dense ones; returns the velocities.
fn check_step(model: &MaterialPoints, state: &BodyState) -> DVector<f64> {
    let control = Control::default();
    let input = StepInput {
        time_step: DT.into(),
        gravity: Vector3::new(0.0, 0.0, G),
        control: &control,
    };
    let mut step = crate::step::MpmStep::new(Arc::clone(&model.parts));
    step.begin(state, &input).unwrap();
    let body: &mut dyn BodyStep = &mut step;
    body.linearise_start(&mut Vec::new()).unwrap();
    let n = step.n_dofs();
    let mut a = DMatrix::zeros(n, n);
    for k in 0..n {
        let e = DVector::from_fn(n, |i, _| f64::from(u8::from(i == k)));
        let mut column = vec![0.0; n];
        Dynamics::apply(&step, e.as_slice(), &mut column);
        a.set_column(k, &DVector::from_vec(column));
    }
    let b = DVector::from_column_slice(step.right_hand_side());
    let d = a.diagonal().map(|a| 1.0 / a.sqrt());
    let scaled = DMatrix::from_fn(n, n, |i, j| d[i] * a[(i, j)] * d[j]);
    let v = scaled
        .cholesky()
        .unwrap()
        .solve(&b.component_mul(&d))
        .component_mul(&d);

    let system = step.system();
    let at: BTreeMap<[i32; 3], usize> = system
        .nodes
        .coordinates
        .iter()
        .enumerate()
        .map(|(i, n)| (*n, i))
        .collect();
    let dense = brute_force(system, |node| match at.get(&node) {
        Some(i) => v.fixed_rows::<3>(3 * i).into(),
        None => Vector3::zeros(),
    });
    // The reference's residual vanishes at v, measured as a velocity.
    let size: f64 = v.norm();
    for (i, node) in dense.nodes.iter().enumerate() {
        let Some(index) = at.get(node) else { continue };
        let mass = system.mass[*index];
        let off = dense.residual.fixed_rows::<3>(3 * i).norm();
        assert!(
            off < 1e-9 * mass.max(1e-9) * size,
            "residual {off:e} at a node of {mass:e} kg"
        );
    }
    // And its matrix is A.
    let scale = a.norm();
    for (i, row) in dense.nodes.iter().enumerate() {
        for (j, column) in dense.nodes.iter().enumerate() {
            if let (Some(r), Some(c)) = (at.get(row), at.get(column)) {
                let off = dense.tangent.fixed_view::<3, 3>(3 * i, 3 * j)
                    - a.fixed_view::<3, 3>(3 * r, 3 * c);
                assert!(off.norm() < 1e-8 * scale, "{off}");
            }
        }
    }
    v
}

#[test]
fn residual_is_the_gradient_of_the_energy() {
    for materials in pairs() {
        let (model, state) = model(MpmSettings::new(H), materials);
        for integration in [Integration::BackwardEuler, Integration::Midpoint] {
            let control = Control::default();
            let input = StepInput {
                time_step: TimeStep {
                    length_s: DT,
                    integration,
                },
                gravity: Vector3::new(0.0, 0.0, G),
                control: &control,
            };
            let mut step = crate::step::MpmStep::new(Arc::clone(&model.parts));
            step.begin(&state, &input).unwrap();
            let system = step.system();
            let n = system.start.len();
            let mut random = Random::new(2);
            let v: Vec<f64> = system
                .start
                .iter()
                .map(|v| v + 0.2 * random.unit())
                .collect();
            let x: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
            let energy = |h: f64| {
                let shifted: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v + h * x).collect();
                let mut motion = StepMotion::default();
                system.motion(&shifted, &mut motion);
                system.energy(&shifted, &motion)
            };
            let mut motion = StepMotion::default();
            system.motion(&v, &mut motion);
            let mut m = vec![0.0; n];
            system.residual(&v, &motion, &mut m);
            let slope: f64 = m.iter().zip(&x).map(|(m, x)| m * x).sum();
            let h = 1e-4;
            let difference = (energy(h) - energy(-h)) / (2.0 * h);
            let size: f64 = m.iter().map(|m| m.abs()).sum();
            assert!(
                (difference - slope).abs() < 1e-6 * size,
                "{difference} {slope}"
            );
        }
    }
}
