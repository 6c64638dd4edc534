//! A cloth on a plain grid, explicit substeps: balances and the limit of the time step.

use std::collections::BTreeMap;

use super::*;
use crate::spline::{GradientForm, Stencil, base_node};

/// Vertices first, then centroids.
struct Points {
    x: Vec<Vector3<f64>>,
    v: Vec<Vector3<f64>>,
    c: Vec<Matrix3<f64>>,
    mass: Vec<f64>,
    normals: Vec<Vector3<f64>>,
}

struct Scheme {
    cloth: Cloth<f64>,
    h: f64,
    form: GradientForm,
    forces: ClothForces<f64>,
}

impl Scheme {
    fn new(mesh: &ClothMesh, material: &ClothMaterial, form: GradientForm) -> Self {
        Self {
            cloth: Cloth::new(mesh, material),
            h: mesh.spacing(),
            form,
            forces: ClothForces::default(),
        }
    }

    /// At these positions, at rest.
    fn points(&self, positions: Vec<Vector3<f64>>) -> Points {
        let (vertices, triangles) = (positions.len(), self.cloth.triangles().len());
        let mut normals = vec![Vector3::zeros(); triangles];
        self.cloth.unit_normals(&positions, &mut normals);
        let mut x = positions;
        x.resize(vertices + triangles, Vector3::zeros());
        let (of_vertices, of_centroids) = x.split_at_mut(vertices);
        self.cloth.centroids(of_vertices, of_centroids);
        let masses = [self.cloth.vertex_masses(), self.cloth.centroid_masses()];
        Points {
            v: vec![Vector3::zeros(); x.len()],
            c: vec![Matrix3::zeros(); x.len()],
            mass: masses.concat(),
            x,
            normals,
        }
    }

    fn nodes(
        &self,
        x: &Vector3<f64>,
    ) -> (Stencil<f64>, impl Iterator<Item = ([usize; 3], [i32; 3])>) {
        let base = base_node(x, 1.0 / self.h);
        let stencil = Stencil::about(x, base, 1.0 / self.h, self.form);
        let nodes = (0..27).map(move |n| {
            let node = [n / 9, n / 3 % 3, n % 3];
            (node, [0, 1, 2].map(|k| base[k] + node[k] as i32))
        });
        (stencil, nodes)
    }

    /// A substep; returns linear and angular momentum of the grid.
    fn advance(&mut self, p: &mut Points, dt: f64) -> [Vector3<f64>; 2] {
        let vertices = self.cloth.vertex_masses().len();
        let mut forces = std::mem::take(&mut self.forces);
        forces.evaluate(&self.cloth, &p.x[..vertices], &p.v[..vertices], &p.normals);
        let mut grid: BTreeMap<[i32; 3], (Vector3<f64>, f64)> = BTreeMap::new();
        for i in 0..p.x.len() {
            let (stencil, nodes) = self.nodes(&p.x[i]);
            let affine = self.cloth.law().transferred_affine(&p.c[i]);
            for (node, key) in nodes {
                let w = stencil.weight(node);
                let entry = grid.entry(key).or_insert((Vector3::zeros(), 0.0));
                entry.0 += (p.v[i] + affine * stencil.arm(node, self.h)) * (w * p.mass[i]);
                entry.0 += if i < vertices {
                    forces.vertices()[i] * (w * dt)
                } else {
                    let t = i - vertices;
                    let volume = self.cloth.triangles()[t].volume;
                    forces.kirchhoff()[t] * stencil.gradient(node) * (-dt * volume)
                };
                entry.1 += w * p.mass[i];
            }
        }
        self.forces = forces;
        let mut momenta = [Vector3::zeros(); 2];
        for (key, (momentum, mass)) in &mut grid {
            momenta[0] += *momentum;
            momenta[1] += Vector3::from(key.map(|k| f64::from(k) * self.h)).cross(momentum);
            *momentum /= *mass;
        }
        let mut gradients = Vec::with_capacity(p.normals.len());
        for i in 0..p.x.len() {
            let (stencil, nodes) = self.nodes(&p.x[i]);
            let (mut v, mut c, mut gradient) =
                (Vector3::zeros(), Matrix3::zeros(), Matrix3::zeros());
            for (node, key) in nodes {
                let w = stencil.weight(node);
                let of_node = grid[&key].0;
                v += of_node * w;
                c +=
                    of_node * stencil.arm(node, self.h).transpose() * (4.0 * w / (self.h * self.h));
                gradient += of_node * stencil.gradient(node).transpose();
            }
            (p.v[i], p.c[i]) = (v, c);
            p.x[i] += v * dt;
            if i >= vertices {
                gradients.push(gradient);
            }
        }
        let (of_vertices, of_centroids) = p.x.split_at_mut(vertices);
        self.cloth.centroids(of_vertices, of_centroids);
        self.cloth
            .convect_normals(of_vertices, &gradients, dt, &mut p.normals);
        momenta
    }

    fn energy(&self, p: &Points) -> f64 {
        let vertices = self.cloth.vertex_masses().len();
        let kinetic: f64 = p
            .mass
            .iter()
            .zip(&p.v)
            .map(|(m, v)| 0.5 * m * v.norm_squared())
            .sum();
        kinetic + self.cloth.energy(&p.x[..vertices], &p.normals)
    }
}

/// Forces of vertices and stresses of centroids leave the momenta of the grid unchanged.
#[test]
fn the_grid_receives_no_momentum_from_internal_forces() {
    let mut draw = Draw::new(1);
    let mesh = sheet([0.1, 0.06], [10, 6], 0.03);
    for form in [GradientForm::True, GradientForm::Mls] {
        let stiff = material(LAWS[0]).with_bending_stiffness(1e-4).unwrap();
        let mut scheme = Scheme::new(&mesh, &stiff, form);
        let (positions, normals) = crumpled(&mesh, 0.002, &mut draw);
        let mut points = scheme.points(positions);
        points.normals = normals;
        let [linear, angular] = scheme.advance(&mut points, 1e-4);
        // 3 g at 1 m/s.
        let moved: f64 = points
            .mass
            .iter()
            .zip(&points.v)
            .map(|(m, v)| m * v.norm())
            .sum();
        assert!(moved > 1e-4, "{moved}");
        assert!(linear.norm() < 1e-13 * moved);
        assert!(angular.norm() < 1e-14 * moved);
    }
}

/// A stretched sheet that is let go, on meshes far finer and nearly coarser than the grid.
fn largest_energy(cells: u32, law: InPlaneLaw, steps: usize, stretch: f64) -> f64 {
    let mesh = sheet([0.1, 0.1], [cells, cells], 0.02);
    let stiff = material(law).with_bending_stiffness(1e-6).unwrap();
    let mut scheme = Scheme::new(&mesh, &stiff, GradientForm::True);
    let mut draw = Draw::new(2);
    let rest = mesh.surface().vertices();
    let stretched = |x: &Vector3<f64>| {
        Vector3::new(
            stretch * x.x + 0.003,
            0.97 * x.y + 0.007,
            0.02 * (30.0 * x.x).sin(),
        ) + draw.vector(1e-4)
    };
    let positions: Vec<_> = rest.iter().map(stretched).collect();
    let mut points = scheme.points(positions.clone());
    let dt = stiff
        .step_limit_at(&mesh, &positions, &points.normals)
        .time_step_s;
    let start = scheme.energy(&points);
    let mut largest = 1.0_f64;
    for _ in 0..steps {
        scheme.advance(&mut points, dt);
        largest = largest.max(scheme.energy(&points) / start);
        if !(largest < 1e3) {
            return f64::INFINITY;
        }
    }
    largest
}

#[test]
fn substeps_at_the_limit_gain_no_energy() {
    for law in LAWS {
        for (cells, steps) in [(8, 400), (20, 150)] {
            for stretch in [1.05, 1.4] {
                let largest = largest_energy(cells, law, steps, stretch);
                assert!(
                    largest < 1.02,
                    "{law:?}, {cells} cells, {stretch}: {largest}"
                );
            }
        }
    }
}
