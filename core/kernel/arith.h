#ifndef INFEED_ARITH_H
#define INFEED_ARITH_H

#include <stdint.h>

/* The operations of arith.go, in that order. d may be a or b. */
enum { ARITH_ADD, ARITH_SUBTRACT, ARITH_MULTIPLY, ARITH_DIVIDE };

/* d[i] = a[i] op b[i] for n values. */
void kernel_arith_f32(int op, void *d, const void *a, const void *b, int64_t n);
void kernel_arith_f64(int op, void *d, const void *a, const void *b, int64_t n);

/* The pairs of arith.go, in that order. */
enum { CONVERT_U8_F32, CONVERT_U8_F64, CONVERT_I32_F32, CONVERT_I64_F32, CONVERT_F32_F64, CONVERT_F64_F32 };

/* d[i] = a[i] converted, for n values. */
void kernel_convert(int pair, void *d, const void *a, int64_t n);

#endif
