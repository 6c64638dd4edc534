//! Small contact problems of every kind, to try a solver on.

use nalgebra::Vector3;

use crate::constraint_set::{ConstraintLabel, ConstraintSet, RowKind};
use crate::dynamics::{DenseDynamics, Dynamics};
use crate::law::{
    Bilateral, ContactLaw, ContactParameters, Dissipation, Lagged, Limit, PdActuator, PdCommand,
    PdGains, Play, RowLaw, Sap, Similar,
};
use crate::participant::ParticipantIdx;
use crate::problem::ContactProblem;
use crate::rows::Rows;

/// The contact models.
#[derive(Clone, Copy, Debug)]
pub(super) enum Model {
    Lagged,
    Similar,
    Sap,
}

impl Model {
    const ALL: [Model; 3] = [Model::Lagged, Model::Similar, Model::Sap];

    pub(super) fn law(self, p: &ContactParameters, normal: Vector3<f64>) -> ContactLaw {
        match self {
            Model::Lagged => ContactLaw::Lagged(Lagged::new(p, normal, 0.1)),
            Model::Similar => ContactLaw::Similar(Similar::new(p, normal, 0.1)),
            Model::Sap => ContactLaw::Sap(Sap::new(p, normal)),
        }
    }
}

const DT: f64 = 0.01;

pub(super) fn parameters(phi: f64) -> ContactParameters {
    ContactParameters {
        time_step: DT.into(),
        signed_distance: phi,
        start_velocity: 0.0,
        stiffness: 1e4,
        dissipation: Dissipation::HuntCrossley(1.0),
        friction: 0.5,
        stiction_speed: 1e-3,
        inverse_inertia: 1.0,
        // δt² k w ≤ 4π²/β² = 1: what first-order solvers can do, too.
        near_rigid: std::f64::consts::TAU,
    }
}

/// A problem that owns its parts.
pub(super) struct Scene {
    pub(super) name: String,
    pub(super) bodies: Vec<DenseDynamics>,
    pub(super) constraints: ConstraintSet,
}

impl Scene {
    pub(super) fn all() -> Vec<Self> {
        let mut scenes = vec![Self::free(), Self::joints()];
        for model in Model::ALL {
            scenes.push(Self::masses(
                &format!("masses on a floor, {model:?}"),
                model,
                -1e-4,
            ));
            scenes.push(Self::stack(model));
            scenes.push(Self::box_on_box(model));
            scenes.push(Self::self_contact(model));
        }
        scenes
    }

    pub(super) fn with_problem<R>(&self, use_it: impl FnOnce(&ContactProblem<'_>) -> R) -> R {
        let dynamics: Vec<&dyn Dynamics> = self.bodies.iter().map(|d| d as &dyn Dynamics).collect();
        use_it(&ContactProblem {
            dynamics: &dynamics,
            constraints: &self.constraints,
        })
    }

    pub(super) fn n_dofs(&self) -> usize {
        self.bodies.iter().map(Dynamics::n_dofs).sum()
    }

    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            bodies: Vec::new(),
            constraints: ConstraintSet::default(),
        }
    }

    /// Adds a body with diagonal A and free velocity v*.
    fn body(&mut self, inertia: &[f64], free: &[f64]) -> ParticipantIdx {
        let n = inertia.len();
        let mut a = vec![0.0; n * n];
        for (i, m) in inertia.iter().enumerate() {
            a[i * n + i] = *m;
        }
        let b = inertia.iter().zip(free).map(|(m, v)| m * v).collect();
        self.bodies.push(DenseDynamics::new(a, b));
        ParticipantIdx(self.bodies.len() - 1)
    }

    fn free() -> Self {
        let mut scene = Self::new("no constraints");
        scene.body(&[1.0, 2.0, 3.0], &[0.3, -0.2, 0.0]);
        scene
    }

    /// Point masses thrown onto a floor that moves, one of them away from it, two of them alike: four islands.
    pub(super) fn masses(name: &str, model: Model, phi: f64) -> Self {
        let mut scene = Self::new(name);
        for free in [
            [1.0, 0.5, -0.1],
            [0.0, 0.0, -2.0],
            [0.3, 0.0, 1.0],
            [1.0, 0.5, -0.1],
        ] {
            let body = scene.body(&[1.0; 3], &free);
            let mut rows = Rows::default();
            rows.reset(3);
            rows.identity(0, 0, 3);
            let mut basis = scene.constraints.basis(3);
            basis.rows(body, &rows, 0, 1.0);
            let belt = Vector3::new(-0.2, 0.0, 0.0);
            basis.stencil_contact([1.0], None, belt, model.law(&parameters(phi), Vector3::z()));
        }
        scene
    }

    /// Three point masses one on the other, each sliding.
    fn stack(model: Model) -> Self {
        let mut scene = Self::new(&format!("stack, {model:?}"));
        let normal = Vector3::new(0.0, 0.6, 0.8);
        for (mass, speed) in [(0.5, 0.3), (2.0, -0.4), (1.0, 0.8)] {
            scene.body(&[mass; 3], &[speed, 0.1, -0.3]);
        }
        for upper in 0..3 {
            let mut rows = Rows::default();
            rows.reset(3);
            rows.identity(0, 0, 3);
            let mut basis = scene.constraints.basis(3);
            basis.rows(ParticipantIdx(upper), &rows, 0, 1.0);
            if upper > 0 {
                basis.rows(ParticipantIdx(upper - 1), &rows, 0, -1.0);
            }
            basis.stencil_contact(
                [1.0],
                None,
                Vector3::zeros(),
                model.law(&parameters(-1e-3), normal),
            );
        }
        scene
    }

    /// Two free bodies that touch in five points of one face: a relative twist.
    fn box_on_box(model: Model) -> Self {
        let mut scene = Self::new(&format!("box on box, {model:?}"));
        let inertia = [0.02, 0.03, 0.04, 1.0, 1.0, 1.0];
        scene.body(&inertia, &[0.5, -0.3, 1.0, 0.4, 0.0, -0.3]);
        scene.body(&inertia.map(|m| 3.0 * m), &[0.0, 0.1, 0.0, 0.0, 0.0, 0.1]);
        let mut rows = Rows::default();
        rows.reset(6);
        rows.identity(0, 0, 6);
        let mut basis = scene.constraints.basis(6);
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        basis.rows(ParticipantIdx(1), &rows, 0, -1.0);
        let p = ContactParameters {
            inverse_inertia: 2.0,
            stiffness: 2e3,
            ..parameters(-2e-4)
        };
        for (x, y) in [
            (0.1, 0.1),
            (-0.1, 0.1),
            (0.1, -0.1),
            (-0.1, -0.1),
            (0.0, 0.0),
        ] {
            let law = model.law(&p, Vector3::z());
            basis.twist_contact(Vector3::new(x, y, -0.1), Vector3::zeros(), law);
        }
        scene
    }

    /// Two ends of one chain of masses touch: one participant twice in a contact.
    fn self_contact(model: Model) -> Self {
        let mut scene = Self::new(&format!("self-contact, {model:?}"));
        let n: usize = 9;
        let body = scene.body(&[1.0; 9], &[0.5, 0.0, -0.4, 0.0, 0.1, 0.0, -0.3, 0.2, 0.6]);
        let (a, b) = scene.bodies[0].parts_mut();
        for i in 0..n {
            for j in [i.checked_sub(3), Some(i + 3).filter(|j| *j < n)]
                .into_iter()
                .flatten()
            {
                a[i * n + i] += 0.4;
                a[i * n + j] -= 0.4;
            }
        }
        b[4] = 0.2;
        let mut rows = Rows::default();
        rows.reset(6);
        rows.identity(0, 0, 3);
        rows.identity(3, 6, 3);
        let mut basis = scene.constraints.basis(6);
        basis.rows(body, &rows, 0, 1.0);
        let law = model.law(&parameters(1e-4), Vector3::new(0.8, 0.0, 0.6));
        basis.stencil_contact([-1.0, 1.0], None, Vector3::zeros(), law);
        scene
    }

    /// A chain of joints with a limit, an actuator that saturates and one that does not, a coupler and dry friction.
    fn joints() -> Self {
        let mut scene = Self::new("joints");
        let n = 5;
        let body = scene.body(&[1.0, 2.0, 0.5, 1.0, 1.5], &[-1.0, 0.4, 0.3, -0.2, 0.05]);
        let (a, _) = scene.bodies[0].parts_mut();
        for i in 1..n {
            a[i * n + i - 1] = 0.2;
            a[(i - 1) * n + i] = 0.2;
        }
        let gains = |effort_limit| PdGains {
            proportional: 200.0,
            derivative: 2.0,
            effort_limit,
        };
        let command = PdCommand {
            position_error: -0.3,
            velocity: 0.1,
            feed_forward: 1.0,
        };
        let limit = Limit::near_rigid(DT, 0.002, 1.0);
        let play = Play::near_rigid(DT, 0.001, 0.004, 1.5);
        let actuator = |e| RowLaw::PdActuator(PdActuator::new(DT, gains(e), command, 1.0));
        let coupler = Bilateral::spring(DT, 0.01, 1e4, 0.0, 1.5);
        let friction = Bilateral::dry_friction(0.02, 1e-2);
        let mut row = |terms: &[(usize, f64)], law: RowLaw| {
            let mut rows = Rows::default();
            rows.reset(1);
            for &(dof, coefficient) in terms {
                rows.dense(0, 1, dof, 1)[0] = coefficient;
            }
            let mut basis = scene.constraints.basis(1);
            basis.rows(body, &rows, 0, 1.0);
            basis.coordinate(
                0,
                law,
                ConstraintLabel {
                    kind: RowKind::Other,
                    index: 0,
                },
            );
        };
        row(&[(0, 1.0)], RowLaw::Limit(limit));
        row(&[(0, 1.0), (4, 0.5)], RowLaw::Play(play));
        row(&[(1, 1.0)], actuator(5.0));
        row(&[(2, 1.0)], actuator(f64::INFINITY));
        row(&[(2, 1.0), (3, -2.0)], RowLaw::Bilateral(coupler));
        row(&[(3, 1.0)], RowLaw::Bilateral(friction));
        row(&[(4, 1.0)], RowLaw::Bilateral(friction));
        scene
    }
}
