//! Loops over elements and vertices, on all threads if they are long. Every item is a function of its index, so that results are
//! bit-identical for any number of threads.

use rayon::prelude::*;

/// Shorter loops run on one thread: waking others costs as much as some hundred elements.
const PARALLEL_MIN: usize = 1024;
const CHUNK_MIN: usize = 128;

/// Overwrites every item by its index.
pub(crate) fn fill<T: Send>(items: &mut [T], each: impl Fn(usize) -> T + Sync) {
    update(items, |i, item| *item = each(i));
}

/// Changes every item by its index.
pub(crate) fn update<T: Send>(items: &mut [T], each: impl Fn(usize, &mut T) + Sync) {
    if items.len() < PARALLEL_MIN {
        for (i, item) in items.iter_mut().enumerate() {
            each(i, item);
        }
        return;
    }
    let items = items.par_iter_mut().with_min_len(CHUNK_MIN).enumerate();
    items.for_each(|(i, item)| each(i, item));
}

/// Overwrites chunks of `size` items by the index of the first of each.
pub(crate) fn fill_chunks<T: Send>(
    items: &mut [T],
    size: usize,
    each: impl Fn(usize, &mut [T]) + Sync,
) {
    if items.len() < PARALLEL_MIN {
        for (k, chunk) in items.chunks_mut(size).enumerate() {
            each(k * size, chunk);
        }
        return;
    }
    let chunks = items.par_chunks_mut(size).enumerate();
    chunks.for_each(|(k, chunk)| each(k * size, chunk));
}

/// The largest of `n` values; zero if there is none.
pub(crate) fn largest(n: usize, each: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    if n < PARALLEL_MIN {
        return (0..n).map(each).fold(0.0, f64::max);
    }
    let values = (0..n).into_par_iter().with_min_len(CHUNK_MIN);
    values.map(each).reduce(|| 0.0, f64::max)
}

/// The first of `n` items that satisfies a condition, and the number of those that do.
pub(crate) fn count(
    n: usize,
    holds: impl Fn(usize) -> bool + Sync + Send,
) -> Option<(usize, usize)> {
    let (first, total) = if n < PARALLEL_MIN {
        (0..n)
            .filter(|i| holds(*i))
            .fold((n, 0), |(first, total), i| (first.min(i), total + 1))
    } else {
        let items = (0..n).into_par_iter().with_min_len(CHUNK_MIN);
        let found = items.filter(|i| holds(*i)).map(|i| (i, 1));
        found.reduce(|| (n, 0), |a, b| (a.0.min(b.0), a.1 + b.1))
    };
    (total > 0).then_some((first, total))
}
