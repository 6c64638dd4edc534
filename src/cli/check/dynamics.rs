//! Numbers of a robot's dynamics, for comparison with other programs (`bench/robot_packages.py`).

use nalgebra::{DMatrix, DVector, Vector3};
use pliant_multibody::{LinkIdx, Model, Workspace, bias_forces, mass_matrix};
use serde::Serialize;

/// Masses, forces and poses at one position and velocity, which no symmetry makes special. Matrices and forces are of the joints of one
/// degree of freedom; other joints stay where the file shows them.
#[derive(Serialize)]
pub(super) struct Dynamics {
    joints: Vec<Motion>,
    /// Rows of M, without rotors.
    mass_matrix: Vec<Vec<f64>>,
    /// What the rotors of drives add to the diagonal of M.
    rotor_inertia: Vec<f64>,
    /// Forces that keep all accelerations zero under the gravity of 9.81 m/s².
    bias_forces: Vec<f64>,
    /// Without rotors.
    kinetic_energy_j: f64,
    rotor_energy_j: f64,
    links: Vec<LinkPose>,
}

#[derive(Serialize)]
struct Motion {
    name: String,
    position: f64,
    velocity: f64,
}

#[derive(Serialize)]
struct LinkPose {
    name: String,
    position_m: [f64; 3],
    /// Row by row.
    rotation: [f64; 9],
}

impl Dynamics {
    pub(super) fn of(model: &Model) -> Self {
        let n = model.n_v();
        let (mut q, mut v) = (model.initial_positions(), vec![0.0; n]);
        let (mut joints, mut dofs) = (Vec::new(), Vec::new());
        let moving = model.joints().iter();
        for (k, joint) in moving.filter(|joint| joint.kind.n_v() == 1).enumerate() {
            let k = k as f64;
            let motion = Motion {
                name: joint.name.clone(),
                position: 0.3 * (1.0 + k).sin(),
                velocity: 0.5 * (2.0 + k).cos(),
            };
            q[joint.positions().start] = motion.position;
            v[joint.dofs().start] = motion.velocity;
            dofs.push(joint.dofs().start);
            joints.push(motion);
        }
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let (mut bias, mut mass) = (vec![0.0; n], DMatrix::zeros(n, n));
        let mut w = Workspace::new(model);
        bias_forces(model, &q, &v, &gravity, &mut w, &mut bias);
        mass_matrix(model, &q, &mut w, &mut mass);
        let mut rotors = vec![0.0; n];
        model.add_reflected_inertia(&mut rotors);
        let velocity = DVector::from_column_slice(&v);
        let row = |i: &usize| dofs.iter().map(|j| mass[(*i, *j)]).collect();
        let pose = |link: usize| {
            let index = LinkIdx(link);
            let rotation = w.positions.link_rotation(model, index);
            LinkPose {
                name: model.link(index).name.clone(),
                position_m: w.positions.link_position(model, index).into(),
                rotation: std::array::from_fn(|k| rotation[(k / 3, k % 3)]),
            }
        };
        Self {
            mass_matrix: dofs.iter().map(row).collect(),
            rotor_inertia: dofs.iter().map(|i| rotors[*i]).collect(),
            bias_forces: dofs.iter().map(|i| bias[*i]).collect(),
            kinetic_energy_j: 0.5 * velocity.dot(&(&mass * &velocity)),
            rotor_energy_j: (dofs.iter())
                .map(|i| 0.5 * rotors[*i] * v[*i] * v[*i])
                .sum(),
            links: (0..model.links().len()).map(pose).collect(),
            joints,
        }
    }
}
