//! Faces of tetrahedra.

/// The corners of face k of a tetrahedron (opposite to corner k), counter-clockwise seen from outside.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// One face of one tetrahedron.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Face {
    /// Ascending.
    pub(crate) corners: [u32; 3],
    /// 4 × tetrahedron + opposite corner.
    code: u32,
}

impl Face {
    pub(crate) fn tet(self) -> usize {
        (self.code / 4) as usize
    }

    pub(crate) fn side(self) -> usize {
        (self.code % 4) as usize
    }
}

/// All faces of all tetrahedra, sorted so that equal faces are adjacent.
pub(crate) fn sorted_faces(tets: &[[u32; 4]]) -> Vec<Face> {
    let mut faces = Vec::with_capacity(4 * tets.len());
    for (tet, t) in tets.iter().zip(0_u32..) {
        for (k, face) in FACES.iter().enumerate() {
            let mut corners = face.map(|corner| tet[corner]);
            corners.sort_unstable();
            faces.push(Face {
                corners,
                code: 4 * t + k as u32,
            });
        }
    }
    faces.sort_unstable();
    faces
}

/// The corners of a face shared by more than two tetrahedra.
pub(crate) fn crowded_face(tets: &[[u32; 4]]) -> Option<[u32; 3]> {
    sorted_faces(tets)
        .chunk_by(|a, b| a.corners == b.corners)
        .find(|group| group.len() > 2)
        .map(|group| group[0].corners)
}
