#ifndef INFEED_FEISTEL_H
#define INFEED_FEISTEL_H

#include <stdint.h>

/* Makes dst the images of count numbers from start on under the bijection of [0, n) that
 * package rng describes: the lower half of a number has low_bits bits, the upper one
 * high_bits, at most 32 each; keys are what each of 8 rounds xors, then adds. */
void kernel_feistel(int64_t *dst, int64_t count, uint64_t start, uint64_t n, uint32_t low_bits, uint32_t high_bits,
                    const uint32_t *keys);

#endif
