//! Judges patch contact: points with stiffness and depth that stand for pressures on an area.
//!
//! What a solver and a reader of forces rely on: finite numbers, unit normals that point from B into A, material points of both sides
//! at the place itself, keys that tell points apart, the same bits when asked again; the opposite wrench when told from the other
//! side, the turned one in another frame; a force that grows as bodies go together, and that has no jumps along a path.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::pair::{Pair, Side};
use super::random::SplitMix;
use super::{Trial, Violation};
use crate::{ContactChoice, ContactGeometry, ContactPoint, PatchGeometry, Shape};

/// A shape and what it brings to patch contact.
#[derive(Clone, Debug)]
pub struct PatchBody {
    /// The shape, in its own frame.
    pub shape: Shape,
    /// Its field or surface, in the same frame.
    pub patch: PatchGeometry,
}

/// Largest jump of the elastic force along a path, as a part of its largest value there.
const JUMP: f64 = 1e-4;
const SAMPLES: usize = 40;

/// Checks an implementation on pairs of rigid bodies that it gives patches, at random poses; a pair of which one is a half space has
/// it second. Forces of the same contact, computed in different frames or order, must agree to the trial's tolerance as a part of the
/// sum of their magnitudes. Returns the number of contact points that were examined.
///
/// # Errors
/// The first [`Violation`].
///
/// # Panics
/// Never.
pub fn check_patch_pairs(
    geometry: &dyn ContactGeometry,
    pairs: &[(PatchBody, PatchBody)],
    trial: &Trial,
) -> Result<usize, Violation> {
    let mut random = SplitMix(trial.seed);
    let mut examined = 0;
    for (a, b) in pairs {
        let [a, b] = [a, b].map(|body| Side {
            shape: &body.shape,
            patch: Some(&body.patch),
        });
        let judge = Judge {
            pair: Pair::new(geometry, (a, b), (ContactChoice::Patch, 0.0)),
            tolerance: trial.tolerance,
        };
        for _ in 0..trial.poses {
            let X_WB = random.pose(judge.pair.size);
            if let Some(X_WA) = judge.touching_pose(&mut random, &X_WB)? {
                examined += judge.examine(&mut random, &X_WA, &X_WB)?;
                judge.follow(&mut random, &X_WA, &X_WB)?;
            }
        }
    }
    Ok(examined)
}

struct Judge<'a> {
    pair: Pair<'a>,
    tolerance: f64,
}

/// Of the elastic forces on A, world frame, moment about the origin.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    force: Vector3<f64>,
    moment: Vector3<f64>,
    /// Sum of their magnitudes.
    load: f64,
}

impl Sum {
    fn of(points: &[ContactPoint]) -> Self {
        let mut sum = Self::default();
        for c in points {
            // Points without stiffness of their own are found, too, to be complained about.
            let load = (-c.stiffness.of_pair(1.0) * c.signed_distance).max(0.0);
            sum.load += load;
            sum.force += c.normal_W * load;
            sum.moment += c.p_WC.coords.cross(&(c.normal_W * load));
        }
        sum
    }
}

impl Judge<'_> {
    /// The sum at a pose.
    fn sum(&self, X_WA: &Isometry3<f64>, X_WB: &Isometry3<f64>) -> Result<Sum, Violation> {
        Ok(Sum::of(&self.pair.ask(X_WA, X_WB)?))
    }

    /// A random pose of A, brought near B from afar until it presses, and a little further; `None` if the direction missed.
    fn touching_pose(
        &self,
        random: &mut SplitMix,
        X_WB: &Isometry3<f64>,
    ) -> Result<Option<Isometry3<f64>>, Violation> {
        let approach = self.pair.approach(random, X_WB);
        let presses = |s: f64| Ok(self.sum(&approach.at(s), X_WB)?.load > 0.0);
        let far = 1.5 * approach.reach;
        if presses(far)? {
            return self.pair.broken(
                "bodies far apart must not press on each other",
                format_args!("at a distance of {far} m"),
            );
        }
        let step = 0.03 * self.pair.size;
        let mut s = 0.75 * approach.reach;
        while s > 0.0 {
            if presses(s)? {
                let deeper = 0.5 * (random.next() + 1.0) * step;
                return Ok(Some(approach.at(s - deeper)));
            }
            s -= step;
        }
        Ok(None)
    }

    fn examine(
        &self,
        random: &mut SplitMix,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<usize, Violation> {
        let found = self.pair.examined(X_WA, X_WB)?;
        for c in &found {
            self.one_point(c, X_WA, X_WB)?;
        }
        let sum = Sum::of(&found);
        let force_off = self.tolerance * sum.load;
        let reach = X_WA.translation.vector.norm() + self.pair.size;
        let back = Sum::of(&self.pair.ask_from_the_other_side(X_WA, X_WB)?);
        let off = (sum.force + back.force).norm();
        if off > force_off || (sum.moment + back.moment).norm() > force_off * reach {
            return self.pair.broken(
                "told from the other side the wrench must be the opposite one",
                format_args!("{off} N of {} N left over", sum.load),
            );
        }
        let X = random.pose(3.0 * self.pair.size);
        let elsewhere = self.sum(&(X * X_WA), &(X * X_WB))?;
        let off = (elsewhere.force - X.rotation * sum.force).norm();
        if off > force_off {
            return self.pair.broken(
                "a common motion of both must turn the force along",
                format_args!("{off} N off of {} N", sum.load),
            );
        }
        // Net forces of a pair that holds itself, as a ring on a peg, say nothing.
        if sum.force.norm() > 0.1 * sum.load {
            let direction = sum.force.normalize();
            let apart = Translation3::from(direction * (1e-3 * self.pair.size)) * X_WA;
            let less = self.sum(&apart, X_WB)?;
            if less.force.dot(&direction) > sum.force.norm() + force_off {
                return self.pair.broken(
                    "A moved along the force on it must be pressed less: normals point from B into A",
                    format_args!("{} N became {} N", sum.force.norm(), less.force.norm()),
                );
            }
        }
        Ok(found.len())
    }

    fn one_point(
        &self,
        c: &ContactPoint,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<(), Violation> {
        if !(c.p_WC.coords.sum() + c.signed_distance).is_finite() {
            return self.pair.broken(
                "places and distances must be finite",
                format_args!("{} and {}", c.p_WC, c.signed_distance),
            );
        }
        let stiffness = c.stiffness.of_pair(0.0);
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return self.pair.broken("a patch says how stiff it is", stiffness);
        }
        let Some(share) = c.patch_share(1.0) else {
            return self.pair.broken(
                "the points of a patch have stiffness of their own",
                format_args!("{:?}", c.stiffness),
            );
        };
        if !(share.area >= 0.0 && share.area.is_finite() && share.pressure_max >= 0.0) {
            return self.pair.broken(
                "areas and pressures must not be negative",
                format_args!("{share:?}"),
            );
        }
        for (X_WG, point) in [(X_WA, &c.a), (X_WB, &c.b)] {
            let off = (X_WG * Point3::from(point.offset) - c.p_WC).norm();
            if off.is_nan() || off > self.tolerance * self.pair.size {
                return self.pair.broken(
                    "the material points of a balance are at its place",
                    format_args!("{off} m off"),
                );
            }
        }
        Ok(())
    }

    /// Moves A a little along a random path and looks for a jump of the elastic force: what does not shrink where the path is halved
    /// again and again.
    fn follow(
        &self,
        random: &mut SplitMix,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<(), Violation> {
        let shift = random.vector() * (0.03 * self.pair.size);
        let turn = random.vector() * 0.1;
        let force = |s: f64| -> Result<Vector3<f64>, Violation> {
            let X = Isometry3::from_parts(
                Translation3::from(X_WA.translation.vector + shift * s),
                UnitQuaternion::from_scaled_axis(turn * s) * X_WA.rotation,
            );
            Ok(self.sum(&X, X_WB)?.force)
        };
        let step = 1.0 / SAMPLES as f64;
        let mut forces = Vec::with_capacity(SAMPLES + 1);
        for i in 0..=SAMPLES {
            forces.push(force(i as f64 * step)?);
        }
        let largest = forces.iter().map(Vector3::norm).fold(0.0, f64::max);
        let change = |i: usize| (forces[i + 1] - forces[i]).norm();
        let worst = (0..SAMPLES)
            .max_by(|&i, &j| change(i).total_cmp(&change(j)))
            .unwrap_or(0);
        let (mut low, mut high) = (worst as f64 * step, (worst + 1) as f64 * step);
        let (mut at_low, mut at_high) = (forces[worst], forces[worst + 1]);
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            let there = force(middle)?;
            if (there - at_low).norm() > (at_high - there).norm() {
                (high, at_high) = (middle, there);
            } else {
                (low, at_low) = (middle, there);
            }
        }
        let jump = (at_high - at_low).norm();
        if jump > JUMP * largest {
            return self.pair.broken(
                "the elastic force must not jump along a path",
                format_args!("by {jump} N of {largest} N"),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
