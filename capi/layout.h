/* layout.h: the memory that Go (core/arena/layout.go) and the shim share. */
#ifndef INFEED_LAYOUT_H
#define INFEED_LAYOUT_H

#include "infeed.h"

typedef struct infeed_event {
    _Atomic uint32_t seq;
    _Atomic uint32_t waiters;
    char pad[56];
} infeed_event;

typedef struct infeed_queue {
    infeed_event ready;
    _Atomic uint64_t head; /* written by the consumer */
    char pad1[56];
    _Atomic uint64_t tail; /* written by the producer */
    uint32_t capacity;     /* a power of two */
    uint32_t low_water;
    uint32_t space; /* number+1 of an event; 0 none */
    _Atomic int32_t closed;
    _Atomic int32_t cancelled;
    char pad2[36];
    infeed_entry entries[];
} infeed_queue;

typedef struct infeed_slot {
    _Atomic uint64_t word; /* generation<<32 | state */
    uint64_t address;
    uint64_t bytes;
    uint32_t segment;
    uint32_t event; /* number+1; 0 none */
} infeed_slot;

typedef struct infeed_segment {
    _Atomic int32_t refs;
    uint32_t pad;
    uint64_t address;
    uint64_t bytes;
} infeed_segment;

enum { SLOT_FREE, SLOT_FILLING, SLOT_READY, SLOT_LENT };

#define INFEED_MAX_SLOTS (1 << 16)
#define INFEED_MAX_SEGMENTS (1 << 14)
#define INFEED_MAX_EVENTS (1 << 12)
#define INFEED_SEGMENT_GONE (-1)

typedef struct infeed_registry {
    infeed_slot slots[INFEED_MAX_SLOTS];
    infeed_segment segments[INFEED_MAX_SEGMENTS];
    infeed_event events[INFEED_MAX_EVENTS];
} infeed_registry;

/* Shim services for the Go side of capi. */
void shim_attach(void *registry);
uint64_t shim_handle_new(void *queue, void *event); /* 0: none is left */
int shim_handle_close(uint64_t handle);             /* 1: it was open; waits for those in it */
int shim_handle_valid(uint64_t handle);
int shim_handles_open(void);

#endif
