use super::*;

/// Two edges that have crossed by about 2 cm at some angle.
fn ends(seed: f64, angle: f64) -> [Point3<f64>; 4] {
    let vary = |k: f64| 0.03 * (seed * 3.1 + 1.7 * k).sin();
    let (sin, cos) = angle.sin_cos();
    [
        Point3::new(-0.5 + vary(1.0), vary(2.0), -0.02 + 0.2 * vary(3.0)),
        Point3::new(0.6 + vary(4.0), vary(5.0), -0.02 + 0.2 * vary(6.0)),
        Point3::new(-0.4 * cos + vary(7.0), -0.4 * sin, 0.2 * vary(8.0)),
        Point3::new(0.5 * cos + vary(9.0), 0.5 * sin, 0.2 * vary(10.0)),
    ]
}

fn relaxed(ends: &[Point3<f64>; 4], mu: f64, old: [f64; 2], distance: f64) -> EdgesRelaxed {
    let facing = match EdgesCrossing::of(ends).unwrap().normal.z > 0.0 {
        true => Facing::Front,
        false => Facing::Back,
    };
    let mut out = EdgesRelaxed::default();
    out.relax(ends, &SlidingFriction::coulomb(mu), facing, old, distance);
    out
}

/// m, α', β', d and the pull, as one vector.
fn values(r: &EdgesRelaxed) -> [f64; 7] {
    let p = r.pull;
    [r.fading, r.at[0], r.at[1], r.depth, p.x, p.y, p.z]
}

#[test]
fn derivatives_are_those_of_differences() {
    let (mut stuck, mut slid, mut faded) = (0, 0, 0);
    for k in 0..60 {
        let seed = f64::from(k);
        let angle = [1.3, 0.7, -0.9, 0.08, -0.05][k as usize % 5];
        let mu = [0.0, 0.3, 1.5][k as usize % 3];
        let old = [0.45 + 0.02 * seed.sin(), 0.46 + 0.03 * seed.cos()];
        let distance = [0.0, 0.01][k as usize % 2];
        let start = ends(seed, angle);
        let at = relaxed(&start, mu, old, distance);
        match at.branch {
            Branch::Stick => stuck += 1,
            Branch::Slip => slid += 1,
            Branch::Separate => panic!("{k}: apart"),
        }
        faded += usize::from(at.fading < 1.0);
        for vertex in 0..4 {
            for axis in 0..3 {
                let h = 1e-6;
                let moved = |h: f64| {
                    let mut ends = start;
                    ends[vertex][axis] += h;
                    values(&relaxed(&ends, mu, old, distance))
                };
                let (up, down) = (moved(h), moved(-h));
                let pull_by = at.pull_by[vertex].column(axis);
                let found = [
                    at.fading_by[vertex][axis],
                    at.at_by[vertex][0][axis],
                    at.at_by[vertex][1][axis],
                    at.depth_by[vertex][axis],
                    pull_by[0],
                    pull_by[1],
                    pull_by[2],
                ];
                for (i, found) in found.iter().enumerate() {
                    let difference = (up[i] - down[i]) / (2.0 * h);
                    let error = (found - difference).abs();
                    let size = 1.0 + difference.abs();
                    assert!(
                        error < 1e-6 * size,
                        "{k} {vertex} {i}: {found} {difference}"
                    );
                }
            }
        }
    }
    assert!(
        stuck > 5 && slid > 20 && faded > 10,
        "{stuck} {slid} {faded}"
    );
}

#[test]
fn the_cone_holds_and_a_second_relaxation_changes_nothing() {
    for k in 0..50 {
        let start = ends(f64::from(k), 1.1);
        let mu = 0.2;
        for old in [[0.5, 0.5], [0.1, 0.9], [0.9, 0.3]] {
            let once = relaxed(&start, mu, old, 0.0);
            let (n, pull) = (once.normal, once.pull);
            let pressing = pull.dot(&n);
            assert!(pressing > 0.0);
            assert!((pull - n * pressing).norm() <= mu * pressing * (1.0 + 1e-12));
            let twice = relaxed(&start, mu, once.at, 0.0);
            for (a, b) in once.at.iter().zip(twice.at) {
                assert!((a - b).abs() < 1e-14, "{a} {b}");
            }
            // The pull leads from the one place to the other, so that it has no torque.
            let on = |e: [usize; 2], at: f64| start[e[0]] + (start[e[1]] - start[e[0]]) * at;
            let between = on([2, 3], once.at[1]) - on([0, 1], once.at[0]);
            assert!((between - pull).norm() < 1e-14);
        }
    }
}

#[test]
fn what_sticks_keeps_every_bit_and_what_is_apart_has_no_force() {
    let start = ends(0.4, 1.2);
    let old = EdgesCrossing::of(&start).unwrap().at.map(|at| at + 1e-3);
    let stuck = relaxed(&start, 5.0, old, 0.0);
    assert_eq!(stuck.branch, Branch::Stick);
    assert_eq!(stuck.at, old);
    let lifted = [0, 1, 2, 3].map(|k| match k < 2 {
        true => start[k] + Vector3::z() * 0.1,
        false => start[k],
    });
    let apart = relaxed(&lifted, 5.0, old, 0.0);
    assert_eq!(apart.branch, Branch::Separate);
    assert_eq!(apart.at, old);
    assert_eq!(apart.pull, Vector3::zeros());
}

#[test]
fn parallel_edges_have_no_force() {
    let p = |x: f64, y: f64, z: f64| Point3::new(x, y, z);
    let ends = [
        p(0.0, 0.0, 0.0),
        p(1.0, 0.0, 0.0),
        p(0.1, 0.0, 0.01),
        p(1.2, 0.0, 0.01),
    ];
    assert!(EdgesCrossing::of(&ends).is_none());
    let mut out = EdgesRelaxed::default();
    let friction = SlidingFriction::coulomb(0.5);
    out.relax(&ends, &friction, Facing::Front, [0.5; 2], 0.05);
    assert_eq!(out.branch, Branch::Separate);
}
