//! Meshes of deformable bodies moved to the present positions, on all threads where that pays.

use pliant_hydroelastic::{GeometryError, SoftMesh};
use rayon::prelude::*;

use super::Collision;
use crate::world::WorldParts;

/// Below this many vertices in all meshes they are moved on one thread.
const PARALLEL_VERTICES_MIN: usize = 1000;

/// Which parts of a mesh a search needs, in increasing order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// None: it has no candidate pair.
    #[default]
    None,
    Skin,
    SkinAndDepth,
}

impl Collision {
    /// Moves every mesh to the vertices of its body, as far as the broad phase needs. Errors name the first geometry that fails.
    pub(super) fn move_meshes(
        &mut self,
        parts: &WorldParts,
        time_step_s: f64,
    ) -> Result<(), (usize, GeometryError)> {
        let (surfaces, velocities) = (&self.surfaces, &self.vertex_velocities);
        each(&mut self.soft, velocities, |g, mesh| {
            let Some(body) = parts.geometries[g].mount.deforming() else {
                return Ok(());
            };
            let surface = &surfaces[body.0];
            mesh.move_to(
                &surface.vertices,
                &surface.triangles,
                &velocities[g],
                time_step_s,
            )
        })
    }

    /// Updates what the candidate pairs need of their meshes. Errors name the first geometry that fails.
    pub(super) fn fit_meshes(&mut self, parts: &WorldParts) -> Result<(), (usize, GeometryError)> {
        self.fits.clear();
        self.fits.resize(self.soft.len(), Fit::None);
        let fit_against = |other: usize| match parts.geometries[other].mount.deforming() {
            Some(_) => Fit::SkinAndDepth,
            None => Fit::Skin,
        };
        for &(a, b) in &self.candidates {
            self.fits[a] = self.fits[a].max(fit_against(b));
            self.fits[b] = self.fits[b].max(fit_against(a));
        }
        let fits = &self.fits;
        each(&mut self.soft, &self.vertex_velocities, |g, mesh| {
            if fits[g] >= Fit::Skin {
                mesh.update_skin();
            }
            match fits[g] {
                Fit::SkinAndDepth => mesh.update_depth(),
                Fit::None | Fit::Skin => Ok(()),
            }
        })
    }
}

/// Applies `work` to every mesh. Errors name the first geometry that fails.
fn each<V: Sync>(
    meshes: &mut [Option<SoftMesh>],
    velocities: &[Vec<V>],
    work: impl Fn(usize, &mut SoftMesh) -> Result<(), GeometryError> + Sync,
) -> Result<(), (usize, GeometryError)> {
    let work = |(g, mesh): (usize, &mut Option<SoftMesh>)| {
        let done = work(g, mesh.as_mut()?);
        done.err().map(|source| (g, source))
    };
    let sizes = velocities.iter().zip(meshes.iter());
    let sizes = sizes.filter_map(|(v, mesh)| mesh.as_ref().map(|_| v.len()));
    let failed = if sizes.clone().count() > 1 && sizes.sum::<usize>() >= PARALLEL_VERTICES_MIN {
        let meshes = meshes.par_iter_mut().with_max_len(1).enumerate();
        meshes.map(work).find_map_first(|failed| failed)
    } else {
        meshes.iter_mut().enumerate().find_map(work)
    };
    failed.map_or(Ok(()), Err)
}
