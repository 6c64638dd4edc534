//! Specifications of links, joints, loops and tendons.

use nalgebra::{Isometry3, Vector3};

use crate::geometry::{Collision, Visual};
use crate::inertia::SpatialInertia;
use crate::joint::{Drive, JointKind, JointLimits, PassiveForces};
use crate::model::{LoopKind, PositionRange, TendonDrive, TendonSpring};

/// Specification of a link.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_multibody::{LinkSpec, ModelBuilder, SpatialInertia};
///
/// let mut builder = ModelBuilder::new("two of one name");
/// builder.link(LinkSpec::new("crate", SpatialInertia::solid_box(3.0, Vector3::new(0.4, 0.3, 0.2))));
/// builder.link(LinkSpec::new("crate", SpatialInertia::zero()));
/// assert!(builder.build().unwrap_err().to_string().contains("link \"crate\" is defined twice"));
/// ```
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name, unique in the model.
    pub name: String,
    /// Mass properties in the link frame.
    pub inertia: SpatialInertia,
    /// Collision shapes.
    pub collisions: Vec<Collision>,
    /// Visual shapes.
    pub visuals: Vec<Visual>,
    /// Colour of the collision shapes where no visual shape can be shown: that of the first visual with one.
    pub rgba: Option<[f64; 4]>,
    /// Share of its weight that is carried for it, as `gravcomp` in MJCF files: 0 is none, 1 all of it, more is buoyant.
    pub gravity_compensation: f64,
}

impl LinkSpec {
    /// A link without shapes.
    pub fn new(name: impl Into<String>, inertia: SpatialInertia) -> Self {
        Self {
            name: name.into(),
            inertia,
            collisions: Vec::new(),
            visuals: Vec::new(),
            rgba: None,
            gravity_compensation: 0.0,
        }
    }
}

/// Specification of a joint.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, PositionKinematics, SpatialInertia};
/// use pliant_multibody::{JointKind, JointSpec};
///
/// // A drawer that slides along y, 0.5 m above the origin of its cabinet.
/// let slide = JointSpec::new("slide", JointKind::Prismatic, "cabinet", "drawer")
///     .at(Isometry3::translation(0.0, 0.0, 0.5))
///     .about(Vector3::y());
/// # let mut builder = ModelBuilder::new("cabinet");
/// # builder.link(LinkSpec::new("cabinet", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("drawer", SpatialInertia::solid_box(1.0, Vector3::repeat(0.3))));
/// # builder.joint(slide);
/// # let model = builder.build()?;
/// # let mut positions = PositionKinematics::new(&model);
/// positions.update(&model, &[0.2]);
/// let drawer = model.link_named("drawer")?;
/// assert_eq!(positions.link_position(&model, drawer), Vector3::new(0.0, 0.2, 0.5));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointSpec {
    /// Name, unique in the model.
    pub name: String,
    /// Kind of joint.
    pub kind: JointKind,
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link.
    pub child: String,
    /// Pose of the joint frame in the parent link's frame.
    pub X_PJ: Isometry3<f64>,
    /// Axis in the joint frame, of any nonzero length; ignored by joints without an axis.
    pub axis: Vector3<f64>,
    /// Limits.
    pub limits: JointLimits,
    /// Damping, dry friction and spring.
    pub passive: PassiveForces,
    /// Rotor, gear and gains.
    pub drive: Drive,
    /// Position in which the model starts: as many numbers as the joint has coordinates; `None` is the neutral position.
    pub initial: Option<Vec<f64>>,
}

impl JointSpec {
    /// A joint at the parent's origin with axis x (URDF's default), without limits, passive forces or drive.
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
            initial: None,
        }
    }

    /// Sets the pose of the joint frame in the parent.
    #[must_use]
    pub fn at(mut self, X_PJ: Isometry3<f64>) -> Self {
        self.X_PJ = X_PJ;
        self
    }

    /// Sets the axis.
    #[must_use]
    pub fn about(mut self, axis: Vector3<f64>) -> Self {
        self.axis = axis;
        self
    }
}

/// Specification of a constraint that closes a loop; [`LoopConstraint`](crate::LoopConstraint) has an example.
#[derive(Clone, Debug)]
pub struct LoopSpec {
    /// Name, unique among the loops of the model.
    pub name: String,
    /// What it prescribes.
    pub kind: LoopKind,
    /// Name of the link of A and pose of A in it, and the same for B.
    pub ends: [(String, Isometry3<f64>); 2],
}

/// Specification of a fixed tendon; [`Tendon`](crate::Tendon) has an example of one in a file.
#[derive(Clone, Debug)]
pub struct TendonSpec {
    /// Name, unique among the tendons and joints of the model.
    pub name: String,
    /// Names of joints of one degree of freedom, and their coefficients.
    pub terms: Vec<(String, f64)>,
    /// Limits of the length.
    pub limits: PositionRange,
    /// Spring and damper.
    pub spring: TendonSpring,
    /// Drive.
    pub drive: TendonDrive,
}
