//! Times of RNEA, CRBA, ABA and Jacobians of a kinematic tree.
//!
//! `baselines/pinocchio_engine.cpp` times pinocchio on as many random states, in batches of the same size.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use nalgebra::{DMatrix, Vector3};
use pliant_multibody::{
    JointKind, LinkIdx, Model, PositionKinematics, RobotOptions, Root, Workspace, forward_dynamics,
    inverse_dynamics, mass_matrix, point_jacobian, urdf,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// Number of states for each algorithm, too many for a branch predictor to learn.
pub const STATES: usize = 64;

/// How the robot's root is connected to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Welded.
    Fixed,
    /// Free.
    Floating,
}

/// Time of one call, s, the shortest over all batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallTimes {
    /// τ(q, v, v̇).
    pub rnea: f64,
    /// M(q), both triangles.
    pub crba: f64,
    /// v̇(q, v, τ).
    pub aba: f64,
    /// The Jacobian of the last link at its origin, from q.
    pub one_jacobian: f64,
    /// The Jacobians of all moving links at their origins, from q.
    pub all_jacobians: f64,
}

/// A model with random states and memory for all algorithms.
pub struct Questions {
    model: Model,
    states: Vec<[Vec<f64>; 4]>,
    workspace: Workspace,
    positions: PositionKinematics,
    moving: Vec<LinkIdx>,
    out: Vec<f64>,
    mass: DMatrix<f64>,
    jacobian: DMatrix<f64>,
}

impl Questions {
    /// Reads a robot; its collision meshes may be missing.
    ///
    /// # Errors
    /// [`BenchError::Multibody`].
    pub fn new(urdf_file: &Path, base: Base) -> Result<Self, BenchError> {
        let mut options = RobotOptions::default();
        if base == Base::Floating {
            options.root = Root::Floating;
        }
        let model = urdf::read_urdf(urdf_file, &options)?.model;
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let n_v = model.n_v();
        let states = (0..STATES)
            .map(|_| {
                let mut vector = |n: usize| -> Vec<f64> {
                    (0..n).map(|_| random.random_range(-1.0..1.0)).collect()
                };
                let mut q = vector(model.n_q());
                model.normalise(&mut q);
                [q, vector(n_v), vector(n_v), vector(n_v)]
            })
            .collect();
        let moves = |l: &LinkIdx| {
            let joint = model.link(*l).parent_joint;
            joint.is_some_and(|j| model.joint(j).kind != JointKind::Fixed)
        };
        let moving = (0..model.links().len())
            .map(LinkIdx)
            .filter(moves)
            .collect();
        Ok(Self {
            workspace: Workspace::new(&model),
            positions: PositionKinematics::new(&model),
            moving,
            out: vec![0.0; n_v],
            mass: DMatrix::zeros(n_v, n_v),
            jacobian: DMatrix::zeros(6, n_v),
            states,
            model,
        })
    }

    /// Degrees of freedom.
    #[must_use]
    pub fn n_v(&self) -> usize {
        self.model.n_v()
    }

    /// Inverse dynamics at all states.
    pub fn rnea(&mut self) {
        for [q, v, vdot, _] in &self.states {
            let w = &mut self.workspace;
            inverse_dynamics(&self.model, q, v, vdot, &gravity(), w, &mut self.out);
            black_box(&self.out);
        }
    }

    /// Mass matrix at all states.
    pub fn crba(&mut self) {
        for [q, ..] in &self.states {
            mass_matrix(&self.model, q, &mut self.workspace, &mut self.mass);
            black_box(&self.mass);
        }
    }

    /// Forward dynamics at all states.
    pub fn aba(&mut self) {
        for [q, v, _, tau] in &self.states {
            let w = &mut self.workspace;
            forward_dynamics(&self.model, q, v, tau, &gravity(), w, &mut self.out);
            black_box(&self.out);
        }
    }

    /// Jacobian of the last moving link at all states.
    pub fn one_jacobian(&mut self) {
        let last = self.moving[self.moving.len() - 1];
        for [q, ..] in &self.states {
            self.positions.update(&self.model, q);
            let p = self.positions.link_position(&self.model, last);
            point_jacobian(&self.model, &self.positions, last, &p, &mut self.jacobian);
            black_box(&self.jacobian);
        }
    }

    /// Jacobians of all moving links at all states.
    pub fn all_jacobians(&mut self) {
        for [q, ..] in &self.states {
            self.positions.update(&self.model, q);
            for &link in &self.moving {
                let p = self.positions.link_position(&self.model, link);
                point_jacobian(&self.model, &self.positions, link, &p, &mut self.jacobian);
                black_box(&self.jacobian);
            }
        }
    }

    /// Times everything, `n_batches` times.
    pub fn time(&mut self, n_batches: usize) -> CallTimes {
        CallTimes {
            rnea: self.shortest(n_batches, Self::rnea),
            crba: self.shortest(n_batches, Self::crba),
            aba: self.shortest(n_batches, Self::aba),
            one_jacobian: self.shortest(n_batches, Self::one_jacobian),
            all_jacobians: self.shortest(n_batches, Self::all_jacobians),
        }
    }

    fn shortest(&mut self, n_batches: usize, question: impl Fn(&mut Self)) -> f64 {
        let batches = (0..n_batches).map(|_| {
            let start = Instant::now();
            question(self);
            start.elapsed().as_secs_f64() / STATES as f64
        });
        batches.fold(f64::INFINITY, f64::min)
    }
}

fn gravity() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -9.81)
}
