//! Assembly of a field: a mesh with pressures becomes tetrahedra, skin, peaks and search trees.

use nalgebra::Vector3;

use super::pieces::pieces;
use super::{OUTSIDE, Peak, PieceKind, PressureField, SkinFace};
use crate::GeometryError;
use crate::mesh::{TetIdx, TetMesh};
use crate::pressure_bvh::{PressureBox, PressureBvh};

/// Pressure up to which the shell of a field extends, as a fraction of the maximum: positive, so that the shell has a
/// thickness even without a margin.
const SHELL: f64 = 1e-6;

/// A mesh with pressures at its vertices, before it becomes a field.
pub(crate) struct FieldMesh {
    pub(crate) vertices: Vec<Vector3<f64>>,
    /// Pa.
    pub(crate) pressures: Vec<f64>,
    /// In either orientation.
    pub(crate) tets: Vec<[u32; 4]>,
    /// Distance from the surface to the deepest point, m.
    pub(crate) depth: f64,
    pub(crate) margin: f64,
}

impl PressureField {
    /// Builds the field from its parts. Refuses a mesh in which three tetrahedra share a face, as the hull of nearly
    /// coincident points may have.
    pub(crate) fn assemble(mut parts: FieldMesh) -> Result<Self, GeometryError> {
        if let Some([a, b, c]) = crate::mesh::crowded_face(&parts.tets) {
            return Err(GeometryError::Meshing {
                reason: format!(
                    "the face of vertices {a}, {b} and {c} belongs to more than two tetrahedra; the surface is folded or its \
                     vertices nearly coincide"
                ),
            });
        }
        for tet in &mut parts.tets {
            let [a, b, c, d] = tet.map(|v| parts.vertices[v as usize]);
            if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
                tet.swap(2, 3);
            }
        }
        let mesh = TetMesh::assemble(parts.vertices, &parts.tets);
        let neighbours = (0..parts.tets.len() as u32)
            .map(|t| {
                mesh.neighbours(TetIdx(t))
                    .map(|n| n.map_or(OUTSIDE, |n| n.0))
            })
            .collect();
        let boundary = mesh.boundary();
        let skin = boundary
            .triangles
            .iter()
            .zip(&boundary.tets)
            .map(|(corners, tet)| {
                let corners = corners.map(|v| v.0);
                let is_opposite = |v: &u32| !corners.contains(v);
                let side = parts.tets[tet.index()].iter().position(is_opposite);
                SkinFace {
                    tet: tet.0,
                    side: side.expect("a face has three of the four corners") as u8,
                    corners,
                }
            })
            .collect();
        let n_tets = parts.tets.len();
        let mut field = Self {
            vertices: mesh.vertices().to_vec(),
            pressures: parts.pressures,
            corners: parts.tets,
            neighbours,
            tets: Vec::new(),
            pieces: Vec::new(),
            piece_kinds: vec![PieceKind::Linear; n_tets],
            skin,
            tet_tree: PressureBvh::default(),
            skin_tree: PressureBvh::default(),
            peaks: Vec::new(),
            shell_tree: None,
            shell_pressure: 0.0,
            low_tree: PressureBvh::default(),
            valley_tree: PressureBvh::default(),
            depth: parts.depth,
            margin: parts.margin,
            attachments: Vec::new(),
        };
        field.peaks = peaks(&field.corners, &field.pressures);
        field.tets = (0..field.corners.len())
            .map(|t| field.functions(t))
            .collect();
        field.pieces = pieces(&field.tets, &field.neighbours, &field);
        let tets: Vec<PressureBox> = (0..field.corners.len() as u32)
            .map(|t| field.tet_bounds(t))
            .collect();
        field.tet_tree = PressureBvh::new(&tets).around(&field.vertices);
        let skin: Vec<PressureBox> = (0..field.skin.len() as u32)
            .map(|f| field.skin_bounds(f))
            .collect();
        field.skin_tree = PressureBvh::new(&skin).around(&field.vertices);
        let highest = field.tet_tree.root().p_max;
        field.shell_pressure = SHELL * highest.max(0.0);
        let shell: Vec<u32> = (0..field.corners.len() as u32)
            .filter(|&t| field.tet_bounds(t).p_min <= field.shell_pressure)
            .collect();
        let bounds: Vec<PressureBox> = shell.iter().map(|&t| field.shell_bounds(t)).collect();
        let tree = PressureBvh::new(&bounds).renamed(&shell);
        field.shell_tree = Some(tree.around(&field.vertices));
        field.low_tree = field.tree_of(&field.low_tets());
        field.valley_tree = field.tree_of(&field.valley_tets());
        Ok(field)
    }

    fn tree_of(&self, tets: &[u32]) -> PressureBvh {
        let bounds: Vec<PressureBox> = tets.iter().map(|&t| self.tet_bounds(t)).collect();
        let tree = PressureBvh::new(&bounds).renamed(tets);
        tree.around(&self.vertices)
    }
}

/// Vertices of positive pressure that no neighbour exceeds, in order of descending pressure.
fn peaks(tets: &[[u32; 4]], pressures: &[f64]) -> Vec<Peak> {
    let mut tet_at = vec![u32::MAX; pressures.len()];
    let mut exceeded = vec![false; pressures.len()];
    for (t, corners) in tets.iter().enumerate() {
        let highest = corners.map(|v| pressures[v as usize]);
        let highest = highest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        for &v in corners {
            exceeded[v as usize] |= pressures[v as usize] < highest;
            if tet_at[v as usize] == u32::MAX {
                tet_at[v as usize] = t as u32;
            }
        }
    }
    let mut peaks: Vec<Peak> = (0..pressures.len())
        .filter(|&v| !exceeded[v] && tet_at[v] != u32::MAX && pressures[v] > 0.0)
        .map(|v| Peak {
            vertex: v as u32,
            tet: tet_at[v],
        })
        .collect();
    peaks.sort_by(|x, y| {
        let p = |peak: &Peak| pressures[peak.vertex as usize];
        p(y).total_cmp(&p(x))
    });
    peaks
}
