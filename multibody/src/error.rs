//! The error type of the crate.

use std::path::PathBuf;

use crate::markup::Place;

/// Why a model could not be read or built, or an operation failed.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{MultibodyError, RobotOptions, parse_robot};
///
/// let urdf = b"<robot name='r'>\n  <link name='base'/>\n  <link name='base'/>\n</robot>";
/// let error = parse_robot(urdf, Path::new("r.urdf"), &RobotOptions::default()).unwrap_err();
/// assert!(matches!(&error, MultibodyError::At { line: 3, .. }));
/// assert!(error.to_string().contains("link \"base\" is defined twice"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MultibodyError {
    /// An error at a line of a file.
    #[error("{}:{line}: {error}", file.display())]
    At {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1.
        line: u32,
        /// The error.
        error: Box<MultibodyError>,
    },
    /// An invalid actuator.
    #[error("actuator on joint \"{joint}\": {what}")]
    Actuator {
        /// Name of the joint.
        joint: String,
        /// The reason.
        what: String,
    },
    /// A file that could not be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A file that is not a valid robot description.
    #[error("{}: {text}", file.display())]
    NotUrdf {
        /// The file.
        file: PathBuf,
        /// The reason, with line and column if known.
        text: String,
    },
    /// An invalid element or attribute.
    #[error("{subject}: {text}")]
    Element {
        /// The element, such as `joint "j1"`.
        subject: String,
        /// The value, the allowed range and the remedy.
        text: String,
    },
    /// A model without links.
    #[error("robot \"{model}\" has no links; give it at least one <link>")]
    NoLinks {
        /// Name of the model.
        model: String,
    },
    /// Two links of one name.
    #[error("link \"{link}\" is defined twice; names of links must be unique")]
    DuplicateLink {
        /// The name.
        link: String,
    },
    /// Two joints of one name.
    #[error("joint \"{joint}\" is defined twice; names of joints must be unique")]
    DuplicateJoint {
        /// The name.
        joint: String,
    },
    /// A joint that refers to an unknown link.
    #[error(
        "joint \"{joint}\" refers to link \"{link}\", which is not in the model{}",
        suggestion(nearest)
    )]
    UnknownLink {
        /// The joint.
        joint: String,
        /// The unknown link.
        link: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A joint whose parent and child are the same link.
    #[error("joint \"{joint}\" connects link \"{link}\" to itself; parent and child must differ")]
    SelfJoint {
        /// The joint.
        joint: String,
        /// The link.
        link: String,
    },
    /// A link that is the child of two joints.
    #[error(
        "link \"{link}\" is the child of joints \"{first}\" and \"{second}\"; a link of a tree has one parent joint: remove one of them"
    )]
    TwoParents {
        /// The link.
        link: String,
        /// One joint.
        first: String,
        /// The other.
        second: String,
    },
    /// A loop that no positions of its joints close.
    #[error(
        "loop \"{name}\" is open by {distance_m:.4} m and {angle:.4} rad, and no positions of the joints that are left free close it; give other positions, or fewer of them"
    )]
    OpenLoop {
        /// The constraint that closes it.
        name: String,
        /// Distance of its two ends, m.
        distance_m: f64,
        /// Angle between them, rad.
        angle: f64,
    },
    /// A coupling that no positions of its joints satisfy.
    #[error(
        "joint \"{joint}\" is {error:.4} (rad or m) away from where its coupling puts it, and no positions of the joints that are left free satisfy it; give other positions, or fewer of them"
    )]
    BrokenCoupling {
        /// The joint that follows another.
        joint: String,
        /// Its distance, rad or m.
        error: f64,
    },
    /// A loop constraint that does not fit the model.
    #[error("loop \"{name}\": {reason}")]
    Loop {
        /// The constraint.
        name: String,
        /// The reason, and the remedy.
        reason: String,
    },
    /// A kinematic loop.
    #[error("links form a loop: {}; remove one of its joints and close the loop by a constraint", cycle.join(" - "))]
    Cycle {
        /// Names of the links around the loop, with the first repeated at the end.
        cycle: Vec<String>,
    },
    /// More than one link without a parent.
    #[error("links {} have no parent joint; a model has one root: connect them by joints, or load them as separate models",
        roots.iter().map(|r| format!("\"{r}\"")).collect::<Vec<_>>().join(" and "))]
    SeveralRoots {
        /// Names of the roots.
        roots: Vec<String>,
    },
    /// A value out of its range.
    #[error("{subject}: {quantity} = {value} {allowed}")]
    Value {
        /// The link or joint that it belongs to.
        subject: String,
        /// The quantity.
        quantity: String,
        /// Its value.
        value: String,
        /// The allowed range and the remedy.
        allowed: String,
    },
    /// A joint axis that is zero or not finite.
    #[error("joint \"{joint}\": axis = ({}, {}, {}) must be finite and nonzero", axis[0], axis[1], axis[2])]
    Axis {
        /// The joint.
        joint: String,
        /// The axis.
        axis: [f64; 3],
    },
    /// A lower joint limit above the upper one.
    #[error("joint \"{joint}\": lower limit {lower} is above upper limit {upper}; swap them")]
    LimitsSwapped {
        /// The joint.
        joint: String,
        /// Lower limit.
        lower: f64,
        /// Upper limit.
        upper: f64,
    },
    /// A rotational inertia with a negative eigenvalue.
    #[error(
        "link \"{link}\": the inertia has the negative principal moment {moment:.4e} kg m², but must be positive semidefinite; check the signs and the products of inertia"
    )]
    IndefiniteInertia {
        /// The link.
        link: String,
        /// Smallest principal moment, kg m².
        moment: f64,
    },
    /// A joint that moves no inertia: the mass matrix is singular.
    #[error(
        "joint \"{joint}\" moves link \"{link}\", but neither the link nor its descendants have inertia in that motion, so the mass matrix is singular; give the link mass and inertia, or the joint a rotor inertia"
    )]
    MasslessJoint {
        /// The joint.
        joint: String,
        /// Its child link.
        link: String,
    },
    /// An invalid coupling of joints.
    #[error("joint \"{joint}\" mimics joint \"{source_joint}\", {reason}")]
    Mimic {
        /// The coupled joint.
        joint: String,
        /// The joint it follows.
        source_joint: String,
        /// The reason.
        reason: String,
    },
    /// A mesh file that cannot be used.
    #[error("link \"{link}\": {text}")]
    Mesh {
        /// The link.
        link: String,
        /// The reason, with the paths that were tried.
        text: String,
    },
    /// An unknown name.
    #[error("model \"{model}\" has no {what} \"{name}\"{}", suggestion(nearest))]
    NoSuchName {
        /// The model.
        model: String,
        /// Link, joint or frame.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
}

impl MultibodyError {
    /// Adds the place of the link or joint that an error of [`ModelBuilder`](crate::ModelBuilder) refers to, or `otherwise`.
    pub(crate) fn located_by(
        self,
        link: impl Fn(&String) -> Option<Place>,
        joint: impl Fn(&String) -> Option<Place>,
        otherwise: &Place,
    ) -> Self {
        let place = match &self {
            Self::DuplicateLink { link: l } | Self::IndefiniteInertia { link: l, .. } => link(l),
            Self::DuplicateJoint { joint: j }
            | Self::UnknownLink { joint: j, .. }
            | Self::SelfJoint { joint: j, .. }
            | Self::TwoParents { second: j, .. }
            | Self::Axis { joint: j, .. }
            | Self::LimitsSwapped { joint: j, .. }
            | Self::MasslessJoint { joint: j, .. }
            | Self::Mimic { joint: j, .. } => joint(j),
            Self::SeveralRoots { roots } => roots.last().and_then(link),
            Self::Cycle { cycle } => cycle.first().and_then(link),
            Self::Value { subject, .. } => {
                let quoted = subject.split('"').nth(1).unwrap_or_default().to_owned();
                link(&quoted)
                    .filter(|_| subject.starts_with("link"))
                    .or_else(|| joint(&quoted))
            }
            _ => None,
        };
        place.as_ref().unwrap_or(otherwise).at(self)
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"))
}
