//! A pile of boxes on a floor.

use nalgebra::{DMatrix, Vector3};
use pliant_contact_sap::{
    BlockFactors, ConstraintSet, ContactLaw, ContactParameters, DenseDynamics, Dissipation,
    FrictionLimit, Lagged, NEAR_RIGID_CONTACT, NormalPrediction, ParticipantIdx, Rows, Sap,
    Similar,
};
use rand::{RngExt, SeedableRng};

use crate::support::{
    Body, BodyKind, Models, Random, Scene, TIME_STEP_S, twist_interpolation, vector,
};

/// Boxes of about 10 cm on a grid of `nx` × `ny` × `nz`, four points where neighbours touch, all moving a little.
pub(crate) fn clutter(seed: u64, (nx, ny, nz): (usize, usize, usize), models: Models) -> Scene {
    let random = &mut Random::seed_from_u64(seed);
    let mut bodies = Vec::new();
    let mut v0 = Vec::new();
    for _ in 0..nx * ny * nz {
        let mass = random.random_range(0.1f64..1.0);
        let inertia = mass * 0.1 * 0.1 / 6.0;
        let mut a = DMatrix::zeros(6, 6);
        for i in 0..3 {
            a[(i, i)] = inertia;
            a[(3 + i, 3 + i)] = mass;
        }
        let start: Vec<f64> = vector(random, 0.5)
            .iter()
            .chain(&vector(random, 0.05))
            .copied()
            .collect();
        let mut v_star = start.clone();
        v_star[5] -= 9.81 * TIME_STEP_S;
        let b = &a * nalgebra::DVector::from_column_slice(&v_star);
        v0.extend(start);
        bodies.push(Body {
            dynamics: Box::new(DenseDynamics::new(
                a.as_slice().to_vec(),
                b.as_slice().to_vec(),
            )),
            kind: BodyKind::Rigid,
        });
    }
    let mut scene = Scene {
        bodies,
        set: ConstraintSet::default(),
        v0,
        contacts: Vec::new(),
        rows: Vec::new(),
    };
    let mut factors = BlockFactors::default();
    factors.factor(&scene.dynamics()).expect("every A is SPD");
    let index = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let here = index(x, y, z);
                if x + 1 < nx {
                    add_contacts(
                        random,
                        &mut scene,
                        &mut factors,
                        here,
                        Some(index(x + 1, y, z)),
                        0,
                        models,
                    );
                }
                if y + 1 < ny {
                    add_contacts(
                        random,
                        &mut scene,
                        &mut factors,
                        here,
                        Some(index(x, y + 1, z)),
                        1,
                        models,
                    );
                }
                if z + 1 < nz {
                    add_contacts(
                        random,
                        &mut scene,
                        &mut factors,
                        here,
                        Some(index(x, y, z + 1)),
                        2,
                        models,
                    );
                }
                if z == 0 {
                    add_contacts(random, &mut scene, &mut factors, here, None, 2, models);
                }
            }
        }
    }
    scene
}

/// Four contacts between box `a` and its neighbour `b` along `axis`, or below it with the floor.
fn add_contacts(
    random: &mut Random,
    scene: &mut Scene,
    factors: &mut BlockFactors,
    a: usize,
    b: Option<usize>,
    axis: usize,
    models: Models,
) {
    let half = 0.05;
    // Normal from b into a.
    let along = Vector3::ith(axis, if b.is_some() { 1.0 } else { -1.0 });
    let normal = -along;
    let mut basis = scene.set.basis(6);
    let mut twist = |participant: usize, p: Vector3<f64>, scale: f64| {
        let mut rows = Rows::default();
        rows.reset(6);
        let values = rows.dense(0, 6, 0, 6);
        let s = -p.cross_matrix();
        for j in 0..3 {
            values[j * 6 + j] = 1.0;
            values[(3 + j) * 6 + 3 + j] = 1.0;
            for i in 0..3 {
                values[j * 6 + 3 + i] = s[(i, j)];
            }
        }
        basis.rows(ParticipantIdx(participant), &rows, 0, scale);
    };
    twist(a, along * half, 1.0);
    if let Some(b) = b {
        twist(b, along * -half, -1.0);
    }
    let mut m = Vec::new();
    basis.delassus(factors, &mut m);
    let m = DMatrix::from_column_slice(6, 6, &m);
    for k in 0..4 {
        let (s, t) = ([-0.04, 0.04][k % 2], [-0.04, 0.04][k / 2]);
        let mut p = Vector3::zeros();
        p[(axis + 1) % 3] = s;
        p[(axis + 2) % 3] = t;
        let phi = twist_interpolation(&p);
        let w = (&phi * &m * phi.transpose()).norm() / 3.0;
        let parameters = ContactParameters {
            time_step: TIME_STEP_S.into(),
            signed_distance: random.random_range(-3e-4..2e-4),
            start_velocity: random.random_range(-0.05..0.05),
            stiffness: 1e6,
            dissipation: Dissipation::HuntCrossley(50.0),
            friction: 0.5,
            stiction_speed: 1e-4,
            inverse_inertia: w,
            near_rigid: NEAR_RIGID_CONTACT,
        };
        let predicted = NormalPrediction {
            free: -0.1,
            row_sum: 2.0 * w,
            constrained: None,
        };
        let n0 = parameters.friction_limit(FrictionLimit::LocalImplicit, &predicted);
        let law = match models {
            Models::Similar => ContactLaw::Similar(Similar::new(&parameters, normal, n0)),
            Models::Sap => ContactLaw::Sap(Sap::new(&parameters, normal)),
            Models::Lagged | Models::Any => {
                ContactLaw::Lagged(Lagged::new(&parameters, normal, n0))
            }
        };
        basis.twist_contact(p, Vector3::zeros(), law);
    }
}
