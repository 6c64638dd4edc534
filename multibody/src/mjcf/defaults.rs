//! `<default>` classes, and the settings of an element with those of its class.

use std::collections::BTreeMap;

use super::names::used_attributes;
use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};

/// Name of the outermost class if it has none.
const MAIN: &str = "main";
/// All actuators share their defaults, whatever element sets them.
const ACTUATORS: [&str; 9] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
];

/// The classes of a file.
pub(super) struct Defaults<'a> {
    classes: BTreeMap<&'a str, Class<'a>>,
    main: &'a str,
}

#[derive(Default)]
struct Class<'a> {
    parent: Option<&'a str>,
    elements: Vec<&'a Element>,
}

impl<'a> Defaults<'a> {
    pub(super) fn read(root: &'a Element, remarks: &mut Remarks) -> Result<Self, MultibodyError> {
        let sections = || root.children.iter().filter(|e| e.tag == "default");
        let named = sections().find_map(|section| section.attribute("class"));
        let mut defaults = Self {
            classes: BTreeMap::new(),
            main: named.unwrap_or(MAIN),
        };
        defaults.classes.insert(defaults.main, Class::default());
        for section in sections() {
            defaults.class(section, defaults.main, None, remarks)?;
        }
        Ok(defaults)
    }

    fn class(
        &mut self,
        section: &'a Element,
        name: &'a str,
        parent: Option<&'a str>,
        remarks: &mut Remarks,
    ) -> Result<(), MultibodyError> {
        remarks.only_attributes(section, &["class"]);
        let class = self.classes.entry(name).or_default();
        class.parent = class.parent.or(parent);
        for child in section.children.iter().filter(|e| e.tag != "default") {
            match used_attributes(&child.tag) {
                Some(known) => remarks.only_attributes(child, known),
                None => remarks.left_out(child),
            }
            class.elements.push(child);
        }
        for child in section.children.iter().filter(|e| e.tag == "default") {
            let inner = child.required("class", "<default>")?;
            if self.classes.contains_key(inner) {
                let text = format!("class \"{inner}\" is defined twice; names must be unique");
                return Err(child.error("<default>", text));
            }
            self.class(child, inner, Some(name), remarks)?;
        }
        Ok(())
    }

    /// The settings of `element`: its own, then those of its class or of `childclass`, then those of the classes around it.
    pub(super) fn settings(
        &self,
        element: &'a Element,
        childclass: Option<&'a str>,
    ) -> Result<Settings<'a>, MultibodyError> {
        let tag = match &*element.tag {
            "freejoint" => "",
            tag => tag,
        };
        self.settings_of(tag, element, childclass)
    }

    /// The settings of an element whose defaults are in elements `tag`.
    pub(super) fn settings_of(
        &self,
        tag: &str,
        element: &'a Element,
        childclass: Option<&'a str>,
    ) -> Result<Settings<'a>, MultibodyError> {
        let own = element.attribute("class");
        let name = own.or(childclass).unwrap_or(self.main);
        self.check(name, element)?;
        let is_actuator = ACTUATORS.contains(&tag);
        let applies = |default: &&&Element| {
            default.tag == tag || (is_actuator && ACTUATORS.contains(&&*default.tag))
        };
        let mut from_leaf = vec![element];
        let mut next = Some(name);
        while let Some(class) = next.and_then(|name| self.classes.get(name)) {
            from_leaf.extend(class.elements.iter().rev().filter(applies));
            next = class.parent;
        }
        Ok(Settings { from_leaf })
    }

    /// Checks that a class exists.
    pub(super) fn check(&self, name: &str, element: &Element) -> Result<(), MultibodyError> {
        if self.classes.contains_key(name) {
            return Ok(());
        }
        let known: Vec<&str> = self.classes.keys().copied().collect();
        let text = format!(
            "class \"{name}\" is not defined; known are {}",
            known.join(", ")
        );
        Err(element.error(&format!("<{}>", element.tag), text))
    }
}

/// An element and the defaults that apply to it, the most specific first.
pub(super) struct Settings<'a> {
    from_leaf: Vec<&'a Element>,
}

impl<'a> Settings<'a> {
    /// The settings of an element without defaults.
    pub(super) fn alone(element: &'a Element) -> Self {
        Self {
            from_leaf: vec![element],
        }
    }

    /// The element itself.
    pub(super) fn own(&self) -> &'a Element {
        self.from_leaf[0]
    }

    /// An attribute, from the most specific element that has it.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.holder(name)?.attribute(name).map(str::trim)
    }

    /// The most specific element with this attribute.
    pub(super) fn holder(&self, name: &str) -> Option<&'a Element> {
        let mut all = self.from_leaf.iter();
        all.find(|element| element.attribute(name).is_some())
            .copied()
    }

    /// Exactly N numbers.
    pub(super) fn numbers<const N: usize>(
        &self,
        name: &str,
        subject: &str,
    ) -> Result<Option<[f64; N]>, MultibodyError> {
        let Some(holder) = self.holder(name) else {
            return Ok(None);
        };
        let numbers = holder.numbers(name, N, subject)?.unwrap_or_default();
        let n = numbers.len();
        let fail = |_| {
            let written = holder.attribute(name).unwrap_or_default();
            let text = format!(
                "<{}> {name}=\"{written}\": has {n} numbers, but must have {N}",
                holder.tag
            );
            holder.error(subject, text)
        };
        numbers.try_into().map(Some).map_err(fail)
    }

    /// Exactly one number.
    pub(super) fn number(&self, name: &str, subject: &str) -> Result<Option<f64>, MultibodyError> {
        Ok(self.numbers::<1>(name, subject)?.map(|[x]| x))
    }

    /// One number that must not be negative, 0 if it is missing.
    pub(super) fn non_negative(&self, name: &str, subject: &str) -> Result<f64, MultibodyError> {
        let value = self.number(name, subject)?.unwrap_or(0.0);
        if value < 0.0 {
            let text = format!("{name} = {value} must not be negative");
            return Err(self.own().error(subject, text));
        }
        Ok(value)
    }

    /// Up to N numbers: an element may give only the first ones, and the others are those of its class, then `missing`.
    pub(super) fn leading<const N: usize>(
        &self,
        name: &str,
        subject: &str,
        missing: [f64; N],
    ) -> Result<[f64; N], MultibodyError> {
        let mut values = missing;
        for element in self.from_leaf.iter().rev() {
            if let Some(numbers) = element.numbers(name, N, subject)? {
                values[..numbers.len()].copy_from_slice(&numbers);
            }
        }
        Ok(values)
    }

    /// Whether a limit holds: `flag` is true, false or auto; `range` is the range that makes it automatic.
    pub(super) fn is_limited(
        &self,
        flag: &str,
        range: &str,
        limits: super::compiler::Limits,
        subject: &str,
    ) -> Result<bool, MultibodyError> {
        let has_range = self.holder(range).is_some();
        match self.text(flag).unwrap_or("auto") {
            "true" if has_range => Ok(true),
            "true" => {
                let text = format!("{flag}=\"true\" needs {range}=\"LOW HIGH\"");
                Err(self.own().error(subject, text))
            }
            "false" => Ok(false),
            "auto" if has_range && limits == super::compiler::Limits::Explicit => {
                let text = format!(
                    "{range} is given without {flag}, and <compiler autolimits=\"false\">; set {flag}=\"true\" or \"false\""
                );
                Err(self.own().error(subject, text))
            }
            "auto" => Ok(has_range),
            other => {
                let text = format!("{flag}=\"{other}\" must be true, false or auto");
                Err(self.own().error(subject, text))
            }
        }
    }
}
