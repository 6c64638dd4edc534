//! The contact problem of one substep: grid nodes and rigid links in contact, and nothing else.
//!
//! ```text
//! min ½ |v − v*|²_M + ½ |V − V*|²_Λ⁻¹ + Σ_c ℓ_c(v_c)        v_c = Σ w_i v_i − J_r V − v_s
//! ```
//!
//! over the velocities v of the nodes that a particle in contact reaches and V of the links. At the minimum v = v* + M⁻¹Jᵀγ and
//! V = V* − Λ J_rᵀγ with γ = −∇ℓ(v_c). Every solver of this module keeps these two relations for the impulses γ that it has, so that momentum is
//! exact to round-off after any number of iterations.
//!
//! ℓ has friction with a bound μ n0 of its own. Coulomb's law, n0 = γ_n, is the business of [friction_bounds](super::friction_bounds).
//!
//! All numbers are f64, whatever precision the grid has: contacts are few.
//!
//! Source: Yu et al. (2025), eq. (8); the links' part is that of `docs/theory/yu-2025.md`.

use nalgebra::{DVector, Matrix3, Vector3, Vector4, Vector6};
use pliant_contact_sap::{
    ContactLaw, ContactParameters, NormalPrediction, Potential, SlipPrediction,
};

use super::laws::SubstepLaws;
use super::links::{LinkIdx, RigidLinks};

/// A node in contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactNode {
    /// Its place in the field.
    pub(super) node: u32,
    /// v*, m/s.
    pub(super) free: Vector3<f64>,
    /// 1/m of each component, 1/kg; zero where the velocity is prescribed.
    pub(super) inverse_mass: Vector3<f64>,
}

impl ContactNode {
    /// `block` + M of the node; rows and columns of prescribed components are those of the identity.
    pub(super) fn add_mass(&self, mut block: Matrix3<f64>) -> Matrix3<f64> {
        for k in 0..3 {
            if self.inverse_mass[k] > 0.0 {
                block[(k, k)] += 1.0 / self.inverse_mass[k];
            } else {
                block.row_mut(k).fill(0.0);
                block.column_mut(k).fill(0.0);
                block[(k, k)] = 1.0;
            }
        }
        block
    }

    /// `block` without the rows and columns of prescribed components.
    pub(super) fn without_prescribed(&self, mut block: Matrix3<f64>) -> Matrix3<f64> {
        for k in 0..3 {
            if self.inverse_mass[k] == 0.0 {
                block.row_mut(k).fill(0.0);
                block.column_mut(k).fill(0.0);
            }
        }
        block
    }
}

/// A particle in contact with an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Index of the particle in the state.
    pub(super) particle: u32,
    pub(super) object: u32,
    pub(super) obstacle: u32,
    /// The link, and the contact point from its origin, m.
    pub(super) link: Option<(LinkIdx, Vector3<f64>)>,
    /// The contact point, m, world frame.
    pub(super) p_WC: Vector3<f64>,
    /// Velocity of the obstacle's surface beside that of its link, less the approach that slip amounts to, m/s.
    pub(super) surface_velocity: Vector3<f64>,
    /// From the obstacle into the particle.
    pub(super) normal: Vector3<f64>,
    /// Nodes of the contact problem and weights, 27 of them; entries without a node have weight zero.
    pub(super) nodes: [u32; 27],
    pub(super) weights: [f64; 27],
    pub(super) signed_distance: f64,
    /// Velocity of the particle before the substep, relative to the surface, m/s.
    pub(super) start_velocity: Vector3<f64>,
}

/// The law of a contact, and its impulse.
#[derive(Clone, Debug)]
pub(super) struct ContactState {
    pub(super) parameters: ContactParameters,
    pub(super) law: ContactLaw,
    /// n0 of the law's friction bound μ n0, N·s.
    pub(super) normal_impulse: f64,
    /// An upper bound of the eigenvalues of W = Σ w_i² m_i⁻¹ + J_r Λ J_rᵀ, 1/kg; positive.
    pub(super) response: f64,
    /// γ, N·s, world axes.
    pub(super) impulse: Vector3<f64>,
}

/// Workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactProblem {
    pub(super) nodes: Vec<ContactNode>,
    /// v of each node, m/s; four numbers, the last zero, fill a register.
    velocities: Vec<Vector4<f64>>,
    /// 1/m of each component in the same form.
    inverse_masses: Vec<Vector4<f64>>,
    pub(super) contacts: Vec<Contact>,
    pub(super) states: Vec<ContactState>,
    /// Σ_c w of each node.
    weights: Vec<f64>,
    /// √(Σ |v_c*|²/w): norm of the impulses that would stop each contact alone.
    stopping_norm: f64,
}

/// Velocities of nodes and links, and the impulses on links that belong to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    nodes: Vec<Vector4<f64>>,
    links: DVector<f64>,
    link_impulses: DVector<f64>,
}

/// Relative error of velocities that makes no difference; round-off of f32 is 6e-8.
const VELOCITY_ERROR: f64 = 1e-10;

/// Parameters of a contact that do not depend on the problem's inertia.
pub(super) type Parameters<'a> = &'a dyn Fn(&Contact, f64) -> ContactParameters;

impl ContactProblem {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.contacts.clear();
        self.states.clear();
    }

    /// Velocity of a node, m/s.
    pub(super) fn velocity(&self, node: usize) -> Vector3<f64> {
        self.velocities[node].xyz()
    }

    /// Adds to the velocities of all nodes.
    pub(super) fn add_velocities(&mut self, a: f64, x: &[Vector3<f64>]) {
        for (v, x) in self.velocities.iter_mut().zip(x) {
            *v += (x * a).push(0.0);
        }
    }

    /// The relative velocity of a contact.
    #[inline(always)]
    pub(super) fn relative_velocity(&self, contact: &Contact, links: &RigidLinks) -> Vector3<f64> {
        let mut sum = Vector4::zeros();
        for (node, w) in contact.nodes.iter().zip(contact.weights) {
            sum += self.velocities[*node as usize] * w;
        }
        let mut v = sum.xyz() - contact.surface_velocity;
        if let Some((link, arm)) = &contact.link {
            v -= links.point_velocity(*link, arm);
        }
        v
    }

    /// Adds `impulse` to nodes and link of a contact.
    #[inline(always)]
    pub(super) fn add_impulse(&mut self, c: usize, impulse: &Vector3<f64>, links: &mut RigidLinks) {
        let contact = &self.contacts[c];
        let padded = impulse.push(0.0);
        for (node, w) in contact.nodes.iter().zip(contact.weights) {
            let node = *node as usize;
            self.velocities[node] += self.inverse_masses[node].component_mul(&padded) * w;
        }
        if let Some((link, arm)) = &contact.link {
            links.add_impulse(*link, arm, &-impulse);
        }
    }

    /// Makes the laws of all contacts and starts from the impulses `warm` gives. Contacts between prescribed velocities are left out: no impulse
    /// changes them.
    ///
    /// Friction bounds μ n0 that are not iterated are predicted from the free motion, with the row sum Σ_j |W_ij| for the effective inertia of
    /// contacts that share nodes. Those that are start from the impulses `warm` gives.
    pub(super) fn open(
        &mut self,
        parameters: Parameters<'_>,
        laws: &dyn SubstepLaws,
        warm: impl Fn(&Contact) -> Vector3<f64>,
        links: &mut RigidLinks,
    ) {
        self.velocities.clear();
        self.inverse_masses.clear();
        for node in &self.nodes {
            self.velocities.push(node.free.push(0.0));
            self.inverse_masses.push(node.inverse_mass.push(0.0));
        }
        self.weights.clear();
        self.weights.resize(self.nodes.len(), 0.0);
        for contact in &self.contacts {
            for (node, w) in contact.nodes.iter().zip(contact.weights) {
                self.weights[*node as usize] += w;
            }
        }
        let mut stopping = 0.0;
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.retain_mut(|contact| {
            let w = self.response(contact, links);
            let response = largest_eigenvalue_bound(&w);
            if response == 0.0 {
                return false;
            }
            let parameters = parameters(contact, w.norm() / 3.0);
            let free = self.relative_velocity(contact, links);
            stopping += free.norm_squared() / response;
            let warm = warm(contact);
            let n0 = match laws.has_iterated_bound() {
                true => contact.normal.dot(&warm).max(0.0),
                false => self.predict_normal_impulse(contact, &parameters, laws, &free, &w, links),
            };
            self.states.push(ContactState {
                law: laws.law(&parameters, contact.normal, n0),
                parameters,
                normal_impulse: n0,
                response,
                impulse: warm,
            });
            true
        });
        self.contacts = contacts;
        self.stopping_norm = stopping.sqrt();
        for c in 0..self.contacts.len() {
            let impulse = self.states[c].impulse;
            if impulse != Vector3::zeros() {
                self.add_impulse(c, &impulse, links);
            }
        }
    }

    /// n0, N·s, from the free motion. A law with a sliding gap gets the approach of its slip.
    fn predict_normal_impulse(
        &self,
        contact: &mut Contact,
        parameters: &ContactParameters,
        laws: &dyn SubstepLaws,
        free: &Vector3<f64>,
        w: &Matrix3<f64>,
        links: &RigidLinks,
    ) -> f64 {
        let row_sum = self.row_sum(contact, links);
        let prediction = NormalPrediction {
            free: contact.normal.dot(free),
            constrained: None,
            row_sum,
        };
        let n0 = parameters.friction_limit(laws.friction_limit(), &prediction);
        if laws.has_sliding_gap() {
            let slip = SlipPrediction {
                start: contact.start_velocity,
                free: *free,
                delassus: *w,
                row_sum,
            };
            let approach = parameters.approach_of_slip(&contact.normal, &slip, n0);
            contact.surface_velocity -= contact.normal * approach;
        }
        n0
    }

    /// W of a contact, 1/kg.
    fn response(&self, contact: &Contact, links: &RigidLinks) -> Matrix3<f64> {
        let mut w = Matrix3::zeros();
        for (node, weight) in contact.nodes.iter().zip(contact.weights) {
            let inverse_mass = &self.nodes[*node as usize].inverse_mass;
            for k in 0..3 {
                w[(k, k)] += weight * weight * inverse_mass[k];
            }
        }
        if let Some((link, arm)) = &contact.link {
            w += links.point_response(*link, arm);
        }
        w
    }

    /// Σ_j |W_ij| of a contact along the normal, 1/kg.
    fn row_sum(&self, contact: &Contact, links: &RigidLinks) -> f64 {
        let mut sum = 0.0;
        for (node, weight) in contact.nodes.iter().zip(contact.weights) {
            let inverse_mass = &self.nodes[*node as usize].inverse_mass;
            let along = inverse_mass.dot(&contact.normal.component_mul(&contact.normal));
            sum += weight * self.weights[*node as usize] * along;
        }
        if let Some((link, arm)) = &contact.link {
            let of_link = links.point_response(*link, arm);
            sum += contact.normal.dot(&(of_link * contact.normal));
        }
        sum
    }

    /// Takes all velocities back to v* and V*, without impulses.
    pub(super) fn restart(&mut self, links: &mut RigidLinks) {
        for (v, node) in self.velocities.iter_mut().zip(&self.nodes) {
            *v = node.free.push(0.0);
        }
        for state in &mut self.states {
            state.impulse = Vector3::zeros();
        }
        links.restart_substep();
    }

    /// Sets the impulses of a problem without impulses.
    pub(super) fn set_impulses(&mut self, impulses: &[Vector3<f64>], links: &mut RigidLinks) {
        for (c, impulse) in impulses.iter().enumerate() {
            self.states[c].impulse = *impulse;
            self.add_impulse(c, impulse, links);
        }
    }

    /// max(|M^½ v|, |M^−½ Jᵀγ|) with the impulses of the laws at relative velocities `relative`.
    pub(super) fn momentum_scale(&self, relative: &[Vector3<f64>]) -> f64 {
        let mut impulses = vec![Vector3::zeros(); self.nodes.len()];
        let contacts = self.contacts.iter().zip(&self.states).zip(relative);
        for ((contact, state), v_c) in contacts {
            contact.scatter_to_nodes(&state.law.impulse(v_c), &mut impulses);
        }
        let (mut momentum, mut impulse) = (0.0, 0.0);
        for ((node, v), j) in self.nodes.iter().zip(&self.velocities).zip(&impulses) {
            for k in 0..3 {
                let inverse = node.inverse_mass[k];
                if inverse > 0.0 {
                    momentum += v[k] * v[k] / inverse;
                    impulse += j[k] * j[k] * inverse;
                }
            }
        }
        f64::max(momentum, impulse).sqrt()
    }

    /// aᵀM b over the components that are not prescribed.
    pub(super) fn mass_product(&self, a: &[Vector3<f64>], b: &[Vector3<f64>]) -> f64 {
        let each = self.nodes.iter().zip(a).zip(b);
        each.map(|((node, a), b)| {
            (0..3)
                .filter(|&k| node.inverse_mass[k] > 0.0)
                .map(|k| a[k] * b[k] / node.inverse_mass[k])
                .sum::<f64>()
        })
        .sum()
    }

    /// Writes the present motion down.
    pub(super) fn remember_motion(&self, links: &RigidLinks, out: &mut Motion) {
        out.nodes.clone_from(&self.velocities);
        out.links.clone_from(links.velocities());
        out.link_impulses.clone_from(links.substep_impulses());
    }

    /// √(ΔγᵀWΔγ) of the change of the impulses since `before`: Δv in the norm of the masses and, of the links, ΔΓ·ΔV.
    pub(super) fn motion_since(&self, before: &Motion, links: &RigidLinks) -> f64 {
        let of_links = (links.substep_impulses() - &before.link_impulses)
            .dot(&(links.velocities() - &before.links));
        let each = self.velocities.iter().zip(&before.nodes);
        self.norm_of_changes(each.map(|(v, before)| v - before), of_links)
    }

    /// √(γᵀWγ): the motion that the impulses cause.
    pub(super) fn motion(&self, links: &RigidLinks) -> f64 {
        let of_links = (links.substep_impulses())
            .dot(&(links.velocities() - links.velocities_without_impulses()));
        let each = self.velocities.iter().zip(&self.nodes);
        self.norm_of_changes(each.map(|(v, node)| v - node.free.push(0.0)), of_links)
    }

    fn norm_of_changes(&self, of_nodes: impl Iterator<Item = Vector4<f64>>, of_links: f64) -> f64 {
        let mut sum = of_links;
        for (change, inverse_mass) in of_nodes.zip(&self.inverse_masses) {
            for k in 0..3 {
                if inverse_mass[k] > 0.0 {
                    sum += change[k] * change[k] / inverse_mass[k];
                }
            }
        }
        // Of no motion, the part of the links may be round-off below zero.
        sum.max(0.0).sqrt()
    }

    /// √(Σ w |γ|²) of impulses, one for each contact.
    pub(super) fn impulse_norm(&self, impulses: &[Vector3<f64>]) -> f64 {
        let each = self.states.iter().zip(impulses);
        let sum: f64 = each
            .map(|(state, impulse)| state.response * impulse.norm_squared())
            .sum();
        sum.sqrt()
    }

    /// The error of impulses at which the problem is solved, for impulses of norm `size`: relative, but no less than what changes velocities by
    /// [`VELOCITY_ERROR`], since surfaces that just touch have impulses of that size.
    pub(super) fn error_bound(&self, tolerance: f64, size: f64) -> f64 {
        f64::max(tolerance * size, VELOCITY_ERROR * self.stopping_norm)
    }
}

impl Contact {
    /// Σ w_i x_i.
    pub(super) fn interpolate(&self, x: &[Vector3<f64>]) -> Vector3<f64> {
        let mut sum = Vector3::zeros();
        for (node, w) in self.nodes.iter().zip(self.weights) {
            sum += x[*node as usize] * w;
        }
        sum
    }

    /// Adds w_i f to every node.
    pub(super) fn scatter_to_nodes(&self, f: &Vector3<f64>, out: &mut [Vector3<f64>]) {
        for (node, w) in self.nodes.iter().zip(self.weights) {
            out[*node as usize] += f * w;
        }
    }

    /// Adds J f: w_i f to every node, and −f at the contact point to the wrench of the link.
    pub(super) fn scatter(
        &self,
        f: &Vector3<f64>,
        nodes: &mut [Vector3<f64>],
        wrenches: &mut DVector<f64>,
    ) {
        self.scatter_to_nodes(f, nodes);
        self.add_link_wrench(f, wrenches);
    }

    /// Adds −f at the contact point to the wrench of the link.
    pub(super) fn add_link_wrench(&self, f: &Vector3<f64>, wrenches: &mut DVector<f64>) {
        if let Some((link, arm)) = &self.link {
            let moment = arm.cross(f);
            let mut wrench = wrenches.fixed_rows_mut::<6>(6 * link.0);
            wrench -= Vector6::new(moment.x, moment.y, moment.z, f.x, f.y, f.z);
        }
    }

    /// Velocity of the link at the contact point, from the twists of all links; `None` without a link.
    pub(super) fn link_velocity(&self, twists: &DVector<f64>) -> Option<Vector3<f64>> {
        let (link, arm) = self.link.as_ref()?;
        let twist = twists.fixed_rows::<6>(6 * link.0);
        let omega = twist.fixed_rows::<3>(0).into_owned();
        Some(twist.fixed_rows::<3>(3) + omega.cross(arm))
    }
}

/// An upper bound of the largest eigenvalue of a symmetric positive semi-definite matrix: the least of the largest row sum and the
/// Frobenius norm.
fn largest_eigenvalue_bound(w: &Matrix3<f64>) -> f64 {
    let row = |k: usize| w.row(k).iter().map(|x| x.abs()).sum::<f64>();
    row(0).max(row(1)).max(row(2)).min(w.norm())
}
