// Opened as replay.html#selftest, the page tests its pictures and controls and stores a report in <html data-report="…"> as JSON, which
// tests/suite/replay_in_browser reads.

function pixelReport(gl, width, height) {
  const pixels = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  const colors = new Map();
  let sum = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const key = ((pixels[i] >> 4) << 8) | ((pixels[i + 1] >> 4) << 4) | (pixels[i + 2] >> 4);
    colors.set(key, (colors.get(key) ?? 0) + 1);
    sum = (sum * 31 + pixels[i] + 3 * pixels[i + 1] + 7 * pixels[i + 2]) % 1000000007;
  }
  return { colors: colors.size, largestShare: Math.max(...colors.values()) / (width * height), sum };
}

const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

// Effect of pointers on the camera: rotation (rad), displacement of its target (m) and ratio of distances of each movement.
function steering() {
  const { camera, picture: { canvas } } = player;
  canvas.setPointerCapture = () => {}; // Only pointers of a real device can be captured.
  const send = (type, pointerId, clientX, clientY, more) =>
    canvas.dispatchEvent(new PointerEvent(type, { pointerId, clientX, clientY, buttons: 1, bubbles: true, ...more }));
  const changes = (act) => {
    player.resetView();
    const before = { azimuth: camera.azimuth, elevation: camera.elevation, target: camera.target, distance: camera.distance };
    act();
    const turned = [camera.azimuth - before.azimuth, camera.elevation - before.elevation];
    return { turned, moved: length(sub(camera.target, before.target)), zoomed: camera.distance / before.distance };
  };
  const drag = (more) => changes(() => {
    send("pointerdown", 1, 200, 200, more);
    send("pointermove", 1, 260, 230, more);
    send("pointerup", 1, 260, 230, more);
    send("pointermove", 1, 400, 400, more); // after release: no effect
  });
  const fingers = (to) => changes(() => {
    const touch = { pointerType: "touch" };
    send("pointerdown", 1, 200, 200, touch);
    send("pointerdown", 2, 300, 200, touch);
    send("pointermove", 1, ...to[0], touch);
    send("pointermove", 2, ...to[1], touch);
    send("pointerup", 1, ...to[0], touch);
    send("pointerup", 2, ...to[1], touch);
  });
  return {
    drag: drag({}),
    shiftDrag: drag({ shiftKey: true }),
    rightDrag: drag({ buttons: 2 }),
    finger: drag({ pointerType: "touch" }),
    spread: fingers([[150, 200], [350, 200]]),
    together: fingers([[240, 260], [340, 260]]),
    wheelIn: changes(() => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, cancelable: true }))),
    wheelOut: changes(() => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 100, cancelable: true }))),
  };
}

// Effect of the controls: [before, after] of each.
function buttons() {
  const act = (what, read) => {
    const before = read();
    what();
    return [before, read()];
  };
  const click = (id, read) => act(() => element(id).click(), read);
  const enter = (id, type, value, read) => act(() => {
    element(id).value = value;
    element(id).dispatchEvent(new Event(type));
  }, read);
  const seen = {
    play: click("play", () => player.playing),
    pause: click("play", () => player.playing),
    slider: enter("time", "input", mix(player.first, player.last, 0.25), () => player.t),
    speed: enter("speed", "change", 0.25, () => player.speed),
  };
  for (const id of ["patches", "forces", "moments", "grid"]) {
    seen[id] = click(id, () => player.view[id]);
    click(id, () => null);
  }
  for (const [id, read] of [["plots-switch", () => player.plotsShown], ["theme", () => player.view.theme]]) {
    seen[id] = click(id, read);
    click(id, () => null);
  }
  return seen;
}

// What the picture adds up to with arrows that are `times` as long as they were, but for their limit.
function sumWithArrows(times) {
  const { gl, canvas } = player.picture;
  const before = player.defaultForceScale;
  player.defaultForceScale *= times;
  player.drawNow();
  player.defaultForceScale = before;
  return pixelReport(gl, canvas.width, canvas.height).sum;
}

// The name of what the picture shows where the centre of an item is.
function atCentre(item) {
  if (!item) return null;
  const { picture } = player;
  const m = picture.clipFromWorld;
  const [x, y, z] = picture.centre([item], player.t);
  const [u, v, w] = [0, 1, 3].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
  return picture.pick(u / w, v / w)?.visual.name ?? null;
}

// Milliseconds of the page's own work for a picture, without drawing: median and longest of `count` pictures of a run at its own pace.
function frameTimes(count) {
  const { gl } = player.picture;
  const draws = ["drawArrays", "drawArraysInstanced", "drawElementsInstanced"];
  for (const draw of draws) gl[draw] = () => {};
  const times = Array.from({ length: count }, (_, i) => {
    player.t = mix(player.first, player.last, i / count);
    const begin = performance.now();
    player.drawNow();
    return performance.now() - begin;
  });
  for (const draw of draws) delete gl[draw];
  times.splice(0, count >> 2); // the compiler warms up
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1], longest: times.at(-1) };
}

// Forces of 1 N and of 2 N, with an impact of 1000 N in one frame of a hundred.
const IMPACT = Array.from({ length: 100 }, (_, i) => new Float32Array([0, 0, 0, 0, 0, 1, 0, 0, 0, i === 50 ? 1000 : 2, 0, 0]));

function selftest() {
  const { picture, recording } = player;
  const { gl, canvas } = picture;
  player.setPlaying(false);
  const pictures = [0, 0.5, 1].map((s) => {
    player.t = mix(player.first, player.last, s);
    player.drawNow();
    const pixels = pixelReport(gl, canvas.width, canvas.height);
    return { t: player.t, contacts: picture.contactCount, moments: picture.momentCount, patchTriangles: picture.patchCorners / 3, glError: gl.getError(), ...pixels };
  });
  const center = atCentre(picture.drawn.find(({ visual }) => visual.soft) ?? picture.drawn[0]);
  // Which keys change the picture; each is followed by a key that reverts it.
  const keys = {};
  for (const [key, back] of [...(recording.patches ? [["c", "c"]] : []), ...(recording.moments ? [["m", "m"]] : []), ["f", "f"], ["g", "g"], ["t", "t"], ["ArrowLeft", "ArrowRight"], ["Home", "End"]]) {
    player.drawNow();
    const before = pixelReport(gl, canvas.width, canvas.height).sum;
    press(key);
    player.drawNow();
    keys[key] = pixelReport(gl, canvas.width, canvas.height).sum !== before;
    press(back);
  }
  const arrows = { plain: sumWithArrows(1), capped: sumWithArrows(1e3), cappedAgain: sumWithArrows(1e4), lasting: lastingSize([...IMPACT, new Float32Array(0)]) };
  const { distance } = player.camera;
  canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, cancelable: true }));
  keys.wheel = player.camera.distance < distance;
  press("0");
  keys["0"] = player.camera.distance === distance;
  press("p");
  player.drawNow();
  keys.p = element("plots").hidden;
  press("p");
  player.drawNow();
  element("curves").dispatchEvent(new PointerEvent("pointermove", { buttons: 1, clientX: 0 }));
  const soughtBack = player.t;
  player.seek(player.last);
  player.drawNow();
  return {
    facts: element("facts").textContent,
    width: canvas.width,
    height: canvas.height,
    pictures,
    keys,
    soughtBack,
    arrows,
    frameTimes: frameTimes(120),
    overprints: overprints(),
    steering: steering(),
    buttons: buttons(),
    center,
    frames: recording.times.length,
    lastPoses: recording.bodies.map(({ name, poses }) => ({ name, pose: [...poses.slice(-7)] })),
    columns: recording.observables.map(({ name, values }) => ({ name, rows: values.length, last: values.at(-1) })),
    curves: element("curves").getContext("2d").getImageData(0, 0, element("curves").width, element("curves").height).data.some((x) => x > 0),
  };
}

if (player && settings.has("selftest")) {
  try {
    document.documentElement.dataset.report = JSON.stringify(selftest());
  } catch (error) {
    failed(error);
    console.error(error);
  }
}
