// The recorded trace of a program's allocations: a sequence of LEB128 varints, nothing else.
//
//     (size << 2) | 0             malloc of that size
//     (size << 2) | 1             calloc of that size in all, or an aligned block of it
//     (slot << 2) | 2             free of the block in that slot
//     (slot << 2) | 3, then size  realloc of the block in that slot, which stays there
//
// A new block goes into the slot freed last, or else into the next one never used. So slots stay small numbers, most
// records take one or two bytes, and reader and writer keep nothing but a stack of free slots.

#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_kind { TRACE_MALLOC, TRACE_CALLOC, TRACE_FREE, TRACE_REALLOC };

struct trace_event {
    enum trace_kind kind;
    uint32_t slot;
    uint64_t size;  // of what is asked for; 0 for a free
};

struct trace_reader {
    const uint8_t *at, *end;
    uint32_t *free_slots;  // a stack, as long as there are slots
    uint32_t free_count;
    uint32_t slots;        // ever used
    uint32_t slots_max;    // room in free_slots
};

static inline bool trace_number(struct trace_reader *reader, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; reader->at < reader->end && shift < 64; shift += 7) {
        const uint8_t byte = *reader->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

// Reads the next event. False at the end, and where the trace is not one: then `at` is not `end`.
static inline bool trace_next(struct trace_reader *reader, struct trace_event *event) {
    const uint8_t *const start = reader->at;
    uint64_t word;
    if (!trace_number(reader, &word)) {
        reader->at = start;
        return false;
    }
    event->kind = (enum trace_kind)(word & 3);
    event->size = word >> 2;
    if (event->kind == TRACE_MALLOC || event->kind == TRACE_CALLOC) {
        if (reader->free_count > 0) {
            event->slot = reader->free_slots[--reader->free_count];
            return true;
        }
        event->slot = reader->slots;
        return reader->slots++ < reader->slots_max ? true : (reader->at = start, false);
    }
    event->slot = (uint32_t)(word >> 2);
    event->size = 0;
    if (word >> 2 >= reader->slots || (event->kind == TRACE_REALLOC && !trace_number(reader, &event->size))) {
        reader->at = start;
        return false;
    }
    if (event->kind == TRACE_FREE) {
        if (reader->free_count >= reader->slots_max) {
            reader->at = start;
            return false;
        }
        reader->free_slots[reader->free_count++] = event->slot;
    }
    return true;
}

#endif
