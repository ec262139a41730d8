/* planted.c - which fault is switched on, in the test build. */
#include "base/planted.h"

#ifdef CLO_FAULT_INJECTION
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int planted = CLO_FAULT_NONE;

bool clo_i_planted(clo_planted fault)
{
    return atomic_load_explicit(&planted, memory_order_relaxed) == (int)fault;
}

void clo_i_plant(clo_planted fault)
{
    atomic_store(&planted, (int)fault);
}

const char *clo_i_planted_name(clo_planted fault)
{
    static const char *const names[] = { "none",
#define X(name, what) what,
                                         CLO_FAULT_LIST(X)
#undef X
    };
    return (size_t)fault < CLO_FAULT_COUNT ? names[fault] : "?";
}
#else
typedef int clo_i_no_planted_faults; /* a translation unit must not be empty */
#endif
