//go:build !purego

#include "checksum.h"

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <string.h>

#define SSE __attribute__((target("sse4.2")))

static inline uint64_t load64(const uint8_t *p) {
	uint64_t v;
	memcpy(&v, p, 8);
	return v;
}

// rest goes on with a checksum over the last bytes of a text.
SSE static inline uint32_t rest(uint64_t c, const uint8_t *p, const uint8_t *end) {
	for (; end - p >= 8; p += 8) c = _mm_crc32_u64(c, load64(p));
	for (; p < end; p++) c = _mm_crc32_u8((uint32_t)c, *p);
	return ~(uint32_t)c;
}

static inline int corrupt(uint32_t c, const uint8_t *stored) {
	uint32_t want;
	memcpy(&want, stored, 4);
	return (uint32_t)((c >> 15 | c << 17) + 0xa282ead8) != want;
}

// The instruction takes three cycles and can be begun each cycle: three texts are done
// side by side, as far as the shortest goes.
SSE static int64_t corrupt_sse(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t n) {
	int64_t i = 0;
	for (; n - i >= 3; i += 3) {
		const uint8_t *p[3], *end[3];
		int64_t words = INT64_MAX;
		for (int k = 0; k < 3; k++) {
			p[k] = data + starts[i + k], end[k] = data + ends[i + k];
			int64_t w = (end[k] - p[k]) / 8;
			if (w < words) words = w;
		}
		uint64_t a = 0xffffffff, b = a, c = a;
		for (int64_t w = 0; w < words; w++) {
			a = _mm_crc32_u64(a, load64(p[0] + 8 * w));
			b = _mm_crc32_u64(b, load64(p[1] + 8 * w));
			c = _mm_crc32_u64(c, load64(p[2] + 8 * w));
		}
		if (corrupt(rest(a, p[0] + 8 * words, end[0]), end[0])) return i;
		if (corrupt(rest(b, p[1] + 8 * words, end[1]), end[1])) return i + 1;
		if (corrupt(rest(c, p[2] + 8 * words, end[2]), end[2])) return i + 2;
	}
	for (; i < n; i++) {
		const uint8_t *end = data + ends[i];
		if (corrupt(rest(0xffffffff, data + starts[i], end), end)) return i;
	}
	return n;
}

int64_t kernel_corrupt(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t n) {
	if (!__builtin_cpu_supports("sse4.2")) return -1;
	return corrupt_sse(data, starts, ends, n);
}

#else

int64_t kernel_corrupt(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t n) {
	return -1;
}

#endif
