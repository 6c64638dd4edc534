// Smooths the depth of splats along one axis of the picture, and their colours with it. Depths out of a narrow range do not count, so that edges stay.
// The opacity of the colour is the share of the neighbourhood that is covered.
// Source: Truong and Yuksel (2018), "A narrow-range filter for screen-space fluid rendering".
uniform highp sampler2D u_depths, u_tints;
uniform ivec2 u_axis;
uniform float u_focus;    // pixels of a length of 1 at a depth of 1
uniform float u_width;    // m, standard deviation of the filter
uniform float u_range;    // m, of depth
layout(location = 0) out float depth;
layout(location = 1) out vec4 tint;

const int TAPS = 14; // to each side

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float here = texelFetch(u_depths, at, 0).r;
  tint = texelFetch(u_tints, at, 0);
  depth = here;
  if (here <= 0.0) return;
  ivec2 size = textureSize(u_depths, 0);
  float sigma = clamp(u_width * u_focus / here, 0.6, 24.0);
  int stride = int(ceil(2.0 * sigma / float(TAPS)));
  int reach = min(TAPS, int(ceil(2.0 * sigma / float(stride))));
  float total = 1.0, sum = here, tints = 1.0, all = 1.0, covered = tint.a;
  for (int side = -1; side <= 1; side += 2) {
    for (int i = 1; i <= TAPS; i++) {
      if (i > reach) break;
      ivec2 there = at + side * i * stride * u_axis;
      if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) break;
      float d = texelFetch(u_depths, there, 0).r;
      vec4 paint = texelFetch(u_tints, there, 0);
      float far = float(i * stride) / sigma;
      float weight = exp(-0.5 * far * far);
      all += weight;
      covered += weight * paint.a;
      if (d <= 0.0 || d < here - u_range) continue;
      total += weight;
      sum += weight * min(d, here + u_range);
      if (d < here + u_range) {
        tints += weight;
        tint.rgb += weight * paint.rgb;
      }
    }
  }
  depth = sum / total;
  tint = vec4(tint.rgb / tints, covered / all);
}
