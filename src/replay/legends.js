// Texts over the picture: scales of colours, and lengths of arrows.

// The browser lays a page out again where a text is set, even to the same.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function lengthText(metres) {
  const [unit, factor] = metres < 1e-3 ? ["µm", 1e6] : metres < 0.01 ? ["mm", 1e3] : metres < 1 ? ["cm", 100] : ["m", 1];
  return `${numberText(metres * factor, 2)} ${unit}`;
}

function scaleLegend({ name, unit, min, max, ramp }) {
  const item = document.createElement("li");
  const heading = document.createElement("b");
  heading.textContent = unit ? `${name} in ${unit}` : name;
  const bar = document.createElement("i");
  bar.style.background = `linear-gradient(to right, ${ramp.map((c) => `rgb(${c.map((x) => Math.round(255 * x)).join(" ")})`).join(", ")})`;
  item.append(heading, numberText(min), bar, numberText(max));
  return item;
}

// Legend of the arrows of one colour; `showState` updates their scale.
function arrowLegend(what, name) {
  const item = document.createElement("li");
  item.id = `${what}-legend`;
  const [sign, heading, size] = ["span", "b", "span"].map((tag) => document.createElement(tag));
  sign.textContent = what === "moment" ? "↠" : "→";
  heading.textContent = name;
  item.append(sign, " ", heading, " ", size);
  return item;
}
