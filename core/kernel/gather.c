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
