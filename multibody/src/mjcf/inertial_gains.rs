//! Gains that the file gives relative to the inertia at its reference positions: `dampratio` of actuators, `springdamper` of joints.

use nalgebra::{DMatrix, DVector};

use super::actuators::{DampingRatio, Target};
use super::tendons::ReadTendon;
use super::world::Tree;
use crate::dynamics::{Workspace, mass_matrix};
use crate::model::Model;

/// A spring and damper by their time constant (s) and damping ratio.
pub(super) struct SpringDamper {
    /// Name of the joint.
    pub(super) joint: String,
    pub(super) time_constant_s: f64,
    pub(super) damping_ratio: f64,
}

/// Sets the gains, of which `model` gives the inertia:
///
/// ```text
/// dampratio ζ:       kv = 2 ζ √(kp m)
/// springdamper T ζ:  k = m/(T ζ)²,  d = 2 m/T
/// ```
///
/// m is 1/(c M⁻¹ cᵀ) with M at the reference positions, rotors included, and c the coefficients of the joint or tendon.
///
/// # Source
/// MuJoCo's XML reference, and its compiler.
pub(super) fn resolve(
    model: &Model,
    tree: &mut Tree,
    tendons: &mut [ReadTendon],
    ratios: &[DampingRatio],
) {
    let n = model.n_v();
    let mut mass = DMatrix::zeros(n, n);
    let q = model.initial_positions();
    mass_matrix(model, &q, &mut Workspace::new(model), &mut mass);
    let mut rotors = vec![0.0; n];
    model.add_reflected_inertia(&mut rotors);
    mass += DMatrix::from_diagonal(&DVector::from_vec(rotors));
    let Some(factor) = mass.cholesky() else {
        return;
    };
    let inertia = |terms: &[(String, f64)]| {
        let mut c = DVector::zeros(n);
        for (name, coefficient) in terms {
            if let Ok(joint) = model.joint_named(name) {
                c[model.joint(joint).dofs().start] += coefficient;
            }
        }
        1.0 / c.dot(&factor.solve(&c))
    };
    for ratio in ratios {
        let (terms, gains) = match ratio.target {
            Target::Joint(joint) => {
                let spec = &mut tree.joints[joint].spec;
                (vec![(spec.name.clone(), 1.0)], &mut spec.drive.gains)
            }
            Target::Tendon(tendon) => {
                let spec = &mut tendons[tendon].spec;
                (spec.terms.clone(), &mut spec.drive.gains)
            }
        };
        if let Some(gains) = gains {
            gains.derivative = 2.0 * ratio.ratio * (gains.proportional * inertia(&terms)).sqrt();
        }
    }
    for damper in std::mem::take(&mut tree.spring_dampers) {
        let mut joints = tree.joints.iter_mut();
        let Some(joint) = joints.find(|joint| joint.spec.name == damper.joint) else {
            continue;
        };
        let passive = &mut joint.spec.passive;
        let m = inertia(&[(damper.joint, 1.0)]);
        let time = damper.time_constant_s;
        passive.spring_stiffness = m / (time * damper.damping_ratio).powi(2);
        passive.damping = 2.0 * m / time;
    }
}
