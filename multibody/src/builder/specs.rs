//! Links and joints as the builder takes them.

use nalgebra::{Isometry3, Vector3};

use crate::geometry::{Collision, Visual};
use crate::inertia::SpatialInertia;
use crate::joint::{Drive, JointKind, JointLimits, PassiveForces};

/// A link to be built.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name, unique in the model.
    pub name: String,
    /// Mass properties in the link frame.
    pub inertia: SpatialInertia,
    /// Shapes that touch.
    pub collisions: Vec<Collision>,
    /// Shapes that are seen.
    pub visuals: Vec<Visual>,
}

impl LinkSpec {
    /// A link without shapes.
    pub fn new(name: impl Into<String>, inertia: SpatialInertia) -> Self {
        Self {
            name: name.into(),
            inertia,
            collisions: Vec::new(),
            visuals: Vec::new(),
        }
    }
}

/// A joint to be built.
#[derive(Clone, Debug)]
pub struct JointSpec {
    /// Name, unique in the model.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link.
    pub child: String,
    /// Pose of the joint frame in the parent link's frame.
    pub X_PJ: Isometry3<f64>,
    /// Axis in the joint frame, of any nonzero length; joints without an axis don't read it.
    pub axis: Vector3<f64>,
    /// Bounds.
    pub limits: JointLimits,
    /// Damping, friction, spring.
    pub passive: PassiveForces,
    /// Rotor and gear.
    pub drive: Drive,
}

impl JointSpec {
    /// A joint at the parent's origin, about or along x (URDF's default axis), without limits, friction or drive.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        parent: impl Into<String>,
        child: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            parent: parent.into(),
            child: child.into(),
            X_PJ: Isometry3::identity(),
            axis: Vector3::x(),
            limits: JointLimits::default(),
            passive: PassiveForces::default(),
            drive: Drive::default(),
        }
    }

    /// The same joint at another pose.
    #[must_use]
    pub fn at(mut self, X_PJ: Isometry3<f64>) -> Self {
        self.X_PJ = X_PJ;
        self
    }

    /// The same joint with another axis.
    #[must_use]
    pub fn about(mut self, axis: Vector3<f64>) -> Self {
        self.axis = axis;
        self
    }
}
