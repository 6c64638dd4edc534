//! The contacts of a substep of the reference: found particle by particle, and solved together by Newton's method in their impulses.

use nalgebra::{DMatrix, DVector, Matrix3, Point3, Vector3};
use pliant_contact_sap::{ContactParameters, Lagged, Potential};

use super::reference::{Node, Reach, Reference};

/// A particle in contact.
pub(super) struct Touch {
    pub(super) object: usize,
    pub(super) obstacle: usize,
    /// Node and weight.
    pub(super) weights: Vec<(usize, f64)>,
    /// Link, and the contact point from its origin.
    pub(super) link: Option<(usize, Vector3<f64>)>,
    surface: Vector3<f64>,
    normal: Vector3<f64>,
    gap: f64,
    start_velocity: f64,
}

impl Reference<'_> {
    pub(super) fn touches(&self, nodes: &[Node], reaches: &[Vec<Reach>], h: f64) -> Vec<Touch> {
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
    pub(super) fn solve(
        &mut self,
        nodes: &[Node],
        touches: &[Touch],
        h: f64,
    ) -> Option<Vec<Vector3<f64>>> {
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
        let mut laws: Vec<Lagged> = touches
            .iter()
            .enumerate()
            .map(|(c, touch)| {
                let own = w.fixed_view::<3, 3>(3 * c, 3 * c).into_owned();
                self.law(touch, h, own.norm() / 3.0)
            })
            .collect();
        let mut x = DVector::zeros(3 * n);
        // Coulomb's law: the friction bounds are those of the normal impulses found.
        for _ in 0..100 {
            let last = x.clone();
            x = minimise(&w, &free, &laws, x)?;
            if (&x - &last).norm() <= 1e-8 * x.norm() {
                let each = (0..n).map(|c| x.fixed_rows::<3>(3 * c).into_owned());
                return Some(each.collect());
            }
            for (c, law) in laws.iter_mut().enumerate() {
                law.set_normal_impulse(touches[c].normal.dot(&x.fixed_rows::<3>(3 * c)).max(0.0));
            }
        }
        None
    }

    fn law(&self, touch: &Touch, h: f64, inverse_inertia: f64) -> Lagged {
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
        Lagged::new(&parameters, touch.normal, 0.0)
    }
}

/// The impulses with fixed laws, by Newton's method from `x`; `None` if it does not converge.
fn minimise(
    w: &DMatrix<f64>,
    free: &DVector<f64>,
    laws: &[Lagged],
    mut x: DVector<f64>,
) -> Option<DVector<f64>> {
    let n = laws.len();
    let impulse_at = |x: &DVector<f64>| {
        let v = free + w * x;
        let each = laws.iter().enumerate().flat_map(|(c, law)| {
            let impulse = law.impulse(&v.fixed_rows::<3>(3 * c).into_owned());
            [impulse.x, impulse.y, impulse.z]
        });
        DVector::from_iterator(3 * n, each)
    };
    let cost_at = |x: &DVector<f64>| {
        let w_x = w * x;
        let v = free + &w_x;
        let costs = laws
            .iter()
            .enumerate()
            .map(|(c, law)| law.cost(&v.fixed_rows::<3>(3 * c).into_owned()));
        0.5 * x.dot(&w_x) + costs.sum::<f64>()
    };
    for _ in 0..200 {
        let gap = impulse_at(&x) - &x;
        if gap.norm() <= 1e-12 * x.norm() {
            break;
        }
        let v = free + w * &x;
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
    (gap.norm() <= 1e-7 * x.norm()).then_some(x)
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
