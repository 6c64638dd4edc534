// Sliders for the parameters of a scene that may change while it runs.

// From nothing to twice the first value; parameters that begin at nothing go from -1 to 1.
function sliderRange(value) {
  if (value === 0) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

class ParameterPanel {
  constructor(send) {
    this.send = send;
    this.rows = new Map();
    this.panel = Object.assign(document.createElement("form"), { id: "parameters", hidden: true });
    this.panel.setAttribute("aria-label", "Parameters");
    this.panel.addEventListener("submit", (event) => event.preventDefault());
    // Keys in a field are not those of the player.
    this.panel.addEventListener("keydown", (event) => event.stopPropagation());
    this.refusal = Object.assign(document.createElement("p"), { hidden: true });
    this.panel.append(this.refusal);
    element("stage").append(this.panel);
  }

  row(name, value) {
    const [min, max] = sliderRange(value);
    const slider = Object.assign(document.createElement("input"), { type: "range", min, max, step: "any", value, ariaLabel: name });
    const number = Object.assign(document.createElement("input"), { type: "number", step: "any", value, ariaLabel: name });
    const ask = (value) => {
      if (Number.isFinite(value)) this.send(name, value);
    };
    slider.addEventListener("input", () => (number.value = Number(slider.valueAsNumber.toPrecision(3))));
    slider.addEventListener("change", () => ask(Number(number.value)));
    number.addEventListener("change", () => ask(number.valueAsNumber));
    const label = Object.assign(document.createElement("label"), { textContent: name });
    label.dataset.parameter = name;
    label.append(slider, number);
    this.refusal.before(label);
    this.panel.hidden = false;
    const row = { slider, number };
    this.rows.set(name, row);
    return row;
  }

  show({ parameters, asked, refusal, ended }) {
    for (const [name, inForce] of Object.entries(parameters ?? {})) {
      const { slider, number } = this.rows.get(name) ?? this.row(name, inForce);
      const value = asked[name] ?? inForce;
      for (const input of [slider, number]) {
        input.disabled = Boolean(ended);
        if (document.activeElement !== input || refusal) input.value = value;
      }
    }
    this.refusal.textContent = refusal ?? "";
    this.refusal.hidden = !refusal;
  }
}
