// Ground: shadows, a grid of two line widths, and a gradual transition to the background.
in vec3 v_world;
in vec2 v_local;
uniform vec3 u_groundColor, u_gridColor;
uniform vec3 u_normal;
uniform vec2 u_center;
uniform float u_reach, u_fadeFrom;              // m; as a share of the reach, 1 for a sharp edge
uniform float u_gridUnit, u_gridStrength;       // m; 0 hides the grid
uniform float u_opacity;
uniform float u_shade;                          // brightness in full shadow
out vec4 color;

float lines(float unit, float width) {
  vec2 x = v_local / unit;
  vec2 pixel = fwidth(x);
  vec2 away = abs(fract(x - 0.5) - 0.5) / max(pixel, 1e-9);
  vec2 line = 1.0 - smoothstep(width * 0.5, width * 0.5 + 1.0, away);
  // Lines closer than a few pixels are omitted.
  line *= 1.0 - smoothstep(0.12, 0.4, pixel);
  return max(line.x, line.y);
}

void main() {
  vec2 from = (v_local - u_center) / u_reach;
  float fade = u_fadeFrom < 1.0 ? 1.0 - smoothstep(u_fadeFrom, 0.96, length(from)) : 1.0;
  float facing = max(dot(u_normal, u_sun), 0.0);
  // Shadows are lit by the sky and slightly blue.
  vec3 light = mix(u_shade * vec3(0.96, 0.99, 1.06), vec3(1.0), sunlight(v_world, u_normal) * clamp(facing * 1.25, 0.0, 1.0));
  vec3 ground = u_groundColor * light;
  float grid = max(0.35 * lines(u_gridUnit, 0.1), 0.9 * lines(10.0 * u_gridUnit, 0.6)) * u_gridStrength;
  ground = mix(ground, u_gridColor * light, grid);
  color = vec4(screen(ground), fade * u_opacity);
}
