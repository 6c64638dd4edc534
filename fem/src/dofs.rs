//! Numbering of the velocities of a step's solve: the components that are not held.

/// Marks a held component.
pub(crate) const HELD: u32 = u32::MAX;

/// Maps between vertices and velocities of the solve, for one pattern of held components.
#[derive(Clone, Debug, Default)]
pub(crate) struct DofMap {
    /// For each vertex and axis the velocity in the solve, or [`HELD`].
    of: Vec<[u32; 3]>,
    /// Vertices with at least one velocity in the solve, ascending.
    moving: Vec<u32>,
    /// For each vertex its index in `moving`, or [`HELD`].
    column: Vec<u32>,
    n_dofs: usize,
    /// Whether every moving vertex moves in all three directions.
    whole: bool,
}

impl DofMap {
    /// Numbers the free components of `held`; false if the pattern is unchanged.
    pub(crate) fn update(&mut self, held: &[[bool; 3]]) -> bool {
        let same = |(of, held): (&[u32; 3], &[bool; 3])| {
            of.iter().zip(held).all(|(of, held)| (*of == HELD) == *held)
        };
        if self.of.len() == held.len() && self.of.iter().zip(held).all(same) {
            return false;
        }
        self.of.clear();
        self.moving.clear();
        self.column.clear();
        self.whole = true;
        let mut next = 0_u32;
        for (held, vertex) in held.iter().zip(0_u32..) {
            let of = held.map(|held| {
                if held {
                    return HELD;
                }
                next += 1;
                next - 1
            });
            self.of.push(of);
            if *held == [true; 3] {
                self.column.push(HELD);
                continue;
            }
            self.column.push(self.moving.len() as u32);
            self.moving.push(vertex);
            self.whole &= *held == [false; 3];
        }
        self.n_dofs = next as usize;
        true
    }

    pub(crate) fn n_dofs(&self) -> usize {
        self.n_dofs
    }

    pub(crate) fn of(&self, vertex: u32) -> [u32; 3] {
        self.of[vertex as usize]
    }

    /// Axes of a vertex that are in the solve, ascending, with their velocities.
    pub(crate) fn free(&self, vertex: u32) -> impl Iterator<Item = (usize, u32)> + use<> {
        let of = self.of[vertex as usize];
        (0..3)
            .filter(move |k| of[*k] != HELD)
            .map(move |k| (k, of[k]))
    }

    pub(crate) fn moving(&self) -> &[u32] {
        &self.moving
    }

    /// Index of a vertex among the moving ones.
    pub(crate) fn column(&self, vertex: u32) -> Option<usize> {
        let column = self.column[vertex as usize];
        (column != HELD).then_some(column as usize)
    }

    /// Whether every moving vertex moves in all three directions.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether anything is held.
    pub(crate) fn holds_any(&self) -> bool {
        self.n_dofs < 3 * self.of.len()
    }

    /// Copies the free components of a field over all vertices.
    pub(crate) fn gather(&self, field: &[nalgebra::Vector3<f64>], out: &mut [f64]) {
        for (of, x) in self.of.iter().zip(field) {
            for (dof, x) in of.iter().zip(x.iter()) {
                if *dof != HELD {
                    out[*dof as usize] = *x;
                }
            }
        }
    }

    /// Writes the free components of a field over all vertices; held ones are unchanged.
    pub(crate) fn scatter(&self, values: &[f64], field: &mut [nalgebra::Vector3<f64>]) {
        for (of, x) in self.of.iter().zip(field) {
            for (dof, x) in of.iter().zip(x.iter_mut()) {
                if *dof != HELD {
                    *x = values[*dof as usize];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn free_components_are_numbered() {
        let mut map = DofMap::default();
        let held = [[false; 3], [true; 3], [false, true, false]];
        assert!(map.update(&held));
        assert!(!map.update(&held));
        assert_eq!((map.n_dofs(), map.moving()), (5, &[0, 2][..]));
        assert_eq!(map.of(2), [3, HELD, 4]);
        assert!(!map.is_whole() && map.holds_any());
        assert_eq!((map.column(1), map.column(2)), (None, Some(1)));
        let mut field = vec![Vector3::repeat(9.0); 3];
        map.scatter(&[1.0, 2.0, 3.0, 4.0, 5.0], &mut field);
        assert_eq!(
            field[1..],
            [Vector3::repeat(9.0), Vector3::new(4.0, 9.0, 5.0)]
        );
        let mut back = [0.0; 5];
        map.gather(&field, &mut back);
        assert_eq!(back, [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(map.update(&[[false; 3]; 3]));
        assert!(map.is_whole() && !map.holds_any());
    }
}
