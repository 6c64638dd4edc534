//! Triangles, hinges and vertices of all cloths of a model, as the shaders `cloth_*.wgsl` read them: made once, part of every table.

use pliant_mpm::DeviceObject;

use crate::error::GpuError;
use crate::layout::Params;
use crate::tables::{INDICES, Table, index};

/// Corner c of triangle t has the number 3 t + c, corner c of hinge k the number 3 (triangles) + 4 k + c.
#[derive(Debug, Default)]
pub(crate) struct ClothTables {
    triangles: Vec<[f64; 4]>,
    hinges: Vec<[f64; 4]>,
    /// Particle, first entry of `corners`, and number of entries of each vertex.
    vertices: Vec<[f64; 4]>,
    corners: Vec<u32>,
}

impl ClothTables {
    /// # Errors
    /// [`GpuError::Unsupported`] for more corners than there are numbers.
    pub(crate) fn new(objects: &[DeviceObject]) -> Result<Self, GpuError> {
        let mut tables = Self::default();
        // The particles at all corners.
        let mut at = Vec::new();
        let mut at_hinges = Vec::new();
        for cloth in objects.iter().filter_map(|o| o.cloth.as_ref()) {
            let particle = |v: u32| cloth.first + v;
            let n = cloth.forces.vertex_masses().len() as u32;
            tables
                .vertices
                .extend((0..n).map(|v| [index(particle(v)), 0.0, 0.0, 0.0]));
            for (t, triangle) in cloth.forces.triangles().iter().enumerate() {
                let vertices = triangle.vertices.map(particle);
                let [a, b, c] = vertices.map(index);
                let m = &triangle.inverse_edges;
                let centroid = index(particle(n + t as u32));
                tables.triangles.push([a, b, c, centroid]);
                tables.triangles.push([m.m11, m.m21, m.m12, m.m22]);
                at.extend(vertices);
            }
            for hinge in cloth.forces.hinges() {
                let vertices = hinge.vertices.map(particle);
                let [first, second] = hinge.rest_doubled_areas;
                tables.hinges.push(vertices.map(index));
                tables
                    .hinges
                    .push([hinge.rest_angle, hinge.stiffness, first, second]);
                at_hinges.extend(vertices);
            }
        }
        at.extend(at_hinges);
        if at.len() > INDICES as usize {
            return Err(GpuError::unsupported(format!(
                "cloth with {} corners of triangles and hinges, more than {INDICES},",
                at.len()
            )));
        }
        tables.list_corners(&at);
        Ok(tables)
    }

    /// The corners of each vertex, ascending.
    fn list_corners(&mut self, at: &[u32]) {
        let mut by_particle: Vec<(u32, u32)> = at.iter().copied().zip(0..).collect();
        by_particle.sort_unstable();
        let mut first = 0;
        for row in &mut self.vertices {
            let own = by_particle[first..].iter();
            let count = own
                .take_while(|(particle, _)| index(*particle) == row[0])
                .count();
            (row[1], row[2]) = (index(first as u32), index(count as u32));
            first += count;
        }
        self.corners = by_particle.into_iter().map(|(_, corner)| corner).collect();
    }

    /// Numbers that the corners take in `out`.
    pub(crate) fn corner_numbers(&self) -> u64 {
        3 * self.corners.len() as u64
    }

    /// Adds all but the list of corners.
    pub(crate) fn add(&self, table: &mut Table, params: &mut Params) {
        let mut part = |rows: &[[f64; 4]]| {
            let at = table.vectors();
            rows.iter().for_each(|row| table.push(*row));
            at
        };
        params.triangles_at = part(&self.triangles);
        params.hinges_at = part(&self.hinges);
        params.vertices_at = part(&self.vertices);
        params.n_triangles = self.triangles.len() as u32 / 2;
        params.n_hinges = self.hinges.len() as u32 / 2;
        params.n_vertices = self.vertices.len() as u32;
    }

    /// Adds the list of corners, which is no whole number of vectors.
    pub(crate) fn add_corners(&self, table: &mut Table, params: &mut Params) {
        params.corner_list_at = table.extend(self.corners.iter().map(|c| index(*c)));
    }
}

#[cfg(test)]
mod tests {
    use pliant_hydroelastic::mesh::generate;
    use pliant_mpm::{
        ClothMaterial, ClothMesh, ClothSpec, DeviceParticles, InPlaneLaw, MpmBuilder, MpmSettings,
    };

    use super::*;

    #[test]
    fn every_corner_is_listed_once_at_its_vertex() {
        let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 4e-4)
            .expect("cotton")
            .with_plate_bending();
        let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
        for name in ["one", "two"] {
            let sheet = generate::sheet([0.05, 0.04], [4, 3]).expect("a sheet");
            let (mesh, _) = ClothMesh::new(name, sheet, 0.02).expect("short edges");
            builder.cloth(ClothSpec::new(name, mesh, material));
        }
        let objects = DeviceParticles::new(&builder.build().expect("a model")).objects();
        let tables = ClothTables::new(&objects).expect("few corners");
        let n_triangles = tables.triangles.len() / 2;
        assert_eq!((n_triangles, tables.vertices.len()), (48, 40));
        let mut seen = vec![false; tables.corners.len()];
        for [particle, first, count, _] in &tables.vertices {
            let [first, count] = [first, count].map(|x| (0..).find(|n| index(*n) == *x));
            let [first, count] = [first, count].map(|n| n.expect("a small number") as usize);
            for corner in &tables.corners[first..][..count] {
                let corner = *corner as usize;
                let found = match corner.checked_sub(3 * n_triangles) {
                    None => tables.triangles[2 * (corner / 3)][corner % 3],
                    Some(k) => tables.hinges[2 * (k / 4)][k % 4],
                };
                assert_eq!(found, *particle);
                assert!(!std::mem::replace(&mut seen[corner], true));
            }
        }
        assert!(seen.iter().all(|s| *s));
    }
}
