//! `force_density`: a force on a deformable body that depends on the position.

use nalgebra::{Point3, Vector3};
use pliant_fem::ForceField;

use crate::scene::error::{SceneError, SceneFault, remedy};
use crate::scene::expression::{Expression, ExpressionError, Interval};
use crate::scene::item::Item;
use crate::scene::table::Context;

/// Names of the world's coordinates, m.
const PLACE: [&str; 3] = ["x", "y", "z"];

/// Force per m³ of rest volume, N/m³, as expressions of x, y and z.
#[derive(Clone, Debug)]
pub(crate) struct ForceDensity {
    components: [Expression; 3],
}

/// Every other name was looked up when the scene was read.
fn axis(name: &str) -> Option<usize> {
    PLACE.iter().position(|axis| *axis == name)
}

impl ForceField for ForceDensity {
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64> {
        let value_of = |name: &str| Ok(axis(name).map_or(f64::NAN, |k| p_WQ[k]));
        let component = |k: usize| self.components[k].evaluate_with(&value_of);
        // A force that is not finite ends the step that evaluates it.
        Vector3::from_fn(|k, _| component(k).unwrap_or(f64::NAN))
    }

    fn bounds(&self, low: &Point3<f64>, high: &Point3<f64>) -> Option<[Vector3<f64>; 2]> {
        let range = |k: usize| Interval::new(low[k], high[k]);
        let range_of = |name: &str| Ok(axis(name).map_or(Interval::ALL, range));
        let mut bounds = [Vector3::zeros(); 2];
        for (k, component) in self.components.iter().enumerate() {
            let of_component = component.bounds(&range_of).ok()?;
            (bounds[0][k], bounds[1][k]) = (of_component.low, of_component.high);
        }
        Some(bounds)
    }
}

pub(super) fn force_density(
    context: &Context,
    item: &Item<'_>,
) -> Result<ForceDensity, SceneError> {
    let components = item.elements()?;
    let [x, y, z] = components.as_slice() else {
        return Err(item.wrong_type("three numbers or expressions"));
    };
    Ok(ForceDensity {
        components: [
            component(context, x)?,
            component(context, y)?,
            component(context, z)?,
        ],
    })
}

fn component(context: &Context, item: &Item<'_>) -> Result<Expression, SceneError> {
    if !item.is_text() {
        return Ok(Expression::number(item.number()?));
    }
    let text = item.text()?;
    context.evaluates(item.at());
    let expression = Expression::parse(text).map_err(|error: ExpressionError| {
        item.error(SceneFault::Expression {
            key: "force_density".into(),
            text: text.into(),
            error,
        })
    })?;
    let names = || context.scope.names().chain(PLACE);
    let uses = expression.names();
    if let Some(unknown) = uses
        .iter()
        .find(|name| !names().any(|known| known == **name))
    {
        return Err(item.error(SceneFault::UnknownName {
            what: "parameter or coordinate".into(),
            name: unknown.to_string(),
            remedy: remedy(unknown, names()),
        }));
    }
    Ok(expression.with_values_of(&context.scope, &PLACE))
}
