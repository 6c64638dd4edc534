use super::*;
use crate::scene::{Bounds, NamedReference, SourceLocation};

/// Of x = t² on t = 0, 0.5, ..., 2, without a value at first.
fn verdict_of(window: Window, take: Reduction, least: f64, most: f64) -> Verdict {
    verdict_from_row(0, window, take, least, most)
}

/// The same of a run that begins with row `first`.
fn verdict_from_row(first: u32, window: Window, take: Reduction, least: f64, most: f64) -> Verdict {
    let expectation = Expectation {
        observable: NamedReference {
            name: "x".into(),
            at: SourceLocation::default(),
        },
        index: 0,
        window,
        take,
        bounds: Bounds { least, most },
        source: "test".into(),
    };
    let mut statistic = RunningStatistic::new(&expectation, 0.25);
    for k in first..=4 {
        let t = 0.5 * f64::from(k);
        statistic.add(t, if k == 0 { f64::NAN } else { t * t });
    }
    statistic.verdict(&expectation)
}

#[track_caller]
fn check_found(window: Window, take: Reduction, expected: f64) {
    let verdict = verdict_of(window, take, expected - 1e-12, expected + 1e-12);
    assert_eq!(verdict.outcome, Outcome::Met, "{verdict:?}");
}

#[test]
fn windows_select_rows() {
    check_found(Window::At(1.0), Reduction::Final, 1.0);
    check_found(Window::At(1.25), Reduction::Final, (1.0 + 2.25) / 2.0);
    check_found(Window::At(2.1), Reduction::Final, 4.0);
    check_found(Window::Span(None, None), Reduction::Final, 4.0);
    check_found(Window::Span(None, Some(1.5)), Reduction::Final, 2.25);
    check_found(Window::Span(Some(1.0), Some(1.5)), Reduction::Min, 1.0);
}

#[test]
fn reductions_are_what_they_say() {
    let all = Window::Span(None, None);
    check_found(all, Reduction::Min, 0.25);
    check_found(all, Reduction::Max, 4.0);
    check_found(all, Reduction::Mean, (0.25 + 1.0 + 2.25 + 4.0) / 4.0);
    check_found(
        all,
        Reduction::Rms,
        ((0.0625f64 + 1.0 + 5.0625 + 16.0) / 4.0).sqrt(),
    );
    check_found(all, Reduction::Spread, 3.75);
}

#[test]
fn bounds_decide() {
    let all = Window::Span(None, None);
    assert_eq!(
        verdict_of(all, Reduction::Final, 4.0, 4.0).outcome,
        Outcome::Met
    );
    assert_eq!(
        verdict_of(all, Reduction::Final, 4.1, 5.0).outcome,
        Outcome::Failed
    );
    assert_eq!(
        verdict_of(all, Reduction::Final, f64::NEG_INFINITY, 3.9).outcome,
        Outcome::Failed
    );
    assert_eq!(
        verdict_of(all, Reduction::Final, f64::NEG_INFINITY, 4.0).at_least,
        None
    );
}

#[test]
fn what_has_no_value_fails() {
    let verdict = verdict_of(
        Window::At(0.0),
        Reduction::Final,
        f64::NEG_INFINITY,
        f64::INFINITY,
    );
    assert_eq!((verdict.outcome, verdict.found), (Outcome::Failed, None));
    let nothing = Window::Span(Some(0.0), Some(0.0));
    for (_, take) in [
        ("", Reduction::Mean),
        ("", Reduction::Spread),
        ("", Reduction::Final),
    ] {
        assert_eq!(
            verdict_of(nothing, take, -1.0, 1.0).outcome,
            Outcome::Failed
        );
    }
}

#[test]
fn what_lies_beyond_the_end_is_skipped() {
    for window in [
        Window::At(2.5),
        Window::Span(None, Some(3.0)),
        Window::Span(Some(3.0), None),
    ] {
        let verdict = verdict_of(window, Reduction::Final, 0.0, 10.0);
        assert_eq!(
            (verdict.outcome, verdict.found),
            (Outcome::Skipped, None),
            "{window:?}"
        );
    }
}

#[test]
fn what_begins_before_the_run_is_skipped() {
    let outcome = |window, take| verdict_from_row(2, window, take, 0.0, 10.0).outcome;
    for window in [
        Window::At(0.5),
        Window::Span(None, None),
        Window::Span(Some(0.5), Some(1.5)),
    ] {
        assert_eq!(
            outcome(window, Reduction::Max),
            Outcome::Skipped,
            "{window:?}"
        );
    }
    assert_eq!(
        outcome(Window::Span(None, Some(0.5)), Reduction::Final),
        Outcome::Skipped
    );
    for window in [
        Window::At(1.0),
        Window::Span(None, None),
        Window::Span(Some(0.5), Some(1.5)),
    ] {
        assert_eq!(
            outcome(window, Reduction::Final),
            Outcome::Met,
            "{window:?}"
        );
    }
    let late = Window::Span(Some(1.0), None);
    assert_eq!(outcome(late, Reduction::Max), Outcome::Met);
}
