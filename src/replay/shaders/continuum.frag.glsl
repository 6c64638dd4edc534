// The surface of a continuum from its smoothed depth: lit as a body, or as a liquid that lets through what is behind it.
uniform highp sampler2D u_depths, u_tints;
uniform mat4 u_clipFromWorld;
uniform vec3 u_right, u_up;
uniform vec2 u_spread;   // width and height of the picture at a depth of 1, halves
uniform float u_liquid;  // 0 or 1
uniform float u_bias;    // m
out vec4 color;

// A straight edge has a half of its neighbourhood covered, a ball that sticks out of it less.
const float COVERED = 0.4;

vec3 placeAt(ivec2 pixel, float depth) {
  vec2 ndc = 2.0 * (vec2(pixel) + 0.5) / vec2(textureSize(u_depths, 0)) - 1.0;
  return u_eye + depth * (ndc.x * u_spread.x * u_right + ndc.y * u_spread.y * u_up - cross(u_right, u_up));
}

// Pixels to each side over which a slope is taken where they lie on one surface; single pixels are noisy where it is seen at a flat angle.
const int REACH = 4;
// Of the bias: depths that are less apart lie on one surface.
const float JOINED = 2.5;

// Difference of places across a pixel; at an edge to its neighbour, on the side where the depth changes less.
vec3 slope(ivec2 at, float here, ivec2 axis) {
  for (int reach = REACH; reach > 0; reach /= 2) {
    ivec2 away = reach * axis;
    float before = texelFetch(u_depths, at - away, 0).r, after = texelFetch(u_depths, at + away, 0).r;
    bool joined = before > 0.0 && after > 0.0 && max(abs(before - here), abs(after - here)) < JOINED * u_bias;
    if (joined) return placeAt(at + away, after) - placeAt(at - away, before);
  }
  float before = texelFetch(u_depths, at - axis, 0).r, after = texelFetch(u_depths, at + axis, 0).r;
  bool hasBefore = before > 0.0, hasAfter = after > 0.0;
  if (!hasBefore && !hasAfter) return placeAt(at + axis, here) - placeAt(at, here);
  if (!hasAfter || (hasBefore && abs(before - here) < abs(after - here))) return placeAt(at, here) - placeAt(at - axis, before);
  return placeAt(at + axis, after) - placeAt(at, here);
}

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float here = texelFetch(u_depths, at, 0).r;
  vec4 tint = texelFetch(u_tints, at, 0);
  if (here <= 0.0 || tint.a < COVERED) discard;
  vec3 p = placeAt(at, here);
  vec3 n = normalize(cross(slope(at, here, ivec2(1, 0)), slope(at, here, ivec2(0, 1))));
  vec4 clip = u_clipFromWorld * vec4(p, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 albedo = linear(tint.rgb);
  vec3 lit = shaded(albedo, p + u_bias * n, n); // outside the balls that cast shadows
  float opacity = 1.0;
  if (u_liquid > 0.5) {
    vec3 towardsEye = normalize(u_eye - p);
    float facing = clamp(dot(n, towardsEye), 0.0, 1.0);
    // Schlick (1994), with the index of refraction of water.
    float mirrored = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    float glint = pow(max(dot(n, normalize(u_sun + towardsEye)), 0.0), 160.0);
    lit = mix(lit, 1.6 * u_skyColor + 0.25 * u_bounceColor, mirrored) + 0.8 * glint * u_sunColor;
    opacity = mix(0.72, 0.96, mirrored);
  }
  color = vec4(screen(lit), opacity);
}
