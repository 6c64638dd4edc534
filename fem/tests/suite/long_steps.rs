//! A cantilever in steps of a second: Han, Masterjohn, Castro (2023), section VII-E.
//!
//! The corotational law with its exact tangent, which is indefinite where elements are compressed, is unstable: the beam jumps about and never comes to
//! rest. Without the negative eigenvalues of its tangent it does; the linear corotated law swells and stays bounded.

use std::sync::Arc;

use crate::support::{Alone, GRAVITY, UNDAMPED, built, corotated};
use nalgebra::{DMatrix, DVector, Vector3};
use pliant_constitutive::{Corotational, Lame};
use pliant_contact_sap::{BodyError, BodyState, Control, DeformableModel, StepInput};
use pliant_fem::{Axis, Element, FemBody, FemBuilder, Material, Region};
use pliant_hydroelastic::mesh::generate::tet_cuboid;

const STEP_S: f64 = 1.0;
const STEPS: usize = 8;
const LENGTH: f64 = 1.0;
const YOUNGS_MODULUS: f64 = 1e5;
const POISSONS_RATIO: f64 = 0.4;

fn cantilever(material: Arc<dyn Material>) -> FemBody {
    let half = Vector3::new(LENGTH / 2.0, 0.05, 0.05);
    let mesh = tet_cuboid(half, [20, 2, 2]).unwrap();
    let wall = Region::HalfSpace {
        point: Vector3::new(-half.x, 0.0, 0.0),
        normal: Vector3::x(),
    };
    let builder = FemBuilder::new(mesh, material, 500.0)
        .element(Element::Linear)
        .damping(UNDAMPED);
    built(builder.fix(wall, &Axis::ALL))
}

/// The largest distance of a vertex from where the beam's axis is held.
fn reach(state: &BodyState) -> f64 {
    let held = Vector3::new(-LENGTH / 2.0, 0.0, 0.0);
    let distances = state
        .q
        .chunks_exact(3)
        .map(|x| (Vector3::from_column_slice(x) - held).norm());
    distances.fold(0.0, f64::max)
}

/// A step of backward Euler linearised once, A (v − v0) = −m(v0), with the exact derivative A of m.
fn exact_step(body: &FemBody, state: &BodyState) -> Result<(BodyState, f64), BodyError> {
    let (control, mut step) = (Control::default(), body.new_step());
    step.begin(state, &StepInput::new(STEP_S, GRAVITY, &control))?;
    let mut v = Vec::new();
    step.linearise_start(&mut v)?;
    let v0 = step.start_velocity().to_vec();
    let balance = step.as_balance().expect("finite elements have a balance");
    let n = v0.len();
    let mut m = vec![0.0; n];
    balance.residual(&v0, &mut m)?;
    let mut tangent = balance.tangent(&v0)?;
    let mut a = DMatrix::zeros(n, n);
    for (k, mut column) in a.column_iter_mut().enumerate() {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        tangent(&unit, column.as_mut_slice());
    }
    drop(tangent);
    let least = a.symmetric_eigenvalues().min();
    let change = a.lu().solve(&DVector::from_vec(m)).expect("not singular");
    let v: Vec<f64> = v0.iter().zip(change.iter()).map(|(v, d)| v - d).collect();
    let mut next = BodyState::default();
    let _ = step.advance(&v, &mut next)?;
    Ok((next, least))
}

/// How far the reach still changes in the second half of the motion.
fn late_change(reaches: &[f64]) -> f64 {
    let late = &reaches[STEPS / 2..];
    let fold = |f: fn(f64, f64) -> f64| late.iter().copied().reduce(f).expect("steps");
    fold(f64::max) - fold(f64::min)
}

#[test]
fn the_corotational_law_with_its_exact_tangent_never_comes_to_rest() {
    let lame = Lame::from_young_poisson(YOUNGS_MODULUS, POISSONS_RATIO).unwrap();
    let body = cantilever(Arc::new(Corotational::new(lame)));
    let mut state = body.default_state();
    let (mut reaches, mut least) = (Vec::new(), f64::INFINITY);
    for _ in 0..STEPS {
        let (next, eigenvalue) = exact_step(&body, &state).unwrap();
        state = next;
        least = least.min(eigenvalue);
        reaches.push(reach(&state));
    }
    assert!(least < 0.0, "{least}");
    assert!(late_change(&reaches) > 0.3 * LENGTH, "{reaches:?}");
}

#[test]
fn it_does_without_negative_eigenvalues_and_lagged_rotations_only_swell() {
    let lame = Lame::from_young_poisson(YOUNGS_MODULUS, POISSONS_RATIO).unwrap();
    let reaches = |material| -> Vec<f64> {
        let body = cantilever(material);
        let mut alone = Alone::new(&body, STEP_S).under(GRAVITY);
        let mut state = body.default_state();
        let step = |_| {
            alone.step(&mut state);
            reach(&state)
        };
        (0..STEPS).map(step).collect()
    };
    let semidefinite = reaches(Arc::new(Corotational::new(lame)));
    assert!(
        late_change(&semidefinite) < 0.01 * LENGTH,
        "{semidefinite:?}"
    );
    // A lagged rotation of a radian doubles an element's volume; the motion stays bounded.
    let linear = reaches(corotated(YOUNGS_MODULUS, POISSONS_RATIO));
    assert!(linear.iter().all(|r| *r < 4.0 * LENGTH), "{linear:?}");
}
