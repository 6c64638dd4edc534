use nalgebra::Vector3;

use super::*;

fn track(interpolation: TrackInterpolation) -> Track {
    let knots = [(1.0, 0.0), (2.0, 1.0), (4.0, 5.0), (5.0, 5.0), (6.0, 2.0)];
    Track::new(interpolation, &knots.map(|(t, x)| (t, vec![x, -x])))
}

fn value(track: &Track, t: f64) -> f64 {
    let mut out = [0.0; 2];
    track.value(t, &mut out);
    assert_eq!(out[0], -out[1]);
    out[0]
}

fn rate(track: &Track, t: f64) -> f64 {
    let mut out = [0.0; 2];
    track.rate(t, &mut out);
    out[0]
}

#[test]
fn every_interpolation_passes_through_its_knots_and_stays_outside() {
    for interpolation in [
        TrackInterpolation::Linear,
        TrackInterpolation::Cubic,
        TrackInterpolation::Hold,
    ] {
        let track = track(interpolation);
        for (t, x) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (2.0, 1.0),
            (4.0, 5.0),
            (5.0, 5.0),
            (6.0, 2.0),
            (9.0, 2.0),
        ] {
            assert!(
                (value(&track, t) - x).abs() < 1e-14,
                "{interpolation:?} at {t}"
            );
        }
    }
}

#[test]
fn linear_is_straight_and_hold_waits() {
    assert!((value(&track(TrackInterpolation::Linear), 3.0) - 3.0).abs() < 1e-15);
    assert!((value(&track(TrackInterpolation::Hold), 3.9) - 1.0).abs() < 1e-15);
}

#[test]
fn rates_are_derivatives_of_values() {
    for interpolation in [
        TrackInterpolation::Linear,
        TrackInterpolation::Cubic,
        TrackInterpolation::Hold,
    ] {
        let track = track(interpolation);
        for k in 0..70 {
            // Never within h of a knot, where a linear track has a corner.
            let t = 0.055 + 0.1 * f64::from(k);
            let h = 1e-5;
            let difference = (value(&track, t + h) - value(&track, t - h)) / (2.0 * h);
            // h² times the third derivative (< 30 here), and round-off of 5 over h.
            assert!(
                (rate(&track, t) - difference).abs() < 1e-8,
                "{interpolation:?} at {t}"
            );
        }
    }
}

#[test]
fn cubic_has_no_overshoot_and_no_kink() {
    let track = track(TrackInterpolation::Cubic);
    for k in 0..600 {
        let t = 0.01 * f64::from(k);
        // Hermite's weights sum to 1 but for round-off.
        assert!((-1e-14..=5.0 + 1e-14).contains(&value(&track, t)), "at {t}");
        // The largest second derivative is below 20: the rate can't jump by more than that times the distance.
        assert!(
            (rate(&track, t + 1e-6) - rate(&track, t - 1e-6)).abs() < 1e-4,
            "at {t}"
        );
    }
    assert!(
        (value(&track, 4.5) - 5.0).abs() < 1e-15,
        "two equal knots make a rest"
    );
    assert_eq!((rate(&track, 1.0), rate(&track, 6.0)), (0.0, 0.0));
}

#[test]
fn pose_turns_the_shorter_way_at_constant_or_eased_speed() {
    let a = Isometry3::new(Vector3::zeros(), Vector3::z() * 3.0);
    let b = Isometry3::new(Vector3::x(), Vector3::z() * -3.0);
    let turned = |interpolation, t| {
        let track = PoseTrack::new(interpolation, &[(0.0, a), (1.0, b)]);
        (track.pose(t).rotation * a.rotation.inverse())
            .scaled_axis()
            .z
    };
    let whole = std::f64::consts::TAU - 6.0;
    assert!((turned(TrackInterpolation::Linear, 0.25) - 0.25 * whole).abs() < 1e-12);
    // 3u² − 2u³ at u = 1/4 is 5/32.
    assert!((turned(TrackInterpolation::Cubic, 0.25) - 5.0 / 32.0 * whole).abs() < 1e-12);
    assert_eq!(turned(TrackInterpolation::Hold, 0.999), 0.0);
}

#[test]
fn single_knot_is_a_constant() {
    let track = Track::new(TrackInterpolation::Cubic, &[(1.0, vec![3.0])]);
    for t in [0.0, 1.0, 2.0] {
        let mut out = [0.0];
        track.value(t, &mut out);
        assert_eq!(out, [3.0]);
        track.rate(t, &mut out);
        assert_eq!(out, [0.0]);
    }
}
