//go:build !purego

#include "gather.h"

#include <string.h>

/* Rows lie anywhere, so each costs a trip to memory; asking for them some rows
 * ahead lets several trips overlap. Small rows are asked for further ahead. Of a
 * long row only the beginning is asked for: the processor then sees the run. */
enum { LINE = 64, AHEAD_BYTES = 4096, MOST_AHEAD = 32, MOST_LINES = 16 };

#define GATHER_WORDS(type)                                                     \
  do {                                                                         \
    type *to = dst;                                                            \
    for (int64_t i = 0; i < count; i++) {                                      \
      if (i + MOST_AHEAD < count)                                              \
        __builtin_prefetch(from + index[i + MOST_AHEAD] * (int64_t)sizeof *to); \
      memcpy(to + i, from + index[i] * (int64_t)sizeof *to, sizeof *to);       \
    }                                                                          \
  } while (0)

static void gather_rows(unsigned char *to, const unsigned char *from, int64_t row, const int64_t *index,
                        int64_t count) {
  int64_t lines = (row + LINE - 1) / LINE, ahead = AHEAD_BYTES / row;
  if (lines > MOST_LINES) lines = MOST_LINES;
  if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
  if (ahead < 1) ahead = 1;
  for (int64_t i = 0; i < count; i++) {
    if (i + ahead < count) {
      const unsigned char *next = from + index[i + ahead] * row;
      for (int64_t line = 0; line < lines; line++) __builtin_prefetch(next + line * LINE);
    }
    memcpy(to + i * row, from + index[i] * row, (size_t)row);
  }
}

void kernel_gather(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count) {
  const unsigned char *from = src;
  switch (row) {
  case 1: GATHER_WORDS(uint8_t); break;
  case 2: GATHER_WORDS(uint16_t); break;
  case 4: GATHER_WORDS(uint32_t); break;
  case 8: GATHER_WORDS(uint64_t); break;
  default: gather_rows(dst, from, row, index, count);
  }
}

void kernel_scatter(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  int64_t lines = (row + LINE - 1) / LINE, ahead = AHEAD_BYTES / row;
  if (lines > MOST_LINES) lines = MOST_LINES;
  if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
  if (ahead < 1) ahead = 1;
  for (int64_t i = 0; i < count; i++) {
    if (i + ahead < count) {
      const unsigned char *next = to + index[i + ahead] * row;
      for (int64_t line = 0; line < lines; line++) __builtin_prefetch(next + line * LINE, 1);
    }
    if (row == 8) memcpy(to + index[i] * 8, from + i * 8, 8);
    else memcpy(to + index[i] * row, from + i * row, (size_t)row);
  }
}

int64_t kernel_text_bytes(const void *data, int64_t size, const int64_t *starts, const int64_t *ends, int64_t strings,
                          const int64_t *index, int64_t count) {
  const unsigned char *from = data;
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; i++) {
    if (i + MOST_AHEAD < count) {
      __builtin_prefetch(starts + index[i + MOST_AHEAD]);
      __builtin_prefetch(ends + index[i + MOST_AHEAD]);
    }
    int64_t k = index[i];
    if (k < 0 || k >= strings || starts[k] < 0 || starts[k] > ends[k] || ends[k] > size) return -1;
    __builtin_prefetch(from + starts[k]); /* it is copied soon */
    bytes += ends[k] - starts[k];
  }
  return bytes;
}

void kernel_gather_text(void *dst, int64_t at, int64_t *new_starts, int64_t *new_ends, const void *data,
                        const int64_t *starts, const int64_t *ends, const int64_t *index, int64_t count) {
  const unsigned char *from = data;
  unsigned char *to = dst;
  for (int64_t i = 0; i < count; i++) {
    int64_t start = starts[index[i]], bytes = ends[index[i]] - start;
    memcpy(to, from + start, (size_t)bytes);
    new_starts[i] = at;
    new_ends[i] = at += bytes;
    to += bytes;
  }
}
