//! Domains of integration: the elastic energy of a body is Σ V Ψ(F) over them. F of a domain is the gradient of the positions, or a mean of it over a
//! few tetrahedra, F = Σ x_a ∇N_aᵀ.
//!
//! A domain of a linear element is its tetrahedron. Those of a smoothed element overlap: a layer is a set of domains that together cover the
//! body once, and each tetrahedron gives an equal share of its volume to each of its domains in a layer. Those of a quadratic element are its
//! quadrature points and its mean: a group of domains with the same vertices.
//!
//! Whatever the domains, a homogeneous deformation gives every domain the same F, with the forces of linear tetrahedra (the patch test), and
//! Σ ∇N_a = 0, so that elastic forces have no resultant.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use crate::rest::RestElement;

/// All domains, in flat arrays. Those of a group are consecutive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Domains {
    /// First domain of each group, and one past the last.
    group_starts: Vec<u32>,
    /// First vertex of each group, and one past the last.
    vertex_starts: Vec<u32>,
    vertices: Vec<u32>,
    /// First tetrahedron of each group, and one past the last.
    member_starts: Vec<u32>,
    /// Tetrahedra of each group.
    members: Vec<u32>,
    group_of: Vec<u32>,
    /// First entry of each domain, and one past the last: an entry is one of the vertices of its group.
    starts: Vec<u32>,
    /// Mean ∇N of each entry, 1/m.
    gradients: Vec<Vector3<f64>>,
    /// m³.
    volumes: Vec<f64>,
    /// The share of a tetrahedron's volume in each domain that has it.
    shares: Vec<f64>,
    layers: Vec<Layer>,
}

/// Groups that cover the body once.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) groups: Range<usize>,
    /// The share of a tetrahedron's mass in each of its groups.
    pub(crate) share: f64,
}

/// One domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain<'a> {
    pub(crate) vertices: &'a [u32],
    /// Mean ∇N of the vertices, 1/m.
    pub(crate) gradients: &'a [Vector3<f64>],
    /// m³, positive.
    pub(crate) volume: f64,
}

impl Domains {
    /// Each tetrahedron is a domain.
    pub(crate) fn of_tetrahedra(elements: &[RestElement]) -> Self {
        let mut domains = Self::default();
        domains.add_layer(elements, 1.0, (0..elements.len() as u32).map(|e| vec![e]));
        domains
    }

    /// Adds a layer of domains with these tetrahedra.
    pub(crate) fn add_layer(
        &mut self,
        elements: &[RestElement],
        share: f64,
        domains: impl Iterator<Item = Vec<u32>>,
    ) {
        let first = self.n_groups();
        for members in domains {
            self.add(elements, share, &members);
        }
        self.close_layer(first, share);
    }

    /// The groups from `first` on cover the body.
    pub(crate) fn close_layer(&mut self, first: usize, share: f64) {
        self.layers.push(Layer {
            groups: first..self.n_groups(),
            share,
        });
    }

    fn add(&mut self, elements: &[RestElement], share: f64, members: &[u32]) {
        let of = |e: &u32| &elements[*e as usize];
        let mut vertices: Vec<u32> = members.iter().flat_map(|e| of(e).vertices).collect();
        if members.len() > 1 {
            vertices.sort_unstable();
            vertices.dedup();
        }
        let volume: f64 = members.iter().map(|e| of(e).volume).sum();
        let mut gradients = vec![Vector3::zeros(); vertices.len()];
        for element in members.iter().map(of) {
            for (vertex, g) in element.vertices.iter().zip(element.all_gradients()) {
                let entry = vertices.iter().position(|v| v == vertex);
                gradients[entry.expect("the vertex is one of them")] +=
                    g * (element.volume / volume);
            }
        }
        self.add_group(&vertices, members);
        self.add_domain(&mut gradients, volume * share, share);
    }

    /// Begins a group of domains with these vertices and tetrahedra.
    pub(crate) fn add_group(&mut self, vertices: &[u32], members: &[u32]) {
        if self.group_starts.is_empty() {
            self.group_starts.push(0);
            self.vertex_starts.push(0);
            self.member_starts.push(0);
            self.starts.push(0);
        }
        self.group_starts.push(self.len() as u32);
        self.vertices.extend_from_slice(vertices);
        self.vertex_starts.push(self.vertices.len() as u32);
        self.members.extend_from_slice(members);
        self.member_starts.push(self.members.len() as u32);
    }

    /// Adds a domain to the last group, with ∇N (1/m) of the group's vertices, volume (m³), and the share of each tetrahedron in it.
    pub(crate) fn add_domain(&mut self, gradients: &mut [Vector3<f64>], volume: f64, share: f64) {
        // Elastic forces have no resultant, to round-off.
        gradients[0] = -gradients[1..].iter().sum::<Vector3<f64>>();
        self.gradients.extend_from_slice(gradients);
        self.starts.push(self.gradients.len() as u32);
        self.volumes.push(volume);
        self.shares.push(share);
        let group = self.group_starts.len() - 2;
        self.group_of.push(group as u32);
        self.group_starts[group + 1] = self.volumes.len() as u32;
    }

    /// Number of domains.
    pub(crate) fn len(&self) -> usize {
        self.volumes.len()
    }

    pub(crate) fn n_groups(&self) -> usize {
        self.group_starts.len().saturating_sub(1)
    }

    /// Number of entries of all domains.
    pub(crate) fn n_entries(&self) -> usize {
        self.gradients.len()
    }

    /// Domains of a group.
    #[inline]
    pub(crate) fn group(&self, group: usize) -> Range<usize> {
        self.group_starts[group] as usize..self.group_starts[group + 1] as usize
    }

    /// Vertices of a group.
    #[inline]
    pub(crate) fn vertices(&self, group: usize) -> &[u32] {
        let range = self.vertex_starts[group] as usize..self.vertex_starts[group + 1] as usize;
        &self.vertices[range]
    }

    /// Tetrahedra of a group.
    pub(crate) fn members(&self, group: usize) -> &[u32] {
        let range = self.member_starts[group] as usize..self.member_starts[group + 1] as usize;
        &self.members[range]
    }

    /// The group of a domain.
    #[inline]
    pub(crate) fn group_of(&self, domain: usize) -> usize {
        self.group_of[domain] as usize
    }

    /// The share of a tetrahedron in a domain that has it.
    pub(crate) fn share(&self, domain: usize) -> f64 {
        self.shares[domain]
    }

    /// Entries of a domain.
    #[inline]
    pub(crate) fn entries(&self, domain: usize) -> Range<usize> {
        self.starts[domain] as usize..self.starts[domain + 1] as usize
    }

    /// ∇N of a domain, 1/m, in the order of the vertices of its group.
    #[inline]
    pub(crate) fn gradients(&self, domain: usize) -> &[Vector3<f64>] {
        &self.gradients[self.entries(domain)]
    }

    #[inline]
    pub(crate) fn at(&self, domain: usize) -> Domain<'_> {
        Domain {
            vertices: self.vertices(self.group_of(domain)),
            gradients: self.gradients(domain),
            volume: self.volumes[domain],
        }
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }
}

impl Domain<'_> {
    /// Σ y_a ∇N_aᵀ of a field with values `y` at the vertices of the body.
    #[inline]
    pub(crate) fn gradient(&self, y: &[Vector3<f64>]) -> Matrix3<f64> {
        self.gradient_by(|vertex| y[vertex as usize])
    }

    /// The same of a field by its value at a vertex.
    #[inline]
    pub(crate) fn gradient_by(&self, y: impl Fn(u32) -> Vector3<f64>) -> Matrix3<f64> {
        let mut gradient = Matrix3::zeros();
        let first = y(self.vertices[0]);
        for (vertex, g) in self.vertices.iter().zip(self.gradients).skip(1) {
            let edge = y(*vertex) - first;
            for c in 0..3 {
                for r in 0..3 {
                    gradient[(r, c)] += edge[r] * g[c];
                }
            }
        }
        gradient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::Kinematics;

    #[test]
    fn a_domain_of_two_tetrahedra_has_the_mean_of_their_gradients() {
        let corners = [
            Vector3::zeros(),
            Vector3::x(),
            Vector3::y(),
            Vector3::z(),
            Vector3::new(0.9, 0.8, 1.3),
        ];
        let element = |vertices: [u32; 4]| {
            let at = vertices.map(|v| corners[v as usize]);
            RestElement::new(vertices, at, Kinematics::Solid)
        };
        let elements = [element([0, 1, 2, 3]), element([1, 2, 3, 4])];
        let mut domains = Domains::default();
        domains.add_layer(&elements, 0.5, [vec![0, 1]].into_iter());
        let domain = domains.at(0);
        let y: Vec<Vector3<f64>> = (0..5)
            .map(|k| Vector3::from_fn(|r, _| (f64::from(k * 3) + r as f64).sin()))
            .collect();
        let [first, second] = elements.map(|e| (e.volume, e.gradient(&y)));
        let volume = first.0 + second.0;
        let mean = (first.1 * first.0 + second.1 * second.0) / volume;
        assert!((domain.gradient(&y) - mean).norm() < 1e-14);
        assert!((domain.volume - 0.5 * volume).abs() < 1e-16);
        assert_eq!(domain.vertices, [0, 1, 2, 3, 4]);
        assert_eq!(domains.members(0), [0, 1]);
        // A homogeneous deformation.
        let F = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.2, 0.5, 0.1, 1.1);
        assert!((domain.gradient(&corners.map(|x| F * x)) - F).norm() < 1e-14);
        assert!(domain.gradients.iter().sum::<Vector3<f64>>().norm() < 1e-15);
    }
}
