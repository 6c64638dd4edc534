// The player: playback, buttons, keys and display settings. Settings may be appended to the address:
// replay.html#t=1.5&camera=NAME&theme=dark&paused&still&patches=off&forces=off&moments=on&grid=off&plots=off (still: hides all controls).

const element = (id) => document.getElementById(id);
// Of the scene's radius.
const ARROW_LIMIT = 1 / 3;
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const PLAY_ICON = "M7 4.5v15l13-7.5z";
const PAUSE_ICON = "M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z";

class Player {
  constructor(recording, shaders, settings) {
    this.recording = recording;
    this.first = recording.times[0];
    this.last = recording.times.at(-1);
    this.t = clamp(Number(settings.get("t") ?? this.first), this.first, this.last);
    this.speed = 1;
    this.camera = new OrbitCamera();
    this.views = recording.cameras.length > 0 ? recording.cameras : [{ name: "main", fieldOfView: FIELD_OF_VIEW, follow: [] }];
    this.cameraNumber = this.cameraCalled(settings.get("camera"));
    this.picture = new Picture(element("picture"), recording, shaders);
    this.followed = null;
    this.plots = new Plots(element("curves"), element("legend"), recording.observables, (t) => this.seek(t), () => this.refresh());
    const wantsDark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.view = {
      camera: this.camera,
      theme: settings.get("theme") === "dark" || (wantsDark && settings.get("theme") !== "light") ? "dark" : "light",
      patches: settings.get("patches") !== "off",
      forces: settings.get("forces") !== "off",
      moments: settings.get("moments") === "on",
      grid: settings.get("grid") !== "off",
      metresPerNewton: 1,
      metresPerNewtonMetre: 1,
      longestArrow: Infinity,
    };
    this.plotsShown = recording.observables.length > 0 && settings.get("plots") !== "off";
    document.documentElement.toggleAttribute("data-still", settings.has("still"));
    document.documentElement.dataset.end = this.last;
    element("plots").hidden = !this.plotsShown;
    this.resetView();
    this.connect();
    const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.setPlaying(this.last > this.first && !settings.has("paused") && !settings.has("t") && !reducedMotion);
  }

  // The largest force that lasts gets an arrow of ARROW_LIMIT, less if a frame has many arrows.
  forceScaleOfRecording() {
    const loaded = this.recording.contacts.filter((contacts) => contacts.length > 0);
    const arrows = loaded.reduce((sum, contacts) => sum + contacts.length / 6, 0);
    this.view.forceCrowding = Math.min(1, Math.sqrt((8 * loaded.length) / Math.max(1, arrows)));
    const large = lastingSize(loaded);
    return large > 0 ? (ARROW_LIMIT * this.picture.bounds.radius * this.view.forceCrowding) / large : 0;
  }

  // The same for moments, with a quarter of the radius. Moments below the largest force times a thousandth of the radius are round-off.
  momentScaleOfRecording() {
    const { recording, picture, view } = this;
    const { radius } = picture.bounds;
    const least = 1e-3 * radius * lastingSize(recording.contacts);
    const large = lastingSize(recording.moments ?? []);
    return large > 0 ? (0.25 * radius * view.forceCrowding) / Math.max(large, least) : 0;
  }

  // The number of a camera by its name; the first, if none is asked for.
  cameraCalled(name) {
    if (name === null) return 0;
    const number = this.views.findIndex((view) => view.name === name);
    if (number < 0) throw new Error(`no camera has the name "${name}"; known are ${this.views.map((view) => `"${view.name}"`).join(", ")}`);
    return number;
  }

  chooseCamera(number) {
    this.cameraNumber = number;
    element("camera").value = number;
    this.resetView();
  }

  resetView() {
    const { camera, picture } = this;
    const { eye, target, direction, fieldOfView, follow } = this.views[this.cameraNumber];
    const followed = follow.map((number) => picture.drawn[number]);
    Object.assign(camera, new OrbitCamera(), { fieldOfView });
    this.followed = null;
    const slope = picture.slope();
    if (direction) camera.faceAlong(direction);
    else if (slope) camera.faceSlope(slope);
    if (eye) {
      camera.lookFrom(eye, target);
      if (followed.length > 0) this.follow(followed, picture.centre(followed, this.recording.times[0]));
    } else {
      const { clientWidth, clientHeight } = element("picture");
      const boxes = followed.length > 0 ? [surroundings(picture.boxOf(followed, this.t))] : picture.bounds.moving.boxes;
      camera.fit(boxes.flatMap(corners), clientWidth / (clientHeight || 1));
      if (followed.length > 0) this.follow(followed, picture.centre(followed, this.t));
    }
    picture.lightFor(camera.azimuth);
    this.refresh();
  }

  connect() {
    const canvas = element("picture");
    steerWithPointer(canvas, this.camera, () => this.refresh());
    canvas.addEventListener("pointermove", (event) => this.showLabel(event));
    canvas.addEventListener("pointerleave", () => (element("label").hidden = true));
    canvas.addEventListener("dblclick", (event) => this.followPicked(this.pickAt(event)));
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      notice("The browser has lost its graphics context. Reload the page to continue.");
    });
    // Immediately, as the browser would stretch the old picture to the new size.
    new ResizeObserver(() => this.drawNow()).observe(element("stage"));

    const time = element("time");
    [time.min, time.max] = [this.first, this.last];
    time.disabled = this.last <= this.first;
    time.addEventListener("input", () => this.seek(Number(time.value)));
    element("play").addEventListener("click", () => this.togglePlaying());
    const speed = element("speed");
    speed.append(...SPEEDS.map((s) => new Option(`${s}×`, s)));
    speed.value = 1;
    speed.addEventListener("change", () => this.setSpeed(Number(speed.value)));
    const camera = element("camera");
    camera.append(...this.views.map(({ name }, number) => new Option(name, number)));
    camera.value = this.cameraNumber;
    camera.parentElement.hidden = this.views.length < 2;
    camera.addEventListener("change", () => this.chooseCamera(Number(camera.value)));
    element("patches").addEventListener("click", () => this.toggle("patches"));
    element("forces").addEventListener("click", () => this.toggle("forces"));
    element("moments").addEventListener("click", () => this.toggle("moments"));
    element("grid").addEventListener("click", () => this.toggle("grid"));
    element("plots-switch").addEventListener("click", () => this.togglePlots());
    element("theme").addEventListener("click", () => this.toggleTheme());
    element("help-button").addEventListener("click", () => element("help").showModal());
    element("force-scale").firstChild.addEventListener("input", () => this.refresh());
    element("plots-switch").hidden = this.recording.observables.length === 0;
    this.offerChoices();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // Switches and legends for what the recording has.
  offerChoices() {
    this.defaultForceScale = this.forceScaleOfRecording();
    this.defaultMomentScale = this.momentScaleOfRecording();
    element("patches").hidden = !this.recording.patchScale;
    element("moments").hidden = this.defaultMomentScale === 0;
    for (const id of ["forces", "force-scale"]) element(id).hidden = this.defaultForceScale === 0;
    // Bodies of several colours with one scale share its legend, which begins grey.
    const scales = new Map();
    for (const { shape, color } of this.recording.visuals) {
      if (!shape.scale) continue;
      const key = JSON.stringify(shape.scale);
      const known = scales.get(key);
      const same = !known || known.color.join() === color.join();
      scales.set(key, { ...shape.scale, color, ramp: rampFrom(same ? color : GROUND_GREY) });
      if (!same) scales.get(key).color = GROUND_GREY;
    }
    const { patchScale } = this.recording;
    if (patchScale) scales.set("patches", { ...patchScale, ramp: RAMP });
    element("scales").replaceChildren(...[...scales.values()].map(scaleLegend));
    const ofPatches = this.defaultMomentScale > 0;
    if (this.defaultForceScale > 0) element("scales").append(arrowLegend("force", ofPatches ? "net force of a patch" : "contact force"));
    if (ofPatches) element("scales").append(arrowLegend("moment", "net moment of a patch"));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || element("help").open || event.target.matches("select")) return;
    const forceScale = element("force-scale").firstChild;
    const longer = (by) => {
      forceScale.value = Number(forceScale.value) + by;
      this.refresh();
    };
    const keys = {
      " ": () => this.togglePlaying(),
      ArrowLeft: () => this.stepFrames(event.shiftKey ? -10 : -1),
      ArrowRight: () => this.stepFrames(event.shiftKey ? 10 : 1),
      Home: () => this.seek(this.first),
      End: () => this.seek(this.last),
      "[": () => this.setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(this.speed) - 1)]),
      "]": () => this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + 1)]),
      c: () => this.toggle("patches"),
      f: () => this.toggle("forces"),
      m: () => this.toggle("moments"),
      g: () => this.toggle("grid"),
      p: () => this.togglePlots(),
      t: () => this.toggleTheme(),
      v: () => this.chooseCamera((this.cameraNumber + 1) % this.views.length),
      0: () => this.resetView(),
      "+": () => longer(0.15),
      "=": () => longer(0.15),
      "-": () => longer(-0.15),
      "?": () => element("help").showModal(),
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  togglePlaying() {
    if (!this.playing && this.t >= this.last) this.t = this.first;
    this.setPlaying(!this.playing && this.last > this.first);
  }

  setPlaying(playing) {
    this.playing = playing;
    this.clock = null;
    element("play-icon").setAttribute("d", playing ? PAUSE_ICON : PLAY_ICON);
    element("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    this.refresh();
  }

  setSpeed(speed) {
    this.speed = speed;
    element("speed").value = speed;
  }

  seek(t) {
    this.t = clamp(t, this.first, this.last);
    this.clock = null;
    this.refresh();
  }

  stepFrames(by) {
    this.setPlaying(false);
    const { times } = this.recording;
    this.seek(times[clamp(lastAtOrBefore(times, this.t + 1e-9) + by, 0, times.length - 1)]);
  }

  toggle(what) {
    this.view[what] = !this.view[what];
    this.refresh();
  }

  togglePlots() {
    this.plotsShown = !this.plotsShown && this.recording.observables.length > 0;
    this.refresh();
  }

  toggleTheme() {
    this.view.theme = this.view.theme === "dark" ? "light" : "dark";
    this.refresh();
  }

  // What is drawn at the pointer; a pointer may move before the first picture.
  pickAt(event) {
    if (!this.pictures) return null;
    const { left, top, width, height } = element("picture").getBoundingClientRect();
    return this.picture.pick((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
  }

  showLabel(event) {
    const label = element("label");
    const item = event.buttons ? null : this.pickAt(event);
    label.hidden = !item;
    if (!item) return;
    const { left, top } = element("stage").getBoundingClientRect();
    const { visual } = item;
    const body = visual.body === null ? "" : this.recording.bodies[visual.body].name;
    label.textContent = !body || body === visual.name ? visual.name : `${body} · ${visual.name}`;
    label.style.left = `${event.clientX - left}px`;
    label.style.top = `${event.clientY - top}px`;
  }

  // Moves the camera along with `items`, whose centre is at `at` for the present position of the camera.
  follow(items, at) {
    this.followed = { items, was: at };
  }

  // Moves the camera's target to the centre of an item and keeps it there; with nothing picked the camera stands still.
  followPicked(item) {
    this.followed = null;
    if (item) {
      const items = this.picture.drawn.filter(({ visual }) => visual === item.visual || (visual.body !== null && visual.body === item.visual.body));
      const at = this.picture.centre(items, this.t);
      this.camera.target = at;
      this.follow(items, at);
    }
    this.refresh();
  }

  figures() {
    return figures();
  }

  // Shows time t at once: for programs.
  show(t) {
    this.setPlaying(false);
    this.seek(t);
    this.drawNow();
  }

  // Requests a redraw in the next animation frame; repeated calls request one.
  refresh() {
    if (this.redrawRequested) return;
    this.redrawRequested = true;
    requestAnimationFrame((now) => {
      this.redrawRequested = false;
      this.advance(now);
      this.drawNow();
      if (this.playing) this.refresh();
    });
  }

  advance(now) {
    if (!this.playing) return;
    const elapsed = this.clock === null ? 0 : Math.min((now - this.clock) / 1000, 0.25);
    this.clock = now;
    // Repeats, with a pause at the end.
    const end = this.last + 0.8 * this.speed;
    this.unclampedTime = (this.unclampedTime !== undefined && this.t >= this.last ? this.unclampedTime : this.t) + elapsed * this.speed;
    if (this.unclampedTime > end) this.unclampedTime = this.first;
    this.t = Math.min(this.unclampedTime, this.last);
  }

  drawNow() {
    const { view, picture } = this;
    document.documentElement.dataset.theme = view.theme;
    element("plots").hidden = !this.plotsShown;
    picture.moveTo(this.t);
    if (this.followed) {
      const now = picture.centre(this.followed.items, this.t);
      this.camera.target = add(this.camera.target, sub(now, this.followed.was));
      this.followed.was = now;
    }
    const longer = 10 ** Number(element("force-scale").firstChild.value);
    view.longestArrow = ARROW_LIMIT * picture.bounds.radius * longer;
    [view.metresPerNewton, view.metresPerNewtonMetre] = [this.defaultForceScale * longer, this.defaultMomentScale * longer];
    // Text around the picture determines its size.
    if (this.plotsShown) this.plots.draw(this.t, [this.first, this.last]);
    this.showState();
    const canvas = element("picture");
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.max(1, Math.round(x * ratio)));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    picture.draw(view);
    this.pictures = (this.pictures ?? 0) + 1;
    document.documentElement.dataset.ready = ""; // for programs that wait for the first picture
  }

  showState() {
    const { recording, picture, view } = this;
    const time = element("time");
    time.value = this.t;
    time.style.setProperty("--filled", `${(100 * (this.t - this.first)) / (this.last - this.first || 1)}%`);
    const decimals = this.last - this.first < 1 ? 4 : 2;
    if (this.clockNow === undefined) element("clock").replaceChildren((this.clockNow = document.createElement("b")), (this.clockEnd = document.createTextNode("")));
    setText(this.clockNow, this.t.toFixed(decimals));
    setText(this.clockEnd, ` / ${this.last.toFixed(decimals)} s`);
    const contactCount = recording.contactCounts[picture.nearest];
    const withCount = (count, one, many) => `${count} ${count === 1 ? one : many}`;
    const soft = recording.visuals.filter((visual) => visual.soft).length;
    const facts = [withCount(contactCount, "contact", "contacts")];
    if (soft > 0) facts.unshift(withCount(soft, "soft body", "soft bodies"));
    if (soft === 0 || recording.bodies.length > 0) facts.unshift(withCount(recording.bodies.length, "body", "bodies"));
    const isNow = ({ from_s, until_s }) => from_s <= this.t && this.t < (until_s ?? Infinity);
    const inputs = recording.inputs.filter(isNow).map(({ text }) => text);
    setText(element("facts"), [facts.join(", "), ...inputs].join(" · "));
    for (const what of ["patches", "forces", "moments", "grid"]) element(what).setAttribute("aria-pressed", view[what]);
    element("plots-switch").setAttribute("aria-pressed", this.plotsShown);
    // A force or moment of one significant digit, and the length of its arrow.
    const example = (metresPerUnit, unit) => {
      const size = 10 ** Math.round(Math.log10((0.1 * picture.bounds.radius) / metresPerUnit));
      return `${numberText(size)} ${unit} = ${lengthText(size * metresPerUnit)}`;
    };
    for (const [what, metresPerUnit, unit] of [["force", view.metresPerNewton, "N"], ["moment", view.metresPerNewtonMetre, "N·m"]]) {
      const legend = element(`${what}-legend`);
      if (!legend) continue;
      legend.hidden = !view[`${what}s`];
      legend.firstChild.style.color = `rgb(${THEMES[view.theme][what].map((x) => Math.round(255 * x)).join(" ")})`;
      setText(legend.lastChild, example(metresPerUnit, unit));
    }
  }
}

// The magnitude that the largest arrow of a frame exceeds in one of twenty of the frames that have arrows.
function lastingSize(frames) {
  const largest = frames.filter((arrows) => arrows.length > 0).map((arrows) => {
    let size = 0;
    for (let i = 0; i < arrows.length; i += 6) size = Math.max(size, Math.hypot(arrows[i + 3], arrows[i + 4], arrows[i + 5]));
    return size;
  });
  return largest.sort((a, b) => a - b)[Math.floor(0.95 * (largest.length - 1))] ?? 0;
}

function notice(text) {
  element("notice").textContent = text;
  element("notice").hidden = false;
}

// Displays an error, and stores it for tests.
function failed(error) {
  document.documentElement.dataset.error = String(error?.message ?? error);
  notice(`The replay can't be shown: ${error?.message ?? error}.`);
}
window.addEventListener("error", (event) => failed(event.error ?? event.message));

const settings = new URLSearchParams(location.hash.slice(1));
let player = null;
try {
  const recording = unpackRecording(JSON.parse(element("recording").textContent));
  player = new Player(recording, JSON.parse(element("shaders").textContent), settings);
  window.replay = player; // for programs that open the page
} catch (error) {
  failed(error);
  console.error(error);
}
