// Sun with soft shadows, sky and bounced light; everything in linear colour until `screen`.
uniform vec3 u_eye;
uniform vec3 u_sun;             // towards the sun, unit length
uniform vec3 u_sunColor, u_skyColor, u_bounceColor;
uniform vec3 u_horizon, u_zenith;
uniform float u_height;         // of the picture, pixels
uniform mat4 u_shadowFromWorld; // to -1..1 in all three
uniform float u_shadowTexel;    // m
uniform float u_shadowRange;    // depth of the sun's view, m
uniform sampler2D u_shadowDepth;
uniform mediump sampler2DShadow u_shadowTest;

uniform vec4 u_color;           // of the body: sRGB and opacity
uniform float u_useValue;       // 1 if values colour the body:
uniform vec3 u_ramp[5];         // sRGB

// The colour of a value in 0..1, or of no value (below 0).
vec3 paint(float value) {
  if (u_useValue < 0.5 || value < 0.0) return u_color.rgb;
  float s = clamp(value, 0.0, 1.0) * 4.0;
  int i = int(min(s, 3.0));
  return mix(u_ramp[i], u_ramp[i + 1], s - float(i));
}

vec3 linear(vec3 srgb) { return pow(srgb, vec3(2.2)); }

// Background by height on the screen.
vec3 background() {
  return mix(u_horizon, u_zenith, smoothstep(0.35, 1.0, gl_FragCoord.y / u_height));
}

// Tone mapping avoids clipped highlights; noise avoids banding.
vec3 screen(vec3 color) {
  vec3 rolled = mix(color, 1.0 - exp(-color), smoothstep(0.6, 1.6, max(color.r, max(color.g, color.b))));
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  return pow(rolled, vec3(1.0 / 2.2)) + noise / 255.0;
}

vec2 spiral(int i, int n, float turn) {
  float angle = 2.39996323 * float(i) + turn;
  return sqrt((float(i) + 0.5) / float(n)) * vec2(cos(angle), sin(angle));
}

// Visible fraction of the sun at p. The penumbra widens with the distance of the occluder.
float sunlight(vec3 p, vec3 n) {
  vec4 at = u_shadowFromWorld * vec4(p + n * (1.5 * u_shadowTexel), 1.0);
  vec3 q = at.xyz * 0.5 + 0.5;
  if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
  float texel = 1.0 / float(textureSize(u_shadowDepth, 0).x);
  float turn = 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float search = 14.0 * texel;
  float blockers = 0.0, depth = 0.0;
  for (int i = 0; i < 10; i++) {
    float d = textureLod(u_shadowDepth, q.xy + search * spiral(i, 10, turn), 0.0).r;
    if (d < q.z - 2.0 * u_shadowTexel / u_shadowRange) { blockers += 1.0; depth += d; }
  }
  if (blockers == 0.0) return 1.0;
  float gap = (q.z - depth / blockers) * u_shadowRange;
  float radius = clamp(0.11 * gap / u_shadowTexel, 1.6, 14.0) * texel;
  float light = 0.0;
  for (int i = 0; i < 20; i++) light += texture(u_shadowTest, vec3(q.xy + radius * spiral(i, 20, turn), q.z));
  return light / 20.0;
}

vec3 shaded(vec3 albedo, vec3 p, vec3 n) {
  vec3 towardsEye = normalize(u_eye - p);
  float facing = max(dot(n, u_sun), 0.0);
  float sun = facing > 0.0 ? facing * sunlight(p, n) : 0.0;
  vec3 around = mix(u_bounceColor, u_skyColor, 0.5 + 0.5 * n.z);
  vec3 halfway = normalize(u_sun + towardsEye);
  float gloss = 0.22 * pow(max(dot(n, halfway), 0.0), 48.0) * sun;
  float rim = pow(1.0 - max(dot(n, towardsEye), 0.0), 4.0);
  return albedo * (sun * u_sunColor + around) + gloss * u_sunColor + 0.10 * rim * u_skyColor;
}
