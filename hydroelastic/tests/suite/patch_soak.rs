//! Soak test of random and degenerate pairs:
//! `PLIANT_SOAK_S=600 cargo test --release -p pliant-hydroelastic --test suite patch_soak -- --nocapture`
//! runs that many seconds per test, each round with its own seed; `PLIANT_SOAK_FROM` is the first round.
//!
//! Shapes have random proportions, slivers among them, and fields whose pressure is constant in places; poses are
//! random, aligned, coincident or off by a rounding error. All results must be finite, of the correct sign, independent
//! of the order of the sides, and continuous along a path.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::generate;
use pliant_hydroelastic::{
    Compliance, ContactGeometry, ContactPatch, ContactPoint, ContactWorkspace, PatchContact,
    PatchGeometry, Posed, PressureField, Query, RigidShape, Shape,
};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Sphere,
    Box,
    Cylinder,
    Capsule,
    Ellipsoid,
    Cone,
    Hull,
    /// A closed surface whose triangles are as thin as the third size is small.
    Mesh,
    /// A box of two layers with user-defined pressures, constant in places.
    Own,
    HalfSpace,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    kind: Kind,
    sizes: [f64; 3],
    modulus: f64,
    margin: f64,
    edge: f64,
}

impl Part {
    /// `None` for a hull so thin that it is refused.
    fn shape(&self) -> Option<Shape> {
        let [x, y, z] = self.sizes;
        match self.kind {
            Kind::Sphere => Shape::sphere(x),
            Kind::Box => Shape::cuboid(Vector3::new(x, y, z)),
            Kind::Cylinder => Shape::cylinder(x, y),
            Kind::Capsule => Shape::capsule(x, y),
            Kind::Ellipsoid => Shape::ellipsoid(Vector3::new(x, y, z)),
            Kind::Cone => Shape::cone(x, y),
            Kind::Hull => Shape::convex_hull(&[
                [x, 0.0, 0.0].into(),
                [-x, 0.1 * y, 0.0].into(),
                [0.0, y, 0.0].into(),
                [0.0, -y, 0.0].into(),
                [0.0, 0.0, z].into(),
                [0.01, 0.0, -z].into(),
            ]),
            Kind::Mesh => {
                // A box whose lid is triangulated from a point near one of its edges.
                let near = 0.5 * x - 1e-6 * z;
                let corner = |i: usize| {
                    let sign = |k: usize| if i >> k & 1 == 1 { 0.5 } else { -0.5 };
                    [sign(0) * x, sign(1) * y, sign(2) * x].into()
                };
                let mut vertices: Vec<_> = (0..8).map(corner).collect();
                vertices.push([near, 0.1 * y, 0.5 * x].into());
                let lid = [[4, 5, 8], [5, 7, 8], [7, 6, 8], [6, 4, 8]];
                let rest = [
                    [0, 2, 1],
                    [1, 2, 3],
                    [0, 1, 5],
                    [0, 5, 4],
                    [2, 6, 7],
                    [2, 7, 3],
                    [0, 4, 6],
                    [0, 6, 2],
                    [1, 3, 7],
                    [1, 7, 5],
                ];
                Shape::mesh(&vertices, &[&lid[..], &rest[..]].concat())
            }
            Kind::Own => Shape::cuboid(Vector3::new(x, y, z)),
            Kind::HalfSpace => Ok(Shape::half_space()),
        }
        .ok()
    }

    /// A field may be refused where the shape is too thin to have an interior.
    fn own_field(&self) -> Option<PatchGeometry> {
        let half = Vector3::from(self.sizes) * 0.5;
        let mesh = generate::tet_cuboid(half, [2, 2, 2]).ok()?;
        let pressures: Vec<f64> = mesh
            .vertices()
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let outside = (0..3).any(|k| v[k].abs() > 0.99 * half[k]);
                match (outside, i % 3) {
                    (true, 0) => 0.5 * self.modulus,
                    (true, _) => 0.0,
                    (false, _) => self.modulus,
                }
            })
            .collect();
        let field = PressureField::from_vertex_pressures(&mesh, &pressures).ok()?;
        Some(PatchGeometry::Compliant(field))
    }

    fn compliant(&self, shape: &Shape) -> Option<PatchGeometry> {
        if matches!(self.kind, Kind::Own) {
            return self.own_field();
        }
        let compliance = Compliance {
            hydroelastic_modulus: self.modulus,
            margin: self.margin,
            mesh_resolution_hint: self.edge,
            slab_thickness: Some(0.1),
        };
        match self.kind {
            // A lattice may have no point inside a shape thinner than its cells.
            Kind::Mesh => PatchGeometry::compliant(shape, &compliance).ok(),
            _ => Some(PatchGeometry::compliant(shape, &compliance).unwrap()),
        }
    }
}

/// Sometimes exactly one of the special values, otherwise any in the range.
fn number(low: f64, high: f64, special: &'static [f64]) -> impl Strategy<Value = f64> {
    prop_oneof![3 => low..high, 1 => prop::sample::select(special)]
}

fn part() -> impl Strategy<Value = Part> {
    let kind = prop::sample::select(
        &[
            Kind::Sphere,
            Kind::Box,
            Kind::Cylinder,
            Kind::Capsule,
            Kind::Ellipsoid,
            Kind::Cone,
            Kind::Hull,
            Kind::Mesh,
            Kind::Own,
            Kind::HalfSpace,
        ][..],
    );
    let size = || number(0.02, 0.2, &[0.1, 0.05, 0.2, 1e-3, 1e-5, 2.0]);
    let margin = prop_oneof![Just(0.0), Just(1e-4), Just(1e-2), 0.0..1e-3];
    let modulus = prop::sample::select(&[1e3, 1e5, 1e7, 1e10][..]);
    (
        kind,
        [size(), size(), size()],
        modulus,
        margin,
        number(0.03, 0.3, &[0.1]),
    )
        .prop_map(|(kind, sizes, modulus, margin, edge)| {
            // Resolved relative to the largest size.
            let edge = edge.max(0.1 * sizes.iter().copied().fold(0.0, f64::max));
            Part {
                kind,
                sizes,
                modulus,
                margin,
                edge,
            }
        })
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    const SHIFTS: &[f64] = &[0.0, 0.1, -0.1, 0.05, 0.2, 1e-9, -1e-12, 1e-16, 0.1 - 1e-13];
    const TURNS: &[f64] = &[
        0.0,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_4,
        1e-9,
        -1e-13,
    ];
    let shift = || number(-0.2, 0.2, SHIFTS);
    let turn = || prop_oneof![-3.0..3.0, prop::sample::select(TURNS), Just(0.0)];
    (shift(), shift(), shift(), turn(), turn(), turn()).prop_map(|(x, y, z, a, b, c)| {
        Isometry3::from_parts(
            Translation3::new(x, y, z),
            UnitQuaternion::from_scaled_axis(Vector3::new(a, b, c)),
        )
    })
}

/// A pair that has patches; `None` for one that has none or cannot be built.
struct Pair {
    shapes: [Shape; 2],
    patches: [PatchGeometry; 2],
}

impl Pair {
    fn new(a: &Part, b: &Part, rigid: bool) -> Option<Self> {
        let shapes = [a.shape()?, b.shape()?];
        let of_B = if rigid {
            PatchGeometry::rigid(&shapes[1], b.edge).unwrap()
        } else {
            b.compliant(&shapes[1])?
        };
        let patches = [a.compliant(&shapes[0])?, of_B];
        patches[0]
            .has_patch_with(&patches[1])
            .then_some(Self { shapes, patches })
    }

    fn posed(&self, side: usize, X_WG: &Isometry3<f64>) -> Posed<'_> {
        Posed::Rigid(RigidShape {
            patch: Some(&self.patches[side]),
            ..RigidShape::at_rest(&self.shapes[side], *X_WG)
        })
    }

    fn patch(&self, X_WA: &Isometry3<f64>, X_WB: &Isometry3<f64>) -> ContactPatch {
        let mut out = ContactPatch::default();
        let (a, b) = (self.posed(0, X_WA), self.posed(1, X_WB));
        PatchContact
            .patch(a, b, &mut ContactWorkspace::default(), &mut out)
            .unwrap()
            .unwrap();
        out
    }

    /// The smallest depth of a compliant side, m.
    fn depth(&self) -> f64 {
        let depths = self.patches.iter().map(|patch| match patch {
            PatchGeometry::Compliant(field) => field.depth(),
            PatchGeometry::CompliantHalfSpace(slab) => slab.thickness(),
            _ => f64::INFINITY,
        });
        depths.fold(f64::INFINITY, f64::min)
    }
}

/// Runs `cases` cases per round: one round, or rounds for `PLIANT_SOAK_S` seconds.
fn soak<S: Strategy>(
    what: &str,
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let limit = std::env::var("PLIANT_SOAK_S").ok();
    let limit = limit.map_or(0.0, |s| s.parse().expect("PLIANT_SOAK_S is in seconds"));
    let first = std::env::var("PLIANT_SOAK_FROM").ok();
    let first: u64 = first.map_or(0, |s| s.parse().expect("PLIANT_SOAK_FROM is a round"));
    let begin = Instant::now();
    let mut round = first;
    loop {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&round.to_le_bytes());
        let config = ProptestConfig {
            cases,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config, rng);
        if let Err(error) = runner.run(strategy, &test) {
            panic!("{what}, round {round}: {error}");
        }
        round += 1;
        if begin.elapsed() >= Duration::from_secs_f64(limit) {
            break;
        }
    }
    let (n, time) = ((round - first) * u64::from(cases), begin.elapsed());
    eprintln!("{what}: {n} cases in {:.0} s", time.as_secs_f64());
}

#[test]
fn any_pair_has_a_finite_symmetric_result() {
    let cases = (part(), part(), any::<bool>(), pose(), pose());
    soak(
        "finite and symmetric",
        300,
        &cases,
        |(a, b, rigid, X_WA, X_WB)| {
            let Some(pair) = Pair::new(&a, &b, rigid) else {
                return Ok(());
            };
            check_one(&pair, a.modulus.max(b.modulus), &X_WA, &X_WB)
        },
    );
}

fn check_one(
    pair: &Pair,
    modulus_max: f64,
    X_WA: &Isometry3<f64>,
    X_WB: &Isometry3<f64>,
) -> Result<(), TestCaseError> {
    let here = pair.patch(X_WA, X_WB);
    let s = *here.summary();
    prop_assert!(s.area >= 0.0 && s.area.is_finite() && s.pressure_max.is_finite());
    prop_assert!(s.force_W.sum().is_finite() && s.moment_W.sum().is_finite());
    prop_assert!(s.center_of_pressure.coords.sum().is_finite());
    let load: f64 = here.polygons().iter().map(|p| p.area * p.pressure).sum();
    for p in here.polygons() {
        prop_assert!(p.area > 0.0 && p.pressure >= 0.0);
        let corners = here.vertices_W(p).len();
        prop_assert!(corners >= 3 && corners == here.pressures(p).len());
    }
    let q = Query::new(1e-3, 9.81).unwrap();
    let ask = |a, b| {
        let mut out = Vec::new();
        PatchContact
            .collide(a, b, &q, &mut ContactWorkspace::default(), &mut out)
            .unwrap()
            .unwrap();
        out
    };
    let there = ask(pair.posed(0, X_WA), pair.posed(1, X_WB));
    let back = ask(pair.posed(1, X_WB), pair.posed(0, X_WA));
    let force = |points: &[ContactPoint]| {
        points.iter().fold(Vector3::zeros(), |f, c| {
            f + c.normal_W * (-c.stiffness.of_pair(0.0) * c.signed_distance).max(0.0)
        })
    };
    // The stiffer field's pressure near its surface is a small difference of large numbers.
    let tolerance = 1e-8 * load + 1e-13 * modulus_max * s.area;
    // Pieces with the same pressure function are identified to 1e-9 of the highest pressure.
    let off = (force(&there) - s.force_W).norm();
    let merged = tolerance + 1e-8 * modulus_max * s.area;
    prop_assert!(off <= merged, "{off} N of {load} N, {merged} allowed");
    let shares = there.iter().filter_map(|c| c.patch_share(1.0));
    let area: f64 = shares.map(|share| share.area).sum();
    prop_assert!((area - s.area).abs() <= 1e-9 * s.area, "{area} {}", s.area);
    let sum = force(&there) + force(&back);
    prop_assert!(sum.norm() <= tolerance, "{sum:?} of {load}");
    for c in &there {
        let stiffness = c.stiffness.of_pair(1.0);
        prop_assert!(stiffness > 0.0 && stiffness.is_finite());
        prop_assert!(c.signed_distance.is_finite() && (c.normal_W.norm() - 1.0).abs() < 1e-9);
    }
    Ok(())
}

/// Largest jump of the force, relative to its largest value along the path.
const JUMP: f64 = 1e-4;

#[test]
fn force_has_no_jump_along_any_path() {
    let way = (-1.0..1.0, -1.0..1.0, -1.0..1.0);
    let cases = (
        part(),
        part(),
        any::<bool>(),
        pose(),
        pose(),
        way.clone(),
        way,
    );
    soak(
        "no jumps",
        60,
        &cases,
        |(a, b, rigid, X_WA, X_WB, shift, turn)| {
            // Pressures that are non-zero on the surface, or fields as thin as the thresholds of their polygons, cause
            // jumps of their own.
            let plain = |p: &Part| !matches!(p.kind, Kind::Own);
            let Some(pair) = Pair::new(&a, &b, rigid).filter(|_| plain(&a) && plain(&b)) else {
                return Ok(());
            };
            let reach = 0.5 * pair.depth().min(0.05);
            let shift = Vector3::new(shift.0, shift.1, shift.2) * reach;
            let turn = Vector3::new(turn.0, turn.1, turn.2) * 0.3;
            let pressures = std::cell::Cell::new(0.0_f64);
            let force = |s: f64| {
                let X = Isometry3::from_parts(
                    Translation3::from(X_WA.translation.vector + shift * s),
                    UnitQuaternion::from_scaled_axis(turn * s) * X_WA.rotation,
                );
                let patch = pair.patch(&X, &X_WB);
                let highest = patch.summary().pressure_max;
                pressures.set(pressures.get().max(highest));
                patch.summary().force_W
            };
            let n = 40;
            let forces: Vec<_> = (0..=n)
                .map(|i| force(f64::from(i) / f64::from(n)))
                .collect();
            let soft = if rigid {
                a.modulus
            } else {
                a.modulus.min(b.modulus)
            };
            if pressures.get() > 0.8 * soft {
                // At the deepest point of a flat body the pressure gradient changes sign: beyond it the force is on the
                // other side.
                return Ok(());
            }
            let largest = forces.iter().map(Vector3::norm).fold(0.0, f64::max);
            let change = |i: usize| (forces[i + 1] - forces[i]).norm();
            let worst = (0..n as usize)
                .max_by(|&i, &j| change(i).total_cmp(&change(j)))
                .unwrap_or(0);
            let mut low = worst as f64 / f64::from(n);
            let mut high = (worst + 1) as f64 / f64::from(n);
            for _ in 0..24 {
                let middle = 0.5 * (low + high);
                let (f, g, h) = (force(low), force(middle), force(high));
                if (g - f).norm() > (h - g).norm() {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            let jump = (force(high) - force(low)).norm();
            // A contact that has just closed is as large as the dropped polygons; several may appear at once.
            let dropped = 10.0 * 1e-12 * pair.depth().powi(2) * pressures.get();
            let allowed = JUMP * largest + dropped;
            prop_assert!(
                jump <= allowed,
                "{jump} N of {largest} N at {low}, {allowed} allowed"
            );
            Ok(())
        },
    );
}
