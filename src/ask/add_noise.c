/*
 * add_noise.c - the one way from exact sums to an answer: every number gets one draw of its own
 * (answer.T1).
 *
 * A query folds its records into totals and hands them over; which numbers they are, and which law
 * each class of them has, is all that is asked of it.  So no query lays noise out, keeps it or
 * copies it, and there is one loop to look at.  Noise comes in waves of a bounded size: an answer
 * of many numbers takes no second array as long as itself.
 */
#include "ask/query_steps.h"
#include "ask/witness.h"

enum { PIECE = 512 }; /* of what comes from one stream */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static unsigned class_at(const clo_noise *noise, size_t number)
{
    return noise->class_of ? noise->class_of[number] : 0;
}

static size_t members_of(const clo_noise *noise, unsigned class)
{
    size_t members = 0;
    if (!noise->class_of) return noise->count;
    for (size_t e = 0; e < noise->count; e++) members += noise->class_of[e] == class;
    return members;
}

/* Wrapping is harmless: it is post-processing of the integer sum, and no sum of real data comes
 * near it. */
static void add(clo_witness *witness, int64_t *numbers, size_t at, int64_t drawn)
{
    numbers[at] = (int64_t)((uint64_t)numbers[at] + (uint64_t)drawn);
    clo_i_witness_add(witness, at, drawn);
}

/* The next members of the class, in the order of the answer, each with the next draw. */
static clo_status add_class(clo_context *context, const clo_noise *noise, unsigned class,
                            int64_t *drawn, clo_witness *witness, int64_t *totals, clo_error *err)
{
    const uint64_t ask = clo_i_noise_ask(context);
    const size_t members = members_of(noise, class);
    size_t at = 0;
    for (size_t first = 0; first < members; first += CLO_NOISE_WAVE) {
        const size_t here = least(members - first, CLO_NOISE_WAVE);
        clo_i_witness_blank(drawn, here);
        CLO_TRY(clo_i_draw_wave(context, noise->laws[class], ask, first / CLO_NOISE_WAVE, here,
                                drawn, err));
        for (size_t i = 0; i < here; i++, at++) {
            while (class_at(noise, at) != class) at++;
            add(witness, totals, at, drawn[i]);
        }
    }
    return CLO_OK;
}

static clo_status add_noise(clo_context *context, const clo_noise *noise, clo_witness *witness,
                            int64_t *totals, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const unsigned classes = noise->classes ? (unsigned)noise->classes : 1;
    int64_t *drawn = NULL;
    clo_status status = clo_i_answer_lay_out(context->workspace, noise->count, &drawn, err);
    for (unsigned class = 0; class < classes && !status; class ++)
        status = add_class(context, noise, class, drawn, witness, totals, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

void clo_i_publish_answer(const clo_context *context, int64_t *numbers, size_t count)
{
    clo_i_witness_public(context->meter, numbers, count);
    CLO_I_DECLASSIFY(numbers, count * sizeof *numbers);
}

clo_status clo_i_answer(clo_context *context, const clo_line *line, const clo_noise *noise,
                        int64_t *totals, clo_error *err)
{
    const clo_exact exact = { CLO_EXACT_SUMS, line, totals, noise->count, noise };
    (void)clo_i_witness_exact(&exact, NULL);
    clo_witness witness = clo_i_witness_begin(totals, noise->count);
    clo_status status = add_noise(context, noise, &witness, totals, err);
    if (!status) {
        clo_i_witness_check(&witness, context, line, totals);
        clo_i_witness_plant(&witness, line, noise, totals);
    }
    clo_i_witness_end(&witness);
    if (!status) clo_i_publish_answer(context, totals, noise->count);
    return status;
}

clo_status clo_i_answer_lay_out(clo_workspace *space, size_t count, int64_t **drawn, clo_error *err)
{
    return clo_i_take(space, least(count, CLO_NOISE_WAVE), sizeof **drawn, drawn, err);
}

void clo_i_add_noise_from(const clo_context *context, const clo_line *line, clo_stream *stream,
                          clo_law law, int64_t *numbers, size_t count)
{
    const clo_noise noise = { .count = count, .laws = { law } };
    const clo_exact exact = { CLO_EXACT_SUMS, line, numbers, count, &noise };
    (void)clo_i_witness_exact(&exact, NULL);
    clo_witness witness = clo_i_witness_begin(numbers, count);
    int64_t drawn[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        const size_t here = least(count - first, PIECE);
        clo_i_witness_blank(drawn, here);
        clo_i_draw_from(stream, law, here, drawn);
        for (size_t i = 0; i < here; i++) add(&witness, numbers, first + i, drawn[i]);
    }
    clo_i_wipe(drawn, sizeof drawn);
    clo_i_witness_check(&witness, context, line, numbers);
    clo_i_witness_end(&witness);
}
