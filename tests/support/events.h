/* events.h - small changes to events, and a generator of their numbers, for tests of prices. */
#ifndef CLO_TEST_EVENTS_H
#define CLO_TEST_EVENTS_H

#include <cloister/privacy.h>

static inline clo_event times(clo_event event, uint64_t count)
{
    event.count = count;
    return event;
}

static inline clo_event scaled(clo_event event, double factor)
{
    event.parameter *= factor;
    return event;
}

/* A small generator of its own, so that a failure can be repeated. */
static inline double draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) * 0x1p-53;
}

#endif
