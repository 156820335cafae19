/* shim.c: what must not enter Go: waiting, taking from queues, giving slots back,
 * handles, and the fence after fork. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"
#include "_cgo_export.h"

static infeed_registry *registry;
static _Atomic int forked;

static void mark_forked(void) { atomic_store(&forked, 1); }

void shim_attach(void *r) {
    if (!registry) pthread_atfork(NULL, NULL, mark_forked);
    registry = r;
}

/* -- errors ------------------------------------------------------------- */

static int32_t fail(infeed_call *call, int kind, const char *text) {
    int n = snprintf(call->text, INFEED_TEXT, "%s", text);
    call->text_bytes = n < INFEED_TEXT ? n : INFEED_TEXT - 1;
    return -kind;
}

static int32_t check(infeed_call *call) {
    if (atomic_load(&forked))
        return fail(call, INFEED_FORKED,
                    "this process was forked from one that uses infeed, whose engine does not live on in a "
                    "fork; start processes with multiprocessing's 'spawn' or 'forkserver' method instead, or "
                    "use infeed only in the child");
    if (call->size != sizeof *call || call->version >> 16 != INFEED_ABI_VERSION >> 16)
        return fail(call, INFEED_INVALID_ARGUMENT,
                    "libinfeed.so does not belong to this version of the infeed package; reinstall infeed");
    return 0;
}

/* -- events ------------------------------------------------------------- */

static void wake(infeed_event *e) {
    atomic_fetch_add(&e->seq, 1);
    if (atomic_load(&e->waiters)) syscall(SYS_futex, &e->seq, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Returns 0 when there may be news, EINTR, or ETIMEDOUT. */
static int wait_event(infeed_event *e, uint32_t key, int64_t ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    int err = 0;
    atomic_fetch_add(&e->waiters, 1);
    if (atomic_load(&e->seq) == key && syscall(SYS_futex, &e->seq, FUTEX_WAIT_PRIVATE, key, &t, NULL, 0) < 0)
        err = errno;
    atomic_fetch_sub(&e->waiters, 1);
    return err == EAGAIN ? 0 : err;
}

/* -- handles ------------------------------------------------------------ */

#define MAX_HANDLES (1 << 14)

/* word is generation<<32 | callers inside. An index is used again only when nobody
 * is inside, so that what it points to can be freed then. */
static struct handle {
    _Atomic uint64_t word;
    _Atomic int open;
    infeed_queue *queue;
    infeed_event *event;
} handles[MAX_HANDLES];
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t handles_used = 1, free_handles[MAX_HANDLES], free_count;

uint64_t shim_handle_new(void *queue, void *event) {
    pthread_mutex_lock(&handles_lock);
    uint32_t i = free_count ? free_handles[--free_count] : handles_used < MAX_HANDLES ? handles_used++ : 0;
    pthread_mutex_unlock(&handles_lock);
    if (!i) return 0;
    struct handle *h = &handles[i];
    h->queue = queue;
    h->event = event;
    atomic_store(&h->open, 1);
    return (atomic_load(&h->word) >> 32) << 32 | i;
}

static struct handle *enter(uint64_t handle) {
    uint32_t i = (uint32_t)handle;
    if (!i || i >= MAX_HANDLES) return NULL;
    struct handle *h = &handles[i];
    uint64_t w = atomic_load(&h->word);
    do {
        if (w >> 32 != handle >> 32 || !atomic_load(&h->open)) return NULL;
    } while (!atomic_compare_exchange_weak(&h->word, &w, w + 1));
    return h;
}

static void leave(struct handle *h) { atomic_fetch_sub(&h->word, 1); }

int shim_handle_valid(uint64_t handle) {
    uint32_t i = (uint32_t)handle;
    return i && i < MAX_HANDLES && atomic_load(&handles[i].open) && atomic_load(&handles[i].word) >> 32 == handle >> 32;
}

int shim_handle_close(uint64_t handle) {
    uint32_t i = (uint32_t)handle;
    if (!i || i >= MAX_HANDLES) return 0;
    struct handle *h = &handles[i];
    uint64_t w = atomic_load(&h->word);
    do {
        if (w >> 32 != handle >> 32 || !atomic_load(&h->open)) return 0;
    } while (!atomic_compare_exchange_weak(&h->word, &w, w + (1ull << 32)));
    atomic_store(&h->open, 0);
    while (atomic_load(&h->word) & 0xffffffff) {
        if (h->event) wake(h->event);
        if (h->queue) wake(&h->queue->ready);
        sched_yield();
    }
    pthread_mutex_lock(&handles_lock);
    free_handles[free_count++] = i;
    pthread_mutex_unlock(&handles_lock);
    return 1;
}

int shim_handles_open(void) {
    pthread_mutex_lock(&handles_lock);
    int n = handles_used - 1 - free_count;
    pthread_mutex_unlock(&handles_lock);
    return n;
}

/* -- slots -------------------------------------------------------------- */

static infeed_slot *slot_of(uint64_t ref) {
    uint32_t n = (uint32_t)ref;
    return n && n < INFEED_MAX_SLOTS ? &registry->slots[n] : NULL;
}

static void unref_segment(uint32_t number) {
    infeed_segment *g = &registry->segments[number];
    if (atomic_fetch_sub(&g->refs, 1) != 1) return;
    munmap((void *)g->address, g->bytes);
    atomic_store(&g->refs, INFEED_SEGMENT_GONE);
}

/* Lends a ready slot; one that was lent on the consumer's behalf already is fine. */
static int lend(uint64_t ref) {
    infeed_slot *s = slot_of(ref);
    if (!s) return 0;
    uint64_t g = ref & ~0xffffffffull, w = g | SLOT_READY;
    atomic_fetch_add(&registry->segments[s->segment].refs, 1);
    if (atomic_compare_exchange_strong(&s->word, &w, g | SLOT_LENT)) return 1;
    unref_segment(s->segment);
    return w == (g | SLOT_LENT);
}

void infeed_release(uint64_t ref) {
    if (atomic_load(&forked) || !registry) return;
    infeed_slot *s = slot_of(ref);
    if (!s) return;
    uint64_t w = atomic_load(&s->word);
    if (w >> 32 != ref >> 32 || (uint32_t)w != SLOT_LENT) return;
    uint32_t event = s->event, segment = s->segment;
    if (!atomic_compare_exchange_strong(&s->word, &w, ((w >> 32) + 1) << 32 | SLOT_FREE)) return;
    unref_segment(segment);
    if (event) wake(&registry->events[event - 1]);
}

/* -- queues ------------------------------------------------------------- */

/* INFEED_TIMEOUT: empty. */
static int32_t take(infeed_call *call, infeed_queue *q) {
    int32_t status = atomic_load(&q->cancelled);
    if (status) return fail(call, -status, "the dataset was closed");
    /* closed is read before tail: what was pushed before it was set is seen. */
    int32_t closed = atomic_load(&q->closed);
    uint64_t head = atomic_load(&q->head), tail = atomic_load(&q->tail);
    if (head == tail) {
        if (closed < 0) return fail(call, -closed, "");
        return closed ? closed : INFEED_TIMEOUT;
    }
    call->entry = q->entries[head & (q->capacity - 1)];
    if (call->entry.slot && !lend(call->entry.slot))
        return fail(call, INFEED_INTERNAL, "a batch was overwritten before it was delivered; please report this");
    atomic_store(&q->head, head + 1);
    if (q->space && tail - head - 1 <= q->low_water) wake(&registry->events[q->space - 1]);
    return INFEED_OK;
}

static int32_t next(infeed_call *call, int waits) {
    int32_t status = check(call);
    if (status) return status;
    struct handle *h = enter(call->handle);
    if (!h) return fail(call, INFEED_CANCELLED, "the iterator is closed");
    if (!h->queue) {
        leave(h);
        return fail(call, INFEED_INVALID_ARGUMENT, "this handle is of nothing that batches can be taken from");
    }
    int64_t end = waits ? now_ms() + call->timeout_ms : 0;
    for (;;) {
        uint32_t key = atomic_load(&h->queue->ready.seq);
        status = take(call, h->queue);
        if (status != INFEED_TIMEOUT || !waits) break;
        int64_t left = end - now_ms();
        if (left <= 0) break;
        if (wait_event(&h->queue->ready, key, left) == EINTR) {
            status = INFEED_INTERRUPTED;
            break;
        }
    }
    leave(h);
    return status;
}

int32_t infeed_next(infeed_call *call) { return next(call, 1); }
int32_t infeed_try_next(infeed_call *call) { return next(call, 0); }

/* -- jobs --------------------------------------------------------------- */

static int32_t job(infeed_call *call, int waits) {
    int32_t status = check(call);
    if (status) return status;
    struct handle *h = enter(call->handle);
    if (!h) return fail(call, INFEED_CANCELLED, "the dataset is closed");
    if (!h->event) {
        leave(h);
        return fail(call, INFEED_INVALID_ARGUMENT, "this handle is of nothing that has jobs");
    }
    int64_t end = waits ? now_ms() + call->timeout_ms : 0;
    for (;;) {
        uint32_t key = atomic_load(&h->event->seq);
        status = infeedgo_job(call);
        if (status != INFEED_TIMEOUT || !waits) break;
        int64_t left = end - now_ms();
        if (left <= 0) break;
        if (wait_event(h->event, key, left) == EINTR) {
            status = INFEED_INTERRUPTED;
            break;
        }
    }
    leave(h);
    return status;
}

int32_t infeed_job(infeed_call *call) { return job(call, 1); }
int32_t infeed_try_job(infeed_call *call) { return job(call, 0); }

/* -- text --------------------------------------------------------------- */

typedef void *(*new_bytes)(const char *, ssize_t);
typedef void (*drop_object)(void *);

int32_t infeed_texts(infeed_call *call) {
    int32_t status = check(call);
    if (status) return status;
    void **objects = (void **)call->data;
    const int64_t *ends = (const int64_t *)call->arg[0];
    const char *bytes = (const char *)(ends + call->arg[1] + 1);
    new_bytes make = (new_bytes)call->arg[2];
    drop_object drop = (drop_object)call->arg[3];
    for (int64_t i = 0; i < call->arg[1]; i++) {
        void *made = make(bytes + ends[i], ends[i + 1] - ends[i]), *old = objects[i];
        if (!made) return fail(call, INFEED_RESOURCE_EXHAUSTED, "there is no memory for the text of a batch");
        objects[i] = made;
        if (old) drop(old);
    }
    return INFEED_OK;
}

/* -- calls that go to Go as they are ------------------------------------ */

uint32_t infeed_abi_version(void) { return INFEED_ABI_VERSION; }

#define FORWARD(name)                                     \
    int32_t infeed_##name(infeed_call *call) {            \
        int32_t status = check(call);                     \
        return status ? status : infeedgo_##name(call);   \
    }

FORWARD(setup)
FORWARD(about)
FORWARD(checksum)
FORWARD(alive)
FORWARD(close)
FORWARD(feed_open)
FORWARD(feed_dataset)
FORWARD(walk_open)
FORWARD(walk_invalidate)
FORWARD(walk_error)
FORWARD(walk_stuck)
FORWARD(order)
FORWARD(dataset_open)
FORWARD(dataset_at)
FORWARD(dataset_iterate)
FORWARD(dataset_produce)
FORWARD(dataset_error)
FORWARD(dataset_state)
FORWARD(dataset_past)
FORWARD(dataset_stats)
FORWARD(dataset_answer)
FORWARD(tf_folder)
FORWARD(program_run)
FORWARD(writer_open)
FORWARD(writer_write)
FORWARD(writer_flush)
FORWARD(writer_close)
