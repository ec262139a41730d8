/*
 * answers_json.c - the noisy answers of a release in its JSON, and where a release comes from that
 * was made from another one (docs/release-format.md).
 *
 * Answers are many whole numbers, most of them small.  Each is a variable number of bytes, seven
 * bits in each, and the bytes are base64: a third of the size of decimals, exact, and the same
 * bytes for the same numbers.
 */
#include "report/report.h"
#include <jansson.h>
#include <sodium.h>
#include <string.h>

enum { BASE64 = sodium_base64_VARIANT_ORIGINAL };
enum { LONGEST = 10, MOST_ANSWERS = 1000, MOST_NUMBERS = 1 << 26 }; /* bytes of a number */

/* ---- numbers as text ------------------------------------------------------------------------- */

/* 0, -1, 1, -2, ... are 0, 1, 2, 3, ...; then seven bits a byte, the lowest first, and the highest
 * bit says that there is one more. */
static size_t pack(int64_t value, uint8_t out[LONGEST])
{
    uint64_t rest = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
    size_t length = 0;
    while (rest >= 128) {
        out[length++] = (uint8_t)(rest | 128);
        rest >>= 7;
    }
    out[length++] = (uint8_t)rest;
    return length;
}

/* In pieces of a multiple of three bytes, which end without padding but for the last. */
static void write_numbers(clo_writer *w, const char *key, const int64_t *numbers, size_t count)
{
    uint8_t bytes[3 * 64 + LONGEST];
    char text[sodium_base64_ENCODED_LEN(3 * 64, BASE64)];
    size_t held = 0;
    clo_json_key(w, key);
    clo_writer_text(w, "\"");
    for (size_t i = 0; i <= count; i++) {
        if (i < count) held += pack(numbers[i], bytes + held);
        if (held < 3 * 64 && i < count) continue;
        const size_t whole = held < 3 * 64 ? held : 3 * 64;
        sodium_bin2base64(text, sizeof text, bytes, whole, BASE64);
        clo_writer_text(w, text);
        memmove(bytes, bytes + whole, held -= whole);
    }
    clo_writer_text(w, "\"");
}

static clo_status bad(clo_error *err, const char *what)
{
    return clo_i_fail(err, CLO_FORMAT, "this is not a cloister release: %s", what);
}

static const char shortened[] = "an answer was shortened or is not written as it must be";

/* The numbers of these bytes, none of which may be longer than it has to be. */
static clo_status unpack(const uint8_t *bytes, size_t length, int64_t *out, size_t *count,
                         clo_error *err)
{
    size_t at = 0;
    *count = 0;
    while (at < length) {
        uint64_t value = 0;
        size_t used = 0;
        for (bool more = true; more; used++) {
            if (at + used >= length || used >= LONGEST) return bad(err, shortened);
            const uint64_t byte = bytes[at + used];
            if ((used == LONGEST - 1 && byte > 1) || (used > 0 && byte == 0))
                return bad(err, shortened);
            value |= (byte & 127) << (7 * used);
            more = byte >= 128;
        }
        out[(*count)++] = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
        at += used;
    }
    return CLO_OK;
}

static clo_status read_numbers(const json_t *object, const char *key, int64_t **out, size_t *count,
                               clo_error *err)
{
    const char *const text = json_string_value(json_object_get(object, key));
    const size_t length = text ? strlen(text) : 0;
    uint8_t *bytes = NULL;
    size_t held = 0;
    const char *end = NULL;
    if (!text || length > MOST_NUMBERS)
        return bad(err, "an answer has no text where its numbers are");
    CLO_TRY(clo_i_alloc(length + 1, 1, &bytes, err));
    clo_status status = clo_i_alloc(length + 1, sizeof **out, out, err);
    if (!status && sodium_base642bin(bytes, length + 1, text, length, NULL, &held, &end, BASE64))
        status = bad(err, shortened);
    if (!status && end != text + length) status = bad(err, shortened);
    if (!status) status = unpack(bytes, held, *out, count, err);
    clo_i_free(bytes);
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void write_answer(clo_writer *w, const clo_i_kept_answer *answer)
{
    clo_json_open(w, NULL, '{');
    clo_json_text(w, "kind", answer->kind);
    clo_json_count(w, "cols", answer->cols);
    clo_json_count(w, "groups", answer->groups);
    clo_i_json_numbers(w, "noise", answer->noise, answer->noise_count);
    write_numbers(w, "asked", answer->asked, answer->asked_count);
    write_numbers(w, "answered", answer->answered, answer->answered_count);
    clo_json_close(w, '}');
}

void clo_i_answers_json(const clo_release *release, clo_writer *w)
{
    if (release->answer_count == 0) return;
    clo_json_open(w, "answers", '[');
    for (size_t i = 0; i < release->answer_count; i++) write_answer(w, &release->answers[i]);
    clo_json_close(w, ']');
}

static clo_status read_noise(const json_t *list, clo_i_kept_answer *answer, clo_error *err)
{
    const size_t count = json_array_size(list);
    if (count < 1 || count > sizeof answer->noise / sizeof *answer->noise)
        return bad(err, "the \"noise\" of an answer is no list of one to three numbers");
    for (size_t i = 0; i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        if (!json_is_number(item) || !(json_number_value(item) > 0))
            return bad(err, "the \"noise\" of an answer is not above 0");
        answer->noise[i] = json_number_value(item);
    }
    answer->noise_count = count;
    return CLO_OK;
}

static clo_status read_count(const json_t *object, const char *key, size_t *out, clo_error *err)
{
    const json_t *const value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > MOST_NUMBERS)
        return bad(err, "an answer does not say how many columns or groups it has");
    *out = (size_t)json_integer_value(value);
    return CLO_OK;
}

static clo_status read_answer(const json_t *object, clo_release *release, clo_error *err)
{
    const char *const kind = json_string_value(json_object_get(object, "kind"));
    clo_i_kept_answer answer = { .kind = "" };
    if (!kind || strlen(kind) >= sizeof answer.kind)
        return bad(err, "an answer does not say what kind it is");
    memcpy(answer.kind, kind, strlen(kind) + 1);
    CLO_TRY(read_count(object, "cols", &answer.cols, err));
    CLO_TRY(read_count(object, "groups", &answer.groups, err));
    CLO_TRY(read_noise(json_object_get(object, "noise"), &answer, err));
    clo_status status = read_numbers(object, "asked", &answer.asked, &answer.asked_count, err);
    if (!status)
        status = read_numbers(object, "answered", &answer.answered, &answer.answered_count, err);
    if (!status) status = clo_i_release_put_answer(release, &answer, err);
    clo_i_free(answer.asked);
    clo_i_free(answer.answered);
    return status;
}

clo_status clo_i_answers_read(const json_t *list, clo_release *release, clo_error *err)
{
    if (!list) return CLO_OK;
    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > MOST_ANSWERS)
        return bad(err, "\"answers\" is not a list of answers");
    for (size_t i = 0; i < json_array_size(list); i++)
        CLO_TRY(read_answer(json_array_get(list, i), release, err));
    return CLO_OK;
}

/* ---- where it comes from --------------------------------------------------------------------- */

void clo_i_derived_json(const clo_release *release, clo_writer *w)
{
    const clo_i_derived *const from = &release->derived;
    if (!from->there) return;
    clo_json_open(w, "derived", '{');
    clo_json_text(w, "how", from->how);
    clo_json_text(w, "release", from->release);
    if (from->ledger[0]) {
        clo_json_text(w, "ledger", from->ledger);
        clo_json_count(w, "charge", from->charge);
    }
    clo_json_number(w, "epsilon", 0);
    clo_json_close(w, '}');
}

static bool copy_text(const json_t *object, const char *key, char *to, size_t room)
{
    const char *const text = json_string_value(json_object_get(object, key));
    if (!text || strlen(text) >= room) return false;
    memcpy(to, text, strlen(text) + 1);
    return true;
}

clo_status clo_i_derived_read(const json_t *object, clo_i_derived *out, clo_error *err)
{
    const json_t *const charge = json_object_get(object, "charge");
    if (!object) return CLO_OK;
    if (!copy_text(object, "how", out->how, sizeof out->how) ||
        !copy_text(object, "release", out->release, sizeof out->release))
        return bad(err, "\"derived\" does not say from which release it is, and how");
    if (json_number_value(json_object_get(object, "epsilon")) != 0)
        return bad(err, "what is \"derived\" from a release costs nothing more");
    if (json_object_get(object, "ledger")) {
        if (!copy_text(object, "ledger", out->ledger, sizeof out->ledger) || !out->ledger[0] ||
            !json_is_integer(charge) || json_integer_value(charge) < 0)
            return bad(err, "\"derived\" names no charge of a ledger");
        out->charge = (uint64_t)json_integer_value(charge);
    }
    out->there = true;
    return CLO_OK;
}
