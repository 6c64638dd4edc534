//! Initial frames: directors parallel-transported along the centreline.

use nalgebra::Vector3;

use crate::error::RodError;
use crate::frames::{ReferenceFrame, any_director, nearest_branch, reference_twist, transport};
use crate::natural_shape::JointStrain;
use crate::section::parameter;
use crate::strain::{EdgeKinematics, JointStrains};

/// Reference frames, material angles and reference twists of a new rod.
pub(super) struct InitialFrames {
    pub(super) references: Vec<ReferenceFrame>,
    pub(super) angles: Vec<f64>,
    pub(super) betas: Vec<f64>,
}

/// Least angle between a director and its edge: below it, the direction across the edge is ill-defined.
const LEAST_DIRECTOR_ANGLE_DEG: f64 = 5.0;

impl InitialFrames {
    /// Reference directors are parallel-transported along the rod from its first edge. Material angles rotate them to
    /// `directors` if those are given for all edges; otherwise, in a closed rod, they distribute the holonomy evenly.
    pub(super) fn new(
        edges: &[Vector3<f64>],
        first: usize,
        is_closed: bool,
        directors: &[Vector3<f64>],
        rest_length: &[f64],
    ) -> Result<Self, RodError> {
        let n_edges = edges.len();
        let tangents: Vec<_> = edges.iter().map(|e| e.normalize()).collect();
        for (edge, director) in directors.iter().enumerate() {
            check_director(edge, director, &tangents[edge + first])?;
        }
        let across = |edge: usize, director: &Vector3<f64>| {
            let t = &tangents[edge];
            (director - t * t.dot(director)).normalize()
        };
        let start = match directors.first() {
            Some(director) => across(first, director),
            None => any_director(&tangents[first]),
        };
        let mut carried = vec![start; n_edges];
        for edge in first + 1..n_edges {
            let (t, u) = (&tangents[edge - 1], &tangents[edge]);
            let director = transport(t, u, &carried[edge - 1]);
            carried[edge] = across(edge, &director);
        }
        if first > 0 {
            let director = transport(&tangents[1], &tangents[0], &carried[1]);
            carried[0] = across(0, &director);
        }
        let references: Vec<_> = tangents
            .iter()
            .zip(&carried)
            .map(|(tangent, director)| ReferenceFrame {
                tangent: *tangent,
                director: *director,
            })
            .collect();
        let mut angles = vec![0.0; n_edges];
        if directors.len() > 1 {
            let mut last: f64 = 0.0;
            for edge in 0..n_edges {
                // Clamp edges have the angle of their neighbour; that of the first edge is 0.
                if let Some(director) = edge.checked_sub(first).and_then(|i| directors.get(i)) {
                    let (t, d_1) = (&tangents[edge], &carried[edge]);
                    let m_1 = across(edge, director);
                    let angle = t.dot(&d_1.cross(&m_1)).atan2(d_1.dot(&m_1));
                    last = nearest_branch(angle, last);
                }
                angles[edge] = last;
            }
        }
        let n_joints = if is_closed { n_edges } else { n_edges - 1 };
        let frames = |i: usize| (&references[i].tangent, &references[i].director);
        let betas: Vec<f64> = (0..n_joints)
            .map(|j| reference_twist(frames(j), frames((j + 1) % n_edges), 0.0))
            .collect();
        let mut frames = Self {
            references,
            angles,
            betas,
        };
        if is_closed && directors.len() <= 1 {
            // Parallel transport around a closed curve out of plane rotates the frame: its holonomy.
            let holonomy = frames.betas[n_joints - 1];
            frames.distribute(holonomy, rest_length);
        }
        Ok(frames)
    }

    /// Adds a rotation to the material angles that grows linearly with arc length, from 0 to `angle`.
    fn distribute(&mut self, angle: f64, rest_length: &[f64]) {
        let n = rest_length.len();
        let step = |joint: usize| 0.5 * (rest_length[joint] + rest_length[(joint + 1) % n]);
        let total: f64 = (0..self.betas.len()).map(step).sum();
        let mut arc = 0.0;
        for edge in 1..n {
            arc += step(edge - 1);
            self.angles[edge] += angle * arc / total;
        }
    }

    /// Strains of the centreline as built.
    pub(super) fn strains(&self, edges: &[Vector3<f64>]) -> Vec<JointStrain> {
        let kinematics: Vec<_> = (0..edges.len())
            .map(|i| {
                EdgeKinematics::at_reference(&self.references[i], edges[i].norm(), self.angles[i])
            })
            .collect();
        let joint = |(j, beta): (usize, &f64)| {
            let (a, b) = (&kinematics[j], &kinematics[(j + 1) % edges.len()]);
            let strains =
                JointStrains::new(a, b, *beta).expect("a centreline without folds has strains");
            JointStrain {
                k_1: strains.k_1,
                k_2: strains.k_2,
                tau: strains.tau,
            }
        };
        self.betas.iter().enumerate().map(joint).collect()
    }

    /// Adds the initial twist to material angles and reference twists.
    pub(super) fn twist(
        &mut self,
        angle: f64,
        rest_length: &[f64],
        is_closed: bool,
    ) -> Result<(), RodError> {
        if !angle.is_finite() {
            return Err(parameter("initial twist", angle, "must be finite"));
        }
        let turns = angle / std::f64::consts::TAU;
        if is_closed && (turns - turns.round()).abs() > 1e-9 {
            return Err(parameter(
                "initial twist of a closed rod (turns)",
                turns,
                "must be an integer, so that the material frame is continuous where the rod closes",
            ));
        }
        if angle != 0.0 {
            self.distribute(angle, rest_length);
            if is_closed {
                let closing = self.betas.len() - 1;
                self.betas[closing] += std::f64::consts::TAU * turns.round();
            }
        }
        Ok(())
    }
}

fn check_director(
    edge: usize,
    director: &Vector3<f64>,
    tangent: &Vector3<f64>,
) -> Result<(), RodError> {
    let length = director.norm();
    let angle = director.angle(tangent);
    let angle_deg = angle.min(std::f64::consts::PI - angle).to_degrees();
    // Written so that NaN is rejected, too.
    let is_unit = (length - 1.0).abs() <= 1e-6;
    if is_unit && angle_deg >= LEAST_DIRECTOR_ANGLE_DEG {
        return Ok(());
    }
    Err(RodError::Director {
        edge,
        director: [director.x, director.y, director.z],
        length,
        angle_deg,
        least_deg: LEAST_DIRECTOR_ANGLE_DEG,
    })
}
