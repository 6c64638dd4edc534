//! The Hessian of a contact problem as one dense matrix, for problems of few velocities.

use nalgebra::DMatrix;

use crate::dynamics::Assembled;
use crate::potential::Potential;
use crate::problem::ContactProblem;

impl ContactProblem<'_> {
    /// H = A + Σ JᵀG J at velocities `v` of all participants, n × n. With v the solution, H⁻¹ is the response of the velocities to
    /// further impulses, to first order and as long as no contact opens or closes.
    ///
    /// It takes n² numbers and more operations than a solve: for rigid bodies and robots.
    ///
    /// # Panics
    /// If `v` has not one entry for each velocity.
    #[must_use]
    pub fn dense_hessian(&self, v: &[f64]) -> DMatrix<f64> {
        let n = self.n_dofs();
        assert_eq!(v.len(), n, "one entry for each velocity");
        let mut h = DMatrix::zeros(n, n);
        let mut starts = Vec::new();
        let mut start = 0;
        for dynamics in self.dynamics.iter() {
            let m = dynamics.n_dofs();
            if let Some(Assembled::Dense(a)) = dynamics.assembled() {
                h.view_mut((start, start), (m, m)).copy_from_slice(a);
            } else {
                let (mut e, mut column) = (vec![0.0; m], vec![0.0; m]);
                for j in 0..m {
                    e[j] = 1.0;
                    dynamics.apply(&e, &mut column);
                    h.view_mut((start, start + j), (m, 1))
                        .copy_from_slice(&column);
                    e[j] = 0.0;
                }
            }
            starts.push(start);
            start += m;
        }
        let set = self.constraints;
        let (mut u, mut k) = (Vec::new(), Vec::new());
        for basis in &set.bases {
            let r = basis.n_rows;
            let blocks = &set.blocks[basis.blocks.clone()];
            u.clear();
            u.extend_from_slice(&set.bias[basis.row0..basis.row0 + r]);
            for (participant, block) in blocks {
                block.add_product(&set.block_values, &v[starts[participant.0]..], &mut u);
            }
            k.clear();
            k.resize(r * r, 0.0);
            let values = &set.interpolation_values;
            for contact in &set.contacts[basis.contacts.clone()] {
                let v_c = contact.interpolation.velocity(values, &u) + contact.bias;
                let g = contact.law.hessian(&v_c);
                contact.interpolation.add_aggregate(values, &g, r, &mut k);
            }
            for row in &set.rows[basis.rows.clone()] {
                let v_r = nalgebra::Vector1::new(row.interpolation.velocity(values, &u));
                let g = row.law.hessian(&v_r).x;
                row.interpolation.add_aggregate(values, g, r, &mut k);
            }
            // B of the velocities that the basis involves.
            let columns: Vec<usize> = (blocks.iter())
                .flat_map(|(participant, block)| {
                    let first = starts[participant.0] + block.dof;
                    first..first + block.n_dofs
                })
                .collect();
            let mut b = DMatrix::zeros(r, columns.len());
            let mut first = 0;
            for (_, block) in blocks {
                let mut e = vec![0.0; block.dof + block.n_dofs];
                for j in 0..block.n_dofs {
                    e[block.dof + j] = 1.0;
                    let mut column = b.column_mut(first + j);
                    block.add_product(&set.block_values, &e, column.as_mut_slice());
                    e[block.dof + j] = 0.0;
                }
                first += block.n_dofs;
            }
            let of_basis = b.tr_mul(&(DMatrix::from_column_slice(r, r, &k) * &b));
            for (j, &column) in columns.iter().enumerate() {
                for (i, &row) in columns.iter().enumerate() {
                    h[(row, column)] += of_basis[(i, j)];
                }
            }
        }
        h
    }
}
