//! Left-looking elimination of a small front by strips of columns: each strip is updated by all columns to its left, tile by tile
//! in registers, and then factored.

use std::array::from_fn;

use crate::hessian::{LANES_MAX, Real};

/// Columns of a strip: a tile with two registers per column fills the sixteen registers of AVX2. The last strips have three
/// columns, as most nodes have velocities, or one.
const STRIP: usize = 6;

/// Eliminates the k columns of `panel`, m×k, whose diagonal begins at row `first`, and writes their update of the columns to
/// the right into `rest`, unless it is empty.
pub(super) struct Strips<'a, T> {
    pub(super) panel: &'a mut [T],
    pub(super) rest: &'a mut [T],
    pub(super) m: usize,
    pub(super) first: usize,
    pub(super) k: usize,
}

impl<T: Real> pulp::WithSimd for Strips<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> Self::Output {
        let Self {
            panel,
            rest,
            m,
            first,
            k,
        } = self;
        let mut done = 0;
        while done < k {
            let (l, strip) = panel.split_at_mut(done * m);
            let (l, row) = (Panel { values: l, m }, first + done);
            done += match k - done {
                STRIP.. => l.eliminate::<S, STRIP>(simd, row, strip),
                3.. => l.eliminate::<S, 3>(simd, row, strip),
                _ => l.eliminate::<S, 1>(simd, row, strip),
            }
            .map_err(|j| done + j)?;
        }
        let n = if rest.is_empty() { 0 } else { m - k };
        let l = Panel { values: panel, m };
        let zero = |_| T::splat(simd, T::ZERO);
        let mut done = 0;
        while done < n {
            let columns = &mut rest[done * n..];
            done += match n - done {
                STRIP.. => l.take::<S, STRIP>(simd, zero, columns, n, done),
                3.. => l.take::<S, 3>(simd, zero, columns, n, done),
                _ => l.take::<S, 1>(simd, zero, columns, n, done),
            };
        }
        Ok(())
    }
}

/// Finished columns of L, of m rows.
#[derive(Clone, Copy)]
struct Panel<'a, T> {
    values: &'a [T],
    m: usize,
}

impl<T: Real> Panel<'_, T> {
    /// Computes the next C columns of L, whose diagonal begins at row `row`; returns C.
    #[inline(always)]
    fn eliminate<S: pulp::Simd, const C: usize>(
        self,
        simd: S,
        row: usize,
        strip: &mut [T],
    ) -> Result<usize, usize> {
        let m = self.m;
        if !self.values.is_empty() {
            self.take::<S, C>(simd, |x| x, strip, m, row);
        }
        let corner = Corner::<T, C>::factor(strip, m, row)?;
        let width = T::lanes::<S>();
        let mut i = row + C;
        while i + width <= m {
            let tile = from_fn(|c| T::registers::<S>(&strip[c * m + i..][..width])[0]);
            let solved = corner.solve(simd, tile);
            for c in 0..C {
                T::registers_mut::<S>(&mut strip[c * m + i..][..width])[0] = solved[c];
            }
            i += width;
        }
        if i < m {
            let tile = from_fn(|c| last::<T, S>(&strip[c * m..(c + 1) * m]));
            let solved = corner.solve(simd, tile);
            for (column, solved) in strip.chunks_exact_mut(m).zip(solved) {
                set_last(simd, column, m - i, solved);
            }
        }
        Ok(C)
    }

    /// Subtracts L Lᵀ from C columns of n rows, initialised by `before`, from the first one's diagonal, row `at`, down. Their
    /// last rows are those of L. Returns C.
    #[inline(always)]
    fn take<S: pulp::Simd, const C: usize>(
        self,
        simd: S,
        before: impl Fn(T::Register<S>) -> T::Register<S>,
        columns: &mut [T],
        n: usize,
        at: usize,
    ) -> usize {
        let width = T::lanes::<S>();
        let above = self.m - n;
        let mut i = at;
        while i + 2 * width <= n {
            let sums = self.products::<S, 2, C>(simd, above + i, above + at);
            for (c, sums) in sums.iter().enumerate() {
                let to = T::registers_mut::<S>(&mut columns[c * n + i..][..2 * width]);
                for r in 0..2 {
                    to[r] = T::minus(simd, before(to[r]), sums[r]);
                }
            }
            i += 2 * width;
        }
        if i + width <= n {
            let sums = self.products::<S, 1, C>(simd, above + i, above + at);
            for (c, sums) in sums.iter().enumerate() {
                let to = T::registers_mut::<S>(&mut columns[c * n + i..][..width]);
                to[0] = T::minus(simd, before(to[0]), sums[0]);
            }
            i += width;
        }
        if i == n {
            return C;
        }
        let sums = self.last_products::<S, C>(simd, above + at);
        for (column, sum) in columns.chunks_exact_mut(n).zip(sums) {
            let left = T::minus(simd, before(last::<T, S>(column)), sum);
            set_last(simd, column, n - i, left);
        }
        C
    }

    /// L[row.., :] L[of.., :]ᵀ: R registers of rows, C columns.
    #[inline(always)]
    fn products<S: pulp::Simd, const R: usize, const C: usize>(
        self,
        simd: S,
        row: usize,
        of: usize,
    ) -> [[T::Register<S>; R]; C] {
        let mut sums = [[T::splat(simd, T::ZERO); R]; C];
        for l in self.values.chunks_exact(self.m) {
            let rows = T::registers::<S>(&l[row..][..R * T::lanes::<S>()]);
            let rows: [_; R] = from_fn(|r| rows[r]);
            let of = &l[of..of + C];
            for c in 0..C {
                let x = T::splat(simd, of[c]);
                for r in 0..R {
                    sums[c][r] = T::plus_product(simd, sums[c][r], rows[r], x);
                }
            }
        }
        sums
    }

    /// [`Panel::products`] of the last rows.
    #[inline(always)]
    fn last_products<S: pulp::Simd, const C: usize>(
        self,
        simd: S,
        of: usize,
    ) -> [T::Register<S>; C] {
        let mut sums = [T::splat(simd, T::ZERO); C];
        for l in self.values.chunks_exact(self.m) {
            let rows = last::<T, S>(l);
            let of = &l[of..of + C];
            for c in 0..C {
                sums[c] = T::plus_product(simd, sums[c], rows, T::splat(simd, of[c]));
            }
        }
        sums
    }
}

/// The factor of the pivots of a strip, and the reciprocals of its diagonal.
struct Corner<T, const C: usize> {
    l: [[T; C]; C],
    inverse: [T; C],
}

impl<T: Real, const C: usize> Corner<T, C> {
    /// Factors the C rows from `row` of a strip of m rows in place.
    #[inline(always)]
    fn factor(strip: &mut [T], m: usize, row: usize) -> Result<Self, usize> {
        let mut l: [[T; C]; C] = from_fn(|c| {
            let column = &strip[c * m + row..][..C];
            from_fn(|i| column[i])
        });
        let mut inverse = [T::ZERO; C];
        for j in 0..C {
            let pivot = l[j][j];
            if !pivot.is_pivot() {
                return Err(j);
            }
            let by_pivot = T::ONE / pivot;
            let column = l[j];
            for c in j + 1..C {
                let x = column[c] * by_pivot;
                for (to, of) in l[c][c..].iter_mut().zip(&column[c..]) {
                    *to -= *of * x;
                }
            }
        }
        // All square roots at the end, where they are independent.
        for j in 0..C {
            l[j][j] = l[j][j].root();
            inverse[j] = T::ONE / l[j][j];
            for below in &mut l[j][j + 1..] {
                *below *= inverse[j];
            }
        }
        for (c, l) in l.iter().enumerate() {
            strip[c * m + row + c..][..C - c].copy_from_slice(&l[c..]);
        }
        Ok(Self { l, inverse })
    }

    /// Multiplies rows of the strip below its pivots by L⁻ᵀ.
    #[inline(always)]
    fn solve<S: pulp::Simd>(&self, simd: S, mut x: [T::Register<S>; C]) -> [T::Register<S>; C] {
        for j in 0..C {
            x[j] = T::times(simd, x[j], T::splat(simd, self.inverse[j]));
            for c in j + 1..C {
                x[c] = T::minus_product(simd, x[c], x[j], T::splat(simd, self.l[j][c]));
            }
        }
        x
    }
}

/// The last rows of a column in one register, padded with zeros at the front.
#[inline(always)]
fn last<T: Real, S: pulp::Simd>(column: &[T]) -> T::Register<S> {
    let width = T::lanes::<S>();
    let n = column.len();
    if width <= n {
        return T::registers::<S>(&column[n - width..])[0];
    }
    let mut buffer = [T::ZERO; LANES_MAX];
    buffer[width - n..width].copy_from_slice(column);
    T::registers::<S>(&buffer)[0]
}

/// Sets the last `count` rows of a column, fewer than a register holds, to the last lanes of `rows`.
#[inline(always)]
fn set_last<T: Real, S: pulp::Simd>(simd: S, column: &mut [T], count: usize, rows: T::Register<S>) {
    let width = T::lanes::<S>();
    let n = column.len();
    if width <= n {
        let to = &mut T::registers_mut::<S>(&mut column[n - width..])[0];
        *to = T::first_of(simd, width - count, *to, rows);
        return;
    }
    let mut buffer = [T::ZERO; LANES_MAX];
    T::registers_mut::<S>(&mut buffer)[0] = rows;
    column[n - count..].copy_from_slice(&buffer[width - count..width]);
}
