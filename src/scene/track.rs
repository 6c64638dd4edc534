//! Values over time through given knots.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};

/// How values go from knot to knot. Before the first and after the last they are constant.
///
/// ```
/// use pliant::scene::{Track, TrackInterpolation};
///
/// let knots = [(0.0, vec![0.0]), (1.0, vec![1.0]), (2.0, vec![1.0])];
/// let at = |interpolation: TrackInterpolation, time_s: f64| {
///     let mut value = [0.0];
///     Track::new(interpolation, &knots).value(time_s, &mut value);
///     value[0]
/// };
/// assert_eq!(at(TrackInterpolation::Linear, 0.25), 0.25);
/// assert_eq!(at(TrackInterpolation::Hold, 0.25), 0.0);
/// // Slow at first, and not above 1 after the second knot.
/// assert!(at(TrackInterpolation::Cubic, 0.25) < 0.25);
/// assert_eq!(at(TrackInterpolation::Cubic, 1.5), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackInterpolation {
    /// Straight.
    Linear,
    /// By cubics that do not overshoot, at rest at the first and last knot.
    Cubic,
    /// Each value stays until the next knot.
    Hold,
}

/// A curve of `width` values over time.
///
/// ```
/// use pliant::scene::{Track, TrackInterpolation};
///
/// let track = Track::new(TrackInterpolation::Linear, &[(0.0, vec![0.0]), (2.0, vec![1.0])]);
/// let mut value = [0.0];
/// track.value(1.0, &mut value);
/// assert_eq!(value, [0.5]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    times_s: Vec<f64>,
    /// `width` values for each knot.
    values: Vec<f64>,
    /// Slopes at the knots, for cubic interpolation only.
    slopes: Vec<f64>,
    width: usize,
    interpolation: TrackInterpolation,
}

impl Track {
    /// Through `knots` (time in s, values); times must ascend and all knots have the same number of values.
    ///
    /// # Panics
    /// If there is no knot, times do not ascend, or widths differ: readers check that.
    pub fn new(interpolation: TrackInterpolation, knots: &[(f64, Vec<f64>)]) -> Self {
        assert!(!knots.is_empty(), "a track has at least one knot");
        assert!(knots.windows(2).all(|w| w[0].0 < w[1].0), "times ascend");
        let width = knots[0].1.len();
        assert!(
            knots.iter().all(|k| k.1.len() == width),
            "knots have equal widths"
        );
        let times_s: Vec<f64> = knots.iter().map(|k| k.0).collect();
        let values: Vec<f64> = knots.iter().flat_map(|k| k.1.iter().copied()).collect();
        let slopes = match interpolation {
            TrackInterpolation::Cubic => monotone_slopes(&times_s, &values, width),
            TrackInterpolation::Linear | TrackInterpolation::Hold => Vec::new(),
        };
        Self {
            times_s,
            values,
            slopes,
            width,
            interpolation,
        }
    }

    /// How many numbers it gives.
    pub fn width(&self) -> usize {
        self.width
    }

    /// When it first moves and when it ends, s.
    ///
    /// ```
    /// use pliant::scene::{Track, TrackInterpolation};
    ///
    /// let track = Track::new(TrackInterpolation::Hold, &[(0.5, vec![0.0]), (2.0, vec![1.0])]);
    /// assert_eq!(track.span_s(), (0.5, 2.0));
    /// ```
    pub fn span_s(&self) -> (f64, f64) {
        (self.times_s[0], self.times_s[self.times_s.len() - 1])
    }

    /// The values of number `column` at the knots, in the order of time.
    ///
    /// # Panics
    /// If `column` is not less than [`width`](Self::width).
    pub fn knots_of(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(column < self.width, "a track has `width` numbers");
        self.values[column..].iter().step_by(self.width).copied()
    }

    /// The knot before `time_s` and how far (0..1) it is to the next.
    fn locate(&self, time_s: f64) -> (usize, f64) {
        let last = self.times_s.len() - 1;
        let after = self.times_s.partition_point(|t| *t <= time_s);
        match after {
            0 => (0, 0.0),
            n if n > last => (last, 0.0),
            n => {
                let (t0, t1) = (self.times_s[n - 1], self.times_s[n]);
                (n - 1, (time_s - t0) / (t1 - t0))
            }
        }
    }

    /// The values at `time_s` into `out`.
    ///
    /// # Panics
    /// If `out` has not [`width`](Self::width) entries.
    pub fn value(&self, time_s: f64, out: &mut [f64]) {
        assert_eq!(
            out.len(),
            self.width,
            "one entry for each number of the track"
        );
        let (k, u) = self.locate(time_s);
        let w = self.width;
        for (i, x) in out.iter_mut().enumerate() {
            let a = self.values[k * w + i];
            *x = if u == 0.0 || self.interpolation == TrackInterpolation::Hold {
                a
            } else {
                let b = self.values[(k + 1) * w + i];
                match self.interpolation {
                    TrackInterpolation::Cubic => {
                        let h = self.times_s[k + 1] - self.times_s[k];
                        let (ma, mb) =
                            (h * self.slopes[k * w + i], h * self.slopes[(k + 1) * w + i]);
                        // Hermite's cubic through a, b with slopes ma, mb over u in 0..1.
                        let (u2, u3) = (u * u, u * u * u);
                        (2.0 * u3 - 3.0 * u2 + 1.0) * a
                            + (u3 - 2.0 * u2 + u) * ma
                            + (3.0 * u2 - 2.0 * u3) * b
                            + (u3 - u2) * mb
                    }
                    _ => a + u * (b - a),
                }
            };
        }
    }

    /// The rates of change at `time_s` into `out`; at a corner the one after it.
    ///
    /// ```
    /// use pliant::scene::{Track, TrackInterpolation};
    ///
    /// // 3 per second, then at rest.
    /// let knots = [(0.0, vec![0.0]), (1.0, vec![3.0]), (2.0, vec![3.0])];
    /// let track = Track::new(TrackInterpolation::Linear, &knots);
    /// let rate = |time_s: f64| {
    ///     let mut rate = [0.0];
    ///     track.rate(time_s, &mut rate);
    ///     rate[0]
    /// };
    /// assert_eq!((rate(0.5), rate(1.0), rate(5.0)), (3.0, 0.0, 0.0));
    /// ```
    ///
    /// # Panics
    /// If `out` has not [`width`](Self::width) entries.
    pub fn rate(&self, time_s: f64, out: &mut [f64]) {
        assert_eq!(
            out.len(),
            self.width,
            "one entry for each number of the track"
        );
        let (k, u) = self.locate(time_s);
        let w = self.width;
        let moves = time_s >= self.times_s[0] && k + 1 < self.times_s.len();
        for (i, x) in out.iter_mut().enumerate() {
            *x = if !moves || self.interpolation == TrackInterpolation::Hold {
                0.0
            } else {
                let h = self.times_s[k + 1] - self.times_s[k];
                let (a, b) = (self.values[k * w + i], self.values[(k + 1) * w + i]);
                match self.interpolation {
                    TrackInterpolation::Cubic => {
                        let (ma, mb) = (self.slopes[k * w + i], self.slopes[(k + 1) * w + i]);
                        6.0 * (u - u * u) * (b - a) / h
                            + (3.0 * u * u - 4.0 * u + 1.0) * ma
                            + (3.0 * u * u - 2.0 * u) * mb
                    }
                    _ => (b - a) / h,
                }
            };
        }
    }
}

/// Slopes that keep each cubic between its two knots: the weighted harmonic mean of the slopes on either side, zero
/// where they differ in sign and at both ends.
///
/// Source: Fritsch, Butland (1984), A method for constructing local monotone piecewise cubic interpolants.
fn monotone_slopes(times_s: &[f64], values: &[f64], width: usize) -> Vec<f64> {
    let mut slopes = vec![0.0; values.len()];
    for k in 1..times_s.len().saturating_sub(1) {
        let (h0, h1) = (times_s[k] - times_s[k - 1], times_s[k + 1] - times_s[k]);
        for i in 0..width {
            let d0 = (values[k * width + i] - values[(k - 1) * width + i]) / h0;
            let d1 = (values[(k + 1) * width + i] - values[k * width + i]) / h1;
            if d0 * d1 > 0.0 {
                let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
                slopes[k * width + i] = (w0 + w1) / (w0 / d0 + w1 / d1);
            }
        }
    }
    slopes
}

/// A pose over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PoseTrack {
    positions: Track,
    rotations: Vec<UnitQuaternion<f64>>,
}

impl PoseTrack {
    /// Through `knots` (time in s, pose). Positions go as in a [`Track`]; rotations turn about one axis from knot to
    /// knot, and come to rest at each knot if `interpolation` is cubic.
    ///
    /// # Panics
    /// As [`Track::new`].
    pub(crate) fn new(interpolation: TrackInterpolation, knots: &[(f64, Isometry3<f64>)]) -> Self {
        let positions: Vec<(f64, Vec<f64>)> = knots
            .iter()
            .map(|(t, pose)| (*t, pose.translation.vector.as_slice().to_vec()))
            .collect();
        Self {
            positions: Track::new(interpolation, &positions),
            rotations: knots.iter().map(|(_, pose)| pose.rotation).collect(),
        }
    }

    /// When it first moves and when it ends, s.
    pub(crate) fn span_s(&self) -> (f64, f64) {
        self.positions.span_s()
    }

    /// Times (s) and poses of its knots.
    pub(crate) fn knots(&self) -> impl Iterator<Item = (f64, Isometry3<f64>)> + '_ {
        let times_s = self.positions.times_s.iter();
        times_s.map(|time_s| (*time_s, self.pose(*time_s)))
    }

    /// The pose at `time_s`.
    pub(crate) fn pose(&self, time_s: f64) -> Isometry3<f64> {
        let mut p = [0.0; 3];
        self.positions.value(time_s, &mut p);
        let (k, u) = self.positions.locate(time_s);
        let a = self.rotations[k];
        let share = match self.positions.interpolation {
            TrackInterpolation::Linear => u,
            TrackInterpolation::Cubic => u * u * (3.0 - 2.0 * u),
            TrackInterpolation::Hold => 0.0,
        };
        let rotation = match self.rotations.get(k + 1) {
            // The rotation vector of the shorter way; half a turn has no shorter way and takes either.
            Some(b) if share > 0.0 => {
                UnitQuaternion::from_scaled_axis((b * a.inverse()).scaled_axis() * share) * a
            }
            _ => a,
        };
        Isometry3::from_parts(Translation3::new(p[0], p[1], p[2]), rotation)
    }
}

#[cfg(test)]
mod tests;
