// A ball drawn on a square: normal and depth at each pixel. As a splat it leaves its depth and colour for a surface of many.
in vec3 v_center;
in vec2 v_square;
in float v_value;
uniform mat4 u_clipFromWorld;
uniform vec3 u_right, u_up;
uniform float u_radius;
#ifdef SPLAT
layout(location = 0) out float depth;
layout(location = 1) out vec4 tint;
#else
out vec4 color;
#endif
#ifdef DEPTH_ONLY
uniform vec4 u_id;
#endif

void main() {
  float r2 = dot(v_square, v_square);
  if (r2 > 1.0) discard;
  vec3 n = v_square.x * u_right + v_square.y * u_up + sqrt(1.0 - r2) * cross(u_right, u_up);
  vec3 p = v_center + u_radius * n;
  vec4 clip = u_clipFromWorld * vec4(p, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
#ifdef DEPTH_ONLY
  color = u_id;
#elif defined(SPLAT)
  depth = clip.w;
  tint = vec4(paint(v_value), 1.0);
#else
  vec3 srgb = paint(v_value);
  color = vec4(screen(shaded(linear(srgb), p, n)), u_color.a);
#endif
}
