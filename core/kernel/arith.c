//go:build !purego

#include "arith.h"

/* Plain loops, which the compiler makes vector instructions of: it may assume that
 * values do not overlap but at the same place. */
#define LOOP(expression)            \
  _Pragma("GCC ivdep")              \
  for (int64_t i = 0; i < n; i++) z[i] = (expression)

#define ARITH(name, type)                                                        \
  void name(int op, void *d, const void *a, const void *b, int64_t n) {          \
    type *z = d;                                                                 \
    const type *x = a, *y = b;                                                   \
    switch (op) {                                                                \
    case ARITH_ADD: LOOP(x[i] + y[i]); break;                                    \
    case ARITH_SUBTRACT: LOOP(x[i] - y[i]); break;                               \
    case ARITH_MULTIPLY: LOOP(x[i] * y[i]); break;                               \
    case ARITH_DIVIDE: LOOP(x[i] / y[i]); break;                                 \
    }                                                                            \
  }

ARITH(kernel_arith_f32, float)
ARITH(kernel_arith_f64, double)

#define CONVERT(from, to)     \
  do {                        \
    const from *x = a;        \
    to *z = d;                \
    LOOP((to)x[i]);           \
  } while (0)

void kernel_convert(int pair, void *d, const void *a, int64_t n) {
  switch (pair) {
  case CONVERT_U8_F32: CONVERT(uint8_t, float); break;
  case CONVERT_U8_F64: CONVERT(uint8_t, double); break;
  case CONVERT_I32_F32: CONVERT(int32_t, float); break;
  case CONVERT_I64_F32: CONVERT(int64_t, float); break;
  case CONVERT_F32_F64: CONVERT(float, double); break;
  case CONVERT_F64_F32: CONVERT(double, float); break;
  }
}
