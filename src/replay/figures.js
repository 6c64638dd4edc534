// What a picture amounts to in figures, for tests: where the subject is, how bright it is, how long the arrows are, and which texts overlap.

// Texts, buttons and plots that overlap each other, or reach out of the window.
function overprints() {
  const shown = [...document.querySelectorAll("h1, #facts, #scales li, #transport > *, #curves, #legend")].filter((part) => part.getClientRects().length > 0);
  const rects = shown.map((part) => part.getBoundingClientRect());
  const name = (part) => part.id || part.tagName.toLowerCase();
  const found = [];
  rects.forEach((a, i) => {
    if (a.left < -1 || a.right > innerWidth + 1 || a.top < -1 || a.bottom > innerHeight + 1) found.push(`${name(shown[i])} is out of the window`);
    rects.slice(0, i).forEach((b, j) => {
      const [wide, high] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
      if (wide > 1 && high > 1) found.push(`${name(shown[j])} and ${name(shown[i])} overlap`);
    });
  });
  return found;
}

// Points of an item at the present time, at most a few hundred: of a rigid body the corners of its box, of a soft one some of its points.
function samplesOf(item) {
  if (!item.visual.soft) return corners(item.box).map((corner) => add(item.pose.position, rotated(item.pose.rotation, corner)));
  const { points } = softPoints(item.visual.soft, locateFrame(player.recording.times, player.t));
  const stride = Math.max(1, Math.floor(points.length / 900));
  return Array.from({ length: Math.floor(points.length / (3 * stride)) }, (_, i) => [...points.subarray(3 * stride * i, 3 * stride * i + 3)]);
}

// The share of the items that is inside the picture, and the width and height of that part as shares of the picture's.
function frameShare(items, clipFromWorld) {
  const seen = [];
  let inside = 0;
  let all = 0;
  for (const item of items) {
    const samples = samplesOf(item);
    for (const [x, y, z] of samples) {
      const [u, v, w] = [0, 1, 3].map((row) => clipFromWorld[row] * x + clipFromWorld[4 + row] * y + clipFromWorld[8 + row] * z + clipFromWorld[12 + row]);
      const within = w > 0 && Math.abs(u) <= w && Math.abs(v) <= w;
      if (within) seen.push([u / w, v / w]);
      inside += within / samples.length;
    }
    all += samples.length > 0;
  }
  const span = (axis) => (seen.length > 0 ? (Math.max(...seen.map((p) => p[axis])) - Math.min(...seen.map((p) => p[axis]))) / 2 : 0);
  return { inside: all > 0 ? inside / all : 1, width: span(0), height: span(1) };
}

const WHOLE = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

// Mean of red, green and blue over the pixels of `items`, 0 to 1, and the number of these pixels.
function brightness(items) {
  const { picture } = player;
  const { gl, canvas } = picture;
  const pixels = new Uint8Array(4 * canvas.width * canvas.height);
  picture.draw(player.view);
  gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  const [columns, rows] = [96, 64];
  let [sum, count] = [0, 0];
  picture.itemsAt(columns, rows, WHOLE).forEach((item, i) => {
    if (!items.includes(item)) return;
    const [x, y] = [((i % columns) + 0.5) / columns, (Math.floor(i / columns) + 0.5) / rows];
    const at = 4 * (Math.floor(y * canvas.height) * canvas.width + Math.floor(x * canvas.width));
    sum += (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 765;
    count++;
  });
  return { mean: count > 0 ? sum / count : null, share: count / (columns * rows) };
}

// Figures of the present picture; the bounds of the scene say what moves in it. The longest arrow is that of the shader, whose limit the self-test checks by pixels.
function figures() {
  const { picture, view, recording } = player;
  const { moving, radius } = picture.bounds;
  const present = moving.items ?? picture.drawn.filter((item) => item.box || item.visual.soft);
  // The subject is what deforms, if anything does, and else what moves.
  const deforming = present.filter((item) => item.visual.soft);
  const items = deforming.length > 0 ? deforming : present;
  const contacts = recording.contacts[picture.nearest];
  let longest = 0;
  for (let i = 0; i < contacts.length; i += 6) longest = Math.max(longest, Math.hypot(contacts[i + 3], contacts[i + 4], contacts[i + 5]));
  return {
    t: player.t,
    ...frameShare(present, picture.clipFromWorld),
    inside: frameShare(items, picture.clipFromWorld).inside,
    brightness: brightness(items),
    longestArrow: Math.min(longest * view.metresPerNewton, view.longestArrow) / radius,
    glError: picture.gl.getError(),
    overprints: overprints(),
  };
}
