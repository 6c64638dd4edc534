// The surface of a body: its colour or that of its value, with a marking that makes rotation visible.
in vec3 v_world, v_normal, v_local;
in float v_value;
uniform float u_backShade; // brightness of the back of a sheet
uniform int u_marking;    // 0 none, 1 by octants, 2 by quarters around z
out vec4 color;

// Smooth transition between fields over a pixel.
float side(float x) { return clamp(x / max(fwidth(x), 1e-9), -1.0, 1.0); }

void main() {
  vec3 srgb = paint(v_value);
  vec3 albedo = linear(srgb);
  float field = 1.0;
  if (u_marking > 0) field = side(v_local.x) * side(v_local.y);
  if (u_marking == 1) field *= side(v_local.z);
  albedo *= mix(0.66, 1.0, 0.5 + 0.5 * field);
  if (!gl_FrontFacing) albedo *= u_backShade;
  // Normals follow the orientation of triangles; those of back faces are reversed.
  vec3 n = normalize(gl_FrontFacing ? v_normal : -v_normal);
  color = vec4(screen(shaded(albedo, v_world, n)), u_color.a);
}
