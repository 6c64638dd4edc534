//! Suspicious numbers of a scene: steps that jump past its motion, and soft materials in other units than SI.

use crate::scene::{Matter, Scene, SoftEntry};

/// A run with fewer steps shows no motion.
const STEPS_MIN: f64 = 10.0;

/// The lightest soft foams have 10 kg/m³, osmium 22,600.
const DENSITIES: std::ops::RangeInclusive<f64> = 5.0..=25_000.0;

/// Young's moduli, Pa, from weak gels to tungsten with 4.1e11.
const MODULI: std::ops::RangeInclusive<f64> = 10.0..=5e11;

/// Notes on the settings of `scene`.
pub(super) fn notes(scene: &Scene) -> Vec<String> {
    let mut notes = Vec::new();
    let simulation = &scene.simulation;
    let (dt, length) = (simulation.time_step_s, simulation.full_s);
    if length / dt < STEPS_MIN - 1e-9 {
        notes.push(format!(
            "suspicious: a time step of {dt} s takes the scene of {length} s in {} step(s), which jump past its motion; give a shorter `time_step_s`",
            (length / dt - 1e-9).ceil().max(1.0)
        ));
    }
    // Copies have the name of their entry and a number, and its material.
    let mut seen: Vec<(usize, f64)> = Vec::new();
    for entry in &scene.soft.entries {
        let Some((density, youngs_modulus)) = solid(entry) else {
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
        if let Some(youngs_modulus) = youngs_modulus.filter(|modulus| !MODULI.contains(modulus)) {
            notes.push(format!(
                "{place}: suspicious: Young's modulus {youngs_modulus:.3e} Pa is that of no soft material (gel 1e3, rubber 1e6, steel 2e11); is it in Pa? A rigid body belongs into `[[bodies]]`"
            ));
        }
    }
    notes
}

/// Density (kg/m³) and, if the law is one of a solid with it, Young's modulus (Pa).
fn solid(entry: &SoftEntry) -> Option<(f64, Option<f64>)> {
    match &entry.matter {
        Matter::Fem(fem) => Some((fem.density, Some(fem.material.lame().youngs_modulus()))),
        Matter::Points(points) => Some((points.density, None)),
        Matter::Own(_) | Matter::Cloth(_) | Matter::Rod(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    fn notes_of(time_step_s: f64, density: f64, modulus: f64) -> Vec<String> {
        let text = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\ntime_step_s = {time_step_s}\nsmoke_s = 0.5\n[[fem]]\nname = \"liver\"\nmesh = {{ box = {{ size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }} }}\nconstitutive_material = {{ youngs_modulus = {modulus:?}, poissons_ratio = 0.4 }}\ndensity = {density:?}\n"
        );
        let scene = Scene::parse("s.toml", &text, &SceneOptions::default());
        notes(&scene.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn numbers_of_real_materials_pass() {
        for (density, modulus) in [(30.0, 5e3), (1070.0, 25e3), (7850.0, 2.1e11)] {
            assert_eq!(notes_of(1e-3, density, modulus), Vec::<String>::new());
        }
    }

    #[test]
    fn grams_per_cubic_centimetre_are_recognised() {
        let [note] = notes_of(1e-3, 1.07, 25e3).try_into().expect("one note");
        let expected = ["s.toml:7: ", "\"liver\"", "1.070 g/cm³ are 1070 kg/m³"];
        assert!(expected.iter().all(|part| note.contains(part)), "{note}");
    }

    #[test]
    fn a_modulus_beyond_all_solids_is_noted() {
        let [note] = notes_of(1e-3, 1000.0, 1e12).try_into().expect("one note");
        assert!(note.contains("1.000e12 Pa"), "{note}");
    }

    #[test]
    fn a_step_as_long_as_the_scene_is_noted() {
        let [note] = notes_of(0.5, 1000.0, 1e6).try_into().expect("one note");
        assert!(note.contains("in 1 step(s)"), "{note}");
        assert_eq!(notes_of(0.05, 1000.0, 1e6), Vec::<String>::new());
    }
}
