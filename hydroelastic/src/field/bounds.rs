//! Boxes around tetrahedra and faces of a field, with their ranges of pressure.

use super::PressureField;
use crate::pressure_bvh::PressureBox;

impl PressureField {
    pub(crate) fn tet_bounds(&self, tet: u32) -> PressureBox {
        let corners = self.corners[tet as usize];
        PressureBox::of(corners.map(|v| (self.vertices[v as usize], self.pressures[v as usize])))
    }

    /// Bounds of the part of a tetrahedron where the pressure is at most that of the shell.
    pub(super) fn shell_bounds(&self, tet: u32) -> PressureBox {
        let (x, p) = (self.corner_points(tet), self.corner_pressures(tet));
        let level = self.shell_pressure;
        let below = (0..4).filter(|&i| p[i] <= level).map(|i| (x[i], p[i]));
        let pairs = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
        let crossed = pairs.filter(|&(i, j)| p[i] <= level && level < p[j]);
        let crossings = crossed.map(|(i, j)| {
            let t = (level - p[i]) / (p[j] - p[i]);
            (x[i] + (x[j] - x[i]) * t, level)
        });
        PressureBox::of(below.chain(crossings))
    }

    pub(super) fn skin_bounds(&self, face: u32) -> PressureBox {
        let corners = self.skin[face as usize].corners;
        PressureBox::of(corners.map(|v| (self.vertices[v as usize], self.pressures[v as usize])))
    }
}
