/*
 * memo.h - prices and factors that were found before, while many plans are compared.
 *
 * The methods of a family ask the accountant the same questions: what one Gaussian event may cost.
 * Between begin and end this thread answers a question that it has answered from memory.  An answer
 * depends on its question alone, so it is the same; and what is kept ends with the comparison.
 *
 * A rough comparison also leaves out the accounting methods that take milliseconds.  Its prices
 * hold as well, they are only higher; what was left out is said, so that a plan near the best can
 * be made again with all of them.
 */
#ifndef CLO_ACCOUNTING_MEMO_H
#define CLO_ACCOUNTING_MEMO_H

#include "accounting/accounting.h"

enum { CLO_I_MEMO_EVENTS = 4, CLO_I_MEMO_ANSWERS = 16 };

typedef enum clo_i_memo_kind { CLO_I_MEMO_FACTOR, CLO_I_MEMO_PRICE } clo_i_memo_kind;

typedef struct clo_i_memo_question {
    clo_i_memo_kind kind;
    size_t count;
    clo_event events[CLO_I_MEMO_EVENTS];
    clo_loss budget; /* of a price: its delta */
} clo_i_memo_question;

typedef union clo_i_memo_answer {
    double factor;
    clo_price price;
} clo_i_memo_answer;

typedef struct clo_i_memo {
    struct clo_i_memo *outer; /* what was in use when this one began */
    bool rough;               /* costly methods are left out */
    bool left_out;            /* one of them was, since somebody last set this to false */
    size_t used;
    clo_i_memo_question questions[CLO_I_MEMO_ANSWERS];
    clo_i_memo_answer answers[CLO_I_MEMO_ANSWERS];
} clo_i_memo;

/* The caller's memo is in use by this thread until the end, which must come.  It starts out as
 * zeros, and what it holds then is still there when it begins again. */
void clo_i_memo_begin(clo_i_memo *memo);
void clo_i_memo_end(clo_i_memo *memo);
/* Whether a costly method that applies is to be left out; notes that it was. */
bool clo_i_memo_leaves_out(void);

/* Puts the question together; false where nothing is remembered now, or it is too long. */
bool clo_i_memo_ask(clo_i_memo_kind kind, const clo_event *events, size_t count, clo_loss budget,
                    clo_i_memo_question *out);
bool clo_i_memo_recall(const clo_i_memo_question *question, clo_i_memo_answer *out);
/* Where there is no room the answer is not kept. */
void clo_i_memo_keep(const clo_i_memo_question *question, clo_i_memo_answer answer);

#endif
