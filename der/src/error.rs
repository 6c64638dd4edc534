//! The error type of the crate.

use std::path::PathBuf;

/// Why a rod could not be built, or an operation failed. Nodes and edges are counted from 0.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_der::{Centreline, Material, RodBuilder, RodError, Section};
///
/// // A centreline that turns back on itself.
/// let mut line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 2);
/// line.nodes[2] = Point3::new(0.1, 0.0, 0.0);
/// let rubber = Material::isotropic(1e6, 0.5, 1000.0)?;
/// let error = RodBuilder::new(line).section(Section::Circle { radius: 5e-3 }, rubber).build().unwrap_err();
/// assert!(matches!(error, RodError::Fold { node: 1, .. }));
/// assert!(error.to_string().contains("resolve the bend with more nodes"));
/// # Ok::<(), RodError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RodError {
    /// Too few nodes.
    #[error("a rod needs at least {needed} nodes, but {found} were given")]
    TooFewNodes {
        /// Nodes found.
        found: usize,
        /// Nodes needed.
        needed: usize,
    },
    /// A coordinate that is NaN or infinite.
    #[error("node {node}: coordinate {axis} = {value} must be finite")]
    NodeNotFinite {
        /// The node.
        node: usize,
        /// x, y or z.
        axis: char,
        /// Its value.
        value: f64,
    },
    /// Two neighbouring nodes that coincide.
    #[error(
        "nodes {a} and {b} coincide: they are {distance:e} m apart, where the mean edge length is {mean_m:e} m; remove one of them"
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
        "node {node}: the centreline turns by {angle_deg:.1} degrees, which must be less than {allowed_deg} degrees; resolve the bend with more nodes"
    )]
    Fold {
        /// The node.
        node: usize,
        /// Angle between the edges before and after it.
        angle_deg: f64,
        /// Largest angle allowed.
        allowed_deg: f64,
    },
    /// A closed centreline with a gap.
    #[error(
        "the closed centreline has a gap: its last node {last} and its first node are {gap:e} m apart, where the longest other edge has {longest:e} m; add nodes in between, or declare the centreline open"
    )]
    DoesNotClose {
        /// The last node.
        last: usize,
        /// Length of the closing edge, m.
        gap: f64,
        /// Length of the longest other edge, m.
        longest: f64,
    },
    /// A director that is not a unit vector, or almost parallel to its edge.
    #[error(
        "edge {edge}: the director {director:?} of length {length} makes an angle of {angle_deg:.2} degrees with the edge; it must be a unit vector at an angle of at least {least_deg} degrees"
    )]
    Director {
        /// The edge.
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
        /// The allowed range.
        allowed: &'static str,
    },
    /// A list of the wrong length.
    #[error("{found} {what} were given, but the rod has {expected} {of}: give one for each")]
    Count {
        /// What was given.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        expected: usize,
        /// What each of them belongs to.
        of: &'static str,
    },
    /// An end condition on a closed rod.
    #[error("{what}: a closed rod has no ends; use one of its nodes or edges instead")]
    ClosedRodHasNoEnds {
        /// What was requested.
        what: String,
    },
    /// An index of a node, edge or mode that is out of range.
    #[error("{what} {index} does not exist: the rod has {count}, counted from 0")]
    IndexOutOfRange {
        /// Node, edge or mode.
        what: &'static str,
        /// The index given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Two boundary conditions on one node.
    #[error("node {node} is specified as both {first} and {second}; keep one of them")]
    ConflictingConditions {
        /// The node.
        node: usize,
        /// The condition given first.
        first: String,
        /// The condition in conflict with it.
        second: String,
    },
    /// Two frames of one name.
    #[error("two frames of the rod are named \"{name}\"; names must be unique")]
    DuplicateFrame {
        /// The name.
        name: String,
    },
    /// An unknown frame.
    #[error("the rod has no frame \"{name}\"; its frames are: {known}")]
    NoSuchFrame {
        /// The name requested.
        name: String,
        /// Names of the rod's frames.
        known: String,
    },
    /// Neither a section with a material nor properties were given.
    #[error("the rod has no stiffness: give a section and a material, or properties")]
    NoStiffness,
    /// A file that could not be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// An invalid line of a centreline file.
    #[error("{}:{line}: \"{text}\" must be three numbers, x y z in metres", file.display())]
    InvalidLine {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// An invalid state, or a step that failed.
    #[error(transparent)]
    Body(#[from] pliant_contact_sap::BodyError),
    /// The equilibrium iteration did not converge.
    #[error(
        "no equilibrium found in {iterations} steps: the relative residual force is {residual:e}, largest at node {node}; increase the load in smaller increments, or allow more steps"
    )]
    NoEquilibrium {
        /// Steps taken.
        iterations: usize,
        /// Residual force relative to all forces.
        residual: f64,
        /// The node with the largest residual force.
        node: usize,
    },
}
