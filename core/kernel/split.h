#ifndef INFEED_SPLIT_H
#define INFEED_SPLIT_H

#include <stdint.h>

/* Takes count values of width bytes (2, 4 or 8) apart: first byte 0 of all, then
 * byte 1 of all, and so on. dst and src do not overlap. */
void kernel_split(void *dst, const void *src, int64_t width, int64_t count);

/* The same the other way, for count of all values: src is at byte 0 of the first. */
void kernel_join(void *dst, const void *src, int64_t width, int64_t all, int64_t count);

#endif
