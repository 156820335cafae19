//go:build !purego

#include "checksum.h"

#if defined(__x86_64__)

#include <immintrin.h>
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

// What follows does two kinds of work side by side, as the processor can: it multiplies
// polynomials over one part of a block, and has its instruction for checksums take three
// other parts, one word of each in turn.
//
// Multiplying moves a remainder of 128 bits forward over so many bits: by FAR to where
// the same register is next, by NEAR to the register beside it. MOVE_n moves a checksum
// over n of the three parts. All of these are powers of x modulo the polynomial, bits
// reversed.
enum { WIDE = 128, LANE = 40, ROUNDS = 66, BLOCK = ROUNDS * (WIDE + 3 * LANE) };

#define FAR_LOW 0x6992cea2
#define FAR_HIGH 0x0d3b6092
#define NEAR_LOW 0xf20c0dfe
#define NEAR_HIGH 0x14cd00bd6
#define MOVE_1 0x2e7d11a7
#define MOVE_2 0x7959fe2a
#define MOVE_3 0x96eabc10

#define VEC __attribute__((target("avx2,pclmul,vpclmulqdq,sse4.2")))

VEC static inline __m256i far_on(__m256i r, __m256i by, const uint8_t *p) {
	__m256i moved = _mm256_xor_si256(_mm256_clmulepi64_epi128(r, by, 0x00), _mm256_clmulepi64_epi128(r, by, 0x11));
	return _mm256_xor_si256(moved, _mm256_loadu_si256((const __m256i *)p));
}

VEC static inline __m128i near_on(__m128i r, __m128i next) {
	const __m128i by = _mm_set_epi64x(NEAR_HIGH, NEAR_LOW);
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(r, by, 0x00), _mm_clmulepi64_si128(r, by, 0x11)), next);
}

VEC static inline uint32_t moved(uint64_t c, uint64_t by) {
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)c), _mm_cvtsi64_si128((int64_t)by), 0);
	return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

// block goes on with a checksum over BLOCK bytes.
VEC static uint32_t block(uint32_t before, const uint8_t *p) {
	const __m256i by = _mm256_set_epi64x(FAR_HIGH, FAR_LOW, FAR_HIGH, FAR_LOW);
	const uint8_t *part = p + ROUNDS * WIDE;
	uint64_t a = 0, b = 0, c = 0;
	__m256i r[4];
	for (int i = 0; i < 4; i++) r[i] = _mm256_loadu_si256((const __m256i *)p + i);
	r[0] = _mm256_xor_si256(r[0], _mm256_set_epi64x(0, 0, 0, before));
	for (int round = 1;; round++) {
		for (int i = 0; i < LANE; i += 8) {
			a = _mm_crc32_u64(a, load64(part + i));
			b = _mm_crc32_u64(b, load64(part + i + ROUNDS * LANE));
			c = _mm_crc32_u64(c, load64(part + i + 2 * ROUNDS * LANE));
		}
		part += LANE;
		if (round == ROUNDS) break;
		p += WIDE;
		for (int i = 0; i < 4; i++) r[i] = far_on(r[i], by, p + 32 * i);
	}
	__m128i x = near_on(_mm256_castsi256_si128(r[0]), _mm256_extracti128_si256(r[0], 1));
	for (int i = 1; i < 4; i++)
		x = near_on(near_on(x, _mm256_castsi256_si128(r[i])), _mm256_extracti128_si256(r[i], 1));
	uint64_t wide = _mm_crc32_u64(_mm_crc32_u64(0, (uint64_t)_mm_extract_epi64(x, 0)), (uint64_t)_mm_extract_epi64(x, 1));
	return moved(wide, MOVE_3) ^ moved(a, MOVE_2) ^ moved(b, MOVE_1) ^ (uint32_t)c;
}

int64_t kernel_checksum(const uint8_t *data, int64_t n) {
	if (!__builtin_cpu_supports("vpclmulqdq") || !__builtin_cpu_supports("avx2")) return -1;
	const uint8_t *end = data + n;
	uint32_t c = 0xffffffff;
	for (; end - data >= BLOCK; data += BLOCK) c = block(c, data);
	return rest(c, data, end);
}

#else

int64_t kernel_checksum(const uint8_t *data, int64_t n) {
	return -1;
}

int64_t kernel_corrupt(const uint8_t *data, const int64_t *starts, const int64_t *ends, int64_t n) {
	return -1;
}

#endif
