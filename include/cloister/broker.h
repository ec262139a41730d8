/*
 * broker.h - one account that owns data, key and ledger, and many analysts who ask it.
 *
 * An analyst sends settings and gets a release: they see no file, no key, no ledger, and no word
 * that depends on a record without noise.  Which data sets there are, how they are read and
 * bounded, who may ask what and how much of it, is the steward's: it stands in one file, the
 * policy (docs/guides/broker.md says how it is written).
 *
 *   analyst   clo_broker_ask    settings ──► a socket ──► a release, or a refusal
 *   broker    clo_policy_read, clo_policy_prepare, and for each message clo_policy_answer
 *
 * The socket and its processes are the command's ('cloister serve'); what is here decides, and can
 * be called without one.
 */
#ifndef CLOISTER_BROKER_H
#define CLOISTER_BROKER_H

#include <cloister/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of messages: the longest one of an analyst, the most settings in it; the bytes before each
 * ("CLO1", and its length in four bytes, highest first); the longest answer, whose first four bytes
 * are its status. */
enum {
    CLO_MESSAGE_BYTES = 65536,
    CLO_MESSAGE_SETTINGS = 64,
    CLO_MESSAGE_HEADER = 8,
    CLO_ANSWER_BYTES = 1 << 28
};

/* ---- messages ---------------------------------------------------------------- */

/* Writes the header of a message of that length. */
CLO_API void clo_message_begin(uint8_t header[CLO_MESSAGE_HEADER], uint32_t length);
/* The length in a header; CLO_FORMAT where it is none, or says more than `most`. */
CLO_API CLO_CHECK clo_status clo_message_length(const uint8_t header[CLO_MESSAGE_HEADER],
                                                uint32_t most, uint32_t *length, clo_error *err);
/* Settings as a message of at most `room` bytes: each name and value, ended by a zero byte.
 * CLO_ARGUMENT where they do not fit, or are not what clo_message_decode takes. */
CLO_API CLO_CHECK clo_status clo_message_encode(const clo_setting *settings, size_t count,
                                                char *bytes, size_t room, size_t *length,
                                                clo_error *err);
/* The settings of a message; they point into it.  CLO_FORMAT where it is not well formed: names of
 * 1 to 64 lower-case letters, digits, dashes and underscores, values of up to 4096 bytes of UTF-8
 * without control characters, no name twice. */
CLO_API CLO_CHECK clo_status clo_message_decode(const char *bytes, size_t length,
                                                clo_setting settings[CLO_MESSAGE_SETTINGS],
                                                size_t *count, clo_error *err);

/* ---- the analyst's side -------------------------------------------------------- */

/* Sends the settings to the broker at that socket, waits, and gives the bytes of the release's
 * JSON, for clo_broker_bytes_free.  A refusal has the broker's status and sentence.  CLO_IO where
 * there is no broker, or it goes away: where a token was given, asking again is safe and costs
 * nothing more. */
CLO_API CLO_CHECK clo_status clo_broker_ask(const char *socket, const clo_setting *settings,
                                            size_t count, char **bytes, size_t *length,
                                            clo_error *err);
CLO_API void clo_broker_bytes_free(char *bytes);

/* ---- the steward's side ---------------------------------------------------------- */

typedef struct clo_policy clo_policy; /* who may ask what */

/* Reads a policy.  CLO_FORMAT with the line where it is not well formed; CLO_IO where others than
 * its owner can write it. */
CLO_API CLO_CHECK clo_status clo_policy_read(const char *path, clo_policy **out, clo_error *err);
/* The same of a text of that length, for tests and editors. */
CLO_API CLO_CHECK clo_status clo_policy_parse(const char *text, size_t length, clo_policy **out,
                                              clo_error *err);
CLO_API void clo_policy_free(clo_policy *policy);

/* Declares in the ledger what each analyst may spend on each data set ("DATASET@ANALYST"), lowers
 * what the policy has lowered, and looks whether every file can be read.  CLO_LEDGER where the
 * policy allows more than was declared before: a cap does not grow. */
CLO_API CLO_CHECK clo_status clo_policy_prepare(const clo_policy *policy, clo_error *err);

/* Of the whole policy. */
typedef struct clo_policy_facts {
    size_t struct_size; /* set by the caller */
    double tick;        /* seconds: answers leave at whole numbers of it after their question */
    uint32_t workers;   /* runs at once */
    uint32_t waiting;   /* questions of one analyst that may be open */
    double patience;    /* seconds that a question may take to arrive, and an answer to be taken */
    size_t datasets, analysts;
    uint32_t share; /* runs of one analyst at once: fewer than workers, if there are others */
    uint32_t ticks_at_most; /* a run that has not ended by then is ended */
} clo_policy_facts;

/* Fills in no more than struct_size bytes. */
CLO_API CLO_CHECK clo_status clo_policy_describe(const clo_policy *policy, clo_policy_facts *out,
                                                 clo_error *err);
/* Whether the policy speaks of this user. */
CLO_API bool clo_policy_knows(const clo_policy *policy, const char *analyst);

/* What an analyst gets, and what the steward's log says. */
typedef struct clo_answer {
    size_t struct_size; /* set by the caller */
    clo_status status;
    char *bytes; /* the release, or one sentence; for clo_broker_bytes_free */
    size_t length;
    char log[800]; /* one line for the steward: who, what, and how it really ended */
} clo_answer;

/* Answers one message of an analyst, whom the caller knows: decodes it, holds it to the policy,
 * and runs it.  Fails only where there is no memory for an answer.  What stands in the answer
 * depends on the policy, the message, the ledger's books and noise; the log may say more. */
CLO_API CLO_CHECK clo_status clo_policy_answer(const clo_policy *policy, const char *analyst,
                                               const char *bytes, size_t length, clo_answer *out,
                                               clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
