//! A test fixture: one tree, advanced by the convex solver.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{
    BlockFactors, BodyState, BodyStep, ConstraintLabel, ConstraintSet, ContactProblem, Control,
    ConvexContactSolver, DeformableModel, Integration, JointReaction, ParticipantIdx, RowIdx,
    RowKind, Solution, SolverKind, StepInput, StopCriteria, TimeStep,
};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, Model, ModelBuilder, RigidTree, SpatialInertia,
};

pub(crate) const G: f64 = 9.81;
pub(crate) const DOWN: Vector3<f64> = Vector3::new(0.0, 0.0, -G);
pub(crate) const WEIGHTLESS: Vector3<f64> = Vector3::new(0.0, 0.0, 0.0);

/// A tree with its state and control.
pub(crate) struct Bench {
    tree: RigidTree,
    step: Box<dyn BodyStep>,
    solver: Box<dyn ConvexContactSolver>,
    factors: BlockFactors,
    set: ConstraintSet,
    solution: Solution,
    next: BodyState,
    pub(crate) state: BodyState,
    pub(crate) control: Control,
    pub(crate) dt: f64,
    pub(crate) integration: Integration,
    pub(crate) gravity: Vector3<f64>,
}

impl Bench {
    pub(crate) fn new(tree: RigidTree, dt: f64, gravity: Vector3<f64>) -> Self {
        Self {
            step: tree.new_step(),
            solver: SolverKind::Newton.build(StopCriteria::default()),
            factors: BlockFactors::default(),
            set: ConstraintSet::default(),
            solution: Solution::default(),
            next: BodyState::default(),
            state: tree.default_state(),
            control: tree.default_control(),
            tree,
            dt,
            integration: Integration::default(),
            gravity,
        }
    }

    /// Sets the solver tolerance to rounding.
    pub(crate) fn tighten(&mut self) {
        self.solver = SolverKind::Newton.build(StopCriteria {
            relative_tolerance: 1e-13,
            ..StopCriteria::default()
        });
    }

    pub(crate) fn tree(&self) -> &RigidTree {
        &self.tree
    }

    /// One step.
    pub(crate) fn step(&mut self) {
        let input = StepInput {
            time_step: TimeStep {
                length_s: self.dt,
                integration: self.integration,
            },
            gravity: self.gravity,
            control: &self.control,
        };
        self.step.begin(&self.state, &input).expect("a legal state");
        self.step.linearise_start(&mut Vec::new()).expect("always");
        let dynamics = [self.step.dynamics()];
        self.factors.factor(&dynamics).expect("positive definite");
        self.set.clear();
        let mut internal = self.set.internal(ParticipantIdx(0), &self.factors);
        self.step.constraints(&mut internal);
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &self.set,
        };
        let report = self
            .solver
            .solve(&problem, self.step.start_velocity(), &mut self.solution)
            .expect("a convex problem");
        assert!(report.is_trusted(), "{report:?}");
        let _ = self
            .step
            .advance(&self.solution.velocity, &mut self.next)
            .expect("always");
        std::mem::swap(&mut self.state, &mut self.next);
    }

    pub(crate) fn steps(&mut self, n: usize) {
        for _ in 0..n {
            self.step();
        }
    }

    /// Force of the rows of this kind on degree of freedom `dof` in the last step, N or N·m; `None` without such a row.
    pub(crate) fn row_force(&self, kind: RowKind, dof: u32) -> Option<f64> {
        let sought = ConstraintLabel { kind, index: dof };
        let rows = (0..self.set.n_rows()).filter(|&r| self.set.row_label(RowIdx(r)) == sought);
        rows.map(|row| self.solution.row_impulse[row] / self.dt)
            .reduce(|sum, force| sum + force)
    }

    /// Joint reactions of the last step.
    pub(crate) fn reactions(&self) -> Vec<JointReaction> {
        let mut out = Vec::new();
        self.step.as_reactions().expect("offered").joint_reactions(
            &self.solution.velocity,
            &[],
            &mut out,
        );
        out
    }
}

/// A solid box of `mass` whose centre is at `com`.
pub(crate) fn brick(mass: f64, com: Vector3<f64>) -> SpatialInertia {
    let mut inertia = SpatialInertia::solid_box(mass, Vector3::new(0.1, 0.2, 0.3));
    inertia.com = com;
    inertia
}

/// A pendulum: a point mass of 1 kg at distance `length` from a revolute joint about y, hanging down at zero; the base is
/// fixed at the origin. `joint` may modify the joint.
pub(crate) fn pendulum(length: f64, joint: impl FnOnce(&mut JointSpec)) -> Arc<Model> {
    chain(&[length], joint)
}

/// A chain of point masses of 1 kg on links of the given lengths, with revolute joints about y.
pub(crate) fn chain(lengths: &[f64], joint: impl FnOnce(&mut JointSpec)) -> Arc<Model> {
    let mut builder = ModelBuilder::new("chain");
    builder.link(LinkSpec::new("link0", SpatialInertia::zero()));
    let mut first = Some(joint);
    let mut above = 0.0;
    for (i, &length) in lengths.iter().enumerate() {
        let mut mass = SpatialInertia::zero();
        mass.mass = 1.0;
        mass.com = Vector3::new(0.0, 0.0, -length);
        builder.link(LinkSpec::new(format!("link{}", i + 1), mass));
        let mut hinge = JointSpec::new(
            format!("hinge{i}"),
            JointKind::Revolute,
            format!("link{i}"),
            format!("link{}", i + 1),
        )
        .about(Vector3::y())
        .at(Isometry3::translation(0.0, 0.0, -above));
        if let Some(joint) = first.take() {
            joint(&mut hinge);
        }
        builder.joint(hinge);
        above = length;
    }
    Arc::new(builder.build().expect("a legal chain"))
}
