//! Centrelines: the nodes of a rod.

use std::f64::consts::TAU;
use std::path::Path;

use nalgebra::{Isometry3, Point3, Vector3};

use crate::error::RodError;

/// Whether a centreline is open or closed.
///
/// ```
/// use pliant_der::{Centreline, Closure};
///
/// // The corners of a square of 1 m, the first one repeated: as a chain it has four edges and five nodes, as a loop four of both.
/// let corners = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 0";
/// let chain = Centreline::parse(corners, "square.txt", Closure::Open)?;
/// assert_eq!((chain.nodes.len(), chain.n_edges()), (5, 4));
/// let ring = Centreline::parse(corners, "square.txt", Closure::Closed)?;
/// assert_eq!((ring.nodes.len(), ring.n_edges()), (4, 4));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closure {
    /// Two ends: n nodes, n − 1 edges.
    Open,
    /// A loop: n nodes, n edges, the last of which joins the last node to the first.
    Closed,
}

/// A polygonal curve: nodes in order, world frame, m.
///
/// ```
/// use std::f64::consts::PI;
/// use pliant_der::Centreline;
///
/// // A ring of radius 1 m as a polygon of 6 edges, each as long as the radius.
/// let hexagon = Centreline::circle(1.0, 6);
/// assert_eq!((hexagon.nodes.len(), hexagon.n_edges()), (6, 6));
/// assert!(((hexagon.nodes[1] - hexagon.nodes[0]).norm() - 1.0).abs() < 1e-15);
/// // Two turns of a helix of pitch 0.1 m end 0.2 m higher.
/// let helix = Centreline::helix(0.5 / PI, 0.1, 2.0, 100);
/// assert!((helix.nodes[100].z - 0.2).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Centreline {
    /// The nodes.
    pub nodes: Vec<Point3<f64>>,
    /// Whether the last is joined to the first.
    pub closure: Closure,
}

impl Centreline {
    /// From `a` to `b` (world frame, m) in `edges` equal edges, `edges` + 1 nodes; open.
    #[must_use]
    pub fn straight(a: Point3<f64>, b: Point3<f64>, edges: usize) -> Self {
        let at = |i: usize| a + (b - a) * (i as f64 / edges.max(1) as f64);
        Self {
            nodes: (0..=edges).map(at).collect(),
            closure: Closure::Open,
        }
    }

    /// A curve, sampled at `edges` + 1 equidistant parameters from 0 to 1; a closed curve omits the last, which is its first point.
    /// `curve` takes the parameter to a point in the world frame, m. Edges have equal lengths where its speed is constant.
    ///
    /// ```
    /// use std::f64::consts::FRAC_PI_2;
    /// use nalgebra::Point3;
    /// use pliant_der::{Centreline, Closure};
    ///
    /// // A quarter of a circle of 1 m, in two chords of 2 sin(π/8).
    /// let arc = |u: f64| Point3::new((FRAC_PI_2 * u).cos(), (FRAC_PI_2 * u).sin(), 0.0);
    /// let line = Centreline::curve(Closure::Open, 2, arc);
    /// assert!(((line.nodes[1] - line.nodes[0]).norm() - 2.0 * (FRAC_PI_2 / 4.0).sin()).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn curve(closure: Closure, edges: usize, curve: impl Fn(f64) -> Point3<f64>) -> Self {
        let last = match closure {
            Closure::Open => edges + 1,
            Closure::Closed => edges,
        };
        Self {
            nodes: (0..last)
                .map(|i| curve(i as f64 / edges.max(1) as f64))
                .collect(),
            closure,
        }
    }

    /// A closed polygon of `edges` edges, its nodes on a circle of `radius` (m) about the origin in the plane z = 0,
    /// counter-clockwise from +x. Its length is that of the chords, 2 n r sin(π/n).
    #[must_use]
    pub fn circle(radius: f64, edges: usize) -> Self {
        Self::curve(Closure::Closed, edges, |u| {
            let (sin, cos) = (TAU * u).sin_cos();
            Point3::new(radius * cos, radius * sin, 0.0)
        })
    }

    /// A right-handed helix about the z axis, from (radius, 0, 0) upwards; negative `turns` give a left-handed one. `radius` and
    /// `pitch`, the rise of one turn, are in m; `turns` need not be a whole number.
    #[must_use]
    pub fn helix(radius: f64, pitch: f64, turns: f64, edges: usize) -> Self {
        Self::curve(Closure::Open, edges, |u| {
            let (sin, cos) = (TAU * turns * u).sin_cos();
            Point3::new(radius * cos, radius * sin, pitch * turns.abs() * u)
        })
    }

    /// A trefoil knot within about `size` (m) of the origin, closed, φ from 0 to 2π:
    ///
    /// ```text
    /// x = (sin φ + 2 sin 2φ, cos φ − 2 cos 2φ, −sin 3φ) size/3
    /// ```
    #[must_use]
    pub fn trefoil(size: f64, edges: usize) -> Self {
        Self::curve(Closure::Closed, edges, |u| {
            let phi = TAU * u;
            Point3::new(
                phi.sin() + 2.0 * (2.0 * phi).sin(),
                phi.cos() - 2.0 * (2.0 * phi).cos(),
                -(3.0 * phi).sin(),
            ) * (size / 3.0)
        })
    }

    /// Reads nodes from a text file. Each line holds three numbers x y z in metres, separated by spaces or commas; empty
    /// lines and lines that begin with `#` are skipped. A closed centreline may repeat its first node at the end.
    ///
    /// # Errors
    /// [`RodError::Unreadable`], or [`RodError::InvalidLine`] with file and line.
    pub fn read(file: impl AsRef<Path>, closure: Closure) -> Result<Self, RodError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file).map_err(|error| RodError::Unreadable {
            file: file.into(),
            error,
        })?;
        Self::parse(&text, file, closure)
    }

    /// Reads nodes from text in the format of [`Centreline::read`]; `file` is its name in error messages.
    ///
    /// # Errors
    /// [`RodError::InvalidLine`] with file and line.
    pub fn parse(text: &str, file: impl AsRef<Path>, closure: Closure) -> Result<Self, RodError> {
        let mut nodes = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let numbers: Option<Vec<f64>> = line
                .split(|c: char| c.is_whitespace() || c == ',')
                .filter(|number| !number.is_empty())
                .map(|number| number.parse().ok())
                .collect();
            match numbers.as_deref() {
                Some([x, y, z]) => nodes.push(Point3::new(*x, *y, *z)),
                _ => {
                    return Err(RodError::InvalidLine {
                        file: file.as_ref().into(),
                        line: i + 1,
                        text: line.into(),
                    });
                }
            }
        }
        if closure == Closure::Closed && nodes.len() > 1 && nodes.first() == nodes.last() {
            nodes.pop();
        }
        Ok(Self { nodes, closure })
    }

    /// The centreline after the rigid transform `X_WR`: its nodes p_R, so far in a frame R, become p_W = X_WR p_R.
    #[must_use]
    pub fn transformed(mut self, X_WR: &Isometry3<f64>) -> Self {
        self.nodes.iter_mut().for_each(|p| *p = X_WR * *p);
        self
    }

    /// Number of edges: n − 1 of an open centreline of n nodes, n of a closed one.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        match self.closure {
            Closure::Open => self.nodes.len().saturating_sub(1),
            Closure::Closed => self.nodes.len(),
        }
    }

    /// The vector from the first node of an edge to its second, m.
    pub(crate) fn edge(&self, i: usize) -> Vector3<f64> {
        self.nodes[(i + 1) % self.nodes.len()] - self.nodes[i]
    }

    /// Checks that there are enough nodes, that they are finite and distinct, that no joint is folded, and that a closed
    /// centreline has no gap.
    pub(crate) fn validate(&self) -> Result<(), RodError> {
        let n = self.nodes.len();
        if n < 3 {
            return Err(RodError::TooFewNodes {
                found: n,
                needed: 3,
            });
        }
        for (node, p) in self.nodes.iter().enumerate() {
            for (axis, value) in ['x', 'y', 'z'].into_iter().zip(p.iter()) {
                if !value.is_finite() {
                    return Err(RodError::NodeNotFinite {
                        node,
                        axis,
                        value: *value,
                    });
                }
            }
        }
        let n_edges = self.n_edges();
        let lengths: Vec<f64> = (0..n_edges).map(|i| self.edge(i).norm()).collect();
        let mean_m = lengths.iter().sum::<f64>() / n_edges as f64;
        // Below this fraction of the mean length, the direction of an edge is mostly round-off.
        const SHORTEST: f64 = 1e-6;
        for (a, &distance) in lengths.iter().enumerate() {
            if distance <= SHORTEST * mean_m {
                return Err(RodError::CoincidentNodes {
                    a,
                    b: (a + 1) % n,
                    distance,
                    mean_m,
                });
            }
        }
        if self.closure == Closure::Closed {
            let (gap, others) = lengths.split_last().expect("a closed centreline has edges");
            let longest = others.iter().copied().fold(0.0, f64::max);
            // Edges may differ in length, but a closing edge this long is a gap.
            if *gap > 3.0 * longest {
                return Err(RodError::DoesNotClose {
                    last: n - 1,
                    gap: *gap,
                    longest,
                });
            }
        }
        let joints = match self.closure {
            Closure::Open => 1..n - 1,
            Closure::Closed => 0..n,
        };
        for node in joints {
            let before = self.edge((node + n - 1) % n).normalize();
            let after = self.edge(node).normalize();
            if 1.0 + before.dot(&after) < LEAST_CHI {
                return Err(RodError::Fold {
                    node,
                    angle_deg: before.angle(&after).to_degrees(),
                    allowed_deg: (LEAST_CHI - 1.0).acos().to_degrees().floor(),
                });
            }
        }
        Ok(())
    }
}

/// Least 1 + t·u of neighbouring edges of a new rod: a turning angle of 154 degrees.
const LEAST_CHI: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn error(nodes: &[[f64; 3]], closure: Closure) -> String {
        let nodes = nodes.iter().map(|p| Point3::from(*p)).collect();
        let centreline = Centreline { nodes, closure };
        centreline.validate().unwrap_err().to_string()
    }

    #[test]
    fn errors_of_centrelines_name_node_and_value() {
        let two = [[0.0; 3], [1.0, 0.0, 0.0]];
        assert!(error(&two, Closure::Open).contains("at least 3 nodes, but 2"));
        let nan = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, f64::NAN, 0.0]];
        assert!(error(&nan, Closure::Open).starts_with("node 2: coordinate y = NaN"));
        let twice = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        assert!(
            error(&twice, Closure::Open)
                .starts_with("nodes 1 and 2 coincide: they are 0e0 m apart")
        );
        let back = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]];
        assert!(error(&back, Closure::Open).contains("node 1: the centreline turns by 180.0"));
        let arc = [
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [2.0, 0.3, 0.0],
            [3.0, 1.0, 0.0],
            [3.9, 1.5, 0.0],
        ];
        assert!(error(&arc, Closure::Closed).contains("the closed centreline has a gap"));
        let repeated = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0; 3]];
        assert!(error(&repeated, Closure::Closed).starts_with("nodes 3 and 0"));
    }

    #[test]
    fn a_helix_rises_by_its_pitch() {
        let helix = Centreline::helix(0.1, 0.05, 3.0, 60);
        assert_eq!(helix.nodes.len(), 61);
        assert!((helix.nodes[60].z - 0.15).abs() < 1e-15);
        helix.validate().unwrap();
        Centreline::trefoil(0.1, 60).validate().unwrap();
    }

    #[test]
    fn files_are_read_and_invalid_lines_reported() {
        let folder = std::env::temp_dir().join(format!("pliant-der-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("line.txt");
        std::fs::write(&file, "# nodes\n0 0 0\n1e-1, 0, 0\n\n0.2\t0.1 0\n").unwrap();
        let read = Centreline::read(&file, Closure::Open).unwrap();
        assert_eq!(read.nodes[2], Point3::new(0.2, 0.1, 0.0));
        std::fs::write(&file, "0 0 0\n1 0\n").unwrap();
        let error = Centreline::read(&file, Closure::Open).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("line.txt:2: \"1 0\" must be three numbers, x y z in metres")
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
