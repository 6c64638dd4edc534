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
  const withForces = pixelReport(gl, canvas.width, canvas.height).sum;
  player.toggle("forces");
  player.drawNow();
  const withoutForces = pixelReport(gl, canvas.width, canvas.height).sum;
  player.toggle("forces");
  return {
    width: canvas.width,
    height: canvas.height,
    pictures,
    forcesShow: withForces !== withoutForces,
    center: picture.pick(0, 0)?.visual.name ?? null,
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
