use super::*;
use crate::test_support::random_pose;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random_bounds(rng: &mut ChaCha8Rng, n: usize) -> Vec<PressureBox> {
    (0..n)
        .map(|_| {
            let mut corner = || {
                let x = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                (x, rng.random_range(0.0..1.0))
            };
            let (low, p) = corner();
            let (extent, q) = corner();
            PressureBox::of([(low, p), (low + 0.2 * extent, q)])
        })
        .collect()
}

/// A bounding box of the moved box; pressure intervals are unchanged.
fn moved_bounds(X: &Relative, r: &PressureBox) -> PressureBox {
    let (center, half) = (X.point(&r.center()), X.rotation.abs() * r.half());
    PressureBox {
        min: center - half,
        max: center + half,
        ..*r
    }
}

fn overlap(a: &PressureBox, b: &PressureBox) -> bool {
    (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
        && a.p_min <= b.p_max
        && b.p_min <= a.p_max
}

#[test]
fn tree_agrees_with_brute_force_also_after_a_refit() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (a, b) = (random_bounds(&mut rng, 200), random_bounds(&mut rng, 150));
    let mut tree_A = PressureBvh::new(&a);
    let tree_B = PressureBvh::new(&b);
    let moved = random_bounds(&mut rng, 200);
    for items in [&a, &moved] {
        tree_A.refit(|i| items[i as usize]);
        let mut boxes = tree_A.clone();
        boxes.refit(|i| PressureBox {
            min: Vector3::zeros(),
            max: Vector3::zeros(),
            ..items[i as usize]
        });
        boxes.refit_boxes(|i| [items[i as usize].min, items[i as usize].max]);
        let bounds = |tree: &PressureBvh| tree.nodes.iter().map(|n| n.bounds).collect::<Vec<_>>();
        assert_eq!(bounds(&boxes), bounds(&tree_A));
        let X = Relative::new(&random_pose(&mut rng, 0.3));
        let (mut found, mut stack) = (Vec::new(), Vec::new());
        tree_A.visit_pairs(&X, &tree_B, &mut stack, |i, j| found.push((i, j)));
        found.sort_unstable();
        let mut expected = Vec::new();
        for (i, x) in items.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                if overlap(&moved_bounds(&X, x), y) {
                    expected.push((i as u32, j as u32));
                }
            }
        }
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(found, expected);
    }
}

#[test]
fn triangle_pairs_have_intersecting_boxes_and_planes() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let triangles: Vec<[Vector3<f64>; 3]> = (0..200)
        .map(|_| {
            let mut point = |size: f64| Vector3::from_fn(|_, _| rng.random_range(-size..size));
            let midpoint = point(1.0);
            [(); 3].map(|()| midpoint + point(0.2))
        })
        .collect();
    let boxes = random_bounds(&mut rng, 150);
    let bounds: Vec<_> = triangles
        .iter()
        .map(|t| PressureBox::of_points(*t))
        .collect();
    let ends: Vec<_> = boxes.iter().flat_map(|r| [r.min, r.max]).collect();
    let corners: Vec<_> = triangles.iter().flatten().copied().collect();
    let tree = PressureBvh::new(&bounds).around(&corners);
    let other = PressureBvh::new(&boxes).around(&ends);
    for shift in [0.3, 1.0, 1.9, 5.0] {
        let X = Relative::new(&random_pose(&mut rng, shift));
        let moved = |t: u32| triangles[t as usize].map(|x| X.point(&x));
        let (mut found, mut walk) = (Vec::new(), PairTraversal::default());
        tree.visit_triangle_pairs(&X, &other, &mut walk, moved, |t, facet, b| {
            assert_eq!(facet.corners, moved(t));
            found.push((t, b));
        });
        found.sort_unstable();
        let mut expected = Vec::new();
        for t in 0..triangles.len() as u32 {
            let facet = Facet::of(moved(t));
            for (b, bounds) in boxes.iter().enumerate() {
                let (center, half) = (bounds.center(), bounds.half());
                let probe = Probe {
                    center,
                    half,
                    p_min: bounds.p_min,
                    p_max: bounds.p_max,
                    right: LEAF,
                    item: b as u32,
                };
                if facet.intersects(&probe) {
                    expected.push((t, b as u32));
                }
            }
        }
        assert_eq!(found, expected);
    }
}
