//! Which particles are in contact with which obstacles in a substep.
//!
//! A particle is a ball of its object's radius. It is in contact with an obstacle if the gap between them is smaller than the distance by
//! which they can approach within the substep; contacts with a positive gap act only if it closes. A particle therefore passes through no
//! obstacle, however fast, that contact is stiff enough to stop it in.
//!
//! Most particles are far from every obstacle. A signed distance is never more than the true one: where it exceeds the size of a block or a
//! cell, and the way of its particles, at their centre, none of them is in contact. Far blocks and cells take one evaluation.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Real;
use pliant_hydroelastic::{Aabb, SignedDistance};
use rayon::prelude::*;

use super::Obstacle;
use super::contact_problem::Contact;
use super::internal_edges::drop_covered;
use super::links::RigidLinks;
use super::prescribed::node_index;
use crate::colours::worth_threads;
use crate::model::Parts;
use crate::particle::Particle;
use crate::sparse_grid::{Cell, NONE, SparseGrid};
use crate::spline::{GradientForm, Stencil, corner};

/// An obstacle in the present substep.
pub(super) struct Placed<'a> {
    number: u32,
    obstacle: &'a Obstacle,
    X_WG: Isometry3<f64>,
    bounds: Aabb,
    /// Twice the way of its surface within the substep, m.
    way: f64,
}

impl Placed<'_> {
    pub(super) fn signed_distance(&self, p_W: &Point3<f64>) -> SignedDistance<f64> {
        let local = self.X_WG.inverse_transform_point(p_W);
        self.obstacle.shape.signed_distance(&local)
    }

    /// Whether its surface may come within `reach` of a point in the ball of `radius` around `centre`.
    fn is_near(&self, centre: &Point3<f64>, radius: f64, reach: f64) -> bool {
        self.signed_distance(centre).value <= radius + reach + self.way
    }
}

/// What detection reads.
pub(super) struct Scene<'a, T> {
    pub(super) parts: &'a Parts,
    pub(super) grid: &'a SparseGrid,
    /// In the order of `grid`.
    pub(super) particles: &'a [Particle<T>],
    pub(super) obstacles: &'a [Obstacle],
    pub(super) links: &'a RigidLinks,
    /// h, s.
    pub(super) length_s: f64,
    /// Distance from which on contacts act, m.
    pub(super) range_m: f64,
}

/// Finds all contacts, by block, obstacle and sorted particle. Their nodes are storage indices of the field.
pub(super) fn find<T: Real>(scene: &Scene<'_, T>, out: &mut Vec<Contact>) {
    out.clear();
    let placed = scene
        .obstacles
        .iter()
        .enumerate()
        .map(|(number, obstacle)| {
            let X_WG = obstacle.pose(scene.links);
            let way = 2.0 * scene.length_s * obstacle.speed_bound(scene.links);
            Placed {
                number: number as u32,
                obstacle,
                X_WG,
                bounds: obstacle.shape.aabb(&X_WG).inflated(way),
                way,
            }
        });
    let placed: Vec<Placed<'_>> = placed.collect();
    if placed.is_empty() {
        return;
    }
    let blocks = 0..scene.grid.n_blocks();
    let of_block = |block: usize| {
        let mut found = Vec::new();
        in_block(scene, &placed, block, &mut found);
        found
    };
    if worth_threads(scene.grid) {
        let found: Vec<Vec<Contact>> = blocks.into_par_iter().map(of_block).collect();
        out.extend(found.into_iter().flatten());
    } else {
        blocks.for_each(|block| in_block(scene, &placed, block, out));
    }
}

fn in_block<T: Real>(
    scene: &Scene<'_, T>,
    placed: &[Placed<'_>],
    block: usize,
    out: &mut Vec<Contact>,
) {
    let cells = scene.grid.cells_of(block);
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return;
    };
    let h = scene.parts.settings.spacing;
    let own = first.particles.start as usize..last.particles.end as usize;
    let squares = scene.particles[own].iter().map(|p| p.v.norm_squared());
    let fastest = squares.fold(T::zero(), |a, b| a.max(b)).wide().sqrt();
    let largest = scene.parts.objects.iter().map(|o| o.radius);
    let margin = scene.range_m + 2.0 * scene.length_s * fastest;
    let reach = 1.1 * largest.fold(0.0, f64::max) + margin;
    // Particles of a cell lie half a cell to one and a half from its least node.
    let place = |node: [i32; 3], k: f64| Point3::from(node.map(|i| (f64::from(i) + k) * h));
    let corner = scene.grid.node_coordinates(block, 0);
    let bounds = Aabb::from_points(&[place(corner, 0.5), place(corner, 4.5)]).inflated(reach);
    let half_diagonal = 0.5 * 3.0_f64.sqrt() * h;
    let near = placed.iter().filter(|placed| {
        placed.bounds.intersects(&bounds)
            && placed.is_near(&place(corner, 2.5), 4.0 * half_diagonal, reach)
    });
    let near: Vec<&Placed<'_>> = near.collect();
    let before = out.len();
    for placed in &near {
        for cell in cells {
            if placed.is_near(&place(cell.base, 1.0), half_diagonal, reach) {
                let own = cell.particles.start as usize..cell.particles.end as usize;
                let particles = scene.particles[own].iter();
                out.extend(particles.filter_map(|p| contact(scene, placed, block, cell, p)));
            }
        }
    }
    if near.len() > 1 {
        drop_covered(scene, placed, before, out);
    }
}

fn contact<T: Real>(
    scene: &Scene<'_, T>,
    placed: &Placed<'_>,
    block: usize,
    cell: &Cell,
    p: &Particle<T>,
) -> Option<Contact> {
    let obstacle = placed.obstacle;
    let x = Point3::from(p.x.map(T::wide));
    obstacle.pairs[p.object as usize]?;
    let distance = placed.signed_distance(&x);
    let radius = scene.parts.objects[p.object as usize].radius;
    let gap = distance.value - radius;
    let v = p.v.map(T::wide);
    // No particle approaches faster than by its own speed and that of the surface.
    if gap > 2.0 * scene.length_s * v.norm() + placed.way + 0.1 * radius {
        return None;
    }
    let normal = placed.X_WG.rotation * distance.gradient;
    let p_WC = x.coords - normal * distance.value;
    let surface_velocity = placed.X_WG.rotation * obstacle.surface_velocity;
    let link = obstacle.link.map(|link| {
        let arm = p_WC - scene.links.pose(link).translation.vector;
        (link, arm)
    });
    let of_link = link.map_or(Vector3::zeros(), |(link, arm)| {
        scene.links.point_velocity(link, &arm)
    });
    let relative = v - of_link - surface_velocity;
    // Accelerations within the substep and the turn of a curved surface: as much again as the approach, and a tenth of the radius.
    let margin = scene.range_m + 2.0 * scene.length_s * relative.norm() + 0.1 * radius;
    if gap > margin {
        return None;
    }
    let h = scene.parts.settings.spacing;
    let stencil = Stencil::about(&x.coords, cell.base, 1.0 / h, GradientForm::True);
    let (mut nodes, mut weights) = ([NONE; 27], [0.0; 27]);
    for n in 0..27 {
        if let Some(node) = node_index(scene.grid, block, cell, n) {
            nodes[n] = node;
            weights[n] = stencil.weight(corner(n));
        }
    }
    Some(Contact {
        particle: p.index,
        object: p.object,
        obstacle: placed.number,
        link,
        p_WC,
        surface_velocity,
        normal,
        nodes,
        weights,
        signed_distance: gap,
        start_velocity: relative,
    })
}

impl Obstacle {
    /// X_WG now.
    pub(super) fn pose(&self, links: &RigidLinks) -> Isometry3<f64> {
        match self.link {
            Some(link) => links.pose(link) * self.X_LG,
            None => self.X_LG,
        }
    }

    /// An upper bound of the speed of its surface, m/s.
    fn speed_bound(&self, links: &RigidLinks) -> f64 {
        let of_link = self.link.map_or(0.0, |link| {
            let v = links.velocity(link);
            let reach = self.X_LG.translation.vector.norm() + self.shape.radius_about_origin();
            let rate = v.fixed_rows::<3>(0).norm();
            // A half space that turns has no bound.
            let turning = if rate > 0.0 { rate * reach } else { 0.0 };
            v.fixed_rows::<3>(3).norm() + turning
        });
        of_link + self.surface_velocity.norm()
    }
}
