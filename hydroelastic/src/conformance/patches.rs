//! Conformance tests for patch contact: points with stiffness and depth that represent a pressure distribution.
//!
//! Checked are: finite numbers; unit normals that point from B into A; material points of both sides at the contact
//! position; unique keys; bit-identical results when repeated; the opposite wrench with A and B exchanged and the
//! rotated one in another frame; a force that grows with the approach and has no jumps along a path.

use std::fmt;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::{SplitMix, Trial, Violation};
use crate::{
    ContactChoice, ContactGeometry, ContactPoint, ContactWorkspace, PatchGeometry, Posed,
    Primitive, Query, RigidShape, Shape,
};

/// A shape and its patch geometry.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::conformance::{PatchBody, Trial, check_patch_pairs};
/// use pliant_hydroelastic::{Compliance, PatchContact, PatchGeometry, Shape};
///
/// // A soft cube on a rigid floor conforms; a rigid cube has no patch with it.
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let soft = PatchBody { patch: PatchGeometry::compliant(&cube, &Compliance::default())?, shape: cube.clone() };
/// let rigid = PatchBody { patch: PatchGeometry::rigid(&cube, 0.1)?, shape: cube };
/// let ground = PatchBody { patch: PatchGeometry::rigid(&floor, 0.1)?, shape: floor };
/// let trial = Trial { poses: 2, ..Trial::default() };
/// assert!(check_patch_pairs(&PatchContact, &[(soft, ground.clone())], &trial)? > 0);
/// let violation = check_patch_pairs(&PatchContact, &[(rigid, ground)], &trial).unwrap_err();
/// assert!(violation.to_string().starts_with("box (rigid surface) against half space (rigid half space): "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PatchBody {
    /// The shape, in its own frame.
    pub shape: Shape,
    /// Its field or surface, in the same frame.
    pub patch: PatchGeometry,
}

/// Largest jump of the elastic force along a path, relative to its largest value there.
const JUMP: f64 = 1e-4;
const SAMPLES: usize = 40;

/// Checks an implementation at random poses on pairs of rigid bodies that have patches; in a pair with a half space,
/// the half space comes second. Forces of the same contact computed in different frames or order must agree to the
/// tolerance relative to the sum of their magnitudes. Returns the number of contact points examined.
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
        let checker = Checker {
            geometry,
            a,
            b,
            query: Query {
                time_step_s: 1e-3,
                margin: 0.0,
                choice: ContactChoice::Patch,
            },
            size: match (a.shape.size(), b.shape.size()) {
                (x, y) if x > 0.0 && y > 0.0 => x.min(y),
                (x, y) => x.max(y),
            },
            tolerance: trial.tolerance,
        };
        for _ in 0..trial.poses {
            let X_WB = random.pose(checker.size);
            if let Some(X_WA) = checker.touching_pose(&mut random, &X_WB)? {
                examined += checker.examine(&mut random, &X_WA, &X_WB)?;
                checker.follow(&mut random, &X_WA, &X_WB)?;
            }
        }
    }
    Ok(examined)
}

struct Checker<'a> {
    geometry: &'a dyn ContactGeometry,
    a: &'a PatchBody,
    b: &'a PatchBody,
    query: Query,
    size: f64,
    tolerance: f64,
}

/// Sum of the elastic forces on A, world frame, moment about the origin.
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
            // Points without a stiffness of their own are kept, so that the check can report them.
            let load = (-c.stiffness.of_pair(1.0) * c.signed_distance).max(0.0);
            sum.load += load;
            sum.force += c.normal_W * load;
            sum.moment += c.p_WC.coords.cross(&(c.normal_W * load));
        }
        sum
    }
}

impl Checker<'_> {
    fn violated<T>(&self, rule: &str, found: impl fmt::Display) -> Result<T, Violation> {
        Err(Violation(format!(
            "{} ({}) against {} ({}): {rule}: {found}",
            self.a.shape.name(),
            self.a.patch.name(),
            self.b.shape.name(),
            self.b.patch.name()
        )))
    }

    fn contacts_of(
        &self,
        (a, X_WA): (&PatchBody, &Isometry3<f64>),
        (b, X_WB): (&PatchBody, &Isometry3<f64>),
    ) -> Result<Vec<ContactPoint>, Violation> {
        fn still<'s>(body: &'s PatchBody, X_WG: &Isometry3<f64>) -> Posed<'s> {
            Posed::Rigid(RigidShape {
                patch: Some(&body.patch),
                ..RigidShape::at_rest(&body.shape, *X_WG)
            })
        }
        let mut out = Vec::new();
        match self.geometry.collide(
            still(a, X_WA),
            still(b, X_WB),
            &self.query,
            &mut ContactWorkspace::default(),
            &mut out,
        ) {
            Some(Ok(())) => Ok(out),
            Some(Err(e)) => self.violated("finite poses must be accepted", e),
            None => self.violated("the pair must be supported", "None"),
        }
    }

    fn points(
        &self,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<Vec<ContactPoint>, Violation> {
        self.contacts_of((self.a, X_WA), (self.b, X_WB))
    }

    /// A random pose of A, moved towards B until they are in contact and a little further; `None` if the direction
    /// missed.
    fn touching_pose(
        &self,
        random: &mut SplitMix,
        X_WB: &Isometry3<f64>,
    ) -> Result<Option<Isometry3<f64>>, Violation> {
        let radius = |body: &PatchBody| {
            Some(body.shape.radius_about_origin())
                .filter(|r| r.is_finite())
                .unwrap_or(0.0)
        };
        let reach = 1.5 * (radius(self.a) + radius(self.b));
        // Half of the samples are aligned with B, so that faces are parallel.
        let (rotation, direction) = if random.next() > 0.0 {
            (random.rotation(), random.upper_unit())
        } else {
            (X_WB.rotation * random.quarter_turns(), Vector3::z())
        };
        let direction = X_WB.rotation * direction;
        let aside =
            X_WB.rotation * Vector3::new(random.next(), random.next(), 0.0) * (0.1 * self.size);
        let at = |s: f64| {
            let shift = X_WB.translation.vector + aside + direction * s;
            Isometry3::from_parts(Translation3::from(shift), rotation)
        };
        if Sum::of(&self.points(&at(2.0 * reach), X_WB)?).load > 0.0 {
            return self.violated(
                "bodies far apart must exert no force",
                format_args!("at a distance of {} m", 2.0 * reach),
            );
        }
        let step = 0.03 * self.size;
        let mut s = reach;
        while s > 0.0 {
            if Sum::of(&self.points(&at(s), X_WB)?).load > 0.0 {
                let deeper = 0.5 * (random.next() + 1.0) * step;
                return Ok(Some(at(s - deeper)));
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
        let found = self.points(X_WA, X_WB)?;
        for c in &found {
            self.one_point(c, X_WA, X_WB)?;
        }
        let mut keys: Vec<_> = found.iter().map(|c| c.key).collect();
        keys.sort_unstable();
        if let Some(duplicate) = keys.windows(2).find(|w| w[0] == w[1]) {
            return self.violated(
                "keys must tell the points of a pair apart",
                format_args!("{:?}", duplicate[0]),
            );
        }
        if self.points(X_WA, X_WB)? != found {
            return self.violated(
                "repeated queries must give the same result",
                "the second result differs",
            );
        }
        let sum = Sum::of(&found);
        let force_off = self.tolerance * sum.load;
        let reach = X_WA.translation.vector.norm() + self.size;
        let back = Sum::of(&self.contacts_of((self.b, X_WB), (self.a, X_WA))?);
        let off = (sum.force + back.force).norm();
        if off > force_off || (sum.moment + back.moment).norm() > force_off * reach {
            return self.violated(
                "exchanging A and B must give the opposite wrench",
                format_args!("{off} N of {} N left over", sum.load),
            );
        }
        let X = random.pose(3.0 * self.size);
        let elsewhere = Sum::of(&self.points(&(X * X_WA), &(X * X_WB))?);
        let off = (elsewhere.force - X.rotation * sum.force).norm();
        if off > force_off {
            return self.violated(
                "a common motion of both must rotate the force with it",
                format_args!("{off} N off of {} N", sum.load),
            );
        }
        // Net forces of a self-equilibrated pair, such as a ring on a peg, carry no information.
        if sum.force.norm() > 0.1 * sum.load {
            let direction = sum.force.normalize();
            let apart = Translation3::from(direction * (1e-3 * self.size)) * X_WA;
            let less = Sum::of(&self.points(&apart, X_WB)?);
            if less.force.dot(&direction) > sum.force.norm() + force_off {
                return self.violated(
                    "moving A along its contact force must reduce that force: normals point from B into A",
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
            return self.violated(
                "positions and distances must be finite",
                format_args!("{} and {}", c.p_WC, c.signed_distance),
            );
        }
        let off = (c.normal_W.norm() - 1.0).abs();
        if off.is_nan() || off > 1e-9 {
            return self.violated("normals must have length one", c.normal_W.norm());
        }
        let stiffness = c.stiffness.of_pair(0.0);
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return self.violated(
                "patch points must have a finite positive stiffness",
                stiffness,
            );
        }
        let Some(share) = c.patch_share(1.0) else {
            return self.violated(
                "patch points must carry their own stiffness",
                format_args!("{:?}", c.stiffness),
            );
        };
        if !(share.area >= 0.0 && share.area.is_finite() && share.pressure_max >= 0.0) {
            return self.violated(
                "areas and pressures must not be negative",
                format_args!("{share:?}"),
            );
        }
        if c.a.primitive != Primitive::Frame || c.b.primitive != Primitive::Frame {
            return self.violated(
                "material points of rigid shapes must be attached to their frames",
                format_args!("{c:?}"),
            );
        }
        for (X_WG, point) in [(X_WA, &c.a), (X_WB, &c.b)] {
            let off = (X_WG * Point3::from(point.offset) - c.p_WC).norm();
            if off.is_nan() || off > self.tolerance * self.size {
                return self.violated(
                    "both material points must be at the contact position",
                    format_args!("{off} m off"),
                );
            }
        }
        Ok(())
    }

    /// Moves A a little along a random path and looks for a jump of the elastic force: a difference that does not
    /// shrink as the path is bisected.
    fn follow(
        &self,
        random: &mut SplitMix,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<(), Violation> {
        let shift = random.vector() * (0.03 * self.size);
        let rotation = random.vector() * 0.1;
        let force = |s: f64| -> Result<Vector3<f64>, Violation> {
            let X = Isometry3::from_parts(
                Translation3::from(X_WA.translation.vector + shift * s),
                UnitQuaternion::from_scaled_axis(rotation * s) * X_WA.rotation,
            );
            Ok(Sum::of(&self.points(&X, X_WB)?).force)
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
            let midpoint = 0.5 * (low + high);
            let there = force(midpoint)?;
            if (there - at_low).norm() > (at_high - there).norm() {
                (high, at_high) = (midpoint, there);
            } else {
                (low, at_low) = (midpoint, there);
            }
        }
        let jump = (at_high - at_low).norm();
        if jump > JUMP * largest {
            return self.violated(
                "the elastic force must not jump along a path",
                format_args!("by {jump} N of {largest} N"),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
