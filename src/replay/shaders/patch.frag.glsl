// A contact patch, by its pressure; without light, for it lies between bodies.
in float v_value;
out vec4 color;

void main() {
  color = vec4(paint(v_value), u_color.a);
}
