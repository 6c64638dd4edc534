//! Random trees and states with every kind of joint, reproducible by a seed.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use pliant_multibody::{JointKind, JointSpec, LinkSpec, Model, ModelBuilder, Root, SpatialInertia};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn number(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    pub(crate) fn index(&mut self, below: usize) -> usize {
        self.0.random_range(0..below)
    }

    pub(crate) fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number(-1.0, 1.0))
    }

    pub(crate) fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number(-1.0, 1.0)).collect()
    }

    pub(crate) fn pose(&mut self) -> Isometry3<f64> {
        let rotation = UnitQuaternion::from_scaled_axis(self.vector() * 2.0);
        Isometry3::from_parts((self.vector() * 0.5).into(), rotation)
    }

    /// A physical inertia: an ellipsoid at a random pose.
    pub(crate) fn inertia(&mut self) -> SpatialInertia {
        let mass = self.number(0.2, 3.0);
        let radii = Vector3::from_fn(|_, _| self.number(0.05, 0.4));
        SpatialInertia::solid_ellipsoid(mass, radii).expressed_in(&self.pose())
    }

    /// A random tree with at least one joint of each kind.
    pub(crate) fn tree(&mut self, links: usize, root: Root) -> Model {
        let kinds = [
            JointKind::Revolute,
            JointKind::Prismatic,
            JointKind::Ball,
            JointKind::Fixed,
            JointKind::Planar,
            JointKind::Continuous,
            JointKind::Floating,
            JointKind::Screw { lead: -0.7 },
        ];
        let mut builder = ModelBuilder::new("random tree");
        builder.root(root);
        builder.link(LinkSpec::new("l0", self.inertia()));
        for i in 1..links {
            let parent = self.index(i);
            builder.link(LinkSpec::new(format!("l{i}"), self.inertia()));
            let kind = kinds[(i - 1) % kinds.len()];
            let joint =
                JointSpec::new(format!("j{i}"), kind, format!("l{parent}"), format!("l{i}"));
            builder.joint(joint.at(self.pose()).about(self.vector()));
        }
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A position with all joints away from zero.
    pub(crate) fn positions(&mut self, model: &Model) -> Vec<f64> {
        let mut q = model.neutral_positions();
        let v = self.numbers(model.n_v());
        model.integrate(&model.neutral_positions(), &v, 1.0, &mut q);
        q
    }
}

pub(crate) fn welded() -> Root {
    Root::Fixed(Isometry3::translation(0.3, -0.2, 0.9))
}

/// A slender chain of `n` revolute joints with varying axes.
pub(crate) fn chain(n: usize) -> Model {
    let mut builder = ModelBuilder::new("chain");
    builder.link(LinkSpec::new("l0", SpatialInertia::zero()));
    for i in 1..=n {
        let mut rod = SpatialInertia::solid_box(1.0, Vector3::new(0.05, 0.06, 0.3));
        rod.com = Vector3::new(0.0, 0.0, 0.15);
        builder.link(LinkSpec::new(format!("l{i}"), rod));
        let axis = Vector3::ith(i % 2, 1.0);
        let at = Isometry3::translation(0.0, 0.0, if i == 1 { 0.0 } else { 0.3 });
        let joint = JointSpec::new(
            format!("j{i}"),
            JointKind::Continuous,
            format!("l{}", i - 1),
            format!("l{i}"),
        );
        builder.joint(joint.at(at).about(axis));
    }
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Zero inertia, for links between joints.
pub(crate) fn massless() -> SpatialInertia {
    SpatialInertia::new(0.0, Vector3::zeros(), Matrix3::zeros())
}

pub(crate) const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Every entry agrees to `tolerance` of the largest, or of 1.
#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance * scale,
            "found {found:?}, expected {expected:?}"
        );
    }
}
