#ifndef INFEED_GATHER_H
#define INFEED_GATHER_H

#include <stdint.h>

/* Copies count rows of row bytes: row i of dst becomes row index[i] of src. The
 * caller has checked that all of them are there and fit. */
void kernel_gather(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count);

/* The same the other way: row i of src becomes row index[i] of dst. */
void kernel_scatter(void *dst, const void *src, int64_t row, const int64_t *index, int64_t count);

/* The size of the strings with the given numbers: string i is data[starts[i]:ends[i]],
 * strings of them in size bytes. -1 where one is not inside. */
int64_t kernel_text_bytes(const void *data, int64_t size, const int64_t *starts, const int64_t *ends, int64_t strings,
                          const int64_t *index, int64_t count);

/* Copies these strings to dst, one after the other, and says where they are: dst is at
 * the offset at. */
void kernel_gather_text(void *dst, int64_t at, int64_t *new_starts, int64_t *new_ends, const void *data,
                        const int64_t *starts, const int64_t *ends, const int64_t *index, int64_t count);

#endif
