//! Processor time: what a shared machine leaves of a measurement.

/// What the current thread has computed so far, s; none where the system does not tell (it does on Linux).
#[must_use]
pub(crate) fn thread_cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds as f64)
}
