// The observables over time: one panel for each unit of the selected curves, a cursor at the current time, and a legend that
// selects curves and shows values.

const CURVES = ["#d9632a", "#2f7fb5", "#3f9a63", "#b8479a", "#c79a1a", "#6a6fc4", "#3aa6ad", "#a35d3a", "#7d8894"];
const PANELS_AT_FIRST = 3;

// Ticks of an axis: multiples of 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
}

function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 2).replace("e+", "e").replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// Labels of `ticks`, with as many decimals as distinguish neighbours.
function tickTexts(values) {
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(values[0] ?? 0);
  const largest = Math.max(...values.map(Math.abs));
  if (!(step >= 1e-6 && largest < 1e5)) return values.map((value) => numberText(Math.abs(value) < 1e-6 * step ? 0 : value));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return values.map((value) => value.toFixed(decimals).replace(/^-0(\.0*)?$/, "0$1").replace("-", "−"));
}

class Plots {
  constructor(canvas, legend, observables, seek, changed) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.curves = observables.map((observable, i) => ({ ...observable, color: CURVES[i % CURVES.length], shown: false }));
    this.panels = [];
    this.changed = changed;
    this.chooseAtFirst();
    this.buildLegend(legend);
    const seekTo = (event) => {
      const { left } = canvas.getBoundingClientRect();
      const panel = this.panels.find(({ x0, x1 }) => event.clientX - left <= x1 + 20) ?? this.panels.at(-1);
      if (panel) seek(mix(panel.t0, panel.t1, clamp((event.clientX - left - panel.x0) / (panel.x1 - panel.x0), 0, 1)));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seekTo(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && seekTo(event));
  }

  // Initial selection: the first few units, those with varying columns first, and the first few columns of each.
  chooseAtFirst() {
    const changes = ({ values }) => {
      const known = values.filter(Number.isFinite);
      return known.some((value) => Math.abs(value - known[0]) > 1e-6 * Math.abs(known[0]));
    };
    const unitsOf = (curves) => curves.map(({ unit }) => unit);
    const units = [...new Set([...unitsOf(this.curves.filter(changes)), ...unitsOf(this.curves)])].slice(0, PANELS_AT_FIRST);
    for (const unit of units) {
      const of = this.curves.filter((curve) => curve.unit === unit);
      const moving = of.filter(changes);
      for (const curve of (moving.length ? moving : of).slice(0, 4)) curve.shown = true;
    }
  }

  buildLegend(legend) {
    for (const curve of this.curves) {
      const button = document.createElement("button");
      button.style.setProperty("--curve", curve.color);
      button.append(curve.name, (curve.read = document.createElement("span")));
      button.setAttribute("aria-pressed", curve.shown);
      button.addEventListener("click", () => {
        curve.shown = !curve.shown;
        button.setAttribute("aria-pressed", curve.shown);
        this.range = null;
        this.changed();
      });
      const item = document.createElement("li");
      item.append(button);
      legend.append(item);
    }
  }

  draw(t, [t0, t1]) {
    for (const curve of this.curves) {
      const row = lastAtOrBefore(curve.times, t + 1e-9);
      const value = curve.values[Math.max(row, 0)];
      curve.read.textContent = `${numberText(value)}${curve.unit ? ` ${curve.unit}` : ""}`;
    }
    const { canvas, context: c } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || height === 0) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const ink = { text: style.getPropertyValue("--faint"), line: style.getPropertyValue("--line"), strong: style.getPropertyValue("--ink"), accent: style.getPropertyValue("--accent") };
    c.font = "11px system-ui, sans-serif";
    const shown = this.curves.filter((curve) => curve.shown);
    const units = [...new Set(shown.map(({ unit }) => unit))];
    if (units.length === 0) {
      c.fillStyle = ink.text;
      c.textAlign = "center";
      c.fillText("Choose what to plot from the list below.", width / 2, height / 2);
    }
    const each = width / Math.max(1, units.length);
    this.panels = units.map((unit, i) => ({
      unit, t0, t1: t1 > t0 ? t1 : t0 + 1, x0: i * each + 52, x1: (i + 1) * each - 10, y0: 18, y1: height - 20,
      curves: shown.filter((curve) => curve.unit === unit),
    }));
    for (const panel of this.panels) this.drawPanel(panel, t, ink);
  }

  drawPanel(panel, t, ink) {
    const { context: c } = this;
    const { x0, x1, y0, y1, t0, t1 } = panel;
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of panel.curves) {
      for (const value of values) {
        if (!Number.isFinite(value)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (low > high) [low, high] = [0, 1];
    // A constant with round-off is plotted as a flat line.
    const size = Math.max(Math.abs(low), Math.abs(high));
    const room = high - low > 1e-6 * size ? 0.06 * (high - low) : Math.max(0.1 * size, 1e-12);
    [low, high] = [low - room, high + room];
    const x = (time) => mix(x0, x1, (time - t0) / (t1 - t0));
    const y = (value) => mix(y1, y0, (value - low) / (high - low));

    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.fillStyle = ink.text;
    c.strokeStyle = ink.line;
    c.beginPath();
    c.textAlign = "right";
    const values = ticks(low, high, (y1 - y0) / 32);
    const texts = tickTexts(values);
    for (const [i, value] of values.entries()) {
      const at = Math.round(y(value)) + 0.5;
      c.moveTo(x0, at);
      c.lineTo(x1, at);
      c.fillText(texts[i], x0 - 6, at);
    }
    c.textAlign = "center";
    for (const time of ticks(t0, t1, (x1 - x0) / 70)) {
      const at = Math.round(x(time)) + 0.5;
      c.moveTo(at, y0);
      c.lineTo(at, y1);
      c.fillText(numberText(time), at, y1 + 10);
    }
    c.stroke();
    c.textAlign = "left";
    c.fillStyle = ink.strong;
    c.fillText(panel.unit ? `${panel.unit}` : "no unit", x0, 8);
    c.textAlign = "right";
    c.fillStyle = ink.text;
    c.fillText("time in s", x1, 8);

    c.save();
    c.beginPath();
    c.rect(x0, y0 - 2, x1 - x0, y1 - y0 + 4);
    c.clip();
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    for (const { values, times, color } of panel.curves) {
      c.strokeStyle = color;
      c.beginPath();
      let pen = false;
      for (let i = 0; i < values.length; i++) {
        if (!Number.isFinite(values[i])) pen = false;
        else if (pen) c.lineTo(x(times[i]), y(values[i]));
        else {
          c.moveTo(x(times[i]), y(values[i]));
          pen = true;
        }
      }
      c.stroke();
    }
    c.restore();
    c.strokeStyle = ink.accent;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x(clamp(t, t0, t1)), y0);
    c.lineTo(x(clamp(t, t0, t1)), y1);
    c.stroke();
    for (const { values, times, color } of panel.curves) {
      const value = values[Math.max(lastAtOrBefore(times, t + 1e-9), 0)];
      if (!Number.isFinite(value)) continue;
      c.fillStyle = color;
      c.beginPath();
      c.arc(x(clamp(t, t0, t1)), y(value), 3, 0, 7);
      c.fill();
    }
  }
}
