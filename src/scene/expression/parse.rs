//! Recursive descent over the grammar of [`super`].

use super::{ExpressionError, FUNCTIONS, Node};
use crate::scene::error::remedy;

/// Brackets and signs within each other; far beyond what anybody writes, far below what the stack holds.
const DEPTH_MAX: usize = 100;

/// The tree of an expression. The whole text must be one expression.
pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
    };
    let node = parser.sum()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips blanks and then `symbol`, if that is next.
    fn take(&mut self, symbol: char) -> bool {
        self.skip_blanks();
        let matches = self.rest().starts_with(symbol);
        if matches {
            self.at += symbol.len_utf8();
        }
        matches
    }

    /// The error at the present character.
    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".into(),
        };
        ExpressionError::Syntax {
            column: self.text[..self.at].chars().count() + 1,
            expected,
            found,
        }
    }

    /// `product { (+|-) product }`, from left to right.
    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.product()?;
        loop {
            if self.take('+') {
                left = Node::Sum(Box::new(left), Box::new(self.product()?));
            } else if self.take('-') {
                left = Node::Difference(Box::new(left), Box::new(self.product()?));
            } else {
                return Ok(left);
            }
        }
    }

    /// `unary { (*|/) unary }`, from left to right.
    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.unary()?;
        loop {
            if self.take('*') {
                left = Node::Product(Box::new(left), Box::new(self.unary()?));
            } else if self.take('/') {
                left = Node::Quotient(Box::new(left), Box::new(self.unary()?));
            } else {
                return Ok(left);
            }
        }
    }

    /// `{+|-} power`: a sign binds less than a power, so -2^2 = -4.
    fn unary(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ExpressionError::TooDeep { limit: DEPTH_MAX });
        }
        let node = if self.take('-') {
            Node::Negative(Box::new(self.unary()?))
        } else if self.take('+') {
            self.unary()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(node)
    }

    /// `atom [^ unary]`: powers are taken from right to left, 2^3^2 = 2^9, and exponents may have signs.
    fn power(&mut self) -> Result<Node, ExpressionError> {
        let base = self.atom()?;
        if self.take('^') {
            return Ok(Node::Power(Box::new(base), Box::new(self.unary()?)));
        }
        Ok(base)
    }

    /// A number, a name, a call or a sum in brackets.
    fn atom(&mut self) -> Result<Node, ExpressionError> {
        if self.take('(') {
            let inner = self.sum()?;
            if !self.take(')') {
                return Err(self.unexpected("`)`"));
            }
            return Ok(inner);
        }
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name_or_call(),
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// Digits with an optional fraction and exponent. An `e` without digits after it ends the number.
    fn number(&mut self) -> Result<Node, ExpressionError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        match self.rest()[..end].parse() {
            Ok(value) => {
                self.at += end;
                Ok(Node::Number(value))
            }
            Err(_) => Err(self.unexpected("a number")),
        }
    }

    /// A name, which may have dots, or a function with its arguments.
    fn name_or_call(&mut self) -> Result<Node, ExpressionError> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        let name = &rest[..end];
        self.at += end;
        if !self.take('(') {
            return Ok(Node::Name(name.to_owned()));
        }
        let Some(function) = FUNCTIONS.iter().find(|f| f.name == name) else {
            return Err(ExpressionError::UnknownFunction {
                name: name.to_owned(),
                remedy: remedy(name, FUNCTIONS.iter().map(|f| f.name)),
            });
        };
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        if !self.take(')') {
            return Err(self.unexpected("`,` or `)`"));
        }
        if arguments.len() != function.arguments {
            return Err(ExpressionError::Arguments {
                name: function.name,
                expected: function.arguments,
                found: arguments.len(),
            });
        }
        Ok(Node::Call(*function, arguments))
    }
}
