//! Suspicious numbers of a scene: steps that jump past its motion, soft materials in other units than SI, and properties of the default
//! material that soft bodies lack.

use crate::scene::{Matter, SOFT_INSTEAD, Scene, SoftEntry};

/// A run with fewer steps shows no motion.
const STEPS_MIN: f64 = 10.0;

/// The lightest soft foams have 10 kg/m³, osmium 22,600.
const DENSITIES: std::ops::RangeInclusive<f64> = 5.0..=25_000.0;

/// Young's and P-wave moduli, Pa, from weak gels to tungsten with 4.1e11.
const MODULI: std::ops::RangeInclusive<f64> = 10.0..=5e11;

/// A note on a run of `length` (s) that has hardly any steps of `dt` (s).
pub(super) fn note_on_steps(length: f64, dt: f64) -> Option<String> {
    (length / dt < STEPS_MIN - 1e-9).then(|| {
        format!(
            "suspicious: a time step of {dt} s takes the run of {length} s in {} step(s), which jump past its motion; give a shorter `time_step_s`",
            (length / dt - 1e-9).ceil().max(1.0)
        )
    })
}

/// Notes on the materials of `scene`.
pub(super) fn notes(scene: &Scene) -> Vec<String> {
    let mut notes: Vec<String> = note_on_default_material(scene).into_iter().collect();
    // Copies have the name of their entry and a number, and its material.
    let mut seen: Vec<(usize, f64)> = Vec::new();
    for entry in &scene.soft.entries {
        let Some((density, modulus)) = solid(entry) else {
            continue;
        };
        if seen.contains(&(entry.name.at.start, density)) {
            continue;
        }
        seen.push((entry.name.at.start, density));
        let name = &entry.name.name;
        let line = scene.text.line_and_column(entry.name.at.start).0;
        let place = format!("{}:{line}: soft body {name:?}", scene.text.name());
        if !DENSITIES.contains(&density) {
            let per_cubic_centimetre = match (0.1..5.0).contains(&density) {
                true => format!("; {density:.3} g/cm³ are {:.0} kg/m³", 1000.0 * density),
                false => String::new(),
            };
            notes.push(format!(
                "{place}: suspicious: density = {density:.3} kg/m³ is that of no solid{per_cubic_centimetre}"
            ));
        }
        if let Some((what, modulus)) = modulus.filter(|(_, modulus)| !MODULI.contains(modulus)) {
            notes.push(format!(
                "{place}: suspicious: {what} {modulus:.3e} Pa is that of no soft material (gel 1e3, rubber 1e6, steel 2e11); is it in Pa? A rigid body belongs into `[[bodies]]`"
            ));
        }
    }
    notes
}

/// A note at the first soft body, if the default material has a property that acts between rigid shapes only.
fn note_on_default_material(scene: &Scene) -> Option<String> {
    let (property, value) = scene.materials.default_surface().of_rigid_only()?;
    let soft = &scene.soft.entries.first()?.name;
    let line = scene.text.line_and_column(soft.at.start).0;
    Some(format!(
        "{}:{line}: soft body {:?}: `{property} = {value}` of `[materials.default]` does nothing here: it {SOFT_INSTEAD}; give it to the materials of rigid shapes",
        scene.text.name(),
        soft.name
    ))
}

/// Density (kg/m³) and, if it has one, a modulus (Pa) with its name.
fn solid(entry: &SoftEntry) -> Option<(f64, Option<(&'static str, f64)>)> {
    let young = |modulus| Some(("Young's modulus", modulus));
    match &entry.matter {
        Matter::Fem(fem) => Some((fem.density, young(fem.material.lame().youngs_modulus()))),
        Matter::Points(points) => {
            let modulus = points.material.wave_modulus();
            Some((points.density, Some(("P-wave modulus", modulus))))
        }
        Matter::Cloth(cloth) => Some((
            cloth.material.density(),
            young(cloth.material.youngs_modulus()),
        )),
        // Stiffnesses of rods are often chosen beyond those of a material.
        Matter::Rod(rod) => Some((rod.properties.mass / rod.section.area(), None)),
        Matter::Own(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    fn notes_of(density: f64, modulus: f64) -> Vec<String> {
        let text = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.5\n[[fem]]\nname = \"liver\"\nmesh = {{ box = {{ size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }} }}\nconstitutive_material = {{ youngs_modulus = {modulus:?}, poissons_ratio = 0.4 }}\ndensity = {density:?}\n"
        );
        of_text(&text)
    }

    fn of_text(text: &str) -> Vec<String> {
        let scene = Scene::parse("s.toml", text, &SceneOptions::default());
        notes(&scene.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn rods_and_cloths_are_checked() {
        let head = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.5\n";
        let rod = "[[rods]]\nname = \"cord\"\nsection = { circle = { radius = 0.01 } }\ncentreline = { line = { from = [0, 0, 0], to = [1, 0, 0], edges = 10 } }\nyoungs_modulus = 1e6\npoissons_ratio = 0.4\ndensity = 1.2\n";
        let [note] = of_text(&format!("{head}{rod}"))
            .try_into()
            .expect("one note");
        assert!(note.contains("1.200 g/cm³ are 1200 kg/m³"), "{note}");
        let cloth = "[grid]\nspacing = 0.1\n[[cloth]]\nname = \"sheet\"\nmesh = { sheet = { size = [1, 1], cells = [20, 20] } }\nthickness = 1e-3\ndensity = 0.3\nyoungs_modulus = 1e12\n";
        let [density, modulus] = of_text(&format!("{head}{cloth}"))
            .try_into()
            .expect("two notes");
        assert!(density.contains("\"sheet\""), "{density}");
        assert!(modulus.contains("1.000e12 Pa"), "{modulus}");
    }

    #[test]
    fn numbers_of_real_materials_pass() {
        for (density, modulus) in [(30.0, 5e3), (1070.0, 25e3), (7850.0, 2.1e11)] {
            assert_eq!(notes_of(density, modulus), Vec::<String>::new());
        }
    }

    #[test]
    fn grams_per_cubic_centimetre_are_recognised() {
        let [note] = notes_of(1.07, 25e3).try_into().expect("one note");
        let expected = ["s.toml:6: ", "\"liver\"", "1.070 g/cm³ are 1070 kg/m³"];
        assert!(expected.iter().all(|part| note.contains(part)), "{note}");
    }

    #[test]
    fn a_modulus_beyond_all_solids_is_noted() {
        let [note] = notes_of(1000.0, 1e12).try_into().expect("one note");
        assert!(note.contains("1.000e12 Pa"), "{note}");
    }

    #[test]
    fn a_modulus_of_material_points_is_checked() {
        let head =
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.5\n[grid]\nspacing = 0.1\n";
        let points = "[[material_points]]\nname = \"jelly\"\nshape = { box = { size = [0.3, 0.3, 0.3] } }\ndensity = 1000\nconstitutive_material = { law = \"neo-hookean\", youngs_modulus = 1e13, poissons_ratio = 0.3 }\n";
        let [note] = of_text(&format!("{head}{points}"))
            .try_into()
            .expect("one note");
        assert!(note.contains("P-wave modulus 1.346e13 Pa"), "{note}");
    }

    #[test]
    fn restitution_of_the_default_material_is_noted_at_the_first_soft_body() {
        let head = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.5\n";
        let rod = "[[rods]]\nname = \"cord\"\nsection = { circle = { radius = 0.01 } }\ncentreline = { line = { from = [0, 0, 0], to = [1, 0, 0], edges = 10 } }\nyoungs_modulus = 1e6\npoissons_ratio = 0.4\ndensity = 1200\n";
        let [note] = of_text(&format!(
            "{head}[materials.default]\nrestitution = 0.5\n{rod}"
        ))
        .try_into()
        .expect("one note");
        let expected = ["s.toml:8: soft body \"cord\"", "`restitution = 0.5`"];
        assert!(expected.iter().all(|part| note.contains(part)), "{note}");
    }

    #[test]
    fn a_step_as_long_as_the_run_is_noted() {
        let note = note_on_steps(0.5, 0.5).expect("a note");
        assert!(note.contains("in 1 step(s)"), "{note}");
        assert_eq!(note_on_steps(0.5, 0.05), None);
    }
}
