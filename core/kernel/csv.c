//go:build !purego

#include "csv.h"

#include <string.h>

/* A number is read as csvtext's quick forms do: eight bytes at a time, without a branch
 * for each digit. Fields that they leave to slower ones end a run of plain rows. */

/* Bytes of a number that are looked at without asking. */
enum { REACH = 26 };
/* How far the end of a row is looked for. */
enum { FAR = 512 };

#define ONES 0x0101010101010101u
#define HIGHS 0x8080808080808080u
#define INLINE static inline __attribute__((always_inline))
#define RARELY(x) __builtin_expect(!!(x), 0)

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
#define POWERS(sign)                                                                                            \
  {sign 1e0, sign 1e1, sign 1e2, sign 1e3, sign 1e4, sign 1e5, sign 1e6, sign 1e7, sign 1e8, sign 1e9, sign 1e10, \
   sign 1e11, sign 1e12, sign 1e13, sign 1e14, sign 1e15, sign 1e16, sign 1e17, sign 1e18, sign 1e19, sign 1e20,  \
   sign 1e21, sign 1e22}
static const double exact[2][23] = {POWERS(+), POWERS(-)};

INLINE uint64_t load(const unsigned char *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

/* High bits of bytes that are not digits; the lowest is right. */
INLINE uint64_t marks(uint64_t v) { return ((v + ONES * (0x7f - '9')) | (v - ONES * '0')) & HIGHS; }

INLINE int first(uint64_t m) { return m ? __builtin_ctzll(m) >> 3 : 8; }

/* The number that the first n bytes of v are the digits of, n > 0. */
INLINE uint64_t eight(uint64_t v, int n) {
  const uint64_t pairs = 0x000000ff000000ffu;
  v = (v << (-8 * n & 63)) & (ONES * 0x0f);
  v = v * 10 + (v >> 8);
  return ((v & pairs) * (100 + (1000000ull << 32)) + ((v >> 16) & pairs) * (1 + (10000ull << 32))) >> 32;
}

typedef struct {
  uint64_t digits;
  int64_t power; /* of ten */
  int negative;
} decimal;

/* Digits from p on behind a number *w of *n digits; where they end. */
static const unsigned char *more_digits(const unsigned char *p, const unsigned char *end, uint64_t *w, int *n) {
  while (p < end && *n < REACH) {
    uint64_t v;
    if (end - p >= 8 && !marks(v = load(p))) {
      *w = *w * tens[8] + eight(v, 8);
      *n += 8;
      p += 8;
      continue;
    }
    unsigned d = *p - '0';
    if (d > 9) break;
    *w = *w * 10 + d;
    ++*n;
    ++p;
  }
  return p;
}

/* What is behind n digits. */
static const unsigned char *exponent(const unsigned char *p, const unsigned char *end, decimal *d, int n) {
  if (n == 0 || n > 19) return NULL;
  if (p == end || (*p | 0x20) != 'e') return p;
  int negative = 0, k = 0;
  uint64_t e = 0;
  if (++p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  p = more_digits(p, end, &e, &k);
  if (k == 0 || k > 4) return NULL;
  d->power += negative ? -(int64_t)e : (int64_t)e;
  return p;
}

static const unsigned char *any_decimal(const unsigned char *p, const unsigned char *end, decimal *d) {
  int n = 0, whole;
  d->digits = 0;
  p = more_digits(p, end, &d->digits, &n);
  whole = n;
  if (p < end && *p == '.') p = more_digits(p + 1, end, &d->digits, &n);
  d->power = whole - n;
  return exponent(p, end, d, n);
}

/* A number with 19 digits at most; where it ends, or NULL. */
INLINE const unsigned char *read_decimal(const unsigned char *p, const unsigned char *end, decimal *d) {
  if (RARELY(end - p < REACH)) {
    d->negative = p < end && *p == '-';
    return any_decimal(p + d->negative, end, d);
  }
  d->negative = *p == '-';
  p += d->negative;
  uint64_t v = load(p), m = marks(v);
  int point = first(m);
  if (point == 8 || p[point] != '.') return any_decimal(p, end, d);
  /* The digits before the point and those behind it become one number. */
  uint64_t before = ((m & -m) >> 7) - 1;
  v = (v & before) | (load(p + 1) & ~before);
  int n = first(marks(v));
  if (RARELY(n == 0)) return NULL;
  d->digits = eight(v, n);
  for (int more = n; more == 8; n += more) {
    if (RARELY(n == 24)) return NULL;
    more = first(marks(v = load(p + n + 1)));
    if (more > 0) d->digits = d->digits * tens[more] + eight(v, more);
  }
  d->power = point - n;
  p += n + 1;
  if (RARELY(*p >= 'E' || n > 19)) return exponent(p, end, d, n);
  return p;
}

/* Digits times a power of ten of the table. Eisel and Lemire's algorithm, see csvtext. */
static int product(const kernel_csv_form *form, uint64_t w, int64_t q, double *out) {
  int shift = __builtin_clzll(w);
  w <<= shift;
  const uint64_t *power = form->powers[q + form->widest];
  unsigned __int128 all = (unsigned __int128)w * power[0];
  uint64_t hi = all >> 64, lo = all;
  if ((hi & 0x1ff) == 0x1ff) {
    uint64_t carry = (unsigned __int128)w * power[1] >> 64;
    hi += __builtin_add_overflow(lo, carry, &lo);
    if (lo == UINT64_MAX) return 0;
  }
  int top = hi >> 63;
  uint64_t m = hi >> (top + 9);
  int64_t e = ((217706 * q) >> 16) + 63 + top - shift + 1023;
  if (lo <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << (top + 9) == hi) m &= ~1ull;
  m = (m + (m & 1)) >> 1;
  if (m >> 53) {
    m >>= 1;
    e++;
  }
  if (e <= 0 || e >= 2047) return 0;
  uint64_t bits = (m & ((1ull << 52) - 1)) | (uint64_t)e << 52;
  memcpy(out, &bits, 8);
  return 1;
}

INLINE int to_double(const kernel_csv_form *form, const decimal *d, double *out) {
  if (!(d->digits >> 53) && (uint64_t)-d->power <= 22) {
    *out = (double)(int64_t)d->digits / exact[d->negative][-d->power];
    return 1;
  }
  double f = 0;
  int known = 1;
  if (d->digits == 0) {
  } else if (!(d->digits >> 53) && (uint64_t)d->power <= 22)
    f = (double)(int64_t)d->digits * exact[0][d->power];
  else
    known = d->power >= -form->widest && d->power <= form->widest && product(form, d->digits, d->power, &f);
  *out = d->negative ? -f : f;
  return known;
}

/* Rounds what was rounded to double once more, unless that may differ from rounding once. */
static int narrow(double d, float *out) {
  uint64_t b;
  memcpy(&b, &d, 8);
  if ((b & 0x1fffffff) == 0x10000000 || ((b >> 52 & 0x7ff) < 1023 - 126 && d != 0)) return 0;
  *out = (float)d;
  return 1;
}

INLINE int to_float(const kernel_csv_form *form, const decimal *d, float *out) {
  if (!(d->digits >> 24) && (uint64_t)-d->power <= 10) {
    *out = (float)(int64_t)d->digits / (float)exact[d->negative][-d->power];
    return 1;
  }
  double f;
  return to_double(form, d, &f) && narrow(f, out);
}

INLINE const unsigned char *read_int(const unsigned char *p, const unsigned char *end, int64_t *out) {
  int negative = p < end && *p == '-', n;
  uint64_t w = 0;
  p += negative;
  if (RARELY(end - p < REACH)) {
    n = 0;
    p = more_digits(p, end, &w, &n);
    if (n == 0 || n > 15) return NULL;
  } else {
    uint64_t v = load(p);
    n = first(marks(v));
    if (n == 0) return NULL;
    w = eight(v, n);
    p += n;
    if (n == 8) {
      v = load(p);
      n = first(marks(v));
      if (n == 8) return NULL;
      if (n > 0) w = w * tens[n] + eight(v, n);
      p += n;
    }
  }
  *out = ((int64_t)w ^ -(int64_t)negative) + negative;
  return p;
}

INLINE uint64_t zeros(uint64_t v) { return (v - ONES) & ~v & HIGHS; }

/* Where the next delimiter, quote, CR or LF is, or the end. */
#if defined(__SSE2__)
#include <emmintrin.h>

INLINE const unsigned char *stop(const unsigned char *p, const unsigned char *end, unsigned char delim, unsigned char quote) {
  const __m128i d = _mm_set1_epi8(delim), q = _mm_set1_epi8(quote), cr = _mm_set1_epi8('\r'), lf = _mm_set1_epi8('\n');
  for (; end - p >= 16; p += 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i at = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, q)), _mm_or_si128(_mm_cmpeq_epi8(v, cr), _mm_cmpeq_epi8(v, lf)));
    int m = _mm_movemask_epi8(at);
    if (m) return p + __builtin_ctz(m);
  }
  for (; p < end && *p != delim && *p != quote && *p != '\n' && *p != '\r'; p++) {}
  return p;
}

INLINE uint64_t newlines(const unsigned char *p) {
  return (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('\n')));
}

/* Where the row behind the one at p begins, if no quotes hide the end of that; NULL: not looked for. */
INLINE const unsigned char *next_line(const unsigned char *p, const unsigned char *end) {
  const unsigned char *last = end - p > FAR ? p + FAR : end;
  for (; last - p > 64; p += 64) {
    uint64_t m = newlines(p) | newlines(p + 16) << 16 | newlines(p + 32) << 32 | newlines(p + 48) << 48;
    if (m) return p + __builtin_ctzll(m) + 1;
  }
  return NULL;
}
#else
INLINE const unsigned char *stop(const unsigned char *p, const unsigned char *end, unsigned char delim, unsigned char quote) {
  for (; end - p >= 8; p += 8) {
    uint64_t v = load(p);
    uint64_t m = zeros(v ^ ONES * delim) | zeros(v ^ ONES * quote) | zeros(v ^ ONES * '\n') | zeros(v ^ ONES * '\r');
    if (m) return p + (__builtin_ctzll(m) >> 3);
  }
  for (; p < end && *p != delim && *p != quote && *p != '\n' && *p != '\r'; p++) {}
  return p;
}

INLINE const unsigned char *next_line(const unsigned char *p, const unsigned char *end) {
  const unsigned char *q = memchr(p, '\n', end - p > FAR ? FAR : end - p);
  return q && q + 1 < end ? q + 1 : NULL;
}
#endif

INLINE int ends(const kernel_csv_form *form, const unsigned char *p, const unsigned char *end) {
  return p == end || *p == form->delim || *p == '\n' || *p == '\r';
}

/* Appends a text of n bytes; where its field ends, or NULL without room for it. */
INLINE const unsigned char *put(kernel_csv_step *to, int64_t row, const unsigned char *p, int64_t n, int padded, const unsigned char *behind) {
  if (RARELY(to->room - to->used < n + 16)) return NULL;
  unsigned char *t = to->texts + to->used;
  if (n <= 16 && padded)
    memcpy(t, p, 16); /* most texts: less than a call */
  else
    memcpy(t, p, n);
  to->starts[row] = to->used;
  to->ends[row] = to->used += n;
  return behind;
}

/* The field at p if it has no value and there is one for that; where it ends, or NULL. */
static const unsigned char *absent(const kernel_csv_form *form, kernel_csv_step *to, const unsigned char *p, const unsigned char *end, int64_t row) {
  if (!ends(form, p, end)) {
    if (!form->missing_size || end - p < form->missing_size || memcmp(p, form->missing, form->missing_size)) return NULL;
    p += form->missing_size;
    if (!ends(form, p, end)) return NULL;
  }
  if (!to->none) return NULL;
  switch (to->op) {
    case CSV_TEXT: return put(to, row, to->none, to->none_size, 0, p);
    case CSV_INT32:
    case CSV_FLOAT32: memcpy((char *)to->numbers + 4 * row, to->none, 4); break;
    default: memcpy((char *)to->numbers + 8 * row, to->none, 8);
  }
  return p;
}

/* The field at p, which becomes what a step says; where it ends, or NULL. */
#define FIELD(name)                                                                                              \
  INLINE const unsigned char *name(const kernel_csv_form *form, kernel_csv_step *to, const unsigned char *p, \
                                   const unsigned char *end, int64_t row)

FIELD(read_float32) {
  decimal d;
  const unsigned char *q = read_decimal(p, end, &d);
  if (RARELY(!q)) return absent(form, to, p, end, row);
  return to_float(form, &d, (float *)to->numbers + row) ? q : NULL;
}

FIELD(read_float64) {
  decimal d;
  const unsigned char *q = read_decimal(p, end, &d);
  if (RARELY(!q)) return absent(form, to, p, end, row);
  return to_double(form, &d, (double *)to->numbers + row) ? q : NULL;
}

FIELD(read_int64) {
  const unsigned char *q = read_int(p, end, (int64_t *)to->numbers + row);
  return RARELY(!q) ? absent(form, to, p, end, row) : q;
}

FIELD(read_int32) {
  int64_t v;
  const unsigned char *q = read_int(p, end, &v);
  if (RARELY(!q)) return absent(form, to, p, end, row);
  ((int32_t *)to->numbers)[row] = v;
  return v == (int32_t)v ? q : NULL;
}

FIELD(read_text) {
  const unsigned char *q = stop(p, end, form->delim, form->quote), *behind = q;
  if (RARELY(q == p) && q < end && *q == '"' && form->quote != form->delim) {
    p++;
    q = memchr(p, '"', end - p);
    if (!q || q == p || !ends(form, behind = q + 1, end)) return NULL;
  }
  if (to->op == CSV_SKIP) return behind;
  if (RARELY(q == p || (form->missing_size == q - p && !memcmp(p, form->missing, q - p))))
    return behind == q ? absent(form, to, p, end, row) : NULL;
  return put(to, row, p, q - p, end - p >= 16, behind);
}

FIELD(read_field) {
  switch (to->op) {
    case CSV_FLOAT32: return read_float32(form, to, p, end, row);
    case CSV_FLOAT64: return read_float64(form, to, p, end, row);
    case CSV_INT64: return read_int64(form, to, p, end, row);
    case CSV_INT32: return read_int32(form, to, p, end, row);
    default: return read_text(form, to, p, end, row);
  }
}

/* Where a row ends whose last field that is wanted ends at q, or NULL. */
INLINE const unsigned char *row_end(const kernel_csv_form *form, const unsigned char *q, const unsigned char *end) {
  if (form->open && q < end && *q == form->delim) q = stop(q, end, '\n', form->quote == form->delim ? '\n' : '"');
  return q == end || *q == '\n' || *q == '\r' ? q : NULL;
}

/* Where the row behind one that ends at q begins. */
INLINE const unsigned char *behind_row(const unsigned char *q, const unsigned char *end) {
  if (q == end) return q;
  return q + 1 + (*q == '\r' && q + 1 < end && q[1] == '\n');
}

/* Where the row at p ends, or NULL if it is not plain. */
static const unsigned char *read_row(const kernel_csv_form *form, kernel_csv_step *steps, int64_t count,
                                     const unsigned char *p, const unsigned char *end, int64_t row) {
  for (int64_t i = 0;; i++) {
    const unsigned char *q = read_field(form, steps + i, p, end, row);
    if (!q) return NULL;
    if (i + 1 == count) return row_end(form, q, end);
    if (q == end || *q != form->delim) return NULL;
    p = q + 1;
  }
}

/* Reads the rows at p and at second in turn, field by field: the steps of one do not wait for
 * those of the other. Where the second ends, or NULL if they are not both plain, or not there;
 * nothing is kept of them then. */
INLINE const unsigned char *read_pair(const kernel_csv_form *form, kernel_csv_step *steps, int64_t count, const unsigned char *p,
                                      const unsigned char *second, const unsigned char *end, int64_t row) {
  const unsigned char *a = p, *b = second, delim = form->delim;
  int64_t i = 0, used;
  for (;; i++) {
    kernel_csv_step *to = steps + i;
    used = to->used;
#define BOTH(field)                     \
  a = field(form, to, a, end, row);     \
  b = field(form, to, b, end, row + 1); \
  break
    switch (to->op) {
      case CSV_FLOAT32: BOTH(read_float32);
      case CSV_FLOAT64: BOTH(read_float64);
      case CSV_INT64: BOTH(read_int64);
      case CSV_INT32: BOTH(read_int32);
      default: BOTH(read_text);
    }
#undef BOTH
    if (RARELY(!a || !b || a >= second || b == end)) break;
    if (i + 1 == count) {
      a = row_end(form, a, end);
      if (a && behind_row(a, end) == second && (b = row_end(form, b, end))) return b;
      break;
    }
    if (RARELY(*a != delim || *b != delim)) break;
    a++;
    b++;
  }
  steps[i].used = used;
  while (i-- > 0)
    if (steps[i].op == CSV_TEXT) steps[i].used = steps[i].starts[row];
  return NULL;
}

int64_t kernel_csv(const kernel_csv_form *form, kernel_csv_step *steps, int64_t count, const unsigned char *data,
                   int64_t size, int64_t at, int64_t row, int64_t limit, int64_t *next) {
  const unsigned char *p = data + at, *end = data + size, *second, *q;
  while (row < limit && p < end) {
    if (row + 1 < limit && (second = next_line(p, end)) && (q = read_pair(form, steps, count, p, second, end, row)))
      row += 2;
    else if ((q = read_row(form, steps, count, p, end, row)))
      row++;
    else
      break;
    p = behind_row(q, end);
  }
  *next = p - data;
  return row;
}
