//! Impacts within one step, in the coordinates of the contacts: gaps and normal velocities.
//!
//! Between impacts every gap is a parabola. An impact changes the normal velocities c by Wγ, with W = J A⁻¹Jᵀ and the impulses γ of the
//! contacts that touch and approach at that time:
//!
//! ```text
//! c⁺ = c⁻ + Wγ,    0 ≤ γ ⟂ c⁺ + e c⁻ ≥ 0
//! ```
//!
//! Contacts that touch without approaching have no impulse in it. They follow in the next impact, at the same time, if this one lets them
//! approach. So the balls of a cradle hand their velocity on one after the other, whether they touch or are a hair apart, and bodies that
//! arrive together are treated alike. Every impact dissipates Σ γ (1 − e)|c⁻|/2.
//!
//! Source: Smith, Kaufman, Vouga, Tamstorf, Grinspun (2012), "Reflections on simultaneous impact", section 4, with Newton's coefficient
//! of restitution.

mod mobility;

pub(crate) use mobility::{Mobility, NormalGradient};

/// Slower approaches end in resting contact, m/s.
const SPEED_MIN: f64 = 0.01;
/// Approaches of less than the velocity of this many steps of free fall end in resting contact.
const STEPS_OF_FALL: f64 = 2.0;
/// Impacts per contact in one step after which all are plastic.
const ELASTIC_IMPACTS_MAX: usize = 50;
/// Most sweeps over the contacts of one impact.
const SWEEPS_MAX: usize = 1000;
/// Largest change of velocity of the last sweep, relative to the largest velocity.
const SWEEP_TOLERANCE: f64 = 1e-13;

/// A contact at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Approach {
    /// m; zero where it is closed.
    pub(crate) gap: f64,
    /// Of the parabola on which the gap lies in free motion, m/s; negative where it closes.
    pub(crate) velocity: f64,
    /// Without impacts, m/s²; zero where the contact is at rest.
    pub(crate) acceleration: f64,
    /// e.
    pub(crate) restitution: f64,
}

/// What the impacts of a step did to one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rebound {
    /// Σ γ, N·s; zero without an impact.
    pub(crate) impulse: f64,
    /// Σ γ (δt − t), N·s²: moves the bodies by the end of the step as the impulses do.
    pub(crate) displacing_impulse: f64,
    /// At the end of the step, m.
    pub(crate) gap: f64,
    /// At the end of the step, m/s.
    pub(crate) velocity: f64,
    /// At the end of the step, m/s²; zero where the contact came to rest.
    pub(crate) acceleration: f64,
}

impl Approach {
    /// Closed contacts that hardly move are at rest.
    pub(crate) fn new(
        signed_distance: f64,
        velocity: f64,
        acceleration: f64,
        restitution: f64,
    ) -> Self {
        let rests = signed_distance <= 0.0 && velocity.abs() < SPEED_MIN;
        let moving = |x: f64| if rests { 0.0 } else { x };
        Self {
            gap: signed_distance.max(0.0),
            velocity: moving(velocity),
            acceleration: moving(acceleration),
            restitution,
        }
    }

    /// Whether an impact occurs within `time_step_s`.
    pub(crate) fn is_impact(&self, time_step_s: f64) -> bool {
        let time = time_of_touch(self.gap, self.velocity, self.acceleration);
        time.is_some_and(|time| {
            let speed = -(self.velocity + self.acceleration * time);
            time <= time_step_s && speed > self.speed_min(time_step_s)
        })
    }

    fn speed_min(&self, time_step_s: f64) -> f64 {
        SPEED_MIN.max(STEPS_OF_FALL * self.acceleration.abs() * time_step_s)
    }

    /// e at an approach of `speed`, m/s: zero where the rebound would end within the next step.
    fn restitution_at(&self, speed: f64, time_step_s: f64) -> f64 {
        let lasts = self.restitution * speed > self.acceleration.abs() * time_step_s;
        match speed > self.speed_min(time_step_s) && lasts {
            true => self.restitution,
            false => 0.0,
        }
    }
}

/// When the gap g + ct + at²/2 is next zero and decreasing, s.
fn time_of_touch(g: f64, c: f64, a: f64) -> Option<f64> {
    let squared = c * c - 2.0 * a * g;
    if squared <= 0.0 {
        return None;
    }
    let speed = squared.sqrt();
    match c < 0.0 {
        true => Some(2.0 * g / (speed - c)),
        false => (a < 0.0).then(|| (c + speed) / -a),
    }
}

/// The impacts of a step of `time_step_s`.
pub(crate) fn rebounds(
    approaches: &[Approach],
    mobility: &Mobility,
    time_step_s: f64,
) -> Vec<Rebound> {
    let mut sequence = Sequence {
        approaches,
        mobility,
        time_step_s,
        time_s: 0.0,
        rebounds: approaches
            .iter()
            .map(|a| Rebound {
                gap: a.gap,
                velocity: a.velocity,
                acceleration: a.acceleration,
                ..Rebound::default()
            })
            .collect(),
    };
    let elastic_max = ELASTIC_IMPACTS_MAX * approaches.len();
    for n in 0..2 * elastic_max {
        let Some(time) = sequence.next_touch() else {
            break;
        };
        sequence.coast(time);
        let law = match n < elastic_max {
            true => ImpactLaw::Newton,
            false => ImpactLaw::Plastic,
        };
        sequence.collide(law);
    }
    sequence.coast(time_step_s - sequence.time_s);
    sequence.rebounds
}

/// The law of one impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImpactLaw {
    /// Rebound by e.
    Newton,
    /// No rebound.
    Plastic,
}

struct Sequence<'a> {
    approaches: &'a [Approach],
    mobility: &'a Mobility,
    time_step_s: f64,
    time_s: f64,
    rebounds: Vec<Rebound>,
}

impl Sequence<'_> {
    /// Time until the next impact, s; `None` if there is none in this step.
    fn next_touch(&self) -> Option<f64> {
        let next = (self.rebounds.iter())
            .filter_map(|at| time_of_touch(at.gap, at.velocity, at.acceleration))
            .fold(f64::INFINITY, f64::min);
        (next <= self.time_step_s - self.time_s).then_some(next)
    }

    fn coast(&mut self, time: f64) {
        self.time_s += time;
        for at in &mut self.rebounds {
            let next = at.gap + time * (at.velocity + 0.5 * at.acceleration * time);
            // What touches now has a gap of round-off.
            let round_off = 1e-12 * (at.gap + time * at.velocity.abs());
            at.gap = if next <= round_off { 0.0 } else { next };
            at.velocity += at.acceleration * time;
        }
    }

    /// One impact of all contacts that touch and approach.
    fn collide(&mut self, law: ImpactLaw) {
        let struck: Vec<(usize, f64)> = (self.rebounds.iter().enumerate())
            .filter(|(_, at)| at.gap <= 0.0 && at.velocity < 0.0)
            .map(|(i, at)| {
                let speed = -at.velocity;
                let e = self.approaches[i].restitution_at(speed, self.time_step_s);
                match law {
                    ImpactLaw::Newton => (i, e * speed),
                    ImpactLaw::Plastic => (i, 0.0),
                }
            })
            .collect();
        let scale = struck
            .iter()
            .map(|(i, _)| self.rebounds[*i].velocity.abs())
            .fold(0.0, f64::max);
        let mut impulses = vec![0.0; struck.len()];
        for _ in 0..SWEEPS_MAX {
            let mut largest = 0.0_f64;
            for ((i, target), impulse) in struck.iter().zip(&mut impulses) {
                let response = self.mobility.own(*i);
                let off = target - self.rebounds[*i].velocity;
                let next = (*impulse + off / response).max(0.0);
                let change = next - *impulse;
                *impulse = next;
                largest = largest.max(change.abs() * response);
                for (j, w) in self.mobility.row(*i) {
                    self.rebounds[j].velocity += w * change;
                }
            }
            if largest <= SWEEP_TOLERANCE * scale {
                break;
            }
        }
        let left = self.time_step_s - self.time_s;
        for ((i, target), impulse) in struck.into_iter().zip(impulses) {
            let at = &mut self.rebounds[i];
            at.impulse += impulse;
            at.displacing_impulse += impulse * left;
            if impulse > 0.0 {
                at.velocity = target;
            }
            at.velocity = at.velocity.max(0.0);
            if at.velocity == 0.0 {
                at.acceleration = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
