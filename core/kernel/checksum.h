#ifndef INFEED_KERNEL_CHECKSUM_H
#define INFEED_KERNEL_CHECKSUM_H

#include <stdint.h>

// kernel_corrupt returns the first of n texts of data whose masked CRC-32C is not what
// the four bytes behind it say; n: none; -1: this machine has no instruction for it.
int64_t kernel_corrupt(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t n);

// kernel_checksum returns the CRC-32C of n bytes; -1: this machine has no instructions
// that make it faster than others do.
int64_t kernel_checksum(const uint8_t *data, int64_t n);

#endif
