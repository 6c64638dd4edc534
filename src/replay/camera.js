// A camera that orbits a target, z up. Angles in radians, lengths in metres.

const FIELD_OF_VIEW = 0.6; // of a camera that says nothing of it
// Width over height of the windows for which scenes place an eye.
const ASPECT_OF_EYES = 1.5;

class OrbitCamera {
  constructor() {
    this.target = [0, 0, 0];
    this.distance = 3;
    this.azimuth = -0.9;
    this.elevation = 0.36;
    this.fieldOfView = FIELD_OF_VIEW;
    this.leastAspect = 1; // In narrower windows the width in view is kept, instead of the height.
  }

  // Looks along a slope that descends to the right.
  faceSlope(normal) {
    this.azimuth = Math.atan2(normal[1], normal[0]) - Math.PI / 2 + 0.4;
    this.elevation = 0.2;
  }

  // Moves so that points fill the picture, with a margin for the text over it.
  fit(points, aspect) {
    const right = [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0];
    const up = cross(this.back, right);
    const tall = 0.8 * Math.tan(this.fieldOfView / 2);
    const wide = 0.84 * Math.tan(this.fieldOfView / 2) * Math.max(aspect, 1);
    this.target = points[0];
    // Target and distance depend on each other: a fixed-point iteration, which converges in a few rounds.
    for (let round = 0; round < 6; round++) {
      const seen = points.map((point) => {
        const from = sub(point, this.target);
        return { x: dot(from, right), y: dot(from, up), near: dot(from, this.back) };
      });
      this.distance = Math.max(1e-6, ...seen.map(({ x, y, near }) => Math.max(Math.abs(x) / wide, Math.abs(y) / tall) + near));
      const midpoint = (coordinate) => {
        const all = seen.map((point) => coordinate(point) / (this.distance - point.near));
        return (this.distance * (Math.min(...all) + Math.max(...all))) / 2;
      };
      const shift = [midpoint(({ x }) => x), midpoint(({ y }) => y)];
      this.target = add(this.target, add(scale(right, shift[0]), scale(up, shift[1])));
    }
  }

  lookFrom(eye, target) {
    this.target = target;
    this.distance = length(sub(eye, target)) || 1;
    this.leastAspect = ASPECT_OF_EYES;
    this.faceAlong(sub(eye, target));
  }

  // Turns so that the eye is in direction `away` from the target.
  faceAlong(away) {
    const size = length(away) || 1;
    this.azimuth = Math.atan2(away[1], away[0]);
    this.elevation = clamp(Math.asin(clamp(away[2] / size, -1, 1)), -1.55, 1.55);
  }

  get back() {
    const c = Math.cos(this.elevation);
    return [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), Math.sin(this.elevation)];
  }

  get eye() {
    return add(this.target, scale(this.back, this.distance));
  }

  matrices(aspect, sceneRadius) {
    const near = this.distance / 100;
    const far = this.distance + 60 * sceneRadius;
    const field = 2 * Math.atan(Math.tan(this.fieldOfView / 2) * Math.max(1, this.leastAspect / aspect));
    const view = lookAt(this.eye, this.target, [0, 0, 1]);
    return { view, projection: perspective(field, aspect, near, far) };
  }

  // Movements of the pointer, in CSS pixels of a picture `height` high.
  turn(dx, dy, height) {
    this.azimuth -= (3.2 * dx) / height;
    this.elevation = clamp(this.elevation + (3.2 * dy) / height, -1.55, 1.55);
  }

  shift(dx, dy, height) {
    const perPixel = (2 * this.distance * Math.tan(this.fieldOfView / 2)) / height;
    const right = [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0];
    const up = cross(this.back, right);
    this.target = add(this.target, add(scale(right, -dx * perPixel), scale(up, dy * perPixel)));
  }

  zoom(factor) {
    this.distance *= factor;
  }
}

// One pointer rotates the camera, or moves it with shift or another button; two pointers zoom and move. Calls `changed` after each movement.
function steerWithPointer(canvas, camera, changed) {
  const held = new Map();
  const height = () => canvas.clientHeight || 1;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.clientX, event.clientY]);
    canvas.classList.add("held");
  });
  const release = (event) => {
    held.delete(event.pointerId);
    if (held.size === 0) canvas.classList.remove("held");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (held.size === 2) {
      const [, other] = [...held].find(([id]) => id !== event.pointerId);
      const distance = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      camera.zoom(clamp(distance(before) / distance(now), 0.5, 2));
      camera.shift(dx / 2, dy / 2, height());
    } else if (event.shiftKey || event.buttons & 6) camera.shift(dx, dy, height());
    else camera.turn(dx, dy, height());
    held.set(event.pointerId, now);
    changed();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(clamp(event.deltaY, -120, 120) * (event.ctrlKey ? 0.008 : 0.0015)));
    changed();
  }, { passive: false });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
}
