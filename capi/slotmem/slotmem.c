/* Memory of NumPy arrays inside the slot of the batch that is being made.

   A worker process loads this library, not libinfeed.so, and makes NumPy ask it
   for the memory of arrays (NEP 49). While a job runs, the thread that runs it gets
   large arrays inside the job's slot, so that those of the finished batch need no
   copy. Everything else goes to the allocator that NumPy had before.

   A region is a slot as mapped here. It ends up with other processes when the job is
   done, so an array that lives on must not stay in it: infeed_slot_end then turns
   the mapping, where it is, into a private one. That is safe while other threads
   write to such arrays: the kernel swaps the mapping as one, a write goes to the
   slot before and to the private pages after, and a page is made private with what
   it holds. The same happens before a fork, whose child would see the slot change.

   Calls are short and take one lock; none calls Python. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	ALIGN = 64,          /* as in infeed/_batch.py */
	PAGE = 4096,
	SMALLEST = 64 << 10, /* copying less costs less than what is done here */
	PIECES = 64,         /* of a region; what is not arrays leaves room for them */
	ARRAYS = PIECES / 2, /* of a region; further ones lie elsewhere */
};

/* NumPy's PyDataMem_Handler, version 1. */
typedef struct {
	void *ctx;
	void *(*malloc)(void *, size_t);
	void *(*calloc)(void *, size_t, size_t);
	void *(*realloc)(void *, void *, size_t);
	void (*free)(void *, void *, size_t);
} allocator;

typedef struct {
	char name[127];
	uint8_t version;
	allocator allocator;
} handler;

/* A part of a region in use: by an array until that is freed, or by what
   infeed_slot_place placed, until the next job. */
typedef struct {
	size_t at, size;
	int array;
} piece;

typedef struct region {
	struct region *next;
	char *base;
	size_t size;
	int fd;
	off_t offset;
	int owned;   /* Python refers to it */
	int private; /* no slot any more, only memory of the arrays in it */
	int arrays;
	int pieces;
	piece piece[PIECES]; /* by place */
} region;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static region *regions;          /* all that are mapped */
static region *working;          /* that of the job */
static __thread region *current; /* the same, in the job's own thread */
static allocator heap;           /* what NumPy used before */

/* All regions lie between, so that most frees need no lock. */
static char *lowest = (char *)UINTPTR_MAX, *highest;

static size_t aligned(size_t at) {
	return (at + ALIGN - 1) / ALIGN * ALIGN;
}

/* take finds the first free part at or after `from`; NULL without one. Locked. */
static void *take(region *r, size_t size, size_t from, int array) {
	if (r->private || size > r->size || (array && r->arrays == ARRAYS))
		return NULL;
	size_t at = aligned(from);
	int i = 0;
	for (; i < r->pieces; i++) {
		piece *p = &r->piece[i];
		if (p->at + p->size <= at)
			continue;
		if (at + size <= p->at)
			break;
		at = aligned(p->at + p->size);
	}
	if (at + size > r->size)
		return NULL;
	piece *last = i ? &r->piece[i - 1] : NULL;
	if (!array && last && !last->array && aligned(last->at + last->size) == at) {
		last->size = at + size - last->at;
		return r->base + at;
	}
	if (r->pieces == PIECES)
		return NULL;
	memmove(&r->piece[i + 1], &r->piece[i], (r->pieces - i) * sizeof(piece));
	r->piece[i] = (piece){at, size, array};
	r->pieces++;
	r->arrays += array;
	return r->base + at;
}

static void unmap_unused(region *r) {
	if (r->owned || r->arrays)
		return;
	for (region **o = &regions; *o; o = &(*o)->next)
		if (*o == r) {
			*o = r->next;
			break;
		}
	munmap(r->base, r->size);
	free(r);
}

/* find returns the region and number of an array's piece, or NULL. Locked. */
static region *find(char *p, int *number) {
	for (region *r = regions; r; r = r->next) {
		if (p < r->base || p >= r->base + r->size)
			continue;
		for (int i = 0; i < r->pieces; i++)
			if (r->piece[i].array && r->base + r->piece[i].at == p) {
				*number = i;
				return r;
			}
	}
	return NULL;
}

static int outside(void *p) {
	return (char *)p < __atomic_load_n(&lowest, __ATOMIC_RELAXED) ||
	       (char *)p >= __atomic_load_n(&highest, __ATOMIC_RELAXED);
}

static int give_back(void *p) {
	if (outside(p))
		return 0;
	int i;
	pthread_mutex_lock(&lock);
	region *r = find(p, &i);
	if (r) {
		r->pieces--;
		memmove(&r->piece[i], &r->piece[i + 1], (r->pieces - i) * sizeof(piece));
		r->arrays--;
		unmap_unused(r);
	}
	pthread_mutex_unlock(&lock);
	return r != NULL;
}

static void *in_slot(size_t size) {
	if (size < SMALLEST || !current)
		return NULL;
	pthread_mutex_lock(&lock);
	void *p = take(current, size, 0, 1);
	pthread_mutex_unlock(&lock);
	return p;
}

static void *slot_malloc(void *ctx, size_t size) {
	void *p = in_slot(size);
	return p ? p : heap.malloc(heap.ctx, size);
}

static void *slot_calloc(void *ctx, size_t n, size_t size) {
	size_t bytes;
	void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : in_slot(bytes);
	return p ? memset(p, 0, bytes) : heap.calloc(heap.ctx, n, size);
}

static void slot_free(void *ctx, void *p, size_t size) {
	if (!give_back(p))
		heap.free(heap.ctx, p, size);
}

static void *slot_realloc(void *ctx, void *p, size_t size) {
	size_t old = 0;
	if (!outside(p)) {
		int i;
		pthread_mutex_lock(&lock);
		region *r = find(p, &i);
		if (r) {
			old = r->piece[i].size;
			if (size && size <= old)
				r->piece[i].size = size;
		}
		pthread_mutex_unlock(&lock);
	}
	if (!old)
		return heap.realloc(heap.ctx, p, size);
	if (size && size <= old)
		return p;
	void *moved = heap.malloc(heap.ctx, size);
	if (moved) {
		memcpy(moved, p, size < old ? size : old);
		give_back(p);
	}
	return moved;
}

static handler ours = {"infeed_slot", 1, {NULL, slot_malloc, slot_calloc, slot_realloc, slot_free}};

/* make_private leaves the slot to others: what is in use here goes on in pages of its
   own. Without memory the process ends; the pool then has the batch made again. Locked. */
static void make_private(region *r) {
	int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
	if (mmap(r->base, r->size, PROT_READ | PROT_WRITE, flags, r->fd, r->offset) == MAP_FAILED) {
		perror("infeed: a worker process cannot map memory");
		abort();
	}
	for (int i = 0; i < r->pieces; i++) {
		char *end = r->base + r->piece[i].at + r->piece[i].size;
		for (char *p = r->base + r->piece[i].at / PAGE * PAGE; p < end; p += PAGE)
			/* A write that changes nothing, whoever else writes there. */
			__asm__ volatile("lock orb $0, %0" : "+m"(*p) : : "cc");
	}
	r->private = 1;
}

static void before_fork(void) {
	pthread_mutex_lock(&lock);
	if (working && working->arrays && !working->private)
		make_private(working);
}

static void after_fork(void) {
	pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
	working = current = NULL;
	pthread_mutex_unlock(&lock);
}

/* infeed_slot_handler returns NumPy's handler for the allocator here, which passes on to `before`. */
void *infeed_slot_handler(const handler *before) {
	heap = before->allocator;
	return pthread_atfork(before_fork, after_fork, after_fork_in_child) ? NULL : &ours;
}

/* infeed_slot_map maps a slot; NULL without memory. The descriptor must stay open while jobs write to it. */
region *infeed_slot_map(int fd, off_t offset, size_t size) {
	region *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	*r = (region){.size = size, .fd = fd, .offset = offset, .owned = 1};
	r->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (r->base == MAP_FAILED) {
		free(r);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	r->next = regions;
	regions = r;
	if (r->base < lowest)
		__atomic_store_n(&lowest, r->base, __ATOMIC_RELAXED);
	if (r->base + size > highest)
		__atomic_store_n(&highest, r->base + size, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return r;
}

char *infeed_slot_address(const region *r) {
	return r->base;
}

/* infeed_slot_drop unmaps a region once no array is in it. */
void infeed_slot_drop(region *r) {
	pthread_mutex_lock(&lock);
	r->owned = 0;
	unmap_unused(r);
	pthread_mutex_unlock(&lock);
}

/* infeed_slot_begin starts a job in this thread; with `arrays`, large arrays go to the slot. */
void infeed_slot_begin(region *r, int arrays) {
	pthread_mutex_lock(&lock);
	r->pieces = 0;
	working = r;
	current = arrays ? r : NULL;
	pthread_mutex_unlock(&lock);
}

/* infeed_slot_place returns the offset of a free part at or after `from`, kept free of arrays; -1 without one. */
int64_t infeed_slot_place(region *r, size_t size, size_t from) {
	pthread_mutex_lock(&lock);
	char *p = take(r, size, from, 0);
	pthread_mutex_unlock(&lock);
	return p ? p - r->base : -1;
}

/* infeed_slot_end ends the job. It returns 1 if the region is private from now on: the slot must be mapped anew. */
int infeed_slot_end(region *r) {
	pthread_mutex_lock(&lock);
	working = current = NULL;
	if (r->arrays && !r->private)
		make_private(r);
	int private = r->private;
	pthread_mutex_unlock(&lock);
	return private;
}
