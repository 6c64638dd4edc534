//! Everything that can be wrong with a rod or a request, in one type.

use std::path::PathBuf;

/// Why a rod could not be built or a request not be met. Nodes and edges are counted from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RodError {
    /// Too few nodes.
    #[error("a rod needs at least {needed} nodes, {found} were given")]
    TooFewNodes {
        /// Nodes found.
        found: usize,
        /// Nodes needed.
        needed: usize,
    },
    /// A coordinate that is NaN or infinite.
    #[error("node {node}: coordinate {axis} is {value}, which is not a finite number")]
    NodeNotFinite {
        /// The node.
        node: usize,
        /// x, y or z.
        axis: char,
        /// Its value.
        value: f64,
    },
    /// Two neighbours at one place.
    #[error(
        "nodes {a} and {b} are {distance:e} m apart, the mean edge has {mean_m:e} m: coincident nodes have no direction between them; remove one"
    )]
    CoincidentNodes {
        /// The first node.
        a: usize,
        /// Its neighbour.
        b: usize,
        /// Their distance, m.
        distance: f64,
        /// Mean length of all edges, m.
        mean_m: f64,
    },
    /// A centreline that turns back on itself.
    #[error(
        "at node {node} the centreline turns by {angle_deg:.1} degrees: it must stay below {allowed_deg} degrees, where curvature grows without bound; put more nodes into the bend"
    )]
    Fold {
        /// The node.
        node: usize,
        /// Angle between the edges before and after it.
        angle_deg: f64,
        /// Largest angle allowed.
        allowed_deg: f64,
    },
    /// A ring whose ends are far apart.
    #[error(
        "the ring does not close: its last node {last} and its first are {gap:e} m apart, the longest other edge has {longest:e} m; the last edge of a ring joins them"
    )]
    DoesNotClose {
        /// The last node.
        last: usize,
        /// Length of the closing edge, m.
        gap: f64,
        /// Length of the longest other edge, m.
        longest: f64,
    },
    /// A director that is no unit vector, or that points along the rod.
    #[error(
        "director of edge {edge}, at node {edge}, is {director:?}, of length {length}: it must be a unit vector and at least {least_deg} degrees off the edge, it is {angle_deg:.2} degrees off"
    )]
    Director {
        /// The edge, which starts at the node of the same number.
        edge: usize,
        /// The director.
        director: [f64; 3],
        /// Its length.
        length: f64,
        /// Angle to the edge, degrees.
        angle_deg: f64,
        /// Least angle to the edge, degrees.
        least_deg: f64,
    },
    /// A number out of its range.
    #[error("{name} = {value} {allowed}")]
    Parameter {
        /// Which number, and where.
        name: String,
        /// Its value.
        value: f64,
        /// What would be right.
        allowed: &'static str,
    },
    /// A list of the wrong length.
    #[error("{found} {what} were given, the rod has {expected} {of}")]
    Count {
        /// What was given.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many are needed.
        expected: usize,
        /// What there must be one of each for.
        of: &'static str,
    },
    /// Something that only an open rod, or only a ring, can have.
    #[error("{what}: a ring has no ends; attach one of its nodes or edges instead")]
    RingHasNoEnds {
        /// What was asked for.
        what: String,
    },
    /// A node or edge that the rod doesn't have.
    #[error("{what} {index} does not exist: the rod has {count} of them, counted from 0")]
    NoSuchPlace {
        /// Node or edge.
        what: &'static str,
        /// The number given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Two attachments that cannot hold together.
    #[error("node {node} is asked to be {first} and {second} at once; keep one of them")]
    Contradiction {
        /// The node.
        node: usize,
        /// The attachment made first.
        first: String,
        /// The one that contradicts it.
        second: String,
    },
    /// Two frames of one name.
    #[error("two frames are called \"{name}\"; names of one rod's frames must differ")]
    DuplicateFrame {
        /// The name.
        name: String,
    },
    /// A frame that the rod doesn't have.
    #[error("the rod has no frame \"{name}\"; it has: {known}")]
    NoSuchFrame {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Neither a section with a material nor stiffnesses were given.
    #[error("the rod has no stiffness: give a section and a material, or properties")]
    NoStiffness,
    /// A file that could not be read at all.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A line of a centreline file that is no node.
    #[error("{}:{line}: \"{text}\" must be three numbers, x y z in metres", file.display())]
    NotANode {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A state or a step that the model cannot take.
    #[error(transparent)]
    Body(#[from] pliant_contact_sap::BodyError),
    /// A search for rest that did not arrive.
    #[error(
        "no equilibrium within {iterations} steps: the residual force is {residual:e} of all forces, at node {node}; the rod may have none near this state (follow the load in smaller parts), or allow more steps"
    )]
    NoEquilibrium {
        /// Steps taken.
        iterations: usize,
        /// Residual relative to the forces.
        residual: f64,
        /// Where it is largest.
        node: usize,
    },
}
