//go:build !purego

#include "split.h"

/* Sixteen values at a time. Interleaving the bytes of the first half of some memory
 * with those of the second turns the number of each byte, in binary, by one place to
 * the left. A byte is at value * width + k: four turns bring k before value, and as
 * many turns as k has places bring it back. */
enum { LANES = 16, PLACES = 4 };

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __attribute__((always_inline)) void turn(__m128i *r, int width, int times) {
  __m128i next[8];
  for (int t = 0; t < times; t++) {
    for (int j = 0; j < width / 2; j++) {
      next[2 * j] = _mm_unpacklo_epi8(r[j], r[j + width / 2]);
      next[2 * j + 1] = _mm_unpackhi_epi8(r[j], r[j + width / 2]);
    }
    for (int j = 0; j < width; j++) r[j] = next[j];
  }
}

static inline __attribute__((always_inline)) int64_t split_lanes(unsigned char *to, const unsigned char *from, int width, int64_t count) {
  __m128i r[8];
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int j = 0; j < width; j++) r[j] = _mm_loadu_si128((const __m128i *)(from + i * width) + j);
    turn(r, width, PLACES);
    for (int j = 0; j < width; j++) _mm_storeu_si128((__m128i *)(to + j * count + i), r[j]);
  }
  return i;
}

static inline __attribute__((always_inline)) int64_t join_lanes(unsigned char *to, const unsigned char *from, int width, int places, int64_t all, int64_t count) {
  __m128i r[8];
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int j = 0; j < width; j++) r[j] = _mm_loadu_si128((const __m128i *)(from + j * all + i));
    turn(r, width, places);
    for (int j = 0; j < width; j++) _mm_storeu_si128((__m128i *)(to + i * width) + j, r[j]);
  }
  return i;
}
#else
static int64_t split_lanes(unsigned char *to, const unsigned char *from, int width, int64_t count) { return 0; }
static int64_t join_lanes(unsigned char *to, const unsigned char *from, int width, int places, int64_t all, int64_t count) { return 0; }
#endif

#define SPLIT(width)                                                           \
  for (int64_t i = split_lanes(to, from, width, count); i < count; i++)        \
    for (int k = 0; k < (width); k++) to[k * count + i] = from[(width) * i + k]

#define JOIN(width, places)                                                         \
  for (int64_t i = join_lanes(to, from, width, places, all, count); i < count; i++) \
    for (int k = 0; k < (width); k++) to[(width) * i + k] = from[k * all + i]

void kernel_split(void *dst, const void *src, int64_t width, int64_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  switch (width) {
    case 2: SPLIT(2); break;
    case 4: SPLIT(4); break;
    case 8: SPLIT(8); break;
  }
}

void kernel_join(void *dst, const void *src, int64_t width, int64_t all, int64_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  switch (width) {
    case 2: JOIN(2, 1); break;
    case 4: JOIN(4, 2); break;
    case 8: JOIN(8, 3); break;
  }
}
