// Opened as replay.html#selftest, the page looks at its own pictures and leaves what it saw in <html data-report="…">
// (JSON), for tests/replay_in_browser.rs to read.

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

function selftest() {
  const { picture, recording } = player;
  const { gl, canvas } = picture;
  player.setPlaying(false);
  const pictures = [0, 0.5, 1].map((s) => {
    player.t = mix(player.first, player.last, s);
    player.drawNow();
    const pixels = pixelReport(gl, canvas.width, canvas.height);
    return { t: player.t, contacts: picture.contactCount, glError: gl.getError(), ...pixels };
  });
  const center = picture.pick(0, 0)?.visual.name ?? null;
  // Which keys change the picture; each is pressed twice where the second press takes the first back.
  const keys = {};
  for (const [key, back] of [["f", "f"], ["g", "g"], ["t", "t"], ["ArrowLeft", "ArrowRight"], ["Home", "End"]]) {
    player.drawNow();
    const before = pixelReport(gl, canvas.width, canvas.height).sum;
    press(key);
    player.drawNow();
    keys[key] = pixelReport(gl, canvas.width, canvas.height).sum !== before;
    press(back);
  }
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
  return {
    width: canvas.width,
    height: canvas.height,
    pictures,
    keys,
    soughtBack,
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
