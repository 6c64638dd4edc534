// The observables over time: one panel for each unit of the selected curves, a cursor at the current time, and a legend that
// selects curves and shows values.

const CURVES = ["#d9632a", "#2f7fb5", "#3f9a63", "#b8479a", "#c79a1a", "#6a6fc4", "#3aa6ad", "#a35d3a", "#7d8894"];
// The colour of curve i: of the list, then hues that differ from all before, by the golden angle, and from each other by their lightness too.
const curveColor = (i) => CURVES[i] ?? `hsl(${((i - CURVES.length) * 137.508 + 20) % 360} ${55 + 15 * (i % 3)}% ${38 + 7 * (i % 4)}%)`;
const PANELS_AT_FIRST = 3;
// CSS pixels; panels stand in as many columns as have this width.
const PANEL_WIDTH = 165;

// Ticks of an axis: multiples of 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const values = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
  return values.length < 2 && high > low && count < 16 ? ticks(low, high, 2 * Math.max(1, count)) : values;
}

function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 2).replace("e+", "e").replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// Labels of `ticks`, with as many digits as distinguish neighbours.
function tickTexts(values) {
  for (let digits = 4; digits < 12; digits++) {
    const texts = plainTexts(values, digits);
    if (new Set(texts).size === texts.length) return texts;
  }
  return plainTexts(values, 12);
}

function plainTexts(values, digits) {
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(values[0] ?? 0);
  const largest = Math.max(...values.map(Math.abs));
  if (!(step >= 1e-6 && largest < 1e5)) return values.map((value) => numberText(Math.abs(value) < 1e-6 * step ? 0 : value, digits));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return values.map((value) => value.toFixed(decimals).replace(/^-0(\.0*)?$/, "0$1").replace("-", "−"));
}

class Plots {
  constructor(canvas, legend, observables, seek, changed) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    // Axes and curves, drawn when they change; the cursor is drawn over a copy.
    this.still = document.createElement("canvas");
    this.curves = observables.map((observable, i) => ({ ...observable, color: curveColor(i), shown: false }));
    this.panels = [];
    this.changed = changed;
    this.chooseAtFirst();
    this.buildLegend(legend);
    const seekTo = (event) => {
      const { left, top } = canvas.getBoundingClientRect();
      const inside = ({ x1, y1 }) => event.clientX - left <= x1 + 20 && event.clientY - top <= y1 + 20;
      const panel = this.panels.find(inside) ?? this.panels.at(-1);
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
    const units = [...new Set([...unitsOf(this.curves.filter(changes)), ...unitsOf(this.curves)])].slice(0, clamp(Math.floor(window.innerWidth / PANEL_WIDTH), 1, PANELS_AT_FIRST));
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
        this.stillOf = null;
        this.changed();
      });
      const item = document.createElement("li");
      item.append(button);
      legend.append(item);
    }
  }

  draw(t, [t0, t1]) {
    for (const curve of this.curves) {
      const row = Math.max(lastAtOrBefore(curve.times, t + 1e-9), 0);
      if (curve.row === row && curve.rowValue === curve.values[row]) continue;
      [curve.row, curve.rowValue] = [row, curve.values[row]];
      curve.read.textContent = `${numberText(curve.rowValue)}${curve.unit ? ` ${curve.unit}` : ""}`;
    }
    const { canvas, context: c, still } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || height === 0) return;
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
    const rows = this.curves.reduce((sum, { values }) => sum + values.length, 0);
    const stillOf = [...pixels, document.documentElement.dataset.theme, t0, t1, rows].join();
    if (this.stillOf !== stillOf) {
      this.stillOf = stillOf;
      for (const sized of [canvas, still]) if (sized.width !== pixels[0] || sized.height !== pixels[1]) [sized.width, sized.height] = pixels;
      this.drawStill(ratio, width, height, t0, t1);
    }
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, ...pixels);
    c.drawImage(still, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const panel of this.panels) this.drawCursor(panel, t);
  }

  drawStill(ratio, width, height, t0, t1) {
    const c = this.still.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const ink = { text: style.getPropertyValue("--faint"), line: style.getPropertyValue("--line"), strong: style.getPropertyValue("--ink") };
    this.accent = style.getPropertyValue("--accent");
    c.font = "11px system-ui, sans-serif";
    const shown = this.curves.filter((curve) => curve.shown);
    const units = [...new Set(shown.map(({ unit }) => unit))];
    if (units.length === 0) {
      c.fillStyle = ink.text;
      c.textAlign = "center";
      c.fillText("Choose what to plot from the list below.", width / 2, height / 2);
    }
    const columns = clamp(Math.floor(width / PANEL_WIDTH), 1, Math.max(1, units.length));
    const [wide, high] = [width / columns, height / Math.ceil(Math.max(1, units.length) / columns)];
    this.panels = units.map((unit, i) => {
      const [column, row] = [i % columns, Math.floor(i / columns)];
      return {
        unit, t0, t1: t1 > t0 ? t1 : t0 + 1, x0: column * wide + 52, x1: (column + 1) * wide - 10, y0: row * high + 18, y1: (row + 1) * high - 20, last: i === units.length - 1,
        curves: shown.filter((curve) => curve.unit === unit),
      };
    });
    for (const panel of this.panels) this.drawPanel(c, panel, ink);
  }

  drawPanel(c, panel, ink) {
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
    const x = (panel.x = (time) => mix(x0, x1, (time - t0) / (t1 - t0)));
    const y = (panel.y = (value) => mix(y1, y0, (value - low) / (high - low)));

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
    const times = ticks(t0, t1, (x1 - x0) / 70);
    const labels = tickTexts(times);
    for (const [i, time] of times.entries()) {
      const at = Math.round(x(time)) + 0.5;
      c.moveTo(at, y0);
      c.lineTo(at, y1);
      c.fillText(labels[i], at, y1 + 10);
    }
    c.stroke();
    c.textAlign = "left";
    c.fillStyle = ink.strong;
    c.fillText(panel.unit ? `${panel.unit}` : "no unit", x0, y0 - 10);
    if (panel.last) {
      c.textAlign = "right";
      c.fillStyle = ink.text;
      c.fillText("time in s", x1, y0 - 10);
    }

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
  }

  drawCursor(panel, t) {
    const { context: c } = this;
    const { x, y, y0, y1, t0, t1 } = panel;
    c.strokeStyle = this.accent;
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
