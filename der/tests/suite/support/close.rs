/// |`found` − `expected`| ≤ `tolerance`, with both numbers in the message.
#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {found} instead of {expected}, off by {error:e}, allowed {tolerance:e}"
    );
}
