//! A blob of particles on a grid: a body whose number of velocities changes from step to step.

use nalgebra::{Matrix3, Point3, Vector3};
use sprs::CsMatI;

use crate::body::{
    BasisIdx, BodyReport, BodyState, BodyStep, DeformableModel, Energy, MaterialPoint, Primitive,
    StepInput, Surface,
};
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::error::BodyError;
use crate::rows::{Lever, Rows};

/// Settings of a [`ParticleBlob`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlobSettings {
    /// Particles along each edge of the block it starts as, at least 1.
    pub n: usize,
    /// Distance of neighbouring particles at the start, m.
    pub spacing: f64,
    /// Width of a grid cell, m; twice the spacing puts eight particles in a cell.
    pub cell: f64,
    /// kg/m³.
    pub density: f64,
    /// κ, Pa.
    pub bulk_modulus: f64,
    /// Place of the first particle, m.
    pub corner_W: Point3<f64>,
}

impl Default for BlobSettings {
    /// A small drop of soft jelly: 5 × 5 × 5 particles, 1 cm apart, 125 g.
    fn default() -> Self {
        Self {
            n: 5,
            spacing: 0.01,
            cell: 0.02,
            density: 1000.0,
            bulk_modulus: 1e4,
            corner_W: Point3::new(0.0, 0.0, 0.2),
        }
    }
}

/// A weakly compressible blob in the manner of the material point method: particles carry mass, velocity and volume, a grid
/// that is forgotten after the step carries the velocities of the solve.
///
/// Each particle has the energy ½V₀κ(J − 1)², J its volume ratio. A step takes J to J₀(1 + δt ∇·v), so the momentum
/// balance is linear in v as it stands:
///
/// ```text
/// A = M + δt² Σ V₀κJ₀² g gᵀ,    b = p + δt M g⃗ − δt Σ V₀κ(J₀ − 1)J₀ g,    g = ∇w
/// ```
///
/// Quadratic B-splines; velocities go to the grid and back with their affine part (APIC), which keeps linear and angular
/// momentum. The velocities of the solve are those of the nodes that have mass: their number changes as the blob moves.
/// Every particle is a vertex of the surface; its velocity is a weighted sum of the 27 nodes about its cell, which is its
/// basis.
///
/// State: q and v hold particles, history the affine velocity C (nine values, row by row) and J of each.
#[derive(Clone, Copy, Debug)]
pub struct ParticleBlob {
    settings: BlobSettings,
}

const HISTORY: usize = 10;

impl ParticleBlob {
    /// # Errors
    /// [`BodyError::Model`] naming the first setting that is out of range.
    pub fn new(settings: BlobSettings) -> Result<Self, BodyError> {
        if settings.n < 1 {
            return Err(BodyError::Model(
                "a blob needs at least one particle".into(),
            ));
        }
        for (name, value) in [
            ("spacing", settings.spacing),
            ("cell", settings.cell),
            ("density", settings.density),
            ("bulk modulus", settings.bulk_modulus),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(BodyError::Model(format!(
                    "{name} of a blob cannot be {value}"
                )));
            }
        }
        Ok(Self { settings })
    }

    /// Number of particles.
    #[must_use]
    pub fn n_particles(&self) -> usize {
        self.settings.n.pow(3)
    }

    /// V₀ of a particle, m³.
    fn volume(&self) -> f64 {
        self.settings.spacing.powi(3)
    }

    /// Mass of a particle, kg.
    #[must_use]
    pub fn particle_mass(&self) -> f64 {
        self.settings.density * self.volume()
    }
}

impl DeformableModel for ParticleBlob {
    fn default_state(&self) -> BodyState {
        let BlobSettings {
            n,
            spacing,
            corner_W,
            ..
        } = self.settings;
        let mut state = BodyState::default();
        for i in 0..self.n_particles() {
            let place = [i / (n * n), i / n % n, i % n].map(|k| k as f64 * spacing);
            state
                .q
                .extend_from_slice((corner_W.coords + Vector3::from(place)).as_slice());
            state.history.extend_from_slice(&[0.0; 9]);
            state.history.push(1.0);
        }
        state.v = vec![0.0; state.q.len()];
        state
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(BlobStep::new(*self))
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        out.vertices
            .extend(state.q.chunks_exact(3).map(Point3::from_slice));
        out.radii
            .resize(out.vertices.len(), 0.5 * self.settings.spacing);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let mass = self.particle_mass();
        // Σ_i w_i d_i d_iᵀ of quadratic B-splines.
        let spread = 0.25 * self.settings.cell * self.settings.cell;
        let mut energy = Energy::default();
        for p in 0..self.n_particles() {
            let (x, v) = (vector(&state.q, p), vector(&state.v, p));
            let (affine, ratio) = history(&state.history, p);
            energy.kinetic += 0.5 * mass * (v.norm_squared() + spread * affine.norm_squared());
            energy.potential +=
                0.5 * self.volume() * self.settings.bulk_modulus * (ratio - 1.0).powi(2)
                    - mass * gravity.dot(&x);
            let turning = affine - affine.transpose();
            let axial = Vector3::new(turning[(2, 1)], turning[(0, 2)], turning[(1, 0)]);
            energy.linear_momentum_W += v * mass;
            energy.angular_momentum_W += (x.cross(&v) + axial * spread) * mass;
        }
        energy
    }
}

fn vector(values: &[f64], i: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&values[3 * i..3 * i + 3])
}

/// C and J of a particle.
fn history(values: &[f64], p: usize) -> (Matrix3<f64>, f64) {
    let values = &values[HISTORY * p..HISTORY * (p + 1)];
    (Matrix3::from_row_slice(&values[..9]), values[9])
}

/// A particle's place in the grid: the least of its 27 nodes.
type Cell = [i32; 3];

/// Weights of a particle at its 27 nodes, x slowest, and their gradients.
struct Stencil {
    base: Cell,
    weights: [[f64; 3]; 3],
    slopes: [[f64; 3]; 3],
    /// From the particle to its least node, m.
    to_base: Vector3<f64>,
    cell: f64,
}

impl Stencil {
    fn about(x: &Vector3<f64>, cell: f64) -> Self {
        let (mut base, mut weights, mut slopes) = ([0; 3], [[0.0; 3]; 3], [[0.0; 3]; 3]);
        let mut to_base = Vector3::zeros();
        for k in 0..3 {
            let scaled = x[k] / cell;
            let least = (scaled - 0.5).floor();
            let f = scaled - least;
            base[k] = least as i32;
            weights[k] = [
                0.5 * (1.5 - f).powi(2),
                0.75 - (f - 1.0).powi(2),
                0.5 * (f - 0.5).powi(2),
            ];
            slopes[k] = [f - 1.5, 2.0 - 2.0 * f, f - 0.5].map(|s| s / cell);
            to_base[k] = -f * cell;
        }
        Self {
            base,
            weights,
            slopes,
            to_base,
            cell,
        }
    }

    fn weight(&self, node: usize) -> f64 {
        let [i, j, k] = corner(node);
        self.weights[0][i] * self.weights[1][j] * self.weights[2][k]
    }

    fn gradient(&self, node: usize) -> Vector3<f64> {
        let [i, j, k] = corner(node);
        let (w, s) = (&self.weights, &self.slopes);
        Vector3::new(
            s[0][i] * w[1][j] * w[2][k],
            w[0][i] * s[1][j] * w[2][k],
            w[0][i] * w[1][j] * s[2][k],
        )
    }

    /// From the particle to a node, m.
    fn arm(&self, node: usize) -> Vector3<f64> {
        self.to_base + Vector3::from(corner(node).map(|c| c as f64)) * self.cell
    }
}

fn corner(node: usize) -> [usize; 3] {
    [node / 9, node / 3 % 3, node % 3]
}

/// A step of a blob.
#[derive(Debug)]
struct BlobStep {
    blob: ParticleBlob,
    time_step_s: f64,
    state: BodyState,
    /// Least nodes of the occupied stencils, ascending: the bases.
    cells: Vec<Cell>,
    /// Which of them each particle is in.
    cell_of: Vec<u32>,
    /// Node of the solve for each of the 27 of each cell; `None` where no particle's weight reaches.
    nodes: Vec<[Option<usize>; 27]>,
    mass: Vec<f64>,
    start: Vec<f64>,
    /// δt times gravity and loads on each node, N·s.
    external: Vec<f64>,
    dynamics: BlobDynamics,
}

#[derive(Debug)]
struct BlobDynamics {
    matrix: CsMatI<f64, u32>,
    diagonal: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl BlobStep {
    fn new(blob: ParticleBlob) -> Self {
        Self {
            blob,
            time_step_s: 0.0,
            state: BodyState::default(),
            cells: Vec::new(),
            cell_of: Vec::new(),
            nodes: Vec::new(),
            mass: Vec::new(),
            start: Vec::new(),
            external: Vec::new(),
            dynamics: BlobDynamics {
                matrix: CsMatI::zero((0, 0)).into_csc(),
                diagonal: Vec::new(),
                right_hand_side: Vec::new(),
            },
        }
    }

    fn stencil(&self, p: usize) -> Stencil {
        Stencil::about(&vector(&self.state.q, p), self.blob.settings.cell)
    }

    /// Calls `each` with every node of the solve that particle `p` reaches: its number, and that among the 27.
    fn for_each_node(&self, p: usize, mut each: impl FnMut(usize, usize)) {
        for (k, node) in self.nodes[self.cell_of[p] as usize].iter().enumerate() {
            if let Some(node) = *node {
                each(node, k);
            }
        }
    }

    fn check(&self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let n = self.blob.n_particles();
        for (what, values, expected) in [
            ("q of a blob", &state.q, 3 * n),
            ("v of a blob", &state.v, 3 * n),
            ("history of a blob", &state.history, HISTORY * n),
        ] {
            if values.len() != expected {
                return Err(BodyError::StateLength {
                    what,
                    found: values.len(),
                    expected,
                });
            }
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite {
                    place: format!("{what}, entry {i}"),
                    value: values[i],
                });
            }
        }
        let far = 0.5 * f64::from(i32::MAX) * self.blob.settings.cell;
        if let Some(i) = state.q.iter().position(|q| q.abs() > far) {
            return Err(BodyError::Model(format!(
                "particle {} is {:e} m away, off the grid",
                i / 3,
                state.q[i]
            )));
        }
        let control = input.control;
        let targets = [&control.position, &control.velocity, &control.effort];
        if targets.iter().any(|x| !x.is_empty()) || control.held.iter().any(Option::is_some) {
            return Err(BodyError::Unsupported {
                what: "actuators and held velocities",
            });
        }
        Ok(())
    }

    /// Finds the occupied cells and numbers the nodes that have mass.
    fn lay_out_grid(&mut self) {
        let n = self.blob.n_particles();
        let bases: Vec<Cell> = (0..n).map(|p| self.stencil(p).base).collect();
        self.cells.clone_from(&bases);
        self.cells.sort_unstable();
        self.cells.dedup();
        let find =
            |cells: &[Cell], c: &Cell| cells.binary_search(c).expect("every cell was listed");
        self.cell_of = bases
            .iter()
            .map(|base| find(&self.cells, base) as u32)
            .collect();

        let around = |base: &Cell, k: usize| {
            let c = corner(k).map(|c| c as i32);
            [base[0] + c[0], base[1] + c[1], base[2] + c[2]]
        };
        let all = self
            .cells
            .iter()
            .flat_map(|base| (0..27).map(|k| around(base, k)));
        let mut keys: Vec<Cell> = all.collect();
        keys.sort_unstable();
        keys.dedup();
        let mut mass = vec![0.0; keys.len()];
        for p in 0..n {
            let stencil = self.stencil(p);
            for k in 0..27 {
                mass[find(&keys, &around(&stencil.base, k))] +=
                    stencil.weight(k) * self.blob.particle_mass();
            }
        }
        // A weight of exactly zero leaves a node without mass, and out.
        let mut number = vec![None; keys.len()];
        self.mass.clear();
        for (number, mass) in number.iter_mut().zip(&mass) {
            if *mass > 0.0 {
                *number = Some(self.mass.len());
                self.mass.push(*mass);
            }
        }
        let nodes = self
            .cells
            .iter()
            .map(|base| std::array::from_fn(|k| number[find(&keys, &around(base, k))]));
        self.nodes = nodes.collect();
    }

    fn lay_out_matrix(&mut self) {
        let n = self.mass.len();
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
        for nodes in &self.nodes {
            for a in nodes.iter().flatten() {
                neighbours[*a].extend(nodes.iter().flatten());
            }
        }
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
            for _ in 0..3 {
                rows.extend(
                    list.iter()
                        .flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2])
                        .map(|i| i as u32),
                );
                starts.push(rows.len() as u32);
            }
        }
        let values = vec![0.0; rows.len()];
        self.dynamics.matrix = CsMatI::new_csc((3 * n, 3 * n), starts, rows, values);
    }

    /// δt Σ V₀κ(J₀ − 1)J₀ ∇w, what the pressure takes from the momentum of each node over a step, N·s.
    fn pressure_impulse(&self) -> Vec<f64> {
        let mut impulse = vec![0.0; self.start.len()];
        let scale = self.time_step_s * self.blob.volume() * self.blob.settings.bulk_modulus;
        for p in 0..self.blob.n_particles() {
            let (stencil, (_, ratio)) = (self.stencil(p), history(&self.state.history, p));
            self.for_each_node(p, |node, k| {
                add(
                    &mut impulse,
                    node,
                    &(stencil.gradient(k) * (scale * (ratio - 1.0) * ratio)),
                );
            });
        }
        impulse
    }
}

fn add(values: &mut [f64], node: usize, x: &Vector3<f64>) {
    for (value, x) in values[3 * node..].iter_mut().zip(x.iter()) {
        *value += x;
    }
}

impl BodyStep for BlobStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.check(state, input)?;
        self.time_step_s = input.time_step_s;
        self.state.clone_from(state);
        self.lay_out_grid();
        let (dt, m) = (self.time_step_s, self.blob.particle_mass());
        let mut momentum = vec![0.0; 3 * self.mass.len()];
        for p in 0..self.blob.n_particles() {
            let stencil = self.stencil(p);
            let (v, (affine, _)) = (vector(&state.v, p), history(&state.history, p));
            self.for_each_node(p, |node, k| {
                let there = v + affine * stencil.arm(k);
                add(&mut momentum, node, &(there * (stencil.weight(k) * m)));
            });
        }
        self.external = vec![0.0; momentum.len()];
        self.start = momentum;
        for (node, m) in self.mass.iter().enumerate() {
            self.start[3 * node..3 * node + 3]
                .iter_mut()
                .for_each(|p| *p /= m);
            add(&mut self.external, node, &(input.gravity * (dt * m)));
        }
        let mut external = std::mem::take(&mut self.external);
        for load in &input.control.loads {
            let Primitive::Vertex(p) = load.point.primitive else {
                return Err(BodyError::Unsupported {
                    what: "load but on vertices",
                });
            };
            let stencil = self.stencil(p as usize);
            self.for_each_node(p as usize, |node, k| {
                add(
                    &mut external,
                    node,
                    &(load.force_W * (dt * stencil.weight(k))),
                );
            });
        }
        self.external = external;
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self) -> Result<(), BodyError> {
        self.lay_out_matrix();
        let n = self.start.len();
        let mut b = self.pressure_impulse();
        for (i, b) in b.iter_mut().enumerate() {
            *b = self.mass[i / 3] * self.start[i] + self.external[i] - *b;
        }
        let values = self.dynamics.matrix.data_mut();
        values.fill(0.0);
        let mut diagonal = vec![0.0; 3 * n];
        let (indptr, indices) = {
            let matrix = &self.dynamics.matrix;
            (
                matrix.indptr().raw_storage().to_vec(),
                matrix.indices().to_vec(),
            )
        };
        let values = self.dynamics.matrix.data_mut();
        let mut add_block = |row: usize, column: usize, block: &Matrix3<f64>| {
            if row == column {
                let blocks = diagonal[9 * row..9 * row + 9].iter_mut();
                blocks.zip(block.iter()).for_each(|(d, b)| *d += b);
            }
            for c in 0..3 {
                let range = indptr[3 * column + c] as usize..indptr[3 * column + c + 1] as usize;
                let first = indices[range.clone()].partition_point(|&r| (r as usize) < 3 * row);
                let entries = values[range.start + first..].iter_mut();
                entries
                    .zip(block.column(c).iter())
                    .for_each(|(a, b)| *a += b);
            }
        };
        for (node, mass) in self.mass.iter().enumerate() {
            add_block(node, node, &(Matrix3::identity() * *mass));
        }
        let dt = self.time_step_s;
        let scale = dt * dt * self.blob.volume() * self.blob.settings.bulk_modulus;
        for p in 0..self.blob.n_particles() {
            let stencil = Stencil::about(&vector(&self.state.q, p), self.blob.settings.cell);
            let (_, ratio) = history(&self.state.history, p);
            let nodes = &self.nodes[self.cell_of[p] as usize];
            for (k, row) in nodes.iter().enumerate() {
                let Some(row) = *row else { continue };
                let push = stencil.gradient(k) * (scale * ratio * ratio);
                for (l, column) in nodes.iter().enumerate() {
                    if let Some(column) = *column {
                        add_block(row, column, &(push * stencil.gradient(l).transpose()));
                    }
                }
            }
        }
        self.dynamics.diagonal = diagonal;
        self.dynamics.right_hand_side = b;
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> BasisIdx {
        let Primitive::Vertex(p) = p.primitive else {
            unreachable!("the surface of a blob has vertices only");
        };
        let stencil = self.stencil(p as usize);
        *out = Lever::Weights((0..27).map(|k| stencil.weight(k)).collect());
        BasisIdx(self.cell_of[p as usize])
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(81);
        for (k, node) in self.nodes[basis.0 as usize].iter().enumerate() {
            if let Some(node) = *node {
                out.identity(3 * k, 3 * node, 3);
            }
        }
    }

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let cell = self.blob.settings.cell;
        next.q.clear();
        next.v.clear();
        next.history.clear();
        for p in 0..self.blob.n_particles() {
            let stencil = self.stencil(p);
            let (mut velocity, mut affine) = (Vector3::zeros(), Matrix3::zeros());
            let mut divergence = 0.0;
            self.for_each_node(p, |node, k| {
                let weighted = vector(v, node) * stencil.weight(k);
                velocity += weighted;
                affine += weighted * stencil.arm(k).transpose();
                divergence += vector(v, node).dot(&stencil.gradient(k));
            });
            affine *= 4.0 / (cell * cell);
            let ratio = history(&self.state.history, p).1 * (1.0 + self.time_step_s * divergence);
            if ratio.is_nan() || ratio <= 0.0 {
                return Err(BodyError::Model(format!(
                    "particle {p} of a blob lost its volume, J = {ratio:e}; take a shorter step"
                )));
            }
            let place = vector(&self.state.q, p) + velocity * self.time_step_s;
            next.q.extend_from_slice(place.as_slice());
            next.v.extend_from_slice(velocity.as_slice());
            next.history
                .extend_from_slice(affine.transpose().as_slice());
            next.history.push(ratio);
        }
        Ok(BodyReport::default())
    }

    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let pressure = self.pressure_impulse();
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.start[i] + (self.external[i] - pressure[i]) / self.mass[i / 3];
        }
        Ok(())
    }

    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        self.tangent(v, v, out)?;
        let pressure = self.pressure_impulse();
        for (i, out) in out.iter_mut().enumerate() {
            *out += pressure[i] - self.mass[i / 3] * self.start[i] - self.external[i];
        }
        Ok(())
    }

    fn tangent(&self, _: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
            *y = self.mass[i / 3] * x;
        }
        let dt = self.time_step_s;
        let scale = dt * dt * self.blob.volume() * self.blob.settings.bulk_modulus;
        for p in 0..self.blob.n_particles() {
            let (stencil, (_, ratio)) = (self.stencil(p), history(&self.state.history, p));
            let mut divergence = 0.0;
            self.for_each_node(p, |node, k| {
                divergence += stencil.gradient(k).dot(&vector(x, node))
            });
            let push = scale * ratio * ratio * divergence;
            self.for_each_node(p, |node, k| add(y, node, &(stencil.gradient(k) * push)));
        }
        Ok(())
    }

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Point3<f64> {
        let Primitive::Vertex(particle) = p.primitive else {
            unreachable!("the surface of a blob has vertices only");
        };
        let stencil = self.stencil(particle as usize);
        let mut velocity = Vector3::zeros();
        self.for_each_node(particle as usize, |node, k| {
            velocity += vector(v, node) * stencil.weight(k)
        });
        (vector(&self.state.q, particle as usize) + velocity * self.time_step_s + p.offset).into()
    }
}

impl Dynamics for BlobDynamics {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.outer_iterator().zip(x) {
            for (row, a) in column.iter() {
                y[row as usize] += a * x;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.diagonal)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

#[cfg(test)]
mod tests;
