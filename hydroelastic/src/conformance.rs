//! Conformance tests for implementations of [`ContactGeometry`].
//!
//! For every pair of shapes, random poses with a small overlap are generated, and the contacts found there are checked:
//! unit normals that point from B into A, signed distances that agree with the material points, the same contact with A
//! and B exchanged and in another frame, bit-identical results when repeated, unique keys, and no contact after A has
//! been moved away.
//!
//! [`check_rigid_pairs`] checks point contact, [`check_patch_pairs`] patch contact.

mod patches;

use std::fmt;

pub use patches::{PatchBody, check_patch_pairs};

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::{
    ContactChoice, ContactGeometry, ContactPoint, ContactWorkspace, Posed, Primitive, Query,
    RigidShape, Shape,
};

/// A violated requirement: which, where, and by how much.
///
/// ```
/// use pliant_hydroelastic::conformance::{Trial, check_rigid_pairs};
/// use pliant_hydroelastic::{ContactGeometry, ContactPoint, ContactWorkspace, GeometryError, PointContact, Posed, Query, Shape};
///
/// /// Point contact that forgets the length of its normals.
/// struct Careless;
/// impl ContactGeometry for Careless {
///     fn collide(
///         &self,
///         a: Posed<'_>,
///         b: Posed<'_>,
///         q: &Query,
///         w: &mut ContactWorkspace,
///         out: &mut Vec<ContactPoint>,
///     ) -> Option<Result<(), GeometryError>> {
///         let answer = PointContact.collide(a, b, q, w, out);
///         out.iter_mut().for_each(|contact| contact.normal_W *= 2.0);
///         answer
///     }
/// }
/// let pairs = [(Shape::sphere(0.1)?, Shape::half_space())];
/// let violation = check_rigid_pairs(&Careless, &pairs, &Trial::default()).unwrap_err();
/// assert_eq!(violation.to_string(), "sphere against half space: normals must have length one: 2");
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(String);

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Settings of a conformance test.
///
/// ```
/// use pliant_hydroelastic::conformance::{Trial, check_rigid_pairs};
/// use pliant_hydroelastic::{PointContact, Shape};
///
/// // Five poses of a ball on a floor, one contact each. The seed decides which.
/// let pairs = [(Shape::sphere(0.1)?, Shape::half_space())];
/// let examined = check_rigid_pairs(&PointContact, &pairs, &Trial { poses: 5, ..Trial::default() })?;
/// assert_eq!(examined, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Poses per pair of shapes.
    pub poses: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Required agreement of distances of the same contact computed in different frames or order, relative to the size
    /// of the smaller shape.
    pub tolerance: f64,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            poses: 20,
            seed: 1,
            tolerance: 1e-6, // iterative distances converge to about 1e-9
        }
    }
}

/// Checks an implementation on the pairs of rigid shapes that it supports. Returns the number of contacts examined.
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
        let size = match (a.size(), b.size()) {
            (x, y) if x > 0.0 && y > 0.0 => x.min(y),
            (x, y) => x.max(y),
        };
        let checker = Checker {
            geometry,
            a,
            b,
            query: Query {
                time_step_s: 1e-3,
                margin: 1e-4 * size,
                choice: ContactChoice::Point,
            },
            size,
            tolerance: trial.tolerance * size,
        };
        for _ in 0..trial.poses {
            let X_WB = random.pose(size);
            if let Some(X_WA) = checker.touching_pose(&mut random, &X_WB)? {
                examined += checker.examine(&mut random, &X_WA, &X_WB)?;
            }
        }
    }
    Ok(examined)
}

struct Checker<'a> {
    geometry: &'a dyn ContactGeometry,
    a: &'a Shape,
    b: &'a Shape,
    query: Query,
    size: f64,
    tolerance: f64,
}

impl Checker<'_> {
    fn violated<T>(&self, rule: &str, found: impl fmt::Display) -> Result<T, Violation> {
        Err(Violation(format!(
            "{} against {}: {rule}: {found}",
            self.a.name(),
            self.b.name()
        )))
    }

    fn contacts_of(
        &self,
        a: &Shape,
        X_WA: &Isometry3<f64>,
        b: &Shape,
        X_WB: &Isometry3<f64>,
    ) -> Result<Vec<ContactPoint>, Violation> {
        fn still<'s>(shape: &'s Shape, X_WG: &Isometry3<f64>) -> Posed<'s> {
            Posed::Rigid(RigidShape::at_rest(shape, *X_WG))
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

    /// A random pose of A with a small overlap with B; `None` if the direction missed.
    fn touching_pose(
        &self,
        random: &mut SplitMix,
        X_WB: &Isometry3<f64>,
    ) -> Result<Option<Isometry3<f64>>, Violation> {
        let radius = |s: &Shape| {
            Some(s.radius_about_origin())
                .filter(|r| r.is_finite())
                .unwrap_or(0.0)
        };
        let reach = 2.0 * (radius(self.a) + radius(self.b));
        // Half of the samples are aligned with B, so that faces are parallel.
        let (orientation, direction) = if random.next() > 0.0 {
            (random.rotation(), random.upper_unit())
        } else {
            (X_WB.rotation * random.quarter_turns(), Vector3::z())
        };
        let direction = X_WB.rotation * direction;
        // Off the centre, so that edges do not coincide exactly: several answers would be correct there.
        let aside =
            X_WB.rotation * Vector3::new(random.next(), random.next(), 0.0) * (0.1 * self.size);
        let at = |s: f64| {
            let shift = X_WB.translation.vector + aside + direction * s;
            Isometry3::from_parts(Translation3::from(shift), orientation)
        };
        let goal = -1e-3 * self.size;
        let depth = |s: f64| Ok(lowest(&self.contacts_of(self.a, &at(s), self.b, X_WB)?));
        let (mut near, mut far) = (0.0, reach);
        if depth(near)? > goal {
            return Ok(None);
        }
        if depth(far)? <= self.query.margin {
            return self.violated(
                "shapes far apart must not touch",
                format_args!("at a distance of {far} m"),
            );
        }
        for _ in 0..40 {
            let midpoint = 0.5 * (near + far);
            if depth(midpoint)? <= goal {
                near = midpoint
            } else {
                far = midpoint
            }
        }
        Ok(Some(at(near)))
    }

    fn examine(
        &self,
        random: &mut SplitMix,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<usize, Violation> {
        let found = self.contacts_of(self.a, X_WA, self.b, X_WB)?;
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
        if self.contacts_of(self.a, X_WA, self.b, X_WB)? != found {
            return self.violated(
                "repeated queries must give the same result",
                "the second result differs",
            );
        }
        let Some(deepest) = found
            .iter()
            .min_by(|c, d| c.signed_distance.total_cmp(&d.signed_distance))
        else {
            return Ok(0);
        };
        let same = |other: f64| (other - deepest.signed_distance).abs() <= self.tolerance;
        let mirrored = lowest(&self.contacts_of(self.b, X_WB, self.a, X_WA)?);
        if !same(mirrored) {
            return self.violated(
                "exchanging A and B must give the same depth",
                format_args!("{} and {mirrored}", deepest.signed_distance),
            );
        }
        let X = random.pose(3.0 * self.size);
        let elsewhere = lowest(&self.contacts_of(self.a, &(X * X_WA), self.b, &(X * X_WB))?);
        if !same(elsewhere) {
            return self.violated(
                "a common motion of both must not change the depth",
                format_args!("{} and {elsewhere}", deepest.signed_distance),
            );
        }
        // Outwards along the normal: by its depth and a little more than the remaining overlap of other points of the
        // patch.
        let out = deepest.normal_W * (-1.5 * deepest.signed_distance + 2.0 * self.query.margin);
        let apart = Translation3::from(out) * X_WA;
        let left = lowest(&self.contacts_of(self.a, &apart, self.b, X_WB)?);
        if left < -self.tolerance {
            return self.violated(
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
        if (c.normal_W.norm() - 1.0).abs() > 1e-9 {
            return self.violated("normals must have length one", c.normal_W.norm());
        }
        let stiffness = c.stiffness.of_pair(1.0);
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return self.violated("stiffness shares must be positive", stiffness);
        }
        if c.entry != 0.0 {
            return self.violated("overlapping shapes must have entry 0", c.entry);
        }
        if c.a.primitive != Primitive::Frame || c.b.primitive != Primitive::Frame {
            return self.violated(
                "material points of rigid shapes must be attached to their frames",
                format_args!("{c:?}"),
            );
        }
        let (p_WA, p_WB) = (
            X_WA * Point3::from(c.a.offset),
            X_WB * Point3::from(c.b.offset),
        );
        let gap = c.normal_W.dot(&(p_WA - p_WB));
        if (gap - c.signed_distance).abs() > self.tolerance {
            return self.violated(
                "the signed distance must be that of the material points along the normal",
                format_args!("{} and {gap}", c.signed_distance),
            );
        }
        let aside = (c.p_WC - nalgebra::center(&p_WA, &p_WB)).norm();
        if aside > self.tolerance {
            return self.violated(
                "the contact position must lie between the material points",
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

/// SplitMix64 (Steele, Lea and Flood 2014): sufficient for poses, without a dependency.
struct SplitMix(u64);

impl SplitMix {
    /// Uniform in [−1, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    /// A unit vector within 55° of z, so that moving along it leaves a half space.
    fn upper_unit(&mut self) -> Vector3<f64> {
        let v = self.vector();
        Vector3::new(v.x, v.y, v.z.abs() + 1.0).normalize()
    }

    fn rotation(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.vector() * std::f64::consts::PI)
    }

    /// A rotation that maps the axes onto each other.
    fn quarter_turns(&mut self) -> UnitQuaternion<f64> {
        [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().fold(
            UnitQuaternion::identity(),
            |q, axis| {
                let quarters = (2.0 * (self.next() + 1.0)).floor();
                UnitQuaternion::from_scaled_axis(axis * (quarters * std::f64::consts::FRAC_PI_2))
                    * q
            },
        )
    }

    fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        let shift = self.vector() * reach;
        Isometry3::from_parts(Translation3::from(shift), self.rotation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GeometryError, PointContact};

    fn shapes() -> Vec<Shape> {
        let mut shapes = crate::narrow_phase::tests::convex_shapes();
        let (vertices, triangles) = crate::test_support::l_shape();
        shapes.push(Shape::mesh(&vertices, &triangles).unwrap());
        shapes
    }

    #[test]
    fn point_contact_conforms_for_every_pair() {
        let mut pairs = Vec::new();
        for a in shapes() {
            pairs.push((a.clone(), Shape::half_space()));
            for b in shapes() {
                pairs.push((a.clone(), b));
            }
        }
        let examined = check_rigid_pairs(&PointContact, &pairs, &Trial::default()).unwrap();
        assert!(examined > 1000, "{examined}");
    }

    /// Our implementation with a mistake.
    struct Broken(fn(&mut ContactPoint));

    impl ContactGeometry for Broken {
        fn collide(
            &self,
            a: Posed<'_>,
            b: Posed<'_>,
            q: &Query,
            workspace: &mut ContactWorkspace,
            out: &mut Vec<ContactPoint>,
        ) -> Option<Result<(), GeometryError>> {
            let answer = PointContact.collide(a, b, q, workspace, out);
            out.iter_mut().for_each(self.0);
            answer
        }
    }

    #[track_caller]
    fn check_caught(mistake: fn(&mut ContactPoint), message: &str) {
        let boxes = [(
            Shape::cuboid(Vector3::new(0.2, 0.3, 0.4)).unwrap(),
            Shape::half_space(),
        )];
        let caught = check_rigid_pairs(&Broken(mistake), &boxes, &Trial::default()).unwrap_err();
        assert!(caught.to_string().contains(message), "{caught}");
    }

    #[test]
    fn mistakes_are_caught_and_named() {
        check_caught(|c| c.normal_W *= 1.01, "length one");
        check_caught(
            |c| c.signed_distance *= 1.1,
            "signed distance must be that of the material points",
        );
        check_caught(|c| c.key = crate::ContactKey(7), "keys");
        check_caught(
            |c| c.stiffness = crate::PointStiffness::Share(0.0),
            "shares",
        );
        check_caught(
            |c| {
                c.normal_W = -c.normal_W;
                std::mem::swap(&mut c.a.offset, &mut c.b.offset);
            },
            "material points",
        );
        check_caught(|c| c.p_WC.x += 0.1, "contact position");
    }
}
