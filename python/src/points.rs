//! Points with mass of a world's bodies, for force fields.

use std::any::Any;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, MaterialPoint};
use pliant_coupling::{BodyIdx, World};
use pliant_der::Rod;
use pliant_fem::FemBody;
use pliant_mpm::MaterialPoints;
use pliant_multibody::{LinkIdx, Model, Workspace};

/// A point, its mass and its motion.
pub(crate) struct MassPoint {
    pub(crate) point: MaterialPoint,
    pub(crate) mass: f64,
    pub(crate) p_WP: Point3<f64>,
    pub(crate) v_WP: Vector3<f64>,
}

/// The centres of mass of the links of a tree.
pub(crate) fn of_tree(tree: &Model, state: &BodyState) -> Vec<MassPoint> {
    let mut workspace = Workspace::new(tree);
    workspace.update(tree, &state.q, &state.v);
    let massive = (tree.links().iter().enumerate()).filter(|(_, link)| link.inertia.mass > 0.0);
    let points = massive.map(|(index, link)| {
        let (at, com) = (LinkIdx(index), link.inertia.com);
        let p_WC = workspace.positions.point(tree, at, &com);
        let twist = (workspace.velocities).twist_at(tree, &workspace.positions, at, &p_WC);
        MassPoint {
            point: MaterialPoint::on_frame(index as u32, com),
            mass: link.inertia.mass,
            p_WP: p_WC.into(),
            v_WP: twist.linear,
        }
    });
    points.collect()
}

/// The vertices of a finite-element body, the nodes of a rod, or material points; `None` for another kind of body.
pub(crate) fn of_soft(world: &World, body: BodyIdx, state: &BodyState) -> Option<Vec<MassPoint>> {
    let model: &dyn Any = world.model(body);
    let point = |index: usize, mass, p_WP, v_WP| MassPoint {
        point: MaterialPoint::on_vertex(index as u32),
        mass,
        p_WP,
        v_WP,
    };
    if let Some(fem) = model.downcast_ref::<FemBody>() {
        let motion = state.q.chunks_exact(3).zip(state.v.chunks_exact(3));
        let vertices = fem.vertex_masses().iter().zip(motion).enumerate();
        let points = vertices.map(|(index, (mass, (q, v)))| {
            let v = Vector3::from_column_slice(v);
            point(index, *mass, Point3::from_slice(q), v)
        });
        return Some(points.collect());
    }
    if let Some(rod) = model.downcast_ref::<Rod>() {
        let nodes = (0..rod.n_nodes()).map(|node| {
            let (p, v) = (rod.position(state, node), rod.velocity(state, node));
            point(node, rod.node_mass(node), p, v)
        });
        return Some(nodes.collect());
    }
    let particles = model.downcast_ref::<MaterialPoints>()?;
    let views = particles.particles(state).enumerate();
    let points = views.map(|(index, p)| point(index, p.mass, p.p_WP, p.v_WP));
    Some(points.collect())
}
