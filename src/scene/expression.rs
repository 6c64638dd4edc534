//! Arithmetic in scene files: `"2 * mu * 9.81"`, `"30 * deg"`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = unary { ("*" | "/") unary }
//! unary   = ("-" | "+") unary | power
//! power   = atom [ "^" unary ]
//! atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! Names begin with a letter or `_` and go on with letters, digits, `_` and `.`.

mod interval;
mod parse;

use std::collections::BTreeMap;
use std::f64::consts::PI;

pub use interval::Interval;

/// Why an expression has no value.
///
/// ```
/// use pliant::scene::expression::{Expression, ExpressionError};
///
/// let error = Expression::parse("2 * (3 + )").unwrap_err();
/// assert!(matches!(error, ExpressionError::Syntax { column: 10, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionError {
    /// A character or an end where something else is needed.
    #[error("at character {column}: expected {expected}, found {found}")]
    Syntax {
        /// Counted from 1.
        column: usize,
        /// What would be right.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Brackets within brackets without end.
    #[error("is nested deeper than {limit} levels")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
    },
    /// A name that has no value here.
    #[error("`{name}` is not known here{remedy}")]
    UnknownName {
        /// The name.
        name: String,
        /// The nearest known name or all of them, as a clause.
        remedy: String,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}`{remedy}")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The nearest known one or all of them, as a clause.
        remedy: String,
    },
    /// A function called with too few or too many arguments.
    #[error("`{name}` takes {expected} argument(s), not {found}")]
    Arguments {
        /// The function.
        name: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many it got.
        found: usize,
    },
    /// Division by zero, the root of a negative number and the like.
    #[error("has the value {value}, which is not a finite number")]
    NotFinite {
        /// The value.
        value: f64,
    },
    /// Parameters that are defined by each other.
    #[error("`{name}` is defined by itself")]
    Circular {
        /// One of them.
        name: String,
    },
}

/// A function of one or two numbers.
#[derive(Clone, Copy, Debug)]
struct Function {
    name: &'static str,
    arguments: usize,
    value: fn(f64, f64) -> f64,
}

/// Angles in rad.
const FUNCTIONS: [Function; 14] = [
    Function {
        name: "sin",
        arguments: 1,
        value: |x, _| x.sin(),
    },
    Function {
        name: "cos",
        arguments: 1,
        value: |x, _| x.cos(),
    },
    Function {
        name: "tan",
        arguments: 1,
        value: |x, _| x.tan(),
    },
    Function {
        name: "asin",
        arguments: 1,
        value: |x, _| x.asin(),
    },
    Function {
        name: "acos",
        arguments: 1,
        value: |x, _| x.acos(),
    },
    Function {
        name: "atan",
        arguments: 1,
        value: |x, _| x.atan(),
    },
    Function {
        name: "atan2",
        arguments: 2,
        value: f64::atan2,
    },
    Function {
        name: "sqrt",
        arguments: 1,
        value: |x, _| x.sqrt(),
    },
    Function {
        name: "abs",
        arguments: 1,
        value: |x, _| x.abs(),
    },
    Function {
        name: "exp",
        arguments: 1,
        value: |x, _| x.exp(),
    },
    Function {
        name: "log",
        arguments: 1,
        value: |x, _| x.ln(),
    },
    Function {
        name: "floor",
        arguments: 1,
        value: |x, _| x.floor(),
    },
    Function {
        name: "min",
        arguments: 2,
        value: f64::min,
    },
    Function {
        name: "max",
        arguments: 2,
        value: f64::max,
    },
];

#[derive(Clone, Debug)]
enum Node {
    Number(f64),
    Name(String),
    Negative(Box<Node>),
    Sum(Box<Node>, Box<Node>),
    Difference(Box<Node>, Box<Node>),
    Product(Box<Node>, Box<Node>),
    Quotient(Box<Node>, Box<Node>),
    Power(Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

/// A parsed expression.
///
/// ```
/// use pliant::scene::expression::{Expression, Scope};
///
/// let force = Expression::parse("mu * m * 9.81 * cos(30 * deg)")?;
/// assert_eq!(force.names(), ["mu", "m", "deg"]);
/// let mut scope = Scope::default();
/// scope.set("mu", 0.5);
/// scope.set("m", 2.0);
/// assert!((force.evaluate(&scope)? - 9.81 * 0.75_f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), pliant::scene::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    root: Node,
}

impl Expression {
    /// Reads an expression by the grammar of this module.
    ///
    /// # Errors
    /// Whatever is not in the grammar, with its column.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parse::parse(text).map(|root| Self { root })
    }

    /// A constant.
    pub fn number(value: f64) -> Self {
        Self {
            root: Node::Number(value),
        }
    }

    /// Its value with the names of `scope`. Not finite is fine here, for instance a number that has no value yet.
    ///
    /// # Errors
    /// A name that `scope` lacks.
    pub fn evaluate(&self, scope: &Scope) -> Result<f64, ExpressionError> {
        self.root.evaluate(&|name| scope.get(name))
    }

    /// Its value with the names of `value_of`.
    ///
    /// # Errors
    /// Those of `value_of`.
    pub fn evaluate_with(
        &self,
        value_of: &dyn Fn(&str) -> Result<f64, ExpressionError>,
    ) -> Result<f64, ExpressionError> {
        self.root.evaluate(value_of)
    }

    /// Bounds of its values where the names have those of `range_of`; they may be wider than the range of the values.
    ///
    /// # Errors
    /// Those of `range_of`.
    pub fn bounds(
        &self,
        range_of: &dyn Fn(&str) -> Result<Interval, ExpressionError>,
    ) -> Result<Interval, ExpressionError> {
        self.root.bounds(range_of)
    }

    /// The same expression with the values of `scope` for its names, except those in `free`.
    #[must_use]
    pub fn with_values_of(mut self, scope: &Scope, free: &[&str]) -> Self {
        self.root.insert_values(scope, free);
        self
    }

    /// The names it uses, in the order they appear, repeated ones too.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.collect_names(&mut names);
        names
    }
}

impl Node {
    fn evaluate(
        &self,
        value_of: &dyn Fn(&str) -> Result<f64, ExpressionError>,
    ) -> Result<f64, ExpressionError> {
        Ok(match self {
            Node::Number(value) => *value,
            Node::Name(name) => value_of(name)?,
            Node::Negative(x) => -x.evaluate(value_of)?,
            Node::Sum(x, y) => x.evaluate(value_of)? + y.evaluate(value_of)?,
            Node::Difference(x, y) => x.evaluate(value_of)? - y.evaluate(value_of)?,
            Node::Product(x, y) => x.evaluate(value_of)? * y.evaluate(value_of)?,
            Node::Quotient(x, y) => x.evaluate(value_of)? / y.evaluate(value_of)?,
            Node::Power(x, y) => x.evaluate(value_of)?.powf(y.evaluate(value_of)?),
            Node::Call(function, arguments) => {
                let first = arguments[0].evaluate(value_of)?;
                let second = match arguments.get(1) {
                    Some(argument) => argument.evaluate(value_of)?,
                    None => 0.0,
                };
                (function.value)(first, second)
            }
        })
    }

    fn insert_values(&mut self, scope: &Scope, free: &[&str]) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) => {
                if let (false, Ok(value)) = (free.contains(&name.as_str()), scope.get(name)) {
                    *self = Node::Number(value);
                }
            }
            Node::Negative(x) => x.insert_values(scope, free),
            Node::Sum(x, y)
            | Node::Difference(x, y)
            | Node::Product(x, y)
            | Node::Quotient(x, y)
            | Node::Power(x, y) => {
                x.insert_values(scope, free);
                y.insert_values(scope, free);
            }
            Node::Call(_, arguments) => {
                let each = arguments.iter_mut();
                each.for_each(|argument| argument.insert_values(scope, free));
            }
        }
    }

    fn collect_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) => names.push(name),
            Node::Negative(x) => x.collect_names(names),
            Node::Sum(x, y)
            | Node::Difference(x, y)
            | Node::Product(x, y)
            | Node::Quotient(x, y)
            | Node::Power(x, y) => {
                x.collect_names(names);
                y.collect_names(names);
            }
            Node::Call(_, arguments) => arguments.iter().for_each(|a| a.collect_names(names)),
        }
    }
}

/// Names with values: `pi`, `deg` (π/180), and those that were set.
///
/// ```
/// use pliant::scene::expression::Scope;
///
/// let mut scope = Scope::default();
/// scope.set("height", 2.0);
/// assert_eq!(scope.evaluate("height / 4")?, 0.5);
/// assert_eq!(scope.evaluate("180 * deg")?, scope.get("pi")?);
/// assert!(scope.evaluate("heigth").unwrap_err().to_string().contains("height")); // the nearest name
/// # Ok::<(), pliant::scene::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    values: BTreeMap<String, f64>,
}

impl Default for Scope {
    fn default() -> Self {
        let constants = [("pi", PI), ("deg", PI / 180.0)];
        Self {
            values: constants
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        }
    }
}

impl Scope {
    /// Sets the value of `name`.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        self.values.insert(name.into(), value);
    }

    /// The value of `name`.
    ///
    /// # Errors
    /// [`ExpressionError::UnknownName`].
    pub fn get(&self, name: &str) -> Result<f64, ExpressionError> {
        self.values
            .get(name)
            .copied()
            .ok_or_else(|| ExpressionError::UnknownName {
                name: name.to_owned(),
                remedy: super::error::remedy(name, self.names()),
            })
    }

    /// Whether `name` has a value.
    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.values.keys().map(String::as_str)
    }

    /// The finite value of the expression `text`.
    ///
    /// # Errors
    /// Text outside the grammar, unknown names, values that are not finite.
    pub fn evaluate(&self, text: &str) -> Result<f64, ExpressionError> {
        let value = Expression::parse(text)?.evaluate(self)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(ExpressionError::NotFinite { value })
        }
    }
}

#[cfg(test)]
mod tests;
