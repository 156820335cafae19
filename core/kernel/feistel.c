//go:build !purego

#include "feistel.h"

/* Numbers go through each round together, halves in arrays of their own: that is what
 * compilers make vector instructions of. */
enum { CHUNK = 256, ROUNDS = 8 };

#define INLINE static inline __attribute__((always_inline))

INLINE void change(uint32_t *restrict half, const uint32_t *restrict other, int64_t count, uint32_t mask,
                   const uint32_t *key) {
  uint32_t xor = key[0], add = key[1];
  for (int64_t i = 0; i < count; i++) {
    uint32_t x = (other[i] ^ xor) * 0x7feb352d + add;
    x = (x ^ x >> 15) * 0x846ca68b;
    half[i] ^= (x ^ x >> 16) & mask;
  }
}

INLINE void fill(int64_t *dst, int64_t count, uint64_t start, uint64_t n, uint32_t low_bits, uint32_t high_bits,
                 const uint32_t *keys) {
  uint32_t high[CHUNK], low[CHUNK], place[CHUNK];
  uint32_t low_mask = (uint32_t)((1ull << low_bits) - 1), high_mask = (uint32_t)((1ull << high_bits) - 1);
  for (int64_t done = 0; done < count; done += CHUNK) {
    int64_t left = count - done < CHUNK ? count - done : CHUNK;
    for (int64_t i = 0; i < left; i++) {
      uint64_t x = start + (uint64_t)(done + i);
      high[i] = (uint32_t)(x >> low_bits);
      low[i] = (uint32_t)x & low_mask;
      place[i] = (uint32_t)i;
    }
    while (left > 0) { /* those that are outside [0, n) go through once more */
      for (int r = 0; r < ROUNDS; r += 2) {
        change(high, low, left, high_mask, keys + 2 * r);
        change(low, high, left, low_mask, keys + 2 * r + 2);
      }
      int64_t outside = 0;
      for (int64_t i = 0; i < left; i++) {
        uint64_t y = (uint64_t)high[i] << low_bits | low[i];
        dst[done + place[i]] = (int64_t)y;
        high[outside] = high[i], low[outside] = low[i], place[outside] = place[i];
        outside += y >= n;
      }
      left = outside;
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void fill_avx2(int64_t *dst, int64_t count, uint64_t start, uint64_t n,
                                                      uint32_t low_bits, uint32_t high_bits, const uint32_t *keys) {
  fill(dst, count, start, n, low_bits, high_bits, keys);
}
#endif

void kernel_feistel(int64_t *dst, int64_t count, uint64_t start, uint64_t n, uint32_t low_bits, uint32_t high_bits,
                    const uint32_t *keys) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    fill_avx2(dst, count, start, n, low_bits, high_bits, keys);
    return;
  }
#endif
  fill(dst, count, start, n, low_bits, high_bits, keys);
}
