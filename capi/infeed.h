/* infeed.h: the contract between libinfeed.so and its one caller, the Python
 * package (by ctypes).
 *
 * Rules that hold for every call
 *   - A call takes one argument: an infeed_call that the caller owns, or a
 *     reference by value. Nothing is allocated for the caller.
 *   - It returns a status: 0 done; positive, no error (see below); negative, the
 *     number of an error kind, negated (core/errs has the table), with a text for
 *     the user in call->text. With a loss of data come its offset in out[6] and,
 *     in out[7], the bytes of the path, which lies behind the text and its 0.
 *   - Every call may be made from any thread. One thread at a time uses a given
 *     infeed_call, and one at a time takes from a given queue.
 *   - After fork() the child gets -INFEED_FORKED from every call but
 *     infeed_abi_version; infeed_release does nothing there.
 *   - Calls that wait do so in C, not in Go, at most call->timeout_ms, and return
 *     INFEED_INTERRUPTED when a signal came, so that Python's handlers run.
 *   - Memory that a call is given (call->data) is used during that call only,
 *     unless its comment says otherwise.
 */
#ifndef INFEED_H
#define INFEED_H

#include <stdatomic.h>
#include <stdint.h>

#define INFEED_ABI_VERSION 0x00010000u /* major<<16 | minor */

/* Statuses that are no errors. */
#define INFEED_OK 0
#define INFEED_TIMEOUT 1     /* nothing within timeout_ms; call again */
#define INFEED_INTERRUPTED 2 /* a signal came; call again */
#define INFEED_END 3         /* no more elements */
#define INFEED_RAISED 4      /* entry.status only: the batch is a pickled exception */
#define INFEED_JOB 5         /* entry.status only: no batch, but work for Python */

/* Kinds that the shim itself reports. */
#define INFEED_INVALID_ARGUMENT 1
#define INFEED_RESOURCE_EXHAUSTED 6
#define INFEED_FORKED 9
#define INFEED_CANCELLED 10
#define INFEED_INTERNAL 12

typedef struct infeed_entry { /* arena.Entry: one finished batch */
    int64_t position;
    int64_t index;
    uint64_t job;
    uint64_t slot; /* give it back with infeed_release; 0: none */
    uint64_t address;
    uint64_t bytes;
    uint64_t meta_offset;
    uint32_t meta_bytes;
    int32_t status;
} infeed_entry;

#define INFEED_TEXT 8192

typedef struct infeed_call {
    uint32_t size;    /* sizeof(infeed_call), set by the caller */
    uint32_t version; /* INFEED_ABI_VERSION, set by the caller */
    uint64_t handle;
    int64_t arg[8];
    uint64_t data; /* address of bytes that go in */
    uint64_t data_bytes;
    int64_t out[8];
    infeed_entry entry;
    int32_t timeout_ms;
    uint32_t text_bytes; /* how much of text was written, without its final 0 */
    char text[INFEED_TEXT];
} infeed_call;

/* -- the library ------------------------------------------------------- */

/* Callable at any time, also before infeed_setup and after fork. */
uint32_t infeed_abi_version(void);

/* Once per process, before all others. data: JSON {"max_procs": n, "gc_percent": n}. */
int32_t infeed_setup(infeed_call *call);

/* text: JSON about the build: Go version, kernels, processor features. */
int32_t infeed_about(infeed_call *call);

/* out[0]: a 64-bit checksum (CRC-32C of the bytes and of their halves) of data. */
int32_t infeed_checksum(infeed_call *call);

/* text: JSON of what is alive: goroutines, mapped bytes, handles. For tests. */
int32_t infeed_alive(infeed_call *call);

/* Closes what a handle names; whoever waits on it gets -INFEED_CANCELLED. arg[0]:
 * milliseconds to wait for worker processes to end by themselves. A handle that is
 * closed already is no error. */
int32_t infeed_close(infeed_call *call);

/* -- batches ------------------------------------------------------------ */

/* Takes the next batch of an iterator or walk: entry. A slot in it is lent until
 * infeed_release. Waits. */
int32_t infeed_next(infeed_call *call);

/* The same without waiting: INFEED_TIMEOUT when there is none yet. */
int32_t infeed_try_next(infeed_call *call);

/* Gives a lent slot back. Never blocks; a stale reference is ignored. */
void infeed_release(uint64_t slot);

/* -- feed: the user's Python code --------------------------------------- */

/* Opens a pool of workers: handle. data: JSON, see feed.Options. */
int32_t infeed_feed_open(infeed_call *call);

/* Gives worker processes the dataset. data: JSON {"version": n, "payload": id,
 * "payloads": [[id, descriptor, bytes], ...]}. The descriptors are duplicated. */
int32_t infeed_feed_dataset(infeed_call *call);

/* Opens a walk over the batches of pool `handle`: handle in out[0], its number in
 * out[1]. data: JSON, see feed.WalkOptions. */
int32_t infeed_walk_open(infeed_call *call);

/* Throws away what was made ahead of the consumer; it is made again. */
int32_t infeed_walk_invalidate(infeed_call *call);

/* What the error of entry.position of the walk was: text; out[0] exit status. */
int32_t infeed_walk_error(infeed_call *call);

/* Who makes the batch that the walk waits for: out[0] its index, out[1] the
 * worker's number (-1 nobody), out[2] its process id (0: a thread), out[3] the
 * thread id given to infeed_job. text: the stack of a worker process. */
int32_t infeed_walk_stuck(infeed_call *call);

/* For worker threads: reports job arg[1] as done (0: none) and takes the next:
 * out[0] job, out[1] walk number, out[2] index, out[3] pass, out[4] epoch, out[5]
 * seed. arg[0]: the caller's thread id. arg[2] comes back as 1 when the job that
 * was reported is not wanted any more. Waits. */
int32_t infeed_job(infeed_call *call);
int32_t infeed_try_job(infeed_call *call);

/* Writes arg[3] places, from arg[2] on, of the order of pass arg[1] over arg[0]
 * batches under the seed out[0] as int64 to the memory at data. */
int32_t infeed_order(infeed_call *call);

/* -- datasets ----------------------------------------------------------- */

/* Results that may be long are JSON in text, or where entry.slot is not 0, in that
 * slot, which is lent. */

/* Checks a definition, and gives a handle for each of its operations. data: JSON, see
 * core/pipeline/definition.go. The handles go to the uint64 numbers at address arg[0],
 * one for each entry of the list, 0 for those that are handles themselves; where the
 * call fails there are none. The arrays it names by address must stay until the
 * datasets, those made of them and their iterators are closed. Long result: a list with
 * [how many elements a pass has (-1 without end, -2 unknown), whether elements can be
 * had by number, the spec of elements, the operation in words] for each handle. */
int32_t infeed_dataset_open(infeed_call *call);

/* Makes element arg[1] of pass arg[0], as a group of one in a lent slot: entry (see
 * core/pipeline/group.go). What was made for that, such as the order of the pass, is
 * kept for the next call unless arg[2] is 1. */
int32_t infeed_dataset_at(infeed_call *call);

/* Starts an iterator over dataset `handle`: handle in out[0], for infeed_next; how
 * many slots may be kept lent in out[1]; in out[2] a handle for infeed_next from which
 * threads take jobs, or 0; the number of its first element in out[3]; before its
 * element x, out[4] + x * out[5] elements of the pass were given, of which there are
 * out[6]. data: JSON, see pipeline.Options. Long result: its state.
 * An entry's index says how many elements there are, from its position on. An entry
 * with the status INFEED_JOB asks for function `position` to be called on the `index`
 * elements of its group, or of several whose descriptions lie one after the other;
 * infeed_dataset_answer gives the results. */
int32_t infeed_dataset_iterate(infeed_call *call);

/* Makes the next group on the calling thread, for iterators without workers. */
int32_t infeed_dataset_produce(infeed_call *call);

/* Fails with the error that ended the iterator; 0 where there was none. out[0]: the
 * id of the exception that was given in an answer, if it is one. */
int32_t infeed_dataset_error(infeed_call *call);

/* Long result: the state of the iterator before element arg[0], which is one of
 * those made lately: all of it where arg[1] is 1, else what is not the same in all
 * states of the iterator. The handle may be one of infeed_dataset_past. */
int32_t infeed_dataset_state(infeed_call *call);

/* A handle for infeed_dataset_state that stays when the iterator is closed: out[0]. */
int32_t infeed_dataset_past(infeed_call *call);

/* Long result: what the iterator did, see pipeline.Stats. */
int32_t infeed_dataset_stats(infeed_call *call);

/* Answers job arg[0] of the iterator. data: JSON, see pipeline.Answer; the arrays in
 * it are used during the call only. In out, ids of exceptions that were given in answers and
 * will not be asked for, or 0. */
int32_t infeed_dataset_answer(infeed_call *call);

/* Says what tf.data stored in a folder. data: JSON {"path"}. Long result: see
 * snapshot.TFFolder. */
int32_t infeed_tf_folder(infeed_call *call);

/* Runs a program of element operations on elements, without a dataset: entry, a group
 * in a lent slot. data: JSON, see pipeline.ProgramRun. */
int32_t infeed_program_run(infeed_call *call);

/* Makes arg[1] objects at data, an array of pointers to objects, of the text at
 * arg[0] (see group.go) by arg[2], the address of PyBytes_FromStringAndSize; what was
 * there before is given to arg[3], the address of Py_DecRef. The caller holds the GIL. */
int32_t infeed_texts(infeed_call *call);

/* -- files --------------------------------------------------------------- */

/* Makes a TFRecord file: handle. data: its path. arg[0]: compression, 0 none, 1
 * gzip, 2 zlib, 3 zstd; arg[1]: its level, -1 for the usual one. */
int32_t infeed_writer_open(infeed_call *call);

/* Appends arg[0] records. data: their sizes, 8 bytes each, then they. */
int32_t infeed_writer_write(infeed_call *call);

/* Passes on what was written, so that readers of the file see it. */
int32_t infeed_writer_flush(infeed_call *call);

/* Ends the file and closes the handle. Closed already is no error. */
int32_t infeed_writer_close(infeed_call *call);

#endif
