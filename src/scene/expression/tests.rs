use super::*;

#[track_caller]
fn check_value(text: &str, expected: f64) {
    let mut scope = Scope::default();
    scope.set("mu", 0.5);
    scope.set("k_1", 1e6);
    let found = scope.evaluate(text).unwrap();
    // The same operations in the same order: equal but for the last bits of libm.
    assert!(
        (found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(),
        "{text} = {found}, expected {expected}"
    );
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let mut scope = Scope::default();
    scope.set("mu", 0.5);
    let message = scope.evaluate(text).unwrap_err().to_string();
    assert!(message.contains(expected), "{text}: {message}");
}

#[test]
fn operators_bind_as_in_mathematics() {
    check_value("1 + 2 * 3", 7.0);
    check_value("(1 + 2) * 3", 9.0);
    check_value("2 - 3 - 4", -5.0);
    check_value("12 / 3 / 2", 2.0);
    check_value("-2^2", -4.0);
    check_value("2^3^2", 512.0);
    check_value("2^-1", 0.5);
    check_value("- - 3", 3.0);
}

#[test]
fn numbers_have_points_and_exponents() {
    check_value(".5", 0.5);
    check_value("1e3", 1000.0);
    check_value("1.5E-2*2", 0.03);
    check_value("3.", 3.0);
}

#[test]
fn names_and_functions_have_values() {
    check_value("2*mu*9.81", 9.81);
    check_value("k_1/2", 5e5);
    check_value("180*deg", PI);
    check_value("sin(pi/2)", 1.0);
    check_value("atan2(1, -1)", 0.75 * PI);
    check_value("max(1, min(5, 3))", 3.0);
    check_value(
        "sqrt(2)^2 + abs(-1) + exp(0) + log(1) + floor(2.5)",
        2f64.sqrt().powf(2.0) + 4.0,
    );
    check_value("tan(0) + asin(0) + acos(1) + atan(0) + cos(0)", 1.0);
}

#[test]
fn faults_name_the_column_and_what_would_be_right() {
    check_error(
        "",
        "at character 1: expected a number, a name or `(`, found the end",
    );
    check_error("2 +", "found the end");
    check_error(
        "2 $ 3",
        "at character 3: expected an operator or the end, found `$`",
    );
    check_error("(1", "expected `)`");
    check_error("min(1", "expected `,` or `)`");
    check_error(".", "expected a number");
    check_error("2 mu", "expected an operator");
}

#[test]
fn unknown_names_bring_the_nearest_known_one() {
    check_error("2*mue", "`mue` is not known here; did you mean `mu`?");
    check_error("sine(1)", "no function `sine`; did you mean `sin`?");
    check_error("atan2(1)", "`atan2` takes 2 argument(s), not 1");
}

#[test]
fn values_that_are_not_finite_are_refused() {
    check_error("1/0", "not a finite number");
    check_error("sqrt(-1)", "not a finite number");
}

#[test]
fn nesting_without_end_is_refused() {
    check_error(&"(".repeat(100_000), "nested deeper");
    check_error(&"-".repeat(100_000), "nested deeper");
}

#[test]
fn names_are_listed_in_order() {
    let expression = Expression::parse("b + sin(a) * -b").unwrap();
    assert_eq!(expression.names(), ["b", "a", "b"]);
}

#[test]
fn names_may_be_given_values_when_an_expression_is_asked() {
    let expression = Expression::parse("2*z - x").unwrap();
    let value_of = |name: &str| Ok(if name == "z" { 5.0 } else { 1.0 });
    assert_eq!(expression.evaluate_with(&value_of), Ok(9.0));
    assert_eq!(Expression::number(3.0).evaluate_with(&value_of), Ok(3.0));
}

#[test]
fn values_of_a_scope_take_the_place_of_all_names_but_the_free_ones() {
    let mut scope = Scope::default();
    scope.set("k", 3.0);
    scope.set("x", 7.0);
    let expression = Expression::parse("-k*x + max(k, pi)").unwrap();
    let bound = expression.with_values_of(&scope, &["x"]);
    assert_eq!(bound.names(), ["x"]);
    scope.set("x", 2.0);
    assert_eq!(bound.evaluate(&scope), Ok(-6.0 + PI));
}
