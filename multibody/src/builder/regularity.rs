//! The check that a tree's mass matrix is regular.

use crate::articulated_body::ArticulatedBodies;
use crate::body_inertias::BodyInertias;
use crate::error::MultibodyError;
use crate::held::HeldDofs;
use crate::joint::DofKind;
use crate::kinematics::PositionKinematics;
use crate::model::{LinkIdx, Model};

/// Rejects a tree whose mass matrix, reflected inertias included, is singular: some joint moves no inertia.
///
/// At one of two positions without symmetry, the articulated inertia D of each degree of freedom must exceed the
/// round-off of the composite inertia that it was reduced from.
pub(super) fn check_regular(model: &Model) -> Result<(), MultibodyError> {
    let mut positions = PositionKinematics::new(model);
    let mut inertias = BodyInertias::new(model);
    let mut bodies = ArticulatedBodies::new(model);
    let mut diagonal = vec![0.0; model.n_v()];
    model.add_reflected_inertia(&mut diagonal);
    let held = HeldDofs::none(model);
    let v: Vec<f64> = (0..model.n_v())
        .map(|k| 0.3 + 0.17 * (k % 11) as f64)
        .collect();
    let neutral = model.neutral_positions();
    let mut q = neutral.clone();
    let mut is_regular = vec![false; model.n_v()];
    for time in [1.0, -2.1] {
        model.integrate(&neutral, &v, time, &mut q);
        positions.update(model, &q);
        inertias.update(model, &positions);
        bodies.factor(model, &positions, &inertias, &diagonal, &held);
        let mut composite = inertias.bodies.clone();
        for i in (1..model.bodies.len()).rev() {
            let (body, own) = (&model.bodies[i], composite[i]);
            if body.parent != 0 {
                composite[body.parent].add_shifted(&own, &positions.bodies[i].from_parent);
            }
            for k in body.v_start..body.v_end {
                let composite_inertia = diagonal[k]
                    + match model.dof_kind[k] {
                        DofKind::Angular => own.second.xx + own.second.yy + own.second.zz,
                        DofKind::Linear => own.mass,
                        DofKind::Screw { advance } => {
                            let second = own.second.xx + own.second.yy + own.second.zz;
                            second + advance * advance * own.mass
                        }
                    };
                let reduced = 1.0 / bodies.inverse_d[k];
                // 1e-13 of the composite is a thousand times its round-off.
                is_regular[k] |= reduced.is_finite()
                    && composite_inertia > 0.0
                    && reduced > 1e-13 * composite_inertia;
            }
        }
    }
    // A vanishing D also invalidates those nearer to the root: report the one nearest to the tips.
    let Some(singular) = is_regular.iter().rposition(|&regular| !regular) else {
        return Ok(());
    };
    let joint = &model.joints[model.dof_joint[singular]];
    let LinkIdx(child) = joint.child;
    Err(MultibodyError::MasslessJoint {
        joint: joint.name.clone(),
        link: model.links[child].name.clone(),
    })
}
