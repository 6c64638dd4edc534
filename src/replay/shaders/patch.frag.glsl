// A contact patch coloured by pressure, without lighting.
in float v_value;
out vec4 color;

void main() {
  color = vec4(paint(v_value), u_color.a);
}
