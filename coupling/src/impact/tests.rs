//! Impacts against the mechanics of points on a line.

use pliant_contact_sap::{BlockFactors, DenseDynamics, Dynamics, ParticipantIdx};
use proptest::prelude::*;

use super::mobility::NormalGradient;
use super::*;

const G: f64 = 9.81;

/// W of the contacts between neighbours in a row of points; `None` is a wall.
fn row_of_points(masses: &[Option<f64>]) -> Mobility {
    let movable: Vec<f64> = masses.iter().flatten().copied().collect();
    let points: Vec<DenseDynamics> = (movable.iter())
        .map(|m| DenseDynamics::diagonal(&[*m], vec![0.0]))
        .collect();
    let dynamics: Vec<&dyn Dynamics> = points.iter().map(|p| p as &dyn Dynamics).collect();
    let mut factors = BlockFactors::default();
    factors.factor(&dynamics).unwrap();
    let mut participant = 0;
    let mut gradients = Vec::new();
    for (k, mass) in masses.iter().enumerate() {
        if mass.is_none() {
            continue;
        }
        let mut touch = |contact: usize, sign: f64| {
            gradients.push(NormalGradient {
                contact,
                participant: ParticipantIdx(participant),
                gradient: vec![sign],
            });
        };
        if k > 0 {
            touch(k - 1, 1.0);
        }
        if k + 1 < masses.len() {
            touch(k, -1.0);
        }
        participant += 1;
    }
    Mobility::new(masses.len() - 1, &gradients, &factors)
}

fn approach(gap: f64, velocity: f64, acceleration: f64, restitution: f64) -> Approach {
    Approach::new(gap, velocity, acceleration, restitution)
}

#[test]
fn a_falling_point_follows_two_parabolas() {
    let (g, v, e, dt) = (0.013, -2.0, 0.7, 0.01);
    let mobility = row_of_points(&[None, Some(3.0)]);
    let [found] = rebounds(&[approach(g, v, -G, e)], &mobility, dt)
        .try_into()
        .unwrap();
    // The time of the impact from the energy: v² + 2 G g is the squared speed on the ground.
    let speed = (v * v + 2.0 * G * g).sqrt();
    let left = dt - (speed + v) / G;
    assert!((found.velocity - (e * speed - G * left)).abs() < 1e-12);
    assert!((found.gap - (e * speed * left - 0.5 * G * left * left)).abs() < 1e-14);
    assert!((found.impulse - 3.0 * (1.0 + e) * speed).abs() < 1e-12);
    assert!((found.displacing_impulse - found.impulse * left).abs() < 1e-14);
}

#[test]
fn a_point_thrown_up_returns_to_the_ground() {
    let time = time_of_touch(0.2, 1.0, -G).unwrap();
    assert!((0.2 + time - 0.5 * G * time * time).abs() < 1e-15 && time > 0.0);
    assert_eq!(time_of_touch(0.2, 1.0, 0.0), None);
    assert_eq!(time_of_touch(0.2, -1.0, G), None); // turns back 15 cm above the ground
}

/// The velocities after equal balls in a row were hit by the first with 1 m/s.
fn cradle(gap: f64, e: f64) -> Vec<f64> {
    let n = 5;
    let mobility = row_of_points(&vec![Some(0.4); n]);
    let mut approaches = vec![approach(gap, 0.0, 0.0, e); n - 1];
    approaches[0].velocity = -1.0;
    let found = rebounds(&approaches, &mobility, 0.01);
    // Momentum: Σ v = 1; differences: the velocities of the contacts.
    let mut v = vec![0.0; n];
    for k in 1..n {
        v[k] = v[k - 1] + found[k - 1].velocity;
    }
    let mean = v.iter().sum::<f64>() / n as f64;
    v.iter().map(|v| v - mean + 1.0 / n as f64).collect()
}

#[test]
fn the_last_ball_of_a_cradle_leaves_with_the_speed_of_the_first() {
    for gap in [0.0, 1e-6, 1e-4] {
        let v = cradle(gap, 1.0);
        assert!((v[4] - 1.0).abs() < 1e-12, "{v:?}");
        assert!(v[..4].iter().all(|v| v.abs() < 1e-12), "{v:?}");
    }
}

#[test]
fn a_dissipative_cradle_passes_on_half_of_one_plus_e_each_time() {
    let v = cradle(0.0, 0.9);
    assert!((v[4] - 0.95_f64.powi(4)).abs() < 1e-9, "{v:?}");
}

#[test]
fn slow_approaches_and_short_rebounds_are_plastic() {
    let mobility = row_of_points(&[None, Some(1.0)]);
    let slow = approach(1e-5, -0.15, -G, 0.9);
    assert!(!slow.is_impact(0.01) && slow.is_impact(1e-3));
    // Rebounds at 0.08 m/s, which gravity ends in 16 ms.
    let short = approach(1e-5, -0.4, -G, 0.2);
    assert!(short.is_impact(0.01));
    let found = rebounds(&[short], &mobility, 0.01)[0];
    assert_eq!((found.gap, found.velocity), (0.0, 0.0));
    let rests = approach(-1e-4, -1e-3, -G, 0.9);
    assert!(!rests.is_impact(1e-6));
}

proptest! {
    #[test]
    fn impacts_keep_momentum_and_gain_no_energy(
        masses in prop::collection::vec(0.1..10.0f64, 2..7),
        seed in prop::collection::vec((0.0..2e-3f64, -2.0..2.0f64, 0.0..=1.0f64), 6),
    ) {
        let n = masses.len();
        let points: Vec<Option<f64>> = masses.iter().map(|m| Some(*m)).collect();
        let mobility = row_of_points(&points);
        let mut v = vec![0.0; n];
        let approaches: Vec<Approach> = (1..n).map(|k| {
            let (gap, velocity, e) = seed[k - 1];
            v[k] = v[k - 1] + velocity;
            approach(gap, velocity, 0.0, e)
        }).collect();
        let found = rebounds(&approaches, &mobility, 0.01);
        // The impulses act on the points.
        let mut after = v.clone();
        for (k, rebound) in found.iter().enumerate() {
            prop_assert!(rebound.impulse >= 0.0 && rebound.gap >= 0.0);
            prop_assert!(rebound.displacing_impulse <= 0.01 * rebound.impulse);
            after[k] -= rebound.impulse / masses[k];
            after[k + 1] += rebound.impulse / masses[k + 1];
        }
        let energy = |v: &[f64]| -> f64 { v.iter().zip(&masses).map(|(v, m)| 0.5 * m * v * v).sum() };
        prop_assert!(energy(&after) <= energy(&v) * (1.0 + 1e-9));
        for (k, rebound) in found.iter().enumerate() {
            let velocity = after[k + 1] - after[k];
            prop_assert!((velocity - rebound.velocity).abs() < 1e-8, "{velocity} {rebound:?}");
        }
        if approaches.iter().all(|a| a.restitution == 1.0) {
            prop_assert!((energy(&after) - energy(&v)).abs() < 1e-9 * energy(&v));
        }
    }
}
