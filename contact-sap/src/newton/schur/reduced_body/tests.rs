//! Schur complements against dense matrices.

use nalgebra::{DMatrix, DVector};
use sprs::CsMatI;

use super::*;

const SOURCE: Source = (ParticipantIdx(0), 1);

/// A random symmetric positive definite matrix of nodes that `edges` couple.
struct Body {
    ends: Vec<usize>,
    sizes: Vec<usize>,
    matrix: CsMatI<f64, u32>,
    full: DMatrix<f64>,
    blocks: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl Body {
    fn new(sizes: Vec<usize>, edges: &[(usize, usize)]) -> Self {
        let mut ends = Vec::new();
        for size in &sizes {
            ends.push(ends.last().copied().unwrap_or(0) + size);
        }
        let n = ends[ends.len() - 1];
        let mut full = DMatrix::<f64>::zeros(n, n);
        let dofs = |node: usize| ends[node] - sizes[node]..ends[node];
        for (a, b) in edges
            .iter()
            .copied()
            .chain((0..sizes.len()).map(|i| (i, i)))
        {
            for i in dofs(a) {
                for j in dofs(b) {
                    let value = ((13 * (i + j) + i * j) as f64).sin();
                    full[(i, j)] = value;
                    full[(j, i)] = value;
                }
            }
        }
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut blocks = Vec::new();
        for j in 0..n {
            full[(j, j)] += 1.0 + full.column(j).abs().sum();
            for i in (0..n).filter(|i| full[(*i, j)] != 0.0) {
                rows.push(i as u32);
                values.push(full[(i, j)]);
            }
            starts.push(rows.len() as u32);
        }
        for node in 0..sizes.len() {
            let dofs = dofs(node);
            let block = full.view((dofs.start, dofs.start), (dofs.len(), dofs.len()));
            blocks.extend(block.iter());
        }
        Self {
            ends,
            sizes,
            matrix: CsMatI::new_csc((n, n), starts, rows, values),
            full,
            blocks,
            right_hand_side: (0..n).map(|i| (i as f64).cos()).collect(),
        }
    }

    fn eliminated(&self, participating: &[bool]) -> ReducedBody {
        let mut reduced = ReducedBody {
            is_reduced: true,
            n_nodes: self.sizes.len(),
            n_dofs: self.right_hand_side.len(),
            node_ends: self.ends.clone(),
            n_kept: self.dofs(participating, true).len(),
            ..ReducedBody::default()
        };
        reduced.body.update(self, &self.ends);
        reduced.find_cliques(participating);
        reduced.lay_out_complement();
        reduced.lay_out_elimination();
        reduced.eliminate(SOURCE, self);
        assert_eq!(reduced.failed, None);
        reduced
    }

    /// Velocities of the nodes that are participating, or of the others.
    fn dofs(&self, participating: &[bool], which: bool) -> Vec<usize> {
        let nodes = (0..self.sizes.len()).filter(|node| participating[*node] == which);
        nodes
            .flat_map(|node| self.ends[node] - self.sizes[node]..self.ends[node])
            .collect()
    }
}

impl Dynamics for Body {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let product = &self.full * DVector::from_column_slice(x);
        y.copy_from_slice(product.as_slice());
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Mixed {
            sizes: &self.sizes,
            values: &self.blocks,
        }
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

/// S in full, as it is assembled.
fn dense(body: &ReducedBody) -> DMatrix<f64> {
    let n = body.n_kept;
    match body.assembled() {
        Some(Assembled::Dense(values)) => DMatrix::from_column_slice(n, n, values),
        Some(Assembled::Sparse(matrix)) => {
            let mut found = DMatrix::zeros(n, n);
            for (j, column) in matrix.outer_iterator().enumerate() {
                assert!(column.indices().is_sorted());
                column.iter().for_each(|(i, a)| found[(i, j)] = *a);
            }
            found
        }
        None => panic!("nothing was laid out"),
    }
}

/// Eliminates the other nodes and compares with dense matrices.
#[track_caller]
fn check(body: &Body, participating: &[bool]) -> ReducedBody {
    let mut reduced = body.eliminated(participating);
    let (p, n) = (
        body.dofs(participating, true),
        body.dofs(participating, false),
    );
    let part = |rows: &[usize], columns: &[usize]| {
        DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
            body.full[(rows[i], columns[j])]
        })
    };
    let inverse = part(&n, &n).try_inverse().expect("diagonally dominant");
    let explained = part(&p, &n) * inverse;
    let expected = part(&p, &p) - &explained * part(&n, &p);
    let found = dense(&reduced);
    assert!((&found - &expected).amax() < 1e-11 * body.full.amax());
    assert_eq!(found, found.transpose());

    let b = &body.right_hand_side;
    let of = |dofs: &[usize]| DVector::from_fn(dofs.len(), |i, _| b[dofs[i]]);
    let left = of(&p) - explained * of(&n);
    assert!((DVector::from_column_slice(reduced.right_hand_side()) - &left).norm() < 1e-11);

    let x = DVector::from_fn(p.len(), |i, _| (3.0 * i as f64).sin());
    let mut y = DVector::zeros(p.len());
    reduced.apply(x.as_slice(), y.as_mut_slice());
    assert!((y - &expected * x).norm() < 1e-10 * body.full.amax());

    let mut covered = 0;
    reduced.diagonal_blocks().for_each(p.len(), |block| {
        assert_eq!(block.first_dof, covered);
        covered += block.size;
        let range = (block.first_dof, block.first_dof);
        let own = found.view(range, (block.size, block.size));
        assert!(own.iter().eq(block.values));
    });
    assert_eq!(covered, p.len());
    for (i, dof) in p.iter().enumerate() {
        assert_eq!(reduced.diagonal()[i], body.full[(*dof, *dof)]);
    }

    // The full solution from its participating part.
    let whole = body.full.clone().cholesky().expect("definite");
    let whole = whole.solve(&DVector::from_column_slice(b));
    let kept: Vec<f64> = p.iter().map(|dof| whole[*dof]).collect();
    let mut v = DVector::zeros(b.len());
    reduced.expand(&kept);
    reduced.expanded(v.as_mut_slice());
    assert!((v - whole).norm() < 1e-11);
    reduced
}

fn stored(body: &ReducedBody) -> usize {
    match body.assembled() {
        Some(Assembled::Sparse(matrix)) => matrix.nnz(),
        _ => body.n_kept * body.n_kept,
    }
}

fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |end| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    }
}

fn chain(n: usize) -> Body {
    let edges: Vec<_> = (1..n).map(|i| (i, i - 1)).collect();
    Body::new(vec![4; n], &edges)
}

#[test]
fn random_bodies_have_their_schur_complement() {
    let mut sparse = 0;
    for seed in 0..300 {
        let mut random = random(seed);
        let n = 1 + random(40);
        let sizes: Vec<usize> = (0..n).map(|_| 1 + random(5)).collect();
        let n_edges = random(1 + 2 * n);
        // Mostly couplings of neighbours: chains, meshes, disjoint components.
        let edges: Vec<_> = (0..n_edges)
            .map(|_| (random(n), 1 + random(4)))
            .map(|(i, far)| (i, (i + far) % n))
            .filter(|(i, j)| i != j)
            .collect();
        let body = Body::new(sizes, &edges);
        let one_in = 1 + random(6);
        let participating: Vec<bool> = (0..n).map(|_| random(one_in) == 0).collect();
        let reduced = check(&body, &participating);
        sparse += usize::from(stored(&reduced) < reduced.n_kept.pow(2));
    }
    assert!(sparse > 30, "{sparse} of 300 are sparse");
}

#[test]
fn the_complement_of_a_chain_is_block_tridiagonal() {
    let work = [60, 120].map(|n| {
        let body = chain(n);
        let participating: Vec<bool> = (0..n).map(|i| i % 3 == 1).collect();
        let reduced = check(&body, &participating);
        assert_eq!(stored(&reduced), 16 * (3 * (n / 3) - 2));
        let complement = reduced.complement.as_ref().expect("laid out");
        complement.factor_work()
    });
    assert!(work[1] < 2.2 * work[0], "linear in its length: {work:?}");
}

#[test]
fn the_complement_of_a_ring_is_a_ring() {
    let n = 60;
    let edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n)).collect();
    let body = Body::new(vec![4; n], &edges);
    let participating: Vec<bool> = (0..n).map(|i| i % 5 == 0).collect();
    assert_eq!(stored(&check(&body, &participating)), 16 * 3 * (n / 5));
}

#[test]
fn components_without_participating_nodes_have_no_complement() {
    // Two chains; only the first has participating nodes.
    let edges: Vec<_> = (1..20).filter(|i| *i != 10).map(|i| (i, i - 1)).collect();
    let body = Body::new(vec![3; 20], &edges);
    let participating: Vec<bool> = (0..20).map(|i| i == 2 || i == 7).collect();
    assert_eq!(stored(&check(&body, &participating)), 36);
}

#[test]
fn no_node_or_all_may_participate() {
    let body = chain(12);
    assert_eq!(stored(&check(&body, &[false; 12])), 0);
    check(&body, &[true; 12]);
}

#[test]
fn other_participating_nodes_give_another_pattern() {
    let body = chain(40);
    let participating = |step: usize| -> Vec<bool> { (0..40).map(|i| i % step == 0).collect() };
    let mut reduced = body.eliminated(&participating(4));
    let before = reduced.complement.as_ref().map(|c| c.node_ends().len());
    reduced.find_cliques(&participating(4));
    assert!(
        reduced.complement.is_some(),
        "kept while the participating nodes stay"
    );
    reduced.find_cliques(&participating(8));
    assert!(reduced.complement.is_none() && reduced.symbolic.is_none());
    assert_eq!(before, Some(10));
}
