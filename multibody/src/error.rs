//! Everything that can be wrong with a model, a model file or a request, in one type.

use std::path::PathBuf;

/// Why a model could not be built or a request not be met.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MultibodyError {
    /// A place in a file, and what is wrong there.
    #[error("{}:{line}: {error}", file.display())]
    At {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1.
        line: u32,
        /// What is wrong.
        error: Box<MultibodyError>,
    },
    /// An actuator that cannot be.
    #[error("actuator on joint \"{joint}\": {what}")]
    Actuator {
        /// Name of the joint.
        joint: String,
        /// What is wrong.
        what: String,
    },
    /// A file that could not be read at all.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A file that is not in the format.
    #[error("{}: {text}", file.display())]
    NotUrdf {
        /// The file.
        file: PathBuf,
        /// Why, with line and column where there are any.
        text: String,
    },
    /// An element or attribute that is wrong in itself.
    #[error("{subject}: {text}")]
    Element {
        /// What it belongs to, such as `joint "j1"`.
        subject: String,
        /// What is wrong, the value, what is allowed, what to do.
        text: String,
    },
    /// A model without links.
    #[error("robot \"{model}\" has no links; give it at least one <link>")]
    NoLinks {
        /// Name of the model.
        model: String,
    },
    /// Two links of one name.
    #[error("link \"{link}\" exists twice; names of links must be unique")]
    DuplicateLink {
        /// The name.
        link: String,
    },
    /// Two joints of one name.
    #[error("joint \"{joint}\" exists twice; names of joints must be unique")]
    DuplicateJoint {
        /// The name.
        joint: String,
    },
    /// A joint names a link that isn't there.
    #[error(
        "joint \"{joint}\" names link \"{link}\", which is not in the model{}",
        suggestion(nearest)
    )]
    UnknownLink {
        /// The joint.
        joint: String,
        /// The missing link.
        link: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A joint from a link to itself.
    #[error("joint \"{joint}\" joins link \"{link}\" to itself; parent and child must differ")]
    SelfJoint {
        /// The joint.
        joint: String,
        /// The link.
        link: String,
    },
    /// A link that is the child of two joints.
    #[error(
        "link \"{link}\" is the child of joints \"{first}\" and \"{second}\"; a tree gives each link one parent"
    )]
    TwoParents {
        /// The link.
        link: String,
        /// One joint.
        first: String,
        /// The other.
        second: String,
    },
    /// Links that are joined in a ring.
    #[error("links form a cycle: {}; a tree has none, close loops by a constraint", cycle.join(" - "))]
    Cycle {
        /// Names of the links round the ring, the first one again at the end.
        cycle: Vec<String>,
    },
    /// More than one link without a parent.
    #[error("links {} have no parent joint; one model is one tree with one root, join them or load them as models of their own",
        roots.iter().map(|r| format!("\"{r}\"")).collect::<Vec<_>>().join(" and "))]
    SeveralRoots {
        /// Names of the roots.
        roots: Vec<String>,
    },
    /// A value out of its range.
    #[error("{subject}: {quantity} = {value} {allowed}")]
    Value {
        /// What it belongs to.
        subject: String,
        /// Which quantity.
        quantity: String,
        /// Its value.
        value: String,
        /// The range it must lie in, and a remedy.
        allowed: String,
    },
    /// A joint without an axis of nonzero length.
    #[error("joint \"{joint}\": axis = ({}, {}, {}) must be finite and not zero", axis[0], axis[1], axis[2])]
    Axis {
        /// The joint.
        joint: String,
        /// The axis.
        axis: [f64; 3],
    },
    /// A joint limit with lower above upper.
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
        "link \"{link}\": inertia has the negative principal moment {moment:.4e} kg m²; it must be positive semidefinite, check the signs and products of inertia"
    )]
    IndefiniteInertia {
        /// The link.
        link: String,
        /// Smallest eigenvalue, kg m².
        moment: f64,
    },
    /// A joint that moves nothing with inertia: the mass matrix is singular.
    #[error(
        "joint \"{joint}\" moves link \"{link}\", but neither it nor what hangs on it has inertia against that motion: the mass matrix is singular; give the link a mass and inertia, or the joint a rotor inertia"
    )]
    MasslessJoint {
        /// The joint.
        joint: String,
        /// Its child link.
        link: String,
    },
    /// A coupler that names a joint that is not there or has not one degree of freedom.
    #[error("joint \"{joint}\" mimics joint \"{source_joint}\", {reason}")]
    Mimic {
        /// The coupled joint.
        joint: String,
        /// The joint it follows.
        source_joint: String,
        /// What is wrong.
        reason: String,
    },
    /// A mesh or another file a model refers to cannot be used.
    #[error("link \"{link}\": {text}")]
    Mesh {
        /// The link.
        link: String,
        /// What is wrong, with the paths tried.
        text: String,
    },
    /// A name asked for that the model does not have.
    #[error("model \"{model}\" has no {what} \"{name}\"{}", suggestion(nearest))]
    NoSuchName {
        /// The model.
        model: String,
        /// Link, joint or frame.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A request with the wrong number of entries.
    #[error("{what} has {found} entries; model \"{model}\" needs {needed}")]
    Length {
        /// The model.
        model: String,
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        needed: usize,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"))
}

impl MultibodyError {
    /// The error without the places around it.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::At { error, .. } => error.innermost(),
            other => other,
        }
    }
}
