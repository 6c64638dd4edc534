//! One substep after the other, as plainly as the formulas of `docs/theory/yu-2025.md` can be written.
//!
//! ```text
//! m_i, p_i = Σ_p w_ip m, Σ_p w_ip [m v + m C (x_i − x)] − h V τ ∇w_ip       v_i* = p_i/m_i + h g
//! γ = γ(J v* − J_r V* + W γ),    W = J M⁻¹Jᵀ + J_r Λ J_rᵀ                    Newton's method in all impulses
//! v = v* + M⁻¹Jᵀγ,    V = V* − Λ J_rᵀγ
//! v_p, C = Σ w_ip v_i, (4/h²) Σ w_ip v_i (x_i − x)ᵀ       F ← (I + h ∇v) F, return mapping,    x ← x + h v_p
//! ```
//!
//! f_p, the force of cloth and loads on a particle, adds h w_ip f_p to p_i.

use std::collections::BTreeMap;

use nalgebra::{DVector, Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3, Vector6};

use super::cloth::ReferenceCloth;
use super::contacts::Touch;
use super::held::Held;
use super::scenes::Scene;
use crate::material::{Lagged, Law};
use crate::model::{Parts, Records, WallKind};
use crate::particle::Particle;
use crate::spline::GradientForm;

/// A particle in the reach of a node: its number, w and the gradient by which stress is distributed and F is updated.
pub(super) struct Reach {
    pub(super) node: usize,
    pub(super) weight: f64,
    gradient: Vector3<f64>,
    /// x_i − x.
    arm: Vector3<f64>,
}

pub(super) struct Node {
    pub(super) mass: f64,
    /// Momentum, later velocity.
    pub(super) v: Vector3<f64>,
    pub(super) inverse_mass: Vector3<f64>,
    /// Whether contacts see it: nodes with next to no mass have no velocity to speak of.
    pub(super) in_contact: bool,
}

/// What acts on a particle.
struct Acting {
    /// N.
    force: Vector3<f64>,
    /// Kirchhoff stress, Pa.
    kirchhoff: Matrix3<f64>,
}

/// Particles, links and sums of a scene.
pub(super) struct Reference<'a> {
    pub(super) scene: &'a Scene,
    pub(super) parts: &'a Parts,
    pub(super) particles: Vec<Particle<f64>>,
    cloths: Vec<ReferenceCloth<'a>>,
    held: Vec<Held>,
    pub(super) poses: Vec<Isometry3<f64>>,
    /// (ω, v) of every link.
    pub(super) velocities: DVector<f64>,
    /// Impulses on every link, about its origin.
    pub(super) on_links: DVector<f64>,
    /// Impulses on objects, by object and obstacle.
    pub(super) pairs: BTreeMap<(usize, usize), Vector3<f64>>,
    /// The most contacts of a substep that had an impulse.
    pub(super) contacts_max: usize,
}

impl<'a> Reference<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        let parts = &scene.model.parts;
        let records = Records::read(parts, &scene.start).expect("a state of the model");
        let velocities = scene
            .motions
            .iter()
            .flat_map(|m| m.velocity.iter().copied());
        let n = 6 * scene.motions.len();
        Self {
            scene,
            parts,
            cloths: ReferenceCloth::all(parts, &records.particles),
            held: Held::all(parts, &scene.control, &records.ids),
            particles: records.particles,
            poses: scene.motions.iter().map(|m| m.X_WL).collect(),
            velocities: DVector::from_iterator(n, velocities),
            on_links: DVector::zeros(n),
            pairs: BTreeMap::new(),
            contacts_max: 0,
        }
    }

    /// Takes one substep. Returns false if Newton's method did not converge.
    pub(super) fn substep(&mut self) -> bool {
        let h = self.scene.length_s;
        let (mut nodes, reaches) = self.scatter(h);
        let touches = self.touches(&nodes, &reaches, h);
        let Some(impulses) = self.solve(&nodes, &touches, h) else {
            return false;
        };
        self.apply(&touches, &impulses, &mut nodes, h);
        self.gather(&nodes, &reaches, h);
        true
    }

    /// Stress, loads, and forces of cloth. Those of a held vertex are balanced by what holds it.
    fn acting(&self) -> Vec<Acting> {
        let of_material = |p: &Particle<f64>| {
            let law: &dyn Law<f64> = &*self.parts.objects[p.object as usize].material;
            let lagged = Lagged {
                velocity_gradient: p.c,
                ..Lagged::default()
            };
            Acting {
                force: Vector3::zeros(),
                kirchhoff: law.kirchhoff(&p.strain, &lagged),
            }
        };
        let mut acting: Vec<Acting> = self.particles.iter().map(of_material).collect();
        for cloth in &self.cloths {
            let forces = cloth.forces(&self.particles);
            for (k, force) in forces.vertices().iter().enumerate() {
                if !self.held.iter().any(|held| held.members[cloth.first + k]) {
                    acting[cloth.first + k].force += force;
                }
            }
            for (k, kirchhoff) in forces.kirchhoff().iter().enumerate() {
                acting[cloth.first_centroid() + k].kirchhoff = *kirchhoff;
            }
        }
        for (particle, force) in &self.scene.loads {
            acting[*particle].force += force;
        }
        acting
    }

    fn scatter(&self, h: f64) -> (Vec<Node>, Vec<Vec<Reach>>) {
        let acting = self.acting();
        let spacing = self.parts.settings.spacing;
        let mut numbers: BTreeMap<[i32; 3], usize> = BTreeMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut reaches = Vec::new();
        for (p, acting) in self.particles.iter().zip(&acting) {
            let around = reach(&p.x, spacing, self.parts.settings.gradient);
            let mut of_particle = Vec::new();
            for (key, mut reach) in around {
                reach.node = *numbers.entry(key).or_insert_with(|| {
                    nodes.push(Node {
                        mass: 0.0,
                        v: Vector3::zeros(),
                        inverse_mass: Vector3::zeros(),
                        in_contact: false,
                    });
                    nodes.len() - 1
                });
                let node = &mut nodes[reach.node];
                node.mass += reach.weight * p.mass;
                node.v += (p.v + p.c * reach.arm) * (reach.weight * p.mass)
                    + acting.force * (h * reach.weight)
                    - acting.kirchhoff * reach.gradient * (h * p.volume);
                of_particle.push(reach);
            }
            reaches.push(of_particle);
        }
        let lightest = self.parts.objects.iter().map(|o| o.particle_mass);
        let lightest = lightest.fold(f64::INFINITY, f64::min);
        for (key, number) in &numbers {
            let node = &mut nodes[*number];
            node.v = node.v / node.mass + self.scene.gravity * h;
            node.in_contact = node.mass > 1e-7 * lightest;
            if node.in_contact {
                node.inverse_mass = Vector3::repeat(1.0 / node.mass);
            }
            let x = Vector3::from(key.map(|k| f64::from(k) * spacing));
            for wall in &self.parts.walls {
                if (x - wall.p_WQ.coords).dot(&wall.normal_W) > 1e-9 * spacing {
                    continue;
                }
                for k in 0..3 {
                    if wall.kind == WallKind::Sticks || wall.normal_W[k].abs() > 0.5 {
                        node.v[k] = 0.0;
                        node.inverse_mass[k] = 0.0;
                        node.in_contact = true;
                    }
                }
            }
        }
        for held in &self.held {
            held.hold_nodes(self.parts, &self.particles, &reaches, &mut nodes);
        }
        (nodes, reaches)
    }

    fn apply(&mut self, touches: &[Touch], impulses: &[Vector3<f64>], nodes: &mut [Node], h: f64) {
        let mut on_links = DVector::zeros(self.on_links.len());
        for (touch, impulse) in touches.iter().zip(impulses) {
            for (node, weight) in &touch.weights {
                let node = &mut nodes[*node];
                node.v += node.inverse_mass.component_mul(impulse) * *weight;
            }
            if let Some((link, arm)) = &touch.link {
                let moment = arm.cross(impulse);
                let mut wrench = on_links.fixed_rows_mut::<6>(6 * link);
                wrench -= Vector6::new(
                    moment.x, moment.y, moment.z, impulse.x, impulse.y, impulse.z,
                );
            }
            let pair = self.pairs.entry((touch.object, touch.obstacle));
            *pair.or_default() += impulse;
        }
        let active = impulses.iter().filter(|x| x.norm() > 0.0).count();
        self.contacts_max = self.contacts_max.max(active);
        self.velocities += &self.scene.response * &on_links;
        self.on_links += on_links;
        for (l, pose) in self.poses.iter_mut().enumerate() {
            let v = self.velocities.fixed_rows::<6>(6 * l);
            let turn = v.fixed_rows::<3>(0) * h;
            *pose = Isometry3::from_parts(
                Translation3::from(pose.translation.vector + v.fixed_rows::<3>(3) * h),
                UnitQuaternion::from_scaled_axis(turn) * pose.rotation,
            );
        }
    }

    fn gather(&mut self, nodes: &[Node], reaches: &[Vec<Reach>], h: f64) {
        let spacing = self.parts.settings.spacing;
        let mut gradients = Vec::new();
        for (index, (p, reaches)) in self.particles.iter_mut().zip(reaches).enumerate() {
            let object = &self.parts.objects[p.object as usize];
            let law: &dyn Law<f64> = &*object.material;
            let mut lagged = Lagged {
                velocity_gradient: p.c,
                ..Lagged::default()
            };
            law.lag(&p.strain, None, &mut lagged);
            lagged.time_s = h;
            let mut gradient = Matrix3::zeros();
            (p.v, p.c) = (Vector3::zeros(), Matrix3::zeros());
            for reach in reaches {
                let v = nodes[reach.node].v;
                p.v += v * reach.weight;
                p.c += v * reach.arm.transpose() * (4.0 / (spacing * spacing) * reach.weight);
                gradient += v * reach.gradient.transpose();
            }
            match &object.cloth {
                None => p.strain = law.advance(&p.strain, &lagged, &(gradient * h)),
                Some(cloth) => {
                    p.c = cloth.cloth.law().transferred_affine(&p.c);
                    (self.held.iter()).for_each(|held| held.hold_particle(index, &mut p.v));
                }
            }
            p.x += p.v * h;
            gradients.push(gradient);
        }
        for cloth in &mut self.cloths {
            cloth.advance(&mut self.particles, &gradients, h);
        }
    }
}

/// The nodes around `x` with a weight, by the quadratic kernel N(t) and its derivative, t the distance in units of the spacing.
fn reach(x: &Vector3<f64>, spacing: f64, form: GradientForm) -> Vec<([i32; 3], Reach)> {
    let kernel = |t: f64| {
        let s = t.abs();
        if s < 0.5 {
            (0.75 - s * s, -2.0 * t)
        } else if s < 1.5 {
            (0.5 * (1.5 - s) * (1.5 - s), -(1.5 - s) * t.signum())
        } else {
            (0.0, 0.0)
        }
    };
    let centre = x.map(|x| (x / spacing).round() as i32);
    let mut out = Vec::new();
    for offset in 0..27 {
        let key = [offset / 9 - 1, offset / 3 % 3 - 1, offset % 3 - 1];
        let key: [i32; 3] = std::array::from_fn(|k| centre[k] + key[k]);
        // N is even, and its derivative by x is minus that by x_i.
        let along: [(f64, f64); 3] =
            std::array::from_fn(|k| kernel(x[k] / spacing - f64::from(key[k])));
        let weight = along[0].0 * along[1].0 * along[2].0;
        if weight <= 0.0 {
            continue;
        }
        let arm = Vector3::from(key.map(|k| f64::from(k) * spacing)) - x;
        let slope = |k: usize| {
            let others = along[(k + 1) % 3].0 * along[(k + 2) % 3].0;
            along[k].1 * others / spacing
        };
        let gradient = match form {
            GradientForm::True => Vector3::new(slope(0), slope(1), slope(2)),
            GradientForm::Mls => arm * (4.0 / (spacing * spacing) * weight),
        };
        let reach = Reach {
            node: 0,
            weight,
            gradient,
            arm,
        };
        out.push((key, reach));
    }
    out
}
