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
        __builtin_prefetch(from + index[i + MOST_AHEAD] * stride);             \
      memcpy(to + i, from + index[i] * stride, sizeof *to);                    \
    }                                                                          \
  } while (0)

static int64_t rows_ahead(int64_t row) {
  int64_t ahead = AHEAD_BYTES / row;
  return ahead > MOST_AHEAD ? MOST_AHEAD : ahead < 1 ? 1 : ahead;
}

static int64_t lines_ahead(int64_t row) {
  int64_t lines = (row + LINE - 1) / LINE;
  return lines > MOST_LINES ? MOST_LINES : lines;
}

static void gather_rows(unsigned char *to, const unsigned char *from, int64_t row, int64_t stride,
                        const int64_t *index, int64_t count) {
  int64_t lines = lines_ahead(row), ahead = rows_ahead(row);
  for (int64_t i = 0; i < count; i++) {
    if (i + ahead < count) {
      const unsigned char *next = from + index[i + ahead] * stride;
      for (int64_t line = 0; line < lines; line++) __builtin_prefetch(next + line * LINE);
    }
    memcpy(to + i * row, from + index[i] * stride, (size_t)row);
  }
}

void kernel_gather(void *dst, const void *src, int64_t row, int64_t stride, const int64_t *index, int64_t count) {
  const unsigned char *from = src;
  switch (row) {
  case 1: GATHER_WORDS(uint8_t); break;
  case 2: GATHER_WORDS(uint16_t); break;
  case 4: GATHER_WORDS(uint32_t); break;
  case 8: GATHER_WORDS(uint64_t); break;
  default: gather_rows(dst, from, row, stride, index, count);
  }
}

void kernel_scatter(void *dst, const void *src, int64_t row, int64_t stride, const int64_t *index, int64_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  int64_t lines = lines_ahead(row), ahead = rows_ahead(row);
  for (int64_t i = 0; i < count; i++) {
    if (i + ahead < count) {
      const unsigned char *next = to + index[i + ahead] * stride;
      for (int64_t line = 0; line < lines; line++) __builtin_prefetch(next + line * LINE, 1);
    }
    if (row == 8) memcpy(to + index[i] * stride, from + i * 8, 8);
    else memcpy(to + index[i] * stride, from + i * row, (size_t)row);
  }
}

int64_t kernel_text_bytes(const void *data, int64_t size, const int64_t *starts, const int64_t *ends, int64_t count) {
  const unsigned char *from = data;
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; i++) {
    if (starts[i] < 0 || starts[i] > ends[i] || ends[i] > size) return -1;
    __builtin_prefetch(from + starts[i]); /* it is copied soon */
    bytes += ends[i] - starts[i];
  }
  return bytes;
}

void kernel_copy_text(void *dst, int64_t at, int64_t *starts, int64_t *ends, int64_t count, const void *data) {
  const unsigned char *from = data;
  unsigned char *to = dst;
  for (int64_t i = 0; i < count; i++) {
    int64_t start = starts[i], bytes = ends[i] - start;
    memcpy(to, from + start, (size_t)bytes);
    starts[i] = at;
    ends[i] = at += bytes;
    to += bytes;
  }
}
