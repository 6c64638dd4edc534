use pliant_der::known_answers::Comparisons;

/// Every comparison holds, with its numbers in the message if not.
#[track_caller]
pub(crate) fn all_hold(comparisons: Comparisons) {
    let comparisons = comparisons.unwrap();
    assert!(!comparisons.is_empty());
    for comparison in comparisons {
        assert!(comparison.holds(), "{comparison}");
    }
}
