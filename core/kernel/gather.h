#ifndef INFEED_GATHER_H
#define INFEED_GATHER_H

#include <stdint.h>

/* Copies count rows of row bytes: row i of dst becomes row index[i] of src, where rows
 * begin stride bytes apart. The caller has checked that all of them are there and fit. */
void kernel_gather(void *dst, const void *src, int64_t row, int64_t stride, const int64_t *index, int64_t count);

/* The same the other way: row i of src becomes row index[i] of dst, where rows begin
 * stride bytes apart. */
void kernel_scatter(void *dst, const void *src, int64_t row, int64_t stride, const int64_t *index, int64_t count);

/* The size of count strings: string i is data[starts[i]:ends[i]], in size bytes. -1
 * where one is not inside. */
int64_t kernel_text_bytes(const void *data, int64_t size, const int64_t *starts, const int64_t *ends, int64_t count);

/* Copies these strings to dst, one after the other. starts and ends say then where they
 * are: dst is at the offset at. */
void kernel_copy_text(void *dst, int64_t at, int64_t *starts, int64_t *ends, int64_t count, const void *data);

#endif
