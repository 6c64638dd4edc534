//! Contact points that represent the polygons of a patch: few points with the same force, moment and stiffness.

mod piece_points;

pub(crate) use piece_points::{PieceLoad, PiecePoints};

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::balance::Balance;
use super::balance::unit;
use super::pair::{Order, PairFrame};
use super::pieces::{Group, Pieces};
use super::polygon::Moments;
use super::polygon::Sign;
use crate::contact_geometry::Query;
use crate::contact_point::{
    ContactKey, ContactPoint, MaterialPoint, PatchShare, PointStiffness, Primitive,
};
use crate::field::Affine;
use crate::filament::Filament;
use crate::patch_geometry::Side;
use crate::posed::Posed;

/// Reused storage.
#[derive(Default)]
pub(crate) struct PointBuffers {
    groups: Vec<GroupSum>,
}

struct GroupSum {
    group: Group,
    /// Index of its largest piece, whose plane and pressure function represent the group: those of a sliver would be
    /// dominated by round-off.
    piece: u32,
    /// Area of that piece, m².
    largest: f64,
    moments: Moments,
    /// Highest pressure at a corner, Pa.
    pressure_max: f64,
    load: Load,
}

/// Sums over pieces of different slopes and normals.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// ∫p dA, N; negative for speculative pieces.
    force: f64,
    /// ∫g dA, N/m.
    stiffness: f64,
    /// ∫p x dA, N m.
    first: Vector3<f64>,
    /// ∫p n dA, N.
    normal: Vector3<f64>,
    /// ∫g (fraction of the first side) dA, N/m.
    of_first: f64,
}

impl Load {
    /// Adds a plane piece under a linear pressure.
    pub(crate) fn add(&mut self, m: &Moments, pressure: &Affine, balance: &Balance) {
        let area = m.area * balance.weight;
        let force = area * pressure.at(&m.centroid);
        self.force += force;
        self.stiffness += area * balance.slope;
        self.first += m.centroid * force + m.second * pressure.gradient * balance.weight;
        self.normal += balance.normal * force;
        self.of_first += area * balance.slope * balance.fraction_first;
    }

    /// The point of application of the resultant force.
    pub(crate) fn center(&self) -> Vector3<f64> {
        self.first / self.force
    }

    /// Mean slope over `area` (m²), Pa/m.
    pub(crate) fn slope(&self, area: f64) -> f64 {
        self.stiffness / area
    }

    /// Mean pressure over `area` (m²), Pa.
    pub(crate) fn pressure(&self, area: f64) -> f64 {
        self.force / area
    }
}

impl PointBuffers {
    /// Appends the points of all groups; of the speculative ones, those within the query's margin and those that the
    /// predicted motion brings into contact within the step.
    pub(super) fn emit(
        &mut self,
        found: &Pieces,
        frame: &PairFrame<'_>,
        posed: (&Posed<'_>, &Posed<'_>),
        q: &Query,
        out: &mut Vec<ContactPoint>,
    ) {
        self.groups.clear();
        let mut patch = Moments::default();
        for (i, piece) in found.sorted() {
            if self.groups.last().is_none_or(|g| g.group != piece.group) {
                self.groups.push(GroupSum {
                    group: piece.group,
                    piece: i,
                    largest: 0.0,
                    moments: Moments::default(),
                    pressure_max: 0.0,
                    load: Load::default(),
                });
            }
            if let Some(last) = self.groups.last_mut() {
                if piece.moments.area > last.largest {
                    (last.piece, last.largest) = (i, piece.moments.area);
                }
                last.moments.add(&piece.moments, piece.balance.weight);
                last.pressure_max = last.pressure_max.max(found.pressure_max(piece));
                last.load
                    .add(&piece.moments, &piece.pressure, &piece.balance);
            }
            patch.add(&piece.moments, piece.balance.weight);
        }
        let target = PointContext {
            frame,
            rotation: *frame.X_WF.rotation.to_rotation_matrix().matrix(),
            posed,
            patch: patch.second.trace(),
            time_step_s: q.time_step_s,
            speculative: match posed {
                (Posed::Rigid(a), Posed::Rigid(b)) => {
                    let is_loaded = |sum: &GroupSum| sum.group.sign == Sign::Loaded;
                    match self.groups.iter().any(is_loaded) {
                        true => SpeculativePoints::OfMotion,
                        false => SpeculativePoints::Within(q.margin_for(a.shape, b.shape)),
                    }
                }
                (Posed::Filament(_), _) | (_, Posed::Filament(_)) => {
                    SpeculativePoints::Within(q.margin)
                }
                _ => SpeculativePoints::All,
            },
        };
        for sum in &self.groups {
            emit_group(sum, found, &target, out);
        }
    }
}

/// Data common to the points of a pair.
struct PointContext<'a> {
    frame: &'a PairFrame<'a>,
    /// R_WF.
    rotation: Matrix3<f64>,
    posed: (&'a Posed<'a>, &'a Posed<'a>),
    /// Second moment of all polygons (trace), m⁴.
    patch: f64,
    time_step_s: f64,
    speculative: SpeculativePoints,
}

/// Which of the speculative points are included.
enum SpeculativePoints {
    /// All: no motion is predicted.
    All,
    /// Those within this distance (m), and those that the predicted motion brings into contact within the step. For a
    /// pair that is close but unloaded, so that no contact is missed.
    Within(f64),
    /// Those that twice the predicted motion brings into contact: for a pair that is already loaded elsewhere.
    OfMotion,
}

impl PointContext<'_> {
    /// Maps data of the first and the second side to A and B.
    fn of_sides<T>(&self, (first, second): (T, T)) -> (T, T) {
        match self.frame.order {
            Order::AsGiven => (first, second),
            Order::Swapped => (second, first),
        }
    }

    /// The filaments among the sides, with the elements of a piece on them.
    fn filaments(&self, elements: (u32, u32)) -> impl Iterator<Item = (&Filament, u32)> {
        let (on_A, on_B) = self.of_sides(elements);
        [(self.posed.0, on_A), (self.posed.1, on_B)]
            .into_iter()
            .filter_map(|side| match side {
                (Posed::Filament(f), element) => Some((&**f, element)),
                _ => None,
            })
    }

    /// Whether a group on these elements surrounds an axis: a single point then has its resultant, not the pressure of
    /// its largest piece.
    fn lies_about_axis(&self, elements: (u32, u32)) -> bool {
        let mut filaments = self.filaments(elements);
        filaments.any(|(f, tet)| f.passes_through_axis(tet))
    }

    /// Second moment (trace, m⁴) relative to which a group must be large enough to become three points.
    fn extent(&self, elements: (u32, u32)) -> f64 {
        let of_filaments = self.filaments(elements).map(|(f, tet)| f.patch_extent(tet));
        of_filaments.reduce(f64::max).unwrap_or(self.patch)
    }

    /// Whether a speculative point on these elements, at this distance and with this normal from B into A, is included.
    fn counts(
        &self,
        elements: (u32, u32),
        p_WC: &Point3<f64>,
        normal_W: &Vector3<f64>,
        distance: f64,
    ) -> bool {
        let velocity = |posed: &Posed<'_>, element: u32| match posed {
            Posed::Rigid(r) => Some(r.V_WG.at(&(p_WC.coords - r.X_WG.translation.vector))),
            Posed::Filament(f) => {
                let segment = f.segment_of(element);
                let (fraction, _) = f.material_point_at(segment, p_WC);
                let [from, to] = f.end_velocities(segment);
                Some(from.lerp(&to, fraction))
            }
            Posed::Deforming(_) => None,
        };
        let (on_A, on_B) = self.of_sides(elements);
        let motion = || {
            let v_A = velocity(self.posed.0, on_A)?;
            let v_B = velocity(self.posed.1, on_B)?;
            Some(self.time_step_s * normal_W.dot(&(v_A - v_B)))
        };
        let closes = |times: f64| motion().is_none_or(|motion| distance + times * motion <= 0.0);
        match self.speculative {
            SpeculativePoints::All => true,
            SpeculativePoints::Within(margin) => distance <= margin || closes(1.0),
            SpeculativePoints::OfMotion => closes(2.0),
        }
    }
}

/// The points of one group.
fn emit_group(
    sum: &GroupSum,
    found: &Pieces,
    target: &PointContext<'_>,
    out: &mut Vec<ContactPoint>,
) {
    let piece = &found.pieces[sum.piece as usize];
    if sum.moments.area <= 0.0 {
        return;
    }
    let PointContext {
        frame,
        rotation,
        posed,
        ..
    } = target;
    let together = target.lies_about_axis(piece.elements).then_some(&sum.load);
    let extent = target.extent(piece.elements);
    let normal = match together.and_then(|load| unit(&(load.normal * load.force.signum()))) {
        Some((normal, _)) => rotation * normal,
        None => rotation * piece.balance.normal,
    };
    let (gradient, mean, slope, fraction_first) = match together {
        Some(load) => (
            Vector3::zeros(),
            load.pressure(sum.moments.area),
            load.slope(sum.moments.area),
            load.of_first / load.stiffness,
        ),
        None => (
            rotation * piece.pressure.gradient,
            piece.pressure.at(&sum.moments.centroid),
            piece.balance.slope,
            piece.balance.fraction_first,
        ),
    };
    let center = match together.filter(|_| sum.group.sign == Sign::Loaded) {
        Some(load) => load.center(),
        None => sum.moments.centroid,
    };
    let m = Moments {
        area: sum.moments.area,
        centroid: rotation * center + frame.X_WF.translation.vector,
        second: rotation * sum.moments.second * rotation.transpose(),
    };
    let load = PieceLoad {
        normal: &normal,
        gradient: &gradient,
        mean,
        sign: sum.group.sign,
        extent,
    };
    let is_rigid = matches!(posed, (Posed::Rigid(_), Posed::Rigid(_)));
    let mean_radius = (is_rigid && load.is_central(&m))
        .then(|| found.first_radial_moment(sum.group, &center) / m.area);
    let piece_points = PiecePoints::of(&m, &load, mean_radius);
    let count = piece_points.count as usize;
    for (k, arm) in piece_points.arms.iter().enumerate().take(count) {
        let p_WC = Point3::from(m.centroid + piece_points.offsets[k]);
        let area = m.area * piece_points.parts[k];
        let share = match sum.group.sign {
            Sign::Loaded => PatchShare {
                area,
                pressure_max: sum.pressure_max,
            },
            Sign::Speculative => PatchShare::default(),
        };
        let signed_distance = -(mean + gradient.dot(arm)) / slope;
        let normal_W = match frame.order {
            Order::AsGiven => normal,
            Order::Swapped => -normal,
        };
        if sum.group.sign == Sign::Speculative
            && !target.counts(piece.elements, &p_WC, &normal_W, signed_distance)
        {
            continue;
        }
        let fraction_A = match frame.order {
            Order::AsGiven => fraction_first,
            Order::Swapped => 1.0 - fraction_first,
        };
        let number = match sum.group.sign {
            Sign::Loaded => k as u32,
            Sign::Speculative => 8 + k as u32,
        };
        let feature = |group: u32| group.wrapping_mul(16).wrapping_add(number);
        let key = ContactKey::new(feature(sum.group.first), feature(sum.group.second));
        let on_first = |posed: &Posed<'_>| {
            material_point(&frame.first, piece.elements.0, posed, &p_WC, &normal)
        };
        let on_second = |posed: &Posed<'_>| {
            material_point(&frame.second, piece.elements.1, posed, &p_WC, &normal)
        };
        let (a, b, key) = match frame.order {
            Order::AsGiven => (on_first(posed.0), on_second(posed.1), key),
            Order::Swapped => (on_second(posed.0), on_first(posed.1), key.swapped()),
        };
        out.push(ContactPoint {
            p_WC,
            normal_W,
            signed_distance,
            stiffness: PointStiffness::OfPatch {
                stiffness: area * slope,
                fraction_A,
                share,
            },
            a,
            b,
            key,
            entry: 0.0,
        });
    }
}

fn material_point(
    side: &Side<'_>,
    element: u32,
    posed: &Posed<'_>,
    p_WC: &Point3<f64>,
    normal: &Vector3<f64>,
) -> MaterialPoint {
    match (posed, side) {
        (Posed::Rigid(r), _) => on_frame(&r.X_WG, p_WC),
        (Posed::Filament(f), _) => {
            let segment = f.segment_of(element);
            let (fraction, offset) = f.material_point_below_axis(segment, p_WC, normal);
            MaterialPoint {
                primitive: Primitive::Edge(segment as u32),
                weights: [1.0 - fraction, fraction, 0.0, 0.0],
                offset,
            }
        }
        (Posed::Deforming(s), Side::Field(field)) => match field.attachment(element) {
            Some(attachment) => {
                let corner_weights = field.functions_of(element).weights(&p_WC.coords);
                let mut weights = [0.0; 4];
                for (w, of_corner) in corner_weights.iter().zip(&attachment.weights) {
                    for (sum, x) in weights.iter_mut().zip(of_corner) {
                        *sum += w * x;
                    }
                }
                let carried = s.weighted_point(&attachment.vertices, &weights);
                MaterialPoint {
                    primitive: attachment.primitive,
                    weights,
                    offset: p_WC - carried,
                }
            }
            None => on_frame(&Isometry3::identity(), p_WC),
        },
        _ => on_frame(&Isometry3::identity(), p_WC),
    }
}

fn on_frame(X_WG: &Isometry3<f64>, p_WC: &Point3<f64>) -> MaterialPoint {
    MaterialPoint::on_frame(X_WG.inverse_transform_point(p_WC).coords)
}
