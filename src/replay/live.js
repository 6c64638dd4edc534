// The live window: takes the frames of a run as they come and sends back what the user does. src/recording/live.rs packs the frames,
// src/live/ serves them. Ctrl-drag pulls a body; sliders give parameters other values (parameters.js).

// A scale ends at 1, 2 or 5 times a power of ten, so that it rarely changes.
const scaleEnd = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((m) => m * power >= value * 0.999999);
};

// `numbers` with room for more, doubled where it is short.
function withRoom(numbers, length) {
  if (numbers.length >= length) return numbers;
  const larger = new numbers.constructor(Math.max(length, 2 * numbers.length));
  larger.set(numbers);
  return larger;
}

class LiveRun {
  constructor(player) {
    this.player = player;
    this.recording = player.recording;
    this.soft = this.recording.visuals.filter((visual) => visual.soft);
    this.follows = true;
    this.status = { running: true, rate: 1, ended: null };
    this.grasp = null;
    this.grasps = 0;
    this.curveLimit = 12000;
    this.parameters = new ParameterPanel((name, value) => this.send({ do: "parameter", name, value }));
    this.makeGrowable();
    this.takeOver();
    this.connect();
  }

  makeGrowable() {
    const { recording, player } = this;
    recording.times = Array.from(recording.times);
    recording.contactCounts = Array.from(recording.contactCounts);
    for (const visual of this.soft) {
      const { origin, step, frames } = visual.soft;
      const taken = frames.map(({ points, values }) => this.softFrame(visual, { origin, step, frame: { points, values }, max: null }));
      visual.soft = { origin: [0, 0, 0], step: 1, frames: taken };
    }
    recording.patches ??= recording.times.map(() => null);
    recording.moments ??= recording.times.map(() => new Float32Array(0));
    for (const curve of player.plots.curves) [curve.times, curve.values] = [Array.from(curve.times), Array.from(curve.values)];
  }

  // Points in metres, and colours on the visual's present scale; `bytes` and `max` are as they came (null: on the scale as it is).
  softFrame(visual, { origin, step, frame, max }) {
    const points = Float32Array.from(frame.points, (x, i) => origin[i % 3] + step * x);
    const taken = { points, bytes: frame.values, max, values: frame.values };
    const { scale } = visual.shape;
    if (!scale || max === null) return taken;
    if (!visual.fitted || max > scale.max) {
      visual.fitted = true;
      scale.max = scale.min + scaleEnd(max - scale.min);
      for (const earlier of visual.soft.frames) if (earlier.max) this.colour(earlier, scale);
      this.scalesChanged = true;
    }
    return this.colour(taken, scale);
  }

  colour(frame, scale) {
    const factor = (frame.max - scale.min) / (scale.max - scale.min);
    frame.values = frame.bytes.map((byte) => Math.round(byte * factor));
    return frame;
  }

  add(frame) {
    const { recording, player } = this;
    const k = recording.times.length;
    recording.times.push(float64s(frame.times)[0]);
    recording.bodies.forEach((body, i) => {
      body.poses = withRoom(body.poses, 7 * (k + 1));
      body.poses.set(unpackPoses(frame.poses[i], 1), 7 * k);
    });
    this.soft.forEach((visual, i) => {
      const { max, ...packed } = frame.soft[i];
      const { origin, step, frames } = unpackPoints(packed, 1);
      visual.soft.frames.push(this.softFrame(visual, { origin, step, frame: frames[0], max }));
    });
    recording.contactCounts.push(frame.contactCount);
    recording.contacts.push(unpackContacts(frame.contacts, 1)[0]);
    recording.patches.push(frame.patches ? this.patchFrame(unpackPatches(frame.patches, 1)[0], frame.patches.pressureMax) : null);
    recording.moments.push(frame.moments ? unpackContacts(frame.moments, 1)[0] : new Float32Array(0));
    this.addRows(float64s(frame.rowTimes), float32s(frame.rows));
    player.last = recording.times.at(-1);
    element("time").max = player.last;
    element("time").disabled = false;
    // The sizes of things settle: they are looked at when there are twice as many frames.
    if ((k & (k + 1)) === 0 || this.scalesChanged) {
      player.picture.bounds = sceneBounds(player.picture.drawn, recording);
      player.offerChoices();
      this.scalesChanged = false;
    }
  }

  patchFrame(patch, pressureMax) {
    const { recording } = this;
    if (!(pressureMax <= recording.patchScale?.max)) {
      recording.patchScale = { name: "contact pressure", unit: "Pa", min: 0, max: scaleEnd(pressureMax) };
      for (const earlier of recording.patches) if (earlier) this.press(earlier);
      this.scalesChanged = true;
    }
    return this.press({ ...patch, shares: patch.values, pressureMax });
  }

  press(patch) {
    const factor = patch.pressureMax / this.recording.patchScale.max;
    patch.values = patch.shares.map((share) => share * factor);
    return patch;
  }

  addRows(times, values) {
    const { curves } = this.player.plots;
    curves.forEach((curve, column) => {
      for (let row = 0; row < times.length; row++) {
        curve.times.push(times[row]);
        curve.values.push(values[row * curves.length + column]);
      }
      if (curve.times.length > this.curveLimit) thinCurve(curve);
    });
  }

  // The player's controls steer the run.
  takeOver() {
    const { player } = this;
    const seek = player.seek.bind(player);
    player.setPlaying(false);
    player.setPlaying = () => {};
    player.togglePlaying = () => this.send({ do: this.status.running ? "pause" : "resume" });
    player.seek = (t) => {
      this.follow(t >= player.last);
      seek(t);
    };
    player.stepFrames = (by) => {
      const { times } = this.recording;
      const at = lastAtOrBefore(times, player.t + 1e-9);
      if (by > 0 && at >= times.length - 1) {
        this.follow(true);
        this.send({ do: "step" });
      } else player.seek(times[clamp(at + by, 0, times.length - 1)]);
    };
    player.setSpeed = (speed) => this.send({ do: "pace", rate: Number.isFinite(speed) ? speed : null });
    const speed = element("speed");
    speed.append(new Option("max", Infinity));
    speed.parentElement.title = "Pace of the run, at most ([ and ])";
    element("play").title = "Pause the run or go on (space)";
    this.button = document.createElement("button");
    this.button.id = "live";
    this.button.className = "switch";
    this.button.title = "Show the newest frame (end)";
    this.button.addEventListener("click", () => player.seek(player.last));
    element("clock").after(this.button);
    const keys = document.createDocumentFragment();
    for (const [tag, text] of [["dt", "ctrl-drag"], ["dd", "pull a body"], ["dt", "→ at the end"], ["dd", "go on to the next frame, and wait"]]) {
      keys.append(Object.assign(document.createElement(tag), { textContent: text }));
    }
    element("help").querySelector("dl").append(keys);
    this.pullWithPointer(element("picture"));
    this.follow(true);
  }

  follow(follows) {
    this.follows = follows;
    this.showStatus();
  }

  connect() {
    const source = new EventSource("stream");
    source.addEventListener("frame", (event) => this.take(() => this.add(JSON.parse(event.data))));
    source.addEventListener("status", (event) => {
      this.status = JSON.parse(event.data);
      if (this.status.ended) source.close();
      this.take(() => this.showStatus());
    });
    source.addEventListener("error", () => {
      this.lost = source.readyState !== EventSource.OPEN && !this.status.ended;
      this.showStatus();
    });
    source.addEventListener("open", () => {
      this.lost = false;
      this.showStatus();
    });
  }

  take(news) {
    try {
      news();
    } catch (error) {
      failed(error);
      throw error;
    }
    const { player } = this;
    document.documentElement.dataset.frames = this.recording.times.length;
    if (this.follows) player.t = player.last;
    player.refresh();
  }

  showStatus() {
    const { running, rate, ended } = this.status;
    const { player, button } = this;
    this.parameters.show(this.status);
    element("play-icon").setAttribute("d", running ? PAUSE_ICON : PLAY_ICON);
    element("play").setAttribute("aria-label", running ? "Pause the run" : "Go on");
    element("play").disabled = Boolean(ended);
    player.speed = rate ?? Infinity;
    element("speed").value = player.speed;
    button.textContent = ended ?? (this.lost ? "no connection" : running ? "live" : "paused");
    button.setAttribute("aria-pressed", this.follows && !ended && !this.lost);
    document.documentElement.dataset.run = ended ? "ended" : running ? "running" : "paused";
  }

  async send(command) {
    if (this.status.ended) return;
    const answer = await fetch("command", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(command) }).catch(() => null);
    if (answer && !answer.ok) notice(`The run does not take this: ${await answer.text()}`);
  }

  // The point under the pointer at a distance `depth` along the camera's axis.
  pointAt(event, depth) {
    const { camera, picture } = this.player;
    const { canvas } = picture;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const [x, y] = [(2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height];
    const { view, projection } = camera.matrices(canvas.width / canvas.height, picture.bounds.radius);
    const [right, up] = [[view[0], view[4], view[8]], [view[1], view[5], view[9]]];
    const ahead = add(camera.eye, scale(camera.back, -depth));
    return add(ahead, add(scale(right, (x * depth) / projection[0]), scale(up, (y * depth) / projection[5])));
  }

  takeHold(event) {
    const { player } = this;
    const item = player.pickAt(event);
    if (!item || (item.visual.body === null && !item.visual.soft)) return false;
    player.seek(player.last);
    const { camera, picture } = player;
    const centre = item.visual.soft ? this.softCentre(item.visual) : add(item.pose.position, rotated(item.pose.rotation, boxCenter(item.box)));
    const depth = dot(sub(centre, camera.eye), scale(camera.back, -1));
    if (!(depth > 0)) return false;
    const at = this.pointAt(event, depth);
    let of = { soft: this.soft.indexOf(item.visual) };
    let point = at;
    if (!item.visual.soft) {
      const { position, rotation: [w, ...v] } = picture.bodies[item.visual.body];
      of = { body: item.visual.body };
      point = rotated([w, ...scale(v, -1)], sub(at, position));
    }
    this.grasp = { of, point, depth, target: at, number: this.grasps++, pointer: event.pointerId };
    return true;
  }

  softCentre({ soft }) {
    const { low, high } = boxAround(soft.frames.at(-1).points);
    return boxCenter({ low, high });
  }

  // One message is on its way at a time; the next has the newest target.
  async pull() {
    if (this.pulling) return;
    this.pulling = true;
    for (let sent = null; this.grasp && this.grasp.target !== sent; ) {
      const { of, point, target, number } = this.grasp;
      sent = target;
      await this.send({ do: "drag", grasp: number, ...of, point, target });
    }
    this.pulling = false;
    if (!this.grasp) this.send({ do: "release" });
  }

  pullWithPointer(canvas) {
    const mine = (act) => (event) => {
      if (this.grasp?.pointer !== event.pointerId) return;
      event.stopImmediatePropagation();
      act(event);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.button !== 0 || !this.takeHold(event)) return;
      event.stopImmediatePropagation();
      canvas.setPointerCapture(event.pointerId);
      this.pull();
    }, { capture: true });
    canvas.addEventListener("pointermove", mine((event) => {
      this.grasp.target = this.pointAt(event, this.grasp.depth);
      this.pull();
    }), { capture: true });
    const release = mine(() => {
      this.grasp = null;
      this.pull();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, release, { capture: true });
  }
}

// Half as many points, of each four the lowest and the highest.
function thinCurve(curve) {
  const kept = [];
  for (let first = 0; first < curve.times.length; first += 4) {
    const rows = [0, 1, 2, 3].map((i) => first + i).filter((row) => row < curve.times.length);
    const value = (row) => curve.values[row];
    const known = rows.filter((row) => !Number.isNaN(value(row)));
    const [low, high] = known.length ? [Math.min, Math.max].map((pick) => known.find((row) => value(row) === pick(...known.map(value)))) : [first, first];
    kept.push(...(low === high ? [low] : [Math.min(low, high), Math.max(low, high)]));
  }
  [curve.times, curve.values] = [kept.map((row) => curve.times[row]), kept.map((row) => curve.values[row])];
}

if (player) player.live = new LiveRun(player);
