//! The nodes around a particle, by the quadratic kernel N(t) and its derivative, t the distance in cells.

use nalgebra::Vector3;
use pliant_mpm::GradientForm;

use super::scene::SPACING;

/// A node in the reach of a particle.
pub(super) struct Reach {
    /// The node, in cells of the world.
    pub(super) node: [i32; 3],
    pub(super) weight: f64,
    /// 1/m, by the form of the gradient.
    pub(super) gradient: Vector3<f64>,
    /// x_i − x, m.
    pub(super) arm: Vector3<f64>,
}

/// The lowest node that a particle at `x` reaches.
pub(super) fn base(x: &Vector3<f64>) -> [i32; 3] {
    std::array::from_fn(|k| (x[k] / SPACING - 0.5).floor() as i32)
}

/// All 27, also those of weight zero.
pub(super) fn reach(x: &Vector3<f64>, form: GradientForm) -> Vec<Reach> {
    let kernel = |t: f64| match t.abs() {
        s if s < 0.5 => (0.75 - t * t, -2.0 * t),
        s if s < 1.5 => (0.5 * (1.5 - s).powi(2), -(1.5 - s) * t.signum()),
        _ => (0.0, 0.0),
    };
    let base = base(x);
    let mut all = Vec::new();
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                let node = [base[0] + i, base[1] + j, base[2] + k];
                let arm = Vector3::from(node.map(f64::from)) * SPACING - x;
                let [a, b, c] = [0, 1, 2].map(|k| kernel(-arm[k] / SPACING));
                let weight = a.0 * b.0 * c.0;
                let slopes = Vector3::new(a.1 * b.0 * c.0, a.0 * b.1 * c.0, a.0 * b.0 * c.1);
                let gradient = match form {
                    GradientForm::True => slopes / SPACING,
                    GradientForm::Mls => arm * (4.0 * weight / (SPACING * SPACING)),
                };
                all.push(Reach {
                    node,
                    weight,
                    gradient,
                    arm,
                });
            }
        }
    }
    all
}
