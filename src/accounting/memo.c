/*
 * memo.c - prices and factors that were found before, while many plans are compared.
 */
#include "accounting/memo.h"
#include "accounting/accountant.h"
#include <string.h>

static _Thread_local clo_i_memo *current;

void clo_i_memo_begin(clo_i_memo *memo)
{
    memo->outer = current;
    current = memo;
    clo_i_hold_constants();
}

void clo_i_memo_end(clo_i_memo *memo)
{
    current = memo->outer;
    clo_i_release_constants();
}

bool clo_i_memo_leaves_out(void)
{
    if (!current || !current->rough) return false;
    current->left_out = true;
    return true;
}

/* Questions are compared byte by byte, so the bytes between their fields are made 0. */
bool clo_i_memo_ask(clo_i_memo_kind kind, const clo_event *events, size_t count, clo_loss budget,
                    clo_i_memo_question *out)
{
    if (!current || !events || count > CLO_I_MEMO_EVENTS) return false;
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->count = count;
    out->budget.epsilon = budget.epsilon;
    out->budget.delta = budget.delta;
    for (size_t i = 0; i < count; i++) {
        out->events[i].kind = events[i].kind;
        out->events[i].parameter = events[i].parameter;
        out->events[i].delta = events[i].delta;
        out->events[i].count = events[i].count;
    }
    return true;
}

bool clo_i_memo_recall(const clo_i_memo_question *question, clo_i_memo_answer *out)
{
    for (size_t i = 0; i < current->used; i++) {
        if (memcmp(&current->questions[i], question, sizeof *question) != 0) continue;
        *out = current->answers[i];
        return true;
    }
    return false;
}

void clo_i_memo_keep(const clo_i_memo_question *question, clo_i_memo_answer answer)
{
    if (current->used == CLO_I_MEMO_ANSWERS) return;
    current->questions[current->used] = *question;
    current->answers[current->used++] = answer;
}
