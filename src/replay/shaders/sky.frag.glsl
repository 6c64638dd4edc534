// The background.
out vec4 color;
void main() { color = vec4(screen(background()), 1.0); }
