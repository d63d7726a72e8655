// What graphics code leans on: interpolation, fractions, saturation, select chains, packing to bytes.
float4 tone(float4 c, float k) { return clamp(c * k, 0.0f, 1.0f); }

__kernel void shading(__global const float4* a, __global const float4* b, __global float4* out,
                      __global uchar4* pixels, float t) {
  uint i = get_global_id(0);
  float4 x = a[i], y = b[i];
  float4 blend = mix(x, y, t);
  float4 whole;
  float4 part = fract(x * 4.0f, &whole);
  float4 ramp = smoothstep((float4)(0.0f), (float4)(1.0f), y);
  float4 lit = tone(blend + part, 1.5f) * (x.w > 0.5f ? ramp : step(x, y));
  float light = clamp(dot(x, y), 0.0f, 1.0f);
  out[i * 2] = lit;
  out[i * 2 + 1] = whole + (float4)(light, fmax(x.x, fmin(y.y, 0.25f)), sign(x.z - 0.5f), fabs(y.w));
  pixels[i] = convert_uchar4_sat_rte(blend * 300.0f - 20.0f);
}
