/*
 * witness.h - in the test build (-Dfault_injection=true), a witness that every number of an answer
 * was noised exactly once; everywhere else nothing at all.
 *
 * Three things are watched.  While noise is added: each number gets a draw that was really drawn,
 * once, and nothing else happens to it.  When an answer is told: as many numbers were noised as the
 * plan's line says, and what is told are these numbers, each once.  When a run has ended: whatever
 * was asked was told.  A breach ends the process with a sentence that names the query, so that
 * every test, script and audit that asks one looks at all of this on its way.
 *
 * And it shows a test what every answer is drawn from, exact and with the laws that are about to be
 * drawn from, so that the test can say how much a unit changes it.
 */
#ifndef CLO_ASK_WITNESS_H
#define CLO_ASK_WITNESS_H

#include "ask/query_steps.h"

/* What an answer is drawn from: sums, each with the law of its noise; the scores of a choice; the
 * weights of one; of a cube, its parent, its number and its records. */
typedef enum clo_exact_kind {
    CLO_EXACT_SUMS,
    CLO_EXACT_SCORES,
    CLO_EXACT_WEIGHTS,
    CLO_EXACT_RECORDS
} clo_exact_kind;

typedef struct clo_exact {
    clo_exact_kind kind;
    const clo_line *line;
    const int64_t *numbers;
    size_t count;
    const clo_noise *noise; /* of sums */
} clo_exact;

#ifdef CLO_FAULT_INJECTION

typedef struct clo_witness {
    size_t count;
    int64_t *before; /* the numbers without noise */
    int64_t *drawn;  /* what was added to each ... */
    uint8_t *times;  /* ... and how often */
} clo_witness;

clo_witness clo_i_witness_begin(const int64_t *numbers, size_t count);
/* Marks what a draw is about to fill, so that one that was left out is seen. */
void clo_i_witness_blank(int64_t *drawn, size_t count);
void clo_i_witness_add(clo_witness *witness, size_t number, int64_t drawn);
/* Ends the process unless each number is what it was and one draw. */
void clo_i_witness_check(const clo_witness *witness, const clo_context *context,
                         const clo_line *line, const int64_t *numbers);
/* What the test build may have done wrong, now that sums and noise are known. */
void clo_i_witness_plant(const clo_witness *witness, const clo_line *line, const clo_noise *noise,
                         int64_t *numbers);
void clo_i_witness_end(clo_witness *witness);

/* An ask begins; its numbers are noised and public; some of them are told, over a unit or, where
 * that is 0, as something else that was made of them; the run has succeeded. */
void clo_i_witness_charged(clo_meter *meter, const clo_line *line);
void clo_i_witness_public(clo_meter *meter, const int64_t *numbers, size_t count);
void clo_i_witness_told(clo_meter *meter, const clo_line *line, const double *values, size_t count,
                        double unit);
void clo_i_witness_finished(const clo_meter *meter);

/* Of a choice: which one is to be made, so that all of an ask's choices can be gone through. */
typedef size_t clo_witness_ear(void *user, const clo_exact *exact);
/* One at a time, for a test of one thread; NULL: none. */
void clo_i_witness_listen(clo_witness_ear *ear, void *user);
/* Whether somebody listens; chosen: NULL where nothing is chosen. */
bool clo_i_witness_exact(const clo_exact *exact, size_t *chosen);

#else
static inline bool clo_i_witness_exact(const clo_exact *exact, size_t *chosen)
{
    return false;
}

typedef struct clo_witness {
    bool absent;
} clo_witness;

static inline clo_witness clo_i_witness_begin(const int64_t *numbers, size_t count)
{
    return (clo_witness){ true };
}
static inline void clo_i_witness_blank(int64_t *drawn, size_t count)
{
}
static inline void clo_i_witness_add(clo_witness *witness, size_t number, int64_t drawn)
{
}
static inline void clo_i_witness_check(const clo_witness *witness, const clo_context *context,
                                       const clo_line *line, const int64_t *numbers)
{
}
static inline void clo_i_witness_plant(const clo_witness *witness, const clo_line *line,
                                       const clo_noise *noise, int64_t *numbers)
{
}
static inline void clo_i_witness_end(clo_witness *witness)
{
}
static inline void clo_i_witness_charged(clo_meter *meter, const clo_line *line)
{
}
static inline void clo_i_witness_public(clo_meter *meter, const int64_t *numbers, size_t count)
{
}
static inline void clo_i_witness_told(clo_meter *meter, const clo_line *line, const double *values,
                                      size_t count, double unit)
{
}
static inline void clo_i_witness_finished(const clo_meter *meter)
{
}

#endif
#endif
