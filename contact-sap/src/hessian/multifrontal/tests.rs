//! Multifrontal against dense factorisations.

use nalgebra::{DMatrix, DVector};

use super::*;
use crate::hessian::Real;
use crate::hessian::ordering::{minimum_degree, nested_dissection};

/// Solves a random system with nodes of sizes 1 to 6 and compares with a dense solution.
#[track_caller]
fn check(n: usize, edges_per_node: usize, seed: u64) {
    let mut state = seed;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut node_starts = vec![0];
    for i in 0..n {
        node_starts.push(node_starts[i] + 1 + random() % 6);
    }
    let mut edges = Vec::new();
    for i in 0..n {
        for _ in 0..edges_per_node {
            let j = random() % n;
            if i != j {
                edges.push((i as u32, j as u32));
            }
        }
    }
    let graph = Graph::from_edges(n, &edges);
    let elimination = Elimination::new(&graph, minimum_degree(&graph));
    let symbolic = Multifrontal::new(&graph, &elimination, &node_starts);

    let dofs = node_starts[n];
    let mut a = DMatrix::<f64>::zeros(dofs, dofs);
    let mut factor = Factor::<f64>::default();
    symbolic.reserve(&mut factor, dofs);
    let pairs = (0..n).flat_map(|i| {
        let neighbours = graph.neighbours(i).iter().map(|&j| j as usize);
        neighbours
            .filter(move |&j| j < i)
            .chain([i])
            .map(move |j| (i, j))
    });
    for (i, j) in pairs {
        for p in node_starts[i]..node_starts[i + 1] {
            for q in node_starts[j]..node_starts[j + 1] {
                let value = ((p * 13 + q * 13 + p * q) as f64).sin();
                a[(p, q)] = value;
                a[(q, p)] = value;
            }
        }
    }
    for i in 0..dofs {
        a[(i, i)] += 1.0 + a.row(i).abs().sum();
    }
    for i in 0..n {
        for &j in graph.neighbours(i).iter().chain([&(i as u32)]) {
            let j = j as usize;
            let (row, column) = (elimination.position[i], elimination.position[j]);
            if row < column {
                continue;
            }
            let location = symbolic.block(row, column);
            for (q, global_q) in (node_starts[j]..node_starts[j + 1]).enumerate() {
                for (p, global_p) in (node_starts[i]..node_starts[i + 1]).enumerate() {
                    factor.values[location.offset + p + q * location.stride] =
                        a[(global_p, global_q)];
                }
            }
        }
    }
    symbolic.factor(&mut factor).expect("diagonally dominant");
    let x = DVector::from_fn(dofs, |i, _| (i as f64).cos());
    let mut y = &a * &x;
    symbolic.solve(&mut factor, y.as_mut_slice());
    assert!(
        (y - x).amax() < 1e-12,
        "{n} nodes, {edges_per_node} edges each"
    );
}

#[test]
fn sparse_systems_are_solved() {
    for seed in 0..20 {
        check(1, 0, seed);
        check(7, 1, seed);
        check(30, 0, seed);
        check(60, 2, seed);
        check(90, 4, seed);
    }
}

#[test]
fn a_partial_factorisation_gives_the_schur_complement_of_its_border() {
    // A path of four nodes of two velocities, an isolated node, and a border of two nodes with one and two velocities. The first and
    // third nodes are coupled to one of them, the fourth to the other.
    let node_starts = [0, 2, 4, 6, 8, 10, 11, 13];
    let edges = vec![(1, 0), (2, 1), (3, 2), (5, 0), (5, 2), (6, 3)];
    let graph = Graph::from_edges(7, &edges);
    let elimination = Elimination {
        order: (0..7).collect(),
        position: (0..7).collect(),
    };
    let symbolic = Multifrontal::partial(&graph, &elimination, &node_starts, 2);
    let mut factor = Factor::<f64>::default();
    symbolic.reserve(&mut factor, 13);
    let mut a = DMatrix::<f64>::zeros(13, 13);
    for i in 0..7 {
        for j in graph.neighbours(i).iter().map(|j| *j as usize).chain([i]) {
            for p in node_starts[i]..node_starts[i + 1] {
                for q in node_starts[j]..node_starts[j + 1] {
                    a[(p, q)] =
                        ((p + q + 3 * p * q) as f64).cos() + if p == q { 12.0 } else { 0.0 };
                }
            }
            let (row, column) = (elimination.position[i], elimination.position[j]);
            if row < column {
                continue;
            }
            if column >= 5 {
                continue;
            }
            let location = symbolic.block(row, column);
            for (c, q) in (node_starts[j]..node_starts[j + 1]).enumerate() {
                for (r, p) in (node_starts[i]..node_starts[i + 1]).enumerate() {
                    factor.values[location.offset + r + c * location.stride] = a[(p, q)];
                }
            }
        }
    }
    symbolic.factor(&mut factor).expect("diagonally dominant");
    let inverse = a
        .view((0, 0), (10, 10))
        .clone_owned()
        .try_inverse()
        .expect("regular");
    let border = a.view((10, 0), (3, 10)).clone_owned();
    let expected = a.view((10, 10), (3, 3)) - &border * &inverse * border.transpose();
    let mut found = a.view((10, 10), (3, 3)).clone_owned();
    let mut parts = 0;
    for contribution in symbolic
        .contribution_blocks(&factor)
        .filter(|part| part.n > 0)
    {
        parts += 1;
        assert!(contribution.nodes().eq([(0, 0), (1, 1)]));
        found += DMatrix::from_column_slice(3, 3, contribution.values);
    }
    assert_eq!(parts, 1);
    assert!((found - &expected).lower_triangle().norm() < 1e-12);

    let x = DVector::from_fn(13, |i, _| (i as f64).sin());
    let b = &a * &x;
    let left = symbolic.reduce(&mut factor, b.as_slice()).to_vec();
    let last = x.rows(10, 3).clone_owned();
    assert!((DVector::from_vec(left) - expected * &last).norm() < 1e-12);
    let mut found = DVector::zeros(13);
    for _ in 0..2 {
        symbolic.expand(&mut factor, last.as_slice(), found.as_mut_slice());
        assert!((&found - &x).norm() < 1e-12);
    }
}

#[test]
fn a_bad_pivot_is_reported_by_its_velocity() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]);
    let elimination = Elimination::new(&graph, vec![2, 0, 1]);
    let node_starts = [0, 2, 4, 6];
    let symbolic = Multifrontal::new(&graph, &elimination, &node_starts);
    let mut factor = Factor::<f64>::default();
    symbolic.reserve(&mut factor, 6);
    for node in 0..3 {
        let position = elimination.position[node];
        let location = symbolic.block(position, position);
        for i in 0..2 {
            let bad = node == 2 && i == 1;
            factor.values[location.offset + i * (location.stride + 1)] =
                if bad { -1.0 } else { 1.0 };
        }
    }
    assert_eq!(symbolic.factor(&mut factor), Err(5));
}

#[test]
fn a_border_without_couplings_has_no_contribution() {
    let graph = Graph::from_edges(2, &[(0, 1)]);
    let elimination = Elimination::new(&graph, vec![0, 1]);
    let symbolic = Multifrontal::partial(&graph, &elimination, &[0, 1, 2], 0);
    let mut factor = Factor::<f64>::default();
    symbolic.reserve(&mut factor, 2);
    for (i, j, value) in [(0, 0, 2.0), (1, 1, 3.0), (1, 0, 1.0)] {
        factor.values[symbolic.block(i, j).offset] = value;
    }
    symbolic.factor(&mut factor).expect("definite");
    assert!(
        symbolic
            .contribution_blocks(&factor)
            .all(|part| part.n == 0)
    );
    // [2 1; 1 3] x = (4, 7).
    assert!(symbolic.reduce(&mut factor, &[4.0, 7.0]).is_empty());
    let mut x = [0.0; 2];
    symbolic.expand(&mut factor, &[], &mut x);
    assert!(
        (x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14,
        "{x:?}"
    );
}

/// Nodes of three velocities on a cubic lattice, ordered by nested dissection: large enough for several tasks.
struct Cube {
    graph: Graph,
    symbolic: Multifrontal,
    position: Vec<u32>,
}

const EDGE: usize = 12;

impl Cube {
    fn new() -> Self {
        let node = |x: usize, y: usize, z: usize| ((x * EDGE + y) * EDGE + z) as u32;
        let mut edges = Vec::new();
        for (x, y, z) in (0..EDGE.pow(3)).map(|i| (i / EDGE / EDGE, i / EDGE % EDGE, i % EDGE)) {
            for (a, b, c) in [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)] {
                if a.max(b).max(c) < EDGE {
                    edges.push((node(x, y, z), node(a, b, c)));
                }
            }
        }
        let n = EDGE.pow(3);
        let graph = Graph::from_edges(n, &edges);
        let elimination = Elimination::new(&graph, nested_dissection(&graph));
        let node_starts: Vec<usize> = (0..=n).map(|i| 3 * i).collect();
        let symbolic = Multifrontal::new(&graph, &elimination, &node_starts);
        let split = symbolic.supernodes.iter().filter(|s| s.subtree.is_split);
        assert!(split.count() > 3, "there are several tasks");
        Self {
            graph,
            symbolic,
            position: elimination.position,
        }
    }

    /// A matrix whose pivots are positive except those of the nodes `bad`.
    fn fill<T: Real>(&self, factor: &mut Factor<T>, bad: &[usize]) {
        self.symbolic.reserve(factor, 3 * EDGE.pow(3));
        factor.values.fill(T::ZERO);
        for i in 0..EDGE.pow(3) {
            for j in self
                .graph
                .neighbours(i)
                .iter()
                .map(|j| *j as usize)
                .chain([i])
            {
                let (row, column) = (self.position[i], self.position[j]);
                if row < column {
                    continue;
                }
                let location = self.symbolic.block(row, column);
                for (p, q) in (0..9).map(|k| (k % 3, k / 3)) {
                    let own = if i == j && p == q { 12.0 } else { 0.0 };
                    let sign = if i == j && bad.contains(&i) {
                        -1.0
                    } else {
                        1.0
                    };
                    let value = sign * own + ((i * j + p + q) as f64).sin() * 0.5;
                    factor.values[location.offset + p + q * location.stride] = T::of(value);
                }
            }
        }
    }
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(work)
}

fn factor_and_solve<T: Real>(cube: &Cube) -> (Vec<T>, Vec<T>) {
    let mut factor = Factor::<T>::default();
    cube.fill(&mut factor, &[]);
    cube.symbolic.factor(&mut factor).expect("definite");
    let mut x: Vec<T> = (0..3 * EDGE.pow(3))
        .map(|i| T::of((i as f64).sin()))
        .collect();
    cube.symbolic.solve(&mut factor, &mut x);
    (factor.values, x)
}

#[test]
fn parallel_subtrees_give_the_same_bits_for_any_number_of_threads() {
    let cube = Cube::new();
    let run = |threads| {
        with_threads(threads, || {
            (
                factor_and_solve::<f64>(&cube),
                factor_and_solve::<f32>(&cube),
            )
        })
    };
    let one = run(1);
    // NaN is unequal to itself.
    assert!(one == run(2) && one == run(3));
    // Single precision agrees with double precision.
    let ((_, x), (_, y)) = one;
    let difference = x.iter().zip(&y).map(|(x, y)| (x - f64::from(*y)).abs());
    assert!(difference.fold(0.0, f64::max) < 1e-6);
}

#[test]
fn of_several_bad_pivots_the_first_is_reported_for_any_number_of_threads() {
    let cube = Cube::new();
    let mut order: Vec<usize> = (0..EDGE.pow(3)).collect();
    order.sort_unstable_by_key(|i| cube.position[*i]);
    let bad = [1, 4, 6].map(|tenth| order[tenth * EDGE.pow(3) / 10]);
    for threads in [1, 2, 3] {
        let found = with_threads(threads, || {
            let mut factor = Factor::<f64>::default();
            cube.fill(&mut factor, &bad);
            cube.symbolic.factor(&mut factor)
        });
        assert_eq!(
            found.map_err(|dof| dof / 3),
            Err(bad[0]),
            "{threads} threads"
        );
    }
}
