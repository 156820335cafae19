#ifndef INFEED_CSV_H
#define INFEED_CSV_H

#include <stdint.h>

/* What a field becomes; as CSVOp in csv.go. */
enum { CSV_SKIP, CSV_INT32, CSV_INT64, CSV_FLOAT32, CSV_FLOAT64, CSV_TEXT };

typedef struct {
  int64_t op;
  void *numbers;              /* of rows from 0 on */
  unsigned char *texts;       /* where texts go, one behind the other */
  int64_t used, room;         /* of their bytes */
  int64_t *starts, *ends;     /* of the text of each row */
  const unsigned char *none;  /* the value of a field without one, or NULL: it must have one */
  int64_t none_size;
} kernel_csv_step;

typedef struct {
  const uint64_t (*powers)[2]; /* the highest 128 bits of 5^q, at q + widest */
  int64_t widest;
  const unsigned char *missing; /* a field with this text has no value, as an empty one */
  int64_t missing_size;
  unsigned char delim, quote; /* quote: the delimiter where quotes do not matter */
  unsigned char open;         /* rows may have more fields than there are steps */
} kernel_csv_form;

/* Parses rows that are written plainly from the one at `at` on, which has the number
 * row, before row limit, and returns the number of the next one; *next is where it
 * begins. It stops at a row that it leaves to others, of which nothing is kept. */
int64_t kernel_csv(const kernel_csv_form *form, kernel_csv_step *steps, int64_t count, const unsigned char *data,
                   int64_t size, int64_t at, int64_t row, int64_t limit, int64_t *next);

#endif
