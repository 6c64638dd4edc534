// Boxes around what is drawn: of the scene, for the lengths of arrows and the light, and of what moves in it, for the camera.

// Bounding box of points (x, y, z in sequence).
function boxAround(positions) {
  const box = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
  for (let i = 0; i < positions.length; i++) {
    box.low[i % 3] = Math.min(box.low[i % 3], positions[i]);
    box.high[i % 3] = Math.max(box.high[i % 3], positions[i]);
  }
  return box;
}

const corners = ({ low, high }) => Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => (i >> axis & 1 ? high : low)[axis]));
const boxCenter = ({ low, high }) => scale(add(low, high), 0.5);
// A box three times as large around the same centre.
const surroundings = ({ low, high }) => ({ low: low.map((x, i) => 2 * x - high[i]), high: high.map((x, i) => 2 * x - low[i]) });
const boxRadius = ({ low, high }) => length(sub(high, low)) / 2;

// Mean of points (x, y, z in sequence); null of none.
function meanOf(points) {
  const sum = [0, 0, 0];
  for (let i = 0; i < points.length; i++) sum[i % 3] += points[i];
  return points.length > 0 ? scale(sum, 3 / points.length) : null;
}

// Bounding box of an item at frame k, or null if it is empty.
function boxAtFrame({ visual, box }, { bodies }, k) {
  const at = { k, next: k, s: 0 };
  if (visual.soft) {
    const { origin, step, frames } = visual.soft;
    if (frames[k].points.length === 0) return null;
    const { low, high } = boxAround(frames[k].points);
    const r = visual.shape.radius ?? 0;
    return { low: low.map((x, i) => origin[i] + step * x - r), high: high.map((x, i) => origin[i] + step * x + r) };
  }
  const body = visual.body === null ? IDENTITY : bodyPose(bodies[visual.body].poses, at);
  const { position, rotation } = poseProduct(body, visual.pose);
  return boxAround(corners(box).flatMap((corner) => add(position, rotated(rotation, corner))));
}

function bounded(boxes) {
  const { low, high } = boxAround(boxes.flatMap((box) => [...box.low, ...box.high]));
  return { boxes, low, high, center: boxCenter({ low, high }), radius: Math.max(boxRadius({ low, high }), 1e-6) };
}

// The box that contains `boxes`, unless a few of them are far from the others: then that which contains most of them.
function usualBox(boxes) {
  const share = Math.floor(0.12 * boxes.length);
  const usual = { low: [0, 0, 0], high: [0, 0, 0] };
  for (const axis of [0, 1, 2]) {
    const lows = boxes.map(({ low }) => low[axis]).sort((a, b) => a - b);
    const highs = boxes.map(({ high }) => high[axis]).sort((a, b) => a - b);
    const most = highs.at(-1 - share) - lows[share];
    const room = 1.5 * most + 1e-9;
    usual.low[axis] = lows[share] - lows[0] < room ? lows[0] : lows[share];
    usual.high[axis] = highs.at(-1) - highs.at(-1 - share) < room ? highs.at(-1) : highs.at(-1 - share);
  }
  return usual;
}

// Of the recording's frames, evenly chosen.
const FRAMES_LOOKED_AT = 40;
// Of the scene's radius: what moves less stands still.
const STILL = 0.01;

// Of the radius of what moves: things that are not larger and not farther from it are in the picture with it.
const COMPANION = 1;

// Distance of two boxes along the axis on which they are farthest apart; negative where they overlap.
const gap = (a, b) => Math.max(...[0, 1, 2].map((axis) => Math.max(a.low[axis] - b.high[axis], b.low[axis] - a.high[axis])));

// Bounds of the scene, without items far from the others: boxes of the items, their common box and ball, and under `moving` the same of what moves
// and of the things beside it; its `items` are those that move.
function sceneBounds(drawn, recording) {
  const count = Math.min(recording.times.length, FRAMES_LOOKED_AT);
  const frames = Array.from({ length: count }, (_, i) => Math.round((i * (recording.times.length - 1)) / Math.max(1, count - 1)));
  const seen = [];
  for (const item of drawn) {
    if (!item.visual.soft && !item.box) continue;
    const looked = item.visual.soft || item.visual.body !== null ? frames : frames.slice(0, 1);
    const over = looked.map((k) => boxAtFrame(item, recording, k)).filter(Boolean);
    if (over.length > 0) seen.push({ item, over, box: usualBox(over) });
  }
  if (seen.length === 0) {
    const nothing = bounded([{ low: [-1, -1, 0], high: [1, 1, 1] }]);
    return { ...nothing, moving: nothing };
  }
  const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
  const typical = [0, 1, 2].map((axis) => median(seen.map(({ box }) => boxCenter(box)[axis])));
  const reach = ({ low, high }) => Math.max(length(sub(low, typical)), length(sub(high, typical)));
  const limit = 8 * median(seen.map(({ box }) => reach(box)));
  const near = seen.filter(({ box }) => reach(box) <= limit);
  const bounds = bounded(near.map(({ box }) => box));
  const travel = ({ low, high }, first) => Math.max(...[0, 1, 2].flatMap((i) => [Math.abs(low[i] - first.low[i]), Math.abs(high[i] - first.high[i])]));
  const moves = ({ item, over }) => over.some((box) => travel(box, over[0]) > STILL * bounds.radius) || (item.visual.soft && over.length > 1);
  const moving = near.filter(moves);
  if (moving.length === 0) return { ...bounds, moving: bounds };
  const subject = bounded(moving.map(({ box }) => box));
  const isBeside = ({ box }) => boxRadius(box) <= COMPANION * subject.radius && gap(box, subject) <= 0.1 * subject.radius;
  const beside = near.filter((one) => !moving.includes(one) && isBeside(one));
  return { ...bounds, moving: { ...bounded([...moving, ...beside].map(({ box }) => box)), items: moving.map(({ item }) => item) } };
}
