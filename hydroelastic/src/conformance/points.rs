//! Judges point contact.

use nalgebra::{Isometry3, Point3, Translation3};

use super::pair::{Pair, Side};
use super::random::SplitMix;
use super::{Trial, Violation};
use crate::{ContactChoice, ContactGeometry, ContactPoint, Shape};

/// Checks an implementation on pairs of rigid shapes that it knows. Returns the number of contacts that were examined.
///
/// # Errors
/// The first [`Violation`].
///
/// # Panics
/// Never.
pub fn check_rigid_pairs(
    geometry: &dyn ContactGeometry,
    pairs: &[(Shape, Shape)],
    trial: &Trial,
) -> Result<usize, Violation> {
    let mut random = SplitMix(trial.seed);
    let mut examined = 0;
    for (a, b) in pairs {
        let [a, b] = [a, b].map(|shape| Side { shape, patch: None });
        let pair = Pair::new(geometry, (a, b), (ContactChoice::Point, 1e-4));
        let tolerance = trial.tolerance * pair.size;
        let judge = Judge { pair, tolerance };
        for _ in 0..trial.poses {
            let X_WB = random.pose(judge.pair.size);
            if let Some(X_WA) = judge.touching_pose(&mut random, &X_WB)? {
                examined += judge.examine(&mut random, &X_WA, &X_WB)?;
            }
        }
    }
    Ok(examined)
}

struct Judge<'a> {
    pair: Pair<'a>,
    /// m.
    tolerance: f64,
}

impl Judge<'_> {
    /// A random pose of A, brought near B until it overlaps a little; `None` if the direction missed.
    fn touching_pose(
        &self,
        random: &mut SplitMix,
        X_WB: &Isometry3<f64>,
    ) -> Result<Option<Isometry3<f64>>, Violation> {
        let pair = &self.pair;
        let approach = pair.approach(random, X_WB);
        let goal = -1e-3 * pair.size;
        let depth = |s: f64| Ok(lowest(&pair.ask(&approach.at(s), X_WB)?));
        let (mut near, mut far) = (0.0, approach.reach);
        if depth(near)? > goal {
            return Ok(None);
        }
        if depth(far)? <= pair.query.margin {
            return pair.broken(
                "shapes far apart must not touch",
                format_args!("at a distance of {far} m"),
            );
        }
        for _ in 0..40 {
            let middle = 0.5 * (near + far);
            if depth(middle)? <= goal {
                near = middle
            } else {
                far = middle
            }
        }
        Ok(Some(approach.at(near)))
    }

    fn examine(
        &self,
        random: &mut SplitMix,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<usize, Violation> {
        let pair = &self.pair;
        let found = pair.examined(X_WA, X_WB)?;
        for c in &found {
            self.one_point(c, X_WA, X_WB)?;
        }
        let Some(deepest) = found
            .iter()
            .min_by(|c, d| c.signed_distance.total_cmp(&d.signed_distance))
        else {
            return Ok(0);
        };
        let same = |other: f64| (other - deepest.signed_distance).abs() <= self.tolerance;
        let mirrored = lowest(&pair.ask_from_the_other_side(X_WA, X_WB)?);
        if !same(mirrored) {
            return self.pair.broken(
                "exchanging A and B must give the same depth",
                format_args!("{} and {mirrored}", deepest.signed_distance),
            );
        }
        let X = random.pose(3.0 * pair.size);
        let elsewhere = lowest(&pair.ask(&(X * X_WA), &(X * X_WB))?);
        if !same(elsewhere) {
            return self.pair.broken(
                "a common motion of both must not change the depth",
                format_args!("{} and {elsewhere}", deepest.signed_distance),
            );
        }
        // Out along the normal: by its depth and a little more than what other points of the patch may still overlap.
        let out = deepest.normal_W * (-1.5 * deepest.signed_distance + 2.0 * pair.query.margin);
        let apart = Translation3::from(out) * X_WA;
        let left = lowest(&pair.ask(&apart, X_WB)?);
        if left < -self.tolerance {
            return self.pair.broken(
                "A moved out along the normal must not overlap: normals point from B into A",
                format_args!("depth {} became {left}", deepest.signed_distance),
            );
        }
        Ok(found.len())
    }

    fn one_point(
        &self,
        c: &ContactPoint,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<(), Violation> {
        let stiffness = c.stiffness.of_pair(1.0);
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return self.pair.broken("shares must be positive", stiffness);
        }
        let (p_WA, p_WB) = (
            X_WA * Point3::from(c.a.offset),
            X_WB * Point3::from(c.b.offset),
        );
        let gap = c.normal_W.dot(&(p_WA - p_WB));
        if (gap - c.signed_distance).abs() > self.tolerance {
            return self.pair.broken(
                "the signed distance must be that of the material points along the normal",
                format_args!("{} and {gap}", c.signed_distance),
            );
        }
        let aside = (c.p_WC - nalgebra::center(&p_WA, &p_WB)).norm();
        if aside > self.tolerance {
            return self.pair.broken(
                "the place must lie between the material points",
                format_args!("{aside} m off"),
            );
        }
        Ok(())
    }
}

fn lowest(contacts: &[ContactPoint]) -> f64 {
    contacts
        .iter()
        .map(|c| c.signed_distance)
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests;
