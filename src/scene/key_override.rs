//! `--set SECTION.KEY=value`: overrides any key of a scene, for comparisons within the same scene.
//!
//! `contact.model=energy`, `rods.cord.model=capsule-chain`: elements of lists go by their `name`. The value is checked as if it were in
//! the file; error messages show its location.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{SceneError, remedy};
use super::parameters::ParameterOverride;
use super::read::SCENE;
use super::schema::{LIST_OF_TABLES, ValueKind};

/// Whether an override is of a key, not of a parameter.
pub(super) fn is_of_key(setting: &ParameterOverride) -> bool {
    setting.name.contains('.')
}

/// Whether a section of a scene is a list, by its schema.
fn is_list(section: &str) -> bool {
    let key = SCENE.key(section);
    key.is_some_and(|key| matches!(key.value, ValueKind::Described(LIST_OF_TABLES)))
}

/// Sets the value at its path; missing keys and sections are added, list elements are not.
pub(super) fn put<'a>(
    setting: &'a ParameterOverride,
    document: &mut Spanned<DeTable<'a>>,
) -> Result<(), SceneError> {
    let fail = |reason: String| SceneError::Override {
        text: format!("{}={}", setting.name, setting.value),
        reason,
    };
    let steps: Vec<&str> = setting.name.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err(fail("must look like section.key=value".into()));
    }
    let (last, sections) = steps.split_last().unwrap_or((&"", &[]));
    if let Some(section) = sections.first().copied()
        && is_list(section)
        && !document.get_ref().contains_key(section)
    {
        return Err(fail(format!(
            "the scene has no `[[{section}]]`; `--set` changes elements of lists, and adds none"
        )));
    }
    let mut place = document.span();
    let mut table = document.get_mut();
    let mut sections = sections.iter();
    while let Some(section) = sections.next() {
        let entry = table.entry(Spanned::new(place.clone(), (*section).into()));
        let value =
            entry.or_insert_with(|| Spanned::new(place.clone(), DeValue::Table(DeTable::new())));
        place = value.span();
        table = match value.get_mut() {
            DeValue::Table(table) => table,
            DeValue::Array(list) => {
                let Some(requested) = sections.next() else {
                    return Err(fail(format!(
                        "`{section}` is a list: name one of its elements"
                    )));
                };
                let name = |item: &Spanned<DeValue<'_>>| {
                    let name = item.get_ref().as_table()?.get("name")?;
                    name.get_ref().as_str().map(str::to_owned)
                };
                let names: Vec<String> = list.iter().filter_map(name).collect();
                let element = list
                    .iter_mut()
                    .find(|item| name(item).as_deref() == Some(*requested));
                match element {
                    Some(item) => {
                        place = item.span();
                        match item.get_mut() {
                            DeValue::Table(table) => table,
                            _ => return Err(fail(format!("{requested:?} is not a table"))),
                        }
                    }
                    None => {
                        return Err(fail(format!(
                            "`{section}` has no element called {requested:?}{}",
                            remedy(requested, names.iter().map(String::as_str))
                        )));
                    }
                }
            }
            _ => return Err(fail(format!("`{section}` is a value, not a section"))),
        };
    }
    if let Some(there) = table.get(*last) {
        place = there.span();
    }
    // Text that is not a TOML value is a string.
    let value = match DeValue::parse(&setting.value) {
        Ok(value) => value.into_inner(),
        Err(_) => DeValue::String(setting.value.as_str().into()),
    };
    let key = Spanned::new(place.clone(), (*last).into());
    table.insert(key, Spanned::new(place, value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, SceneError, SceneOptions};

    const TEXT: &str = "schema = 1\ntitle = \"t\"\n[parameters]\nr = 0.1\n[simulation]\nsmoke_s = 1\n[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = \"r\" } }\n";

    fn read(settings: &[&str]) -> Result<Scene, SceneError> {
        let parameters = settings
            .iter()
            .map(|s| s.parse())
            .collect::<Result<_, _>>()?;
        let options = SceneOptions {
            parameters,
            ..SceneOptions::default()
        };
        Scene::parse("s.toml", TEXT, &options)
    }

    fn complaint(setting: &str) -> String {
        read(&[setting]).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn keys_are_replaced_and_added_wherever_they_stand() {
        let scene = read(&[
            "simulation.smoke_s=2*r",
            "contact.model=sap",
            "bodies.ball.velocity=[1, 0, \"r\"]",
            "r=0.2",
        ])
        .unwrap();
        assert_eq!(scene.simulation.smoke_s, 0.4);
        assert_eq!(format!("{:?}", scene.contact.model), "SapModel");
        assert_eq!(scene.bodies[0].body.velocity.z, 0.2);
    }

    #[test]
    fn complaints_name_what_is_wrong() {
        let message = complaint("contact.model=spa");
        assert!(
            message.contains("spa") && message.contains("sap"),
            "{message}"
        );
        let message = complaint("bodies.bal.mass=1");
        assert!(
            message.contains("no element called \"bal\"; did you mean"),
            "{message}"
        );
        assert!(complaint("bodies.mass=1").contains("name one of its elements"));
        assert!(complaint("rods.cord.radius=1").contains("the scene has no `[[rods]]`"));
        assert!(complaint("simulation.smoke=1").contains("smoke_s"));
        assert!(complaint("title.x=1").contains("is a value, not a section"));
        assert!(complaint("a..b=1").contains("section.key=value"));
    }
}
