//! One substep after the other, as plainly as the formulas of `docs/theory/yu-2025.md` can be written.
//!
//! ```text
//! m_i, p_i = Σ_p w_ip m, Σ_p w_ip [m v + m C (x_i − x)] − h V τ ∇w_ip       v_i* = p_i/m_i + h g
//! γ = γ(J v* − J_r V* + W γ),    W = J M⁻¹Jᵀ + J_r Λ J_rᵀ                    Newton's method in all impulses
//! v = v* + M⁻¹Jᵀγ,    V = V* − Λ J_rᵀγ
//! v_p, C = Σ w_ip v_i, (4/h²) Σ w_ip v_i (x_i − x)ᵀ       F ← (I + h ∇v) F, return mapping,    x ← x + h v_p
//! ```

use std::collections::BTreeMap;

use nalgebra::{
    DMatrix, DVector, Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3, Vector6,
};
use pliant_contact_sap::{
    ContactLaw, ContactParameters, FrictionLimit, Lagged as LaggedContact, NormalPrediction,
    Potential,
};

use super::scenes::Scene;
use crate::material::{Lagged, Law};
use crate::model::{Parts, Records, WallKind};
use crate::particle::Particle;
use crate::spline::GradientForm;

/// A particle in the reach of a node: its number, w and the gradient by which stress is distributed and F is updated.
struct Reach {
    node: usize,
    weight: f64,
    gradient: Vector3<f64>,
    /// x_i − x.
    arm: Vector3<f64>,
}

struct Node {
    mass: f64,
    /// Momentum, later velocity.
    v: Vector3<f64>,
    inverse_mass: Vector3<f64>,
    /// Whether contacts see it: nodes with next to no mass have no velocity to speak of.
    in_contact: bool,
}

struct Touch {
    object: usize,
    obstacle: usize,
    /// Node and weight.
    weights: Vec<(usize, f64)>,
    /// Link, and the contact point from its origin.
    link: Option<(usize, Vector3<f64>)>,
    surface: Vector3<f64>,
    normal: Vector3<f64>,
    gap: f64,
    start_velocity: f64,
}

/// Particles, links and sums of a scene.
pub(super) struct Reference<'a> {
    scene: &'a Scene,
    parts: &'a Parts,
    pub(super) particles: Vec<Particle<f64>>,
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

    fn scatter(&self, h: f64) -> (Vec<Node>, Vec<Vec<Reach>>) {
        let spacing = self.parts.settings.spacing;
        let mut numbers: BTreeMap<[i32; 3], usize> = BTreeMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut reaches = Vec::new();
        for p in &self.particles {
            let around = reach(&p.x, spacing, self.parts.settings.gradient);
            let law: &dyn Law<f64> = &*self.parts.objects[p.object as usize].material;
            let lagged = Lagged {
                velocity_gradient: p.c,
                ..Lagged::default()
            };
            let kirchhoff = law.kirchhoff(&p.strain, &lagged);
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
                    - kirchhoff * reach.gradient * (h * p.volume);
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
        (nodes, reaches)
    }

    fn touches(&self, nodes: &[Node], reaches: &[Vec<Reach>], h: f64) -> Vec<Touch> {
        let mut touches = Vec::new();
        for (p, reaches) in self.particles.iter().zip(reaches) {
            let object = p.object as usize;
            for (number, obstacle) in self.scene.obstacles.iter().enumerate() {
                if obstacle.pairs[object].is_none() {
                    continue;
                }
                let X_WG = match obstacle.link {
                    Some(link) => self.poses[link.0] * obstacle.X_LG,
                    None => obstacle.X_LG,
                };
                let distance = obstacle
                    .shape
                    .signed_distance_in_world(&X_WG, &Point3::from(p.x));
                let normal = distance.gradient;
                let point = p.x - normal * distance.value;
                let surface = X_WG.rotation * obstacle.surface_velocity;
                let link = obstacle
                    .link
                    .map(|l| (l.0, point - self.poses[l.0].translation.vector));
                let relative = p.v - self.link_velocity(&link) - surface;
                let radius = self.parts.objects[object].radius;
                let gap = distance.value - radius;
                if gap > 2.0 * h * relative.norm() + 0.1 * radius {
                    continue;
                }
                let weights = reaches
                    .iter()
                    .filter(|r| nodes[r.node].in_contact)
                    .map(|r| (r.node, r.weight));
                touches.push(Touch {
                    object,
                    obstacle: number,
                    weights: weights.collect(),
                    link,
                    surface,
                    normal,
                    gap,
                    start_velocity: normal.dot(&relative),
                });
            }
        }
        touches
    }

    fn link_velocity(&self, link: &Option<(usize, Vector3<f64>)>) -> Vector3<f64> {
        let Some((link, arm)) = link else {
            return Vector3::zeros();
        };
        let v = self.velocities.fixed_rows::<6>(6 * link);
        v.fixed_rows::<3>(3) + v.fixed_rows::<3>(0).into_owned().cross(arm)
    }

    /// W, 3×3 for every two contacts.
    fn delassus(&self, nodes: &[Node], touches: &[Touch]) -> DMatrix<f64> {
        let n = touches.len();
        let mut w = DMatrix::zeros(3 * n, 3 * n);
        for (a, s) in touches.iter().enumerate() {
            for (b, t) in touches.iter().enumerate() {
                let mut block = Matrix3::zeros();
                for (node, weight) in &s.weights {
                    for (_, other) in t.weights.iter().filter(|(n, _)| n == node) {
                        let inverse = nodes[*node].inverse_mass * (weight * other);
                        block += Matrix3::from_diagonal(&inverse);
                    }
                }
                if let (Some((l, arm)), Some((m, other))) = (&s.link, &t.link) {
                    let response = self.scene.response.fixed_view::<6, 6>(6 * l, 6 * m);
                    block += jacobian(arm) * response * jacobian(other).transpose();
                }
                w.fixed_view_mut::<3, 3>(3 * a, 3 * b).copy_from(&block);
            }
        }
        w
    }

    /// The impulses of all contacts; `None` if Newton's method does not converge.
    fn solve(&mut self, nodes: &[Node], touches: &[Touch], h: f64) -> Option<Vec<Vector3<f64>>> {
        let n = touches.len();
        let w = self.delassus(nodes, touches);
        let free = DVector::from_iterator(
            3 * n,
            touches.iter().flat_map(|t| {
                let v: Vector3<f64> = t.weights.iter().map(|(n, w)| nodes[*n].v * *w).sum();
                let v = v - t.surface - self.link_velocity(&t.link);
                [v.x, v.y, v.z]
            }),
        );
        // Σ_c w of each node.
        let mut sums = vec![0.0; nodes.len()];
        for (node, weight) in touches.iter().flat_map(|t| &t.weights) {
            sums[*node] += weight;
        }
        let laws: Vec<ContactLaw> = touches
            .iter()
            .enumerate()
            .map(|(c, touch)| {
                let own = w.fixed_view::<3, 3>(3 * c, 3 * c).into_owned();
                let squares = touch.normal.component_mul(&touch.normal);
                let mut row_sum: f64 = touch
                    .weights
                    .iter()
                    .map(|(n, w)| w * sums[*n] * nodes[*n].inverse_mass.dot(&squares))
                    .sum();
                if let Some((l, arm)) = &touch.link {
                    let response = self.scene.response.fixed_view::<6, 6>(6 * l, 6 * l);
                    let of_link = jacobian(arm) * response * jacobian(arm).transpose();
                    row_sum += touch.normal.dot(&(of_link * touch.normal));
                }
                let v_free = free.fixed_rows::<3>(3 * c).dot(&touch.normal);
                self.law(touch, h, own.norm() / 3.0, (v_free, row_sum))
            })
            .collect();
        let impulse_at = |x: &DVector<f64>| {
            let v = &free + &w * x;
            let each = laws.iter().enumerate().flat_map(|(c, law)| {
                let impulse = law.impulse(&v.fixed_rows::<3>(3 * c).into_owned());
                [impulse.x, impulse.y, impulse.z]
            });
            DVector::from_iterator(3 * n, each)
        };
        let cost_at = |x: &DVector<f64>| {
            let w_x = &w * x;
            let v = &free + &w_x;
            let costs = laws
                .iter()
                .enumerate()
                .map(|(c, law)| law.cost(&v.fixed_rows::<3>(3 * c).into_owned()));
            0.5 * x.dot(&w_x) + costs.sum::<f64>()
        };
        let mut x = DVector::zeros(3 * n);
        for _ in 0..200 {
            let gap = impulse_at(&x) - &x;
            if gap.norm() <= 1e-12 * x.norm() {
                break;
            }
            let v = &free + &w * &x;
            let mut system = DMatrix::identity(3 * n, 3 * n);
            for (c, law) in laws.iter().enumerate() {
                let g = law.hessian(&v.fixed_rows::<3>(3 * c).into_owned());
                let rows = g * w.rows(3 * c, 3);
                let mut block = system.rows_mut(3 * c, 3);
                block += rows;
            }
            let step = system.lu().solve(&gap)?;
            let before = cost_at(&x);
            let mut alpha = 1.0;
            while cost_at(&(&x + &step * alpha)) > before && alpha > 1e-9 {
                alpha *= 0.5;
            }
            if alpha <= 1e-9 {
                break;
            }
            x += step * alpha;
        }
        let gap = impulse_at(&x) - &x;
        if gap.norm() > 1e-7 * x.norm() {
            return None;
        }
        Some(
            (0..n)
                .map(|c| x.fixed_rows::<3>(3 * c).into_owned())
                .collect(),
        )
    }

    fn law(
        &self,
        touch: &Touch,
        h: f64,
        inverse_inertia: f64,
        (free, row_sum): (f64, f64),
    ) -> ContactLaw {
        let pair = self.scene.obstacles[touch.obstacle].pairs[touch.object];
        let pair = pair.expect("touches are of pairs");
        let parameters = ContactParameters {
            time_step: h.into(),
            signed_distance: touch.gap,
            start_velocity: touch.start_velocity,
            stiffness: pair.stiffness,
            dissipation: pair.dissipation,
            friction: pair.friction,
            stiction_speed: self.scene.stiction_speed,
            inverse_inertia,
            near_rigid: self.scene.near_rigid,
        };
        let prediction = NormalPrediction {
            free,
            constrained: None,
            row_sum,
        };
        let n0 = parameters.friction_limit(FrictionLimit::LocalImplicit, &prediction);
        ContactLaw::Lagged(LaggedContact::new(&parameters, touch.normal, n0))
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
        for (p, reaches) in self.particles.iter_mut().zip(reaches) {
            let law: &dyn Law<f64> = &*self.parts.objects[p.object as usize].material;
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
            p.strain = law.advance(&p.strain, &lagged, &(gradient * h));
            p.x += p.v * h;
        }
    }
}

/// [−[arm]×, I].
fn jacobian(arm: &Vector3<f64>) -> nalgebra::Matrix3x6<f64> {
    let mut j = nalgebra::Matrix3x6::zeros();
    j.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&-arm.cross_matrix());
    j.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&Matrix3::identity());
    j
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
