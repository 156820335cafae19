#ifndef INFEED_GATHER_H
#define INFEED_GATHER_H

#include <stdint.h>

/* Copies count rows of row bytes: row i of dst becomes row index[i] of src. The
 * caller has checked that all of them are there and fit. */
void kernel_gather(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count);

/* The same the other way: row i of src becomes row index[i] of dst. */
void kernel_scatter(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count);

#endif
