//! A pair on trial, and what all implementations promise of it.

use std::fmt;

use nalgebra::{Isometry3, Translation3, Vector3};

use super::Violation;
use super::random::SplitMix;
use crate::{
    ContactChoice, ContactGeometry, ContactPoint, PatchGeometry, Posed, Primitive, Query,
    RigidShape, Shape,
};

/// A shape and what it brings to patch contact, nothing in point contact.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) shape: &'a Shape,
    pub(super) patch: Option<&'a PatchGeometry>,
}

/// Two shapes and who finds their contact.
pub(super) struct Pair<'a> {
    geometry: &'a dyn ContactGeometry,
    pub(super) a: Side<'a>,
    pub(super) b: Side<'a>,
    pub(super) query: Query,
    /// Of the smaller shape, m; of the other if that one has none.
    pub(super) size: f64,
}

/// How far a pose of A is from B, at random: along a line past its middle.
pub(super) struct Approach {
    from: Isometry3<f64>,
    direction: Vector3<f64>,
    /// Both are apart from here on, m.
    pub(super) reach: f64,
}

impl Approach {
    /// A at the distance `s`, m.
    pub(super) fn at(&self, s: f64) -> Isometry3<f64> {
        Translation3::from(self.direction * s) * self.from
    }
}

impl Side<'_> {
    fn radius(&self) -> f64 {
        let radius = self.shape.radius_about_origin();
        if radius.is_finite() { radius } else { 0.0 }
    }
}

impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shape.name())?;
        match self.patch {
            Some(patch) => write!(f, " ({})", patch.name()),
            None => Ok(()),
        }
    }
}

impl<'a> Pair<'a> {
    /// `margin`: of the query, as a part of the size.
    pub(super) fn new(
        geometry: &'a dyn ContactGeometry,
        (a, b): (Side<'a>, Side<'a>),
        (choice, margin): (ContactChoice, f64),
    ) -> Self {
        let size = match (a.shape.size(), b.shape.size()) {
            (x, y) if x > 0.0 && y > 0.0 => x.min(y),
            (x, y) => x.max(y),
        };
        Self {
            geometry,
            a,
            b,
            query: Query {
                time_step_s: 1e-3,
                margin: margin * size,
                choice,
            },
            size,
        }
    }

    pub(super) fn broken<T>(&self, law: &str, found: impl fmt::Display) -> Result<T, Violation> {
        Err(Violation(format!(
            "{} against {}: {law}: {found}",
            self.a, self.b
        )))
    }

    fn answer(
        &self,
        (a, X_WA): (Side<'_>, &Isometry3<f64>),
        (b, X_WB): (Side<'_>, &Isometry3<f64>),
    ) -> Result<Vec<ContactPoint>, Violation> {
        fn still<'s>(side: Side<'s>, X_WG: &Isometry3<f64>) -> Posed<'s> {
            Posed::Rigid(RigidShape {
                patch: side.patch,
                ..RigidShape::still(side.shape, *X_WG)
            })
        }
        let mut out = Vec::new();
        match self
            .geometry
            .collide(still(a, X_WA), still(b, X_WB), &self.query, &mut out)
        {
            Some(Ok(())) => Ok(out),
            Some(Err(e)) => self.broken("finite poses must be accepted", e),
            None => self.broken("the pair must be known", "None"),
        }
    }

    pub(super) fn ask(
        &self,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<Vec<ContactPoint>, Violation> {
        self.answer((self.a, X_WA), (self.b, X_WB))
    }

    /// The same with A and B exchanged.
    pub(super) fn ask_from_the_other_side(
        &self,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<Vec<ContactPoint>, Violation> {
        self.answer((self.b, X_WB), (self.a, X_WA))
    }

    /// A random way of A to B; half of the time in line with B, so that faces meet.
    pub(super) fn approach(&self, random: &mut SplitMix, X_WB: &Isometry3<f64>) -> Approach {
        let (turn, direction) = if random.next() > 0.0 {
            (random.rotation(), random.upper_unit())
        } else {
            (X_WB.rotation * random.quarter_turns(), Vector3::z())
        };
        // Beside the middle, so that edges do not lie exactly on edges: there several answers are right.
        let aside = Vector3::new(random.next(), random.next(), 0.0) * (0.1 * self.size);
        let start = X_WB.translation.vector + X_WB.rotation * aside;
        Approach {
            from: Isometry3::from_parts(Translation3::from(start), turn),
            direction: X_WB.rotation * direction,
            reach: 2.0 * (self.a.radius() + self.b.radius()),
        }
    }

    /// What is found at a pose, after what holds for contact of every kind: keys, repetition, normals, whose points they are.
    pub(super) fn examined(
        &self,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> Result<Vec<ContactPoint>, Violation> {
        let found = self.ask(X_WA, X_WB)?;
        for c in &found {
            let off = (c.normal_W.norm() - 1.0).abs();
            if off.is_nan() || off > 1e-9 {
                return self.broken("normals must have length one", c.normal_W.norm());
            }
            if c.a.primitive != Primitive::Frame || c.b.primitive != Primitive::Frame {
                return self.broken(
                    "points of rigid shapes belong to their frames",
                    format_args!("{c:?}"),
                );
            }
            if c.entry != 0.0 {
                return self.broken("resting shapes have no later entry", c.entry);
            }
        }
        let mut keys: Vec<_> = found.iter().map(|c| c.key).collect();
        keys.sort_unstable();
        if let Some(twin) = keys.windows(2).find(|w| w[0] == w[1]) {
            return self.broken(
                "keys must tell the points of a pair apart",
                format_args!("{:?}", twin[0]),
            );
        }
        if self.ask(X_WA, X_WB)? != found {
            return self.broken(
                "the same question must have the same answer",
                "the second answer differs",
            );
        }
        Ok(found)
    }
}
