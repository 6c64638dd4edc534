//! The friction bound of the lagged model: loads at rest, momentum in impacts.

use nalgebra::{DMatrix, DVector, Vector3};

use super::*;
use crate::law::Lagged;
use crate::potential::Potential;

const DT: f64 = 0.01;
const GRAVITY: f64 = -9.81;

fn contact(phi: f64, k: f64, d: f64, w: f64) -> ContactParameters {
    ContactParameters {
        time_step: DT.into(),
        signed_distance: phi,
        start_velocity: 0.0,
        stiffness: k,
        dissipation: Dissipation::HuntCrossley(d),
        friction: 0.5,
        stiction_speed: 1e-4,
        inverse_inertia: w,
        near_rigid: NEAR_RIGID_CONTACT,
    }
}

/// The velocity v of a mass with the contacts `laws`: m(v − v*) = Σ γ(v), by damped Newton to round-off.
fn velocity_after(mass: f64, v_free: Vector3<f64>, laws: &[Lagged]) -> Vector3<f64> {
    let cost = |v: &Vector3<f64>| {
        0.5 * mass * (v - v_free).norm_squared() + laws.iter().map(|l| l.cost(v)).sum::<f64>()
    };
    let mut v = v_free;
    for _ in 0..200 {
        let gamma: Vector3<f64> = laws.iter().map(|l| l.impulse(&v)).sum();
        let gradient = (v - v_free) * mass - gamma;
        if gradient.norm() <= 1e-13 * mass * v_free.norm() {
            break;
        }
        let mut h = Matrix3::identity() * mass;
        for law in laws {
            h += law.hessian(&v);
        }
        let step = h
            .cholesky()
            .expect("A + G is positive definite")
            .solve(&-gradient);
        let mut alpha = 1.0;
        while cost(&(v + step * alpha)) > cost(&v) && alpha > 1e-12 {
            alpha *= 0.5;
        }
        v += step * alpha;
    }
    v
}

/// Result of an impact: normal and tangential velocity change, and the remaining tangential speed.
struct Impact {
    normal: f64,
    tangential: f64,
    left: f64,
}

#[derive(Clone, Copy)]
enum Detection {
    /// A contact exists if the step would lead to penetration.
    Swept,
    /// A contact exists if there is penetration.
    Penetrating,
}

/// A point mass under 45° onto the floor, on `points` equal contacts, for a tenth of a second.
fn impact(
    speed: f64,
    k: f64,
    d: f64,
    gap: f64,
    points: usize,
    by: Detection,
    rule: FrictionLimit,
) -> Impact {
    let mass = 0.1;
    let mut v = Vector3::new(speed, 0.0, -speed);
    let mut phi = gap * speed * DT;
    let mut constrained = 0.0;
    let mut total = Impact {
        normal: 0.0,
        tangential: 0.0,
        left: 0.0,
    };
    for _ in 0..10 {
        let v_free = v + Vector3::z() * (GRAVITY * DT);
        let is_active = match by {
            Detection::Swept => phi + DT * v_free.z < 0.0,
            Detection::Penetrating => phi < 0.0,
        };
        let mut laws = Vec::new();
        if is_active {
            let p = ContactParameters {
                start_velocity: v.z,
                ..contact(phi, k, d, 1.0 / mass)
            };
            let predicted = NormalPrediction {
                free: v_free.z,
                constrained: Some(constrained),
                row_sum: points as f64 / mass,
            };
            let n0 = p.friction_limit(rule, &predicted);
            laws.resize(points, Lagged::new(&p, Vector3::z(), n0));
        }
        v = velocity_after(mass, v_free, &laws);
        constrained = v.z - v_free.z;
        phi += DT * v.z;
        total.normal += v.z - v_free.z;
        total.tangential += v_free.x - v.x;
    }
    total.left = v.x / speed;
    total
}

#[test]
fn friction_in_an_impact_is_coulombs_share_of_the_momentum() {
    for k in [1e3, 1e4, 1e5, f64::INFINITY] {
        for d in [0.0, 10.0] {
            for gap in [0.05, 0.3, 0.5, 0.8, 0.99] {
                for (by, points) in [
                    (Detection::Swept, 1),
                    (Detection::Penetrating, 1),
                    (Detection::Swept, 4),
                ] {
                    let i = impact(10.0, k, d, gap, points, by, FrictionLimit::LocalImplicit);
                    if i.left < 1e-3 {
                        continue; // came to rest: the cone no longer binds
                    }
                    // Softening reduces it by (ε/v_t)²/2, far below this tolerance.
                    let share = i.tangential / (0.5 * i.normal);
                    assert!(
                        (share - 1.0).abs() < 0.01,
                        "k {k}, d {d}, gap {gap}, {points}: {share}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_oblique_impact_leaves_half_the_tangential_speed_where_the_published_rule_sticks() {
    for gap in [0.1, 0.5, 0.9] {
        for (speed, weight_share) in [(10.0, 0.05), (30.0, 0.02)] {
            for by in [Detection::Swept, Detection::Penetrating] {
                let run = |rule| impact(speed, f64::INFINITY, 10.0, gap, 1, by, rule).left;
                let left = run(FrictionLimit::LocalImplicit);
                // Gravity adds μgt, a near-rigid rebound a few hundredths.
                assert!((left - 0.5).abs() < weight_share + 0.03, "{left}");
                assert!(run(FrictionLimit::Lagged) < 1e-3);
            }
        }
    }
}

#[test]
fn a_contact_that_has_not_closed_and_will_not_has_no_friction() {
    let p = ContactParameters {
        start_velocity: -1.0,
        ..contact(0.02, 1e6, 10.0, 2.0)
    };
    let predicted = NormalPrediction {
        free: -1.1,
        constrained: Some(0.0),
        row_sum: 2.0,
    };
    assert_eq!(
        p.friction_limit(FrictionLimit::LocalImplicit, &predicted),
        0.0
    );
    let fast = NormalPrediction {
        free: -5.0,
        ..predicted
    };
    assert!(p.friction_limit(FrictionLimit::LocalImplicit, &fast) > 0.0);
}

/// Boxes of 1 kg one on the other: contact i between box i − 1 (or the floor) and box i, normals only.
struct Stack {
    k: f64,
    phi: Vec<f64>,
    v: DVector<f64>,
    constrained: DVector<f64>,
}

impl Stack {
    fn relative(v: &DVector<f64>, i: usize) -> f64 {
        v[i] - if i == 0 { 0.0 } else { v[i - 1] }
    }

    fn contact(&self, i: usize) -> ContactParameters {
        let w = if i == 0 { 1.0 } else { 2.0 };
        ContactParameters {
            start_velocity: Self::relative(&self.v, i),
            ..contact(self.phi[i], self.k, 10.0, w)
        }
    }

    fn prediction(&self, i: usize, constrained: bool) -> NormalPrediction {
        let p = self.contact(i);
        NormalPrediction {
            free: p.start_velocity + if i == 0 { GRAVITY * DT } else { 0.0 },
            constrained: constrained.then(|| Self::relative(&self.constrained, i)),
            row_sum: p.inverse_inertia,
        }
    }

    fn step(&mut self) {
        let n = self.phi.len();
        let laws: Vec<_> = (0..n).map(|i| self.contact(i).normal_force()).collect();
        let free = self.v.map(|v| v + GRAVITY * DT);
        let mut v = self.v.clone();
        for _ in 0..100 {
            let mut gradient = &v - &free;
            let mut h = DMatrix::identity(n, n);
            for (i, law) in laws.iter().enumerate() {
                let u = Self::relative(&v, i);
                let (gamma, g) = (law.impulse(u), law.stiffness(u));
                gradient[i] -= gamma;
                h[(i, i)] += g;
                if i > 0 {
                    gradient[i - 1] += gamma;
                    h[(i - 1, i - 1)] += g;
                    h[(i, i - 1)] -= g;
                    h[(i - 1, i)] -= g;
                }
            }
            let step = h.cholesky().expect("positive definite").solve(&gradient);
            v -= &step;
            if step.norm() < 1e-16 {
                break;
            }
        }
        self.constrained = &v - free;
        for i in 0..n {
            self.phi[i] += DT * Self::relative(&v, i);
        }
        self.v = v;
    }
}

#[test]
fn a_stack_at_rest_keeps_its_load_as_friction_limit() {
    for (boxes, k) in [(1, 1e5), (1, f64::INFINITY), (10, 1e5), (10, f64::INFINITY)] {
        let mut stack = Stack {
            k,
            phi: vec![0.0; boxes],
            v: DVector::zeros(boxes),
            constrained: DVector::zeros(boxes),
        };
        for _ in 0..1000 {
            stack.step();
        }
        for i in 0..boxes {
            let load = (boxes - i) as f64 * -GRAVITY * DT;
            for constrained in [true, false] {
                let predicted = stack.prediction(i, constrained);
                let limit = stack
                    .contact(i)
                    .friction_limit(FrictionLimit::LocalImplicit, &predicted);
                assert!(
                    (limit / load - 1.0).abs() < 1e-6,
                    "box {i} of {boxes}, k {k}: {limit} for {load}"
                );
            }
        }
        if boxes == 10 && k.is_infinite() {
            // The prediction for the bottom contact from the free motion alone.
            let predicted = stack.prediction(0, true);
            let alone = stack
                .contact(0)
                .normal_force()
                .implicit_impulse(1.0, predicted.free, 0.0);
            assert!(alone < 0.2 * 10.0 * -GRAVITY * DT, "{alone}");
        }
    }
}

#[test]
fn a_kelvin_voigt_contact_recovers_the_impulse_of_the_last_step() {
    for dissipation in [
        Dissipation::RelaxationTime(0.05),
        Dissipation::HuntCrossley(3.0),
    ] {
        let before = ContactParameters {
            dissipation,
            ..contact(-2e-3, 1e4, 0.0, 0.5)
        };
        let v = -0.1;
        let after = ContactParameters {
            signed_distance: -2e-3 + DT * v,
            start_velocity: v,
            ..before
        };
        let (acted, carried) = (before.normal_force().impulse(v), after.carried_impulse());
        assert!(
            (acted - carried).abs() <= 1e-14 * acted,
            "{acted} {carried}"
        );
    }
}
