//! The order of elimination that leaves the least work, among those that suit a graph.

use nalgebra::Vector3;

use crate::hessian::multifrontal::Multifrontal;
use crate::hessian::ordering::{Elimination, Graph, minimum_degree, nested_dissection};
use crate::hessian::plane_cuts::plane_dissection;

/// Cuts along planes, or minimum degree where that leaves clearly less work.
///
/// A slab of dough under a pin: 0.60 against 0.71 billion multiplications, in fewer and larger fronts; dough in the jaws that
/// tear it: 0.24 against 0.18.
pub(crate) fn grid_order(
    graph: &Graph,
    places: &[Option<Vector3<f64>>],
    node_starts: &[usize],
) -> (Elimination, Multifrontal) {
    /// What larger fronts gain in speed.
    const WORTH: f64 = 1.2;
    let with = |order: Vec<u32>| {
        let elimination = Elimination::new(graph, order);
        let fronts = Multifrontal::new(graph, &elimination, node_starts);
        (elimination, fronts)
    };
    let (planes, degrees) = rayon::join(
        || with(plane_dissection(graph, places)),
        || with(minimum_degree(graph)),
    );
    if planes.1.work() < WORTH * degrees.1.work() {
        planes
    } else {
        degrees
    }
}

/// The order with the least work of minimum degree and, for graphs large enough to gain, nested dissection.
pub(crate) fn cheapest_order(graph: &Graph, node_starts: &[usize]) -> (Elimination, Multifrontal) {
    /// Piles of a few hundred bodies have shorter factors by minimum degree (measured: 25 against 33 million
    /// multiplications at 640); bodies of thousands of vertices by dissection.
    const DISSECTED_NODES_MIN: usize = 1000;
    let with = |order: Vec<u32>| {
        let elimination = Elimination::new(graph, order);
        let fronts = Multifrontal::new(graph, &elimination, node_starts);
        (elimination, fronts)
    };
    let by_degree = with(minimum_degree(graph));
    if graph.n_nodes() < DISSECTED_NODES_MIN {
        return by_degree;
    }
    let dissected = with(nested_dissection(graph));
    if dissected.1.work() < by_degree.1.work() {
        dissected
    } else {
        by_degree
    }
}
