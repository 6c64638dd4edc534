//! A step of a chain of capsules: that of its tree, with nodes and capsules in place of frames.

use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Control, DeformableModel, Dynamics,
    ExplicitStep, InternalConstraints, Interpolation, MaterialPoint, Primitive, Reactions, Rows,
    StepInput, Surface, SurfaceMotion,
};

use super::row::Row;
use crate::kinematics::PositionKinematics;
use crate::model::Model;
use crate::rigid_tree::{RigidTree, write_surface};

pub(super) struct ChainStep {
    tree: Box<dyn BodyStep>,
    model: Arc<Model>,
    row: Arc<Row>,
    positions: PositionKinematics,
    /// At the start of the step.
    surface: Surface,
    /// The control with loads on links.
    control: Control,
}

impl ChainStep {
    pub(super) fn new(tree: &RigidTree, row: Arc<Row>) -> Self {
        Self {
            tree: tree.new_step(),
            model: Arc::clone(tree.model()),
            row,
            positions: PositionKinematics::new(tree.model()),
            surface: Surface::default(),
            control: Control::default(),
        }
    }

    /// The same point as one of a link; needs the frames of the start.
    fn on_link(&self, p: &MaterialPoint) -> Result<MaterialPoint, BodyError> {
        let row = &*self.row;
        let n = row.links.len();
        let (link, along) = match p.primitive {
            Primitive::Frame(_) => return Ok(*p),
            Primitive::Vertex(node) if node as usize <= n => row.node_on_link(node as usize),
            Primitive::Edge(i) if (i as usize) < n => {
                let fraction = p.weights[1] / (p.weights[0] + p.weights[1]);
                (row.links[i as usize], fraction * row.lengths[i as usize])
            }
            point => {
                return Err(BodyError::NoSuchPoint {
                    point,
                    available: format!(
                        "{} frames, {} vertices, {n} edges",
                        self.surface.frames.len(),
                        n + 1
                    ),
                });
            }
        };
        let X_WL = &self.surface.frames[link.0];
        let offset = X_WL.rotation.inverse() * p.offset + Vector3::z() * along;
        Ok(MaterialPoint::on_frame(link.0 as u32, offset))
    }
}

impl BodyStep for ChainStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let (found, expected) = (state.q.len(), self.model.n_q());
        if found != expected {
            return Err(BodyError::StateLength {
                what: "q",
                found,
                expected,
            });
        }
        self.positions.update(&self.model, &state.q);
        write_surface(&self.model, &self.positions, &mut self.surface);
        self.row.complete(&mut self.surface);
        self.control.clone_from(input.control);
        for k in 0..self.control.loads.len() {
            self.control.loads[k].point = self
                .on_link(&self.control.loads[k].point)
                .map_err(|error| BodyError::Model(format!("control.loads[{k}]: {error}")))?;
        }
        let input = StepInput {
            control: &self.control,
            ..*input
        };
        self.tree.begin(state, &input)
    }

    fn start_velocity(&self) -> &[f64] {
        self.tree.start_velocity()
    }

    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        self.tree.linearise(v)
    }

    fn dynamics(&self) -> &dyn Dynamics {
        self.tree.dynamics()
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        self.tree.interpolation(&self.on_link(p)?, out)
    }

    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        self.tree.basis(basis, p_WO, out);
    }

    fn constraints(&self, out: &mut InternalConstraints<'_>) {
        self.tree.constraints(out);
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.tree.advance(v, next)
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        self.tree.as_explicit()
    }

    fn as_reactions(&self) -> Option<&dyn Reactions> {
        self.tree.as_reactions()
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl SurfaceMotion for ChainStep {
    fn start_surface(&self, out: &mut Surface) {
        out.clone_from(&self.surface);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        let mut rows = Rows::default();
        out.clear();
        for (node, p_WV) in self.surface.vertices.iter().enumerate() {
            let (link, _) = self.row.node_on_link(node);
            // A link's basis has the index of its frame.
            self.tree.basis(BasisIdx(link.0 as u32), p_WV, &mut rows);
            let mut twist = [0.0; 6];
            rows.apply(v, &mut twist);
            out.push(Vector3::new(twist[3], twist[4], twist[5]));
        }
    }
}
