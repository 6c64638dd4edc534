//! A net of masses and springs: a body with a fixed number of velocities, a sparse A, and a surface of vertices.

mod step;
#[cfg(test)]
mod tests;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::body::{
    BodyState, BodyStep, Control, DeformableModel, Energy, MaterialPoint, Primitive, Surface,
};
use crate::error::BodyError;

use step::NetStep;

/// Settings of a [`MassSpringNet`].
///
/// ```
/// use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
///
/// let net = MassSpringNet::new(NetSettings { n: 4, ..NetSettings::default() })?;
/// assert_eq!(net.n_nodes(), 16);
/// let error = MassSpringNet::new(NetSettings { n: 1, ..NetSettings::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "a net needs 2 nodes a side, not 1");
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetSettings {
    /// Nodes along each side, at least 2.
    pub n: usize,
    /// Distance of neighbours at rest, m.
    pub spacing: f64,
    /// Mass of a node, kg.
    pub node_mass: f64,
    /// Stiffness of a spring, N/m.
    pub stiffness: f64,
    /// Damping along a spring, N·s/m.
    pub damping: f64,
    /// Radius about each node, m.
    pub radius: f64,
    /// Place of the first node; the net lies in the plane z = const, towards +x and +y.
    pub corner_W: Point3<f64>,
}

impl Default for NetSettings {
    /// A handkerchief: 10 × 10 nodes, 3 cm apart, 50 g.
    fn default() -> Self {
        Self {
            n: 10,
            spacing: 0.03,
            node_mass: 5e-4,
            stiffness: 50.0,
            damping: 0.01,
            radius: 0.01,
            corner_W: Point3::new(0.0, 0.0, 0.5),
        }
    }
}

/// A square net of point masses joined by springs along its sides and both diagonals of each mesh.
///
/// A step is the linearised θ-method, A = M + θδt D + θδt·θ_vq δt K with K made positive semidefinite spring by spring. Every
/// surface vertex is a node, every surface point a weighted sum of nodes. Nodes whose three velocities are held leave the
/// solve: their velocity becomes the bias of their basis. It bears no bending, but contact with itself.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::conformance::{MassSpringNet, check_body};
/// use pliant_contact_sap::{DeformableModel, StepInput};
///
/// let net = MassSpringNet::default();
/// let control = net.holding(&[0, 9]); // two corners
/// check_body(&net, &net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// # Ok::<(), pliant_contact_sap::conformance::Violation>(())
/// ```
#[derive(Clone, Debug)]
pub struct MassSpringNet {
    settings: NetSettings,
    springs: Vec<Spring>,
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Spring {
    nodes: [usize; 2],
    rest_length: f64,
}

impl MassSpringNet {
    /// A net at rest in the plane z = const, with its springs at their rest lengths.
    ///
    /// # Errors
    /// [`BodyError::Model`] naming the first setting that is out of range.
    pub fn new(settings: NetSettings) -> Result<Self, BodyError> {
        let NetSettings { n, spacing, .. } = settings;
        if n < 2 {
            return Err(BodyError::Model(format!(
                "a net needs 2 nodes a side, not {n}"
            )));
        }
        for (name, value, least) in [
            ("spacing", spacing, f64::MIN_POSITIVE),
            ("node mass", settings.node_mass, f64::MIN_POSITIVE),
            ("stiffness", settings.stiffness, 0.0),
            ("damping", settings.damping, 0.0),
            ("radius", settings.radius, 0.0),
        ] {
            if !(value >= least && value.is_finite()) {
                return Err(BodyError::Model(format!(
                    "{name} of a net cannot be {value}"
                )));
            }
        }
        let node = |i: usize, j: usize| i * n + j;
        let mut net = Self {
            settings,
            springs: Vec::new(),
            edges: Vec::new(),
            triangles: Vec::new(),
        };
        for i in 0..n {
            for j in 0..n {
                if i + 1 < n {
                    net.join(node(i, j), node(i + 1, j), spacing);
                    net.edge(node(i, j), node(i + 1, j));
                }
                if j + 1 < n {
                    net.join(node(i, j), node(i, j + 1), spacing);
                    net.edge(node(i, j), node(i, j + 1));
                }
                if i + 1 < n && j + 1 < n {
                    let diagonal = spacing * std::f64::consts::SQRT_2;
                    net.join(node(i, j), node(i + 1, j + 1), diagonal);
                    net.join(node(i + 1, j), node(i, j + 1), diagonal);
                    net.edge(node(i, j), node(i + 1, j + 1));
                    let [a, b, c, d] = [
                        node(i, j),
                        node(i + 1, j),
                        node(i + 1, j + 1),
                        node(i, j + 1),
                    ]
                    .map(|k| k as u32);
                    net.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        Ok(net)
    }

    fn surface_at(&self, q: &[f64], out: &mut Surface) {
        out.clear();
        out.vertices
            .extend(q.chunks_exact(3).map(Point3::from_slice));
        out.radii.resize(out.vertices.len(), self.settings.radius);
        out.edges.extend_from_slice(&self.edges);
        out.triangles.extend_from_slice(&self.triangles);
    }

    fn join(&mut self, a: usize, b: usize, rest_length: f64) {
        self.springs.push(Spring {
            nodes: [a, b],
            rest_length,
        });
    }

    fn edge(&mut self, a: usize, b: usize) {
        self.edges.push([a as u32, b as u32]);
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.settings.n * self.settings.n
    }

    /// Refuses a material point that the net does not have.
    fn check_point(&self, p: &MaterialPoint) -> Result<(), BodyError> {
        let (n_edges, n_triangles) = (self.edges.len(), self.triangles.len());
        let (i, n) = match p.primitive {
            Primitive::Vertex(i) => (i, self.n_nodes()),
            Primitive::Edge(i) => (i, n_edges),
            Primitive::Triangle(i) => (i, n_triangles),
            Primitive::Frame(i) | Primitive::Tetrahedron(i) => (i, 0),
        };
        if (i as usize) < n {
            return Ok(());
        }
        Err(BodyError::NoSuchPoint {
            point: p.primitive,
            available: format!(
                "{} vertices, {n_edges} edges, {n_triangles} triangles",
                self.n_nodes()
            ),
        })
    }

    /// The control that holds `nodes` where they are.
    #[must_use]
    pub fn holding(&self, nodes: &[usize]) -> Control {
        let mut held = vec![None; 3 * self.n_nodes()];
        for node in nodes {
            held[3 * node..3 * node + 3].fill(Some(0.0));
        }
        Control {
            held,
            ..Control::default()
        }
    }
}

impl Default for MassSpringNet {
    fn default() -> Self {
        Self::new(NetSettings::default()).expect("the default settings are in range")
    }
}

impl DeformableModel for MassSpringNet {
    fn default_state(&self) -> BodyState {
        let NetSettings {
            n,
            spacing,
            corner_W,
            ..
        } = self.settings;
        let mut q = Vec::with_capacity(3 * n * n);
        for i in 0..n {
            for j in 0..n {
                let at = corner_W + Vector3::new(i as f64, j as f64, 0.0) * spacing;
                q.extend_from_slice(at.coords.as_slice());
            }
        }
        BodyState {
            v: vec![0.0; q.len()],
            q,
            history: Vec::new(),
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(NetStep::new(self.clone()))
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.surface_at(&state.q, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let mut energy = Energy::default();
        for i in 0..self.n_nodes() {
            let (x, p) = (at(&state.q, i), at(&state.v, i) * self.settings.node_mass);
            energy.kinetic += 0.5 * p.dot(&at(&state.v, i));
            energy.potential -= self.settings.node_mass * gravity.dot(&x);
            energy.linear_momentum_W += p;
            energy.angular_momentum_W += x.cross(&p);
        }
        for spring in &self.springs {
            let stretch = spring.between(&state.q).norm() - spring.rest_length;
            energy.potential += 0.5 * self.settings.stiffness * stretch * stretch;
        }
        energy
    }
}

fn at(values: &[f64], node: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&values[3 * node..3 * node + 3])
}

fn add(values: &mut [f64], node: usize, x: &Vector3<f64>) {
    for (value, x) in values[3 * node..].iter_mut().zip(x.iter()) {
        *value += x;
    }
}

impl Spring {
    /// From its first node to its second.
    fn between(&self, values: &[f64]) -> Vector3<f64> {
        at(values, self.nodes[1]) - at(values, self.nodes[0])
    }

    /// Force on the second node, −∂/∂x of ½k(‖x‖ − L)².
    fn force(&self, k: f64, x: &Vector3<f64>) -> Vector3<f64> {
        x * (-k * (1.0 - self.rest_length / x.norm()))
    }

    /// ∂²/∂x² of ½k(‖x‖ − L)² with the share of compression across the spring scaled: 1 is exact, 0 drops it where negative.
    fn stiffness(&self, k: f64, x: &Vector3<f64>, compression: Compression) -> Matrix3<f64> {
        let along = x.normalize();
        let across = match (1.0 - self.rest_length / x.norm(), compression) {
            (tension, Compression::Dropped) => tension.max(0.0),
            (tension, Compression::Kept) => tension,
        };
        let along = along * along.transpose();
        (along + (Matrix3::identity() - along) * across) * k
    }
}

/// What to do with the negative curvature of a compressed spring.
#[derive(Clone, Copy)]
enum Compression {
    Dropped,
    Kept,
}
