/*
 * certify.c - a release says which charge of which ledger it is, and the ledger signs that; and
 * back: whether a release is what a ledger charged for (ledger.T14).
 */
#include "job/job.h"
#include <cloister/cut.h>
#include <stdio.h>
#include <string.h>

static void write_hex(char *text, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

clo_status clo_ledger_certify(clo_ledger *ledger, const clo_grant *grant, clo_release *release,
                              clo_error *err)
{
    uint8_t key[CLO_PUBLIC_KEY_BYTES], signature[CLO_SIGNATURE_BYTES];
    char key_text[2 * sizeof key + 1], signature_text[2 * sizeof signature + 1];
    clo_certificate certificate = { .struct_size = sizeof certificate };
    clo_i_growing json = { NULL, 0, 0 };
    CLO_TRY(clo_grant_certificate(grant, &certificate, err));
    CLO_TRY(clo_ledger_public_key(ledger, key, err));
    write_hex(key_text, key, sizeof key);
    certificate.public_key = key_text;
    CLO_TRY(clo_release_certify(release, &certificate, err));
    clo_status status = clo_report(release, CLO_JSON, clo_i_growing_write, &json, err);
    if (!status) status = clo_ledger_sign(ledger, json.bytes, json.length, signature, err);
    clo_i_free(json.bytes);
    if (status) return status;
    write_hex(signature_text, signature, sizeof signature);
    certificate.signature = signature_text;
    return clo_release_certify(release, &certificate, err);
}

/* ---- and back ------------------------------------------------------------------ */

typedef struct question {
    const clo_release *release;
    const clo_certificate *certificate;
    const char *wrong; /* NULL: nothing */
} question;

static bool compare(void *user, const clo_charge *charge)
{
    question *const q = user;
    const clo_loss loss = clo_release_loss(q->release);
    char name[128];
    const int length = snprintf(name, sizeof name, "%s/%s", clo_release_family(q->release),
                                clo_release_method(q->release));
    const bool same = strncmp(charge->mechanism, name, (size_t)length) == 0 &&
                      strchr(" ", charge->mechanism[length]) != NULL;
    if (strcmp(charge->dataset, q->certificate->dataset) != 0)
        q->wrong = "data set";
    else if (!same)
        q->wrong = "mechanism";
    else if (charge->loss.epsilon != loss.epsilon || charge->loss.delta != loss.delta)
        q->wrong = "loss";
    else if (charge->time != q->certificate->time)
        q->wrong = "time";
    return true;
}

static clo_status check_seal(const clo_release *release, clo_certificate *out, clo_error *err)
{
    const char *const origin = clo_release_cut_from(release);
    *out = (clo_certificate){ .struct_size = sizeof *out };
    if (origin)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "this was cut from the release %.16s... and has no signature: check "
                          "that one, and cut it again",
                          origin);
    if (clo_release_seal(release) == CLO_SEAL_NONE || !clo_release_certificate(release, out))
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release is not signed, because %s: nobody can check whether it was "
                          "changed",
                          clo_release_is_metered(release) ? "an older version made it, or "
                                                            "somebody removed the certificate"
                                                          : "no ledger was charged for it");
    if (clo_release_seal(release) == CLO_SEAL_BROKEN)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release was changed after it was signed: its signature is wrong");
    return CLO_OK;
}

clo_status clo_release_check(const clo_release *release,
                             const uint8_t public_key[CLO_PUBLIC_KEY_BYTES], clo_error *err)
{
    char wanted[2 * CLO_PUBLIC_KEY_BYTES + 1];
    clo_certificate certificate;
    CLO_TRY(check_seal(release, &certificate, err));
    write_hex(wanted, public_key, CLO_PUBLIC_KEY_BYTES);
    if (strcmp(certificate.public_key, wanted) != 0)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release was signed with the key %.16s..., not with %.16s...",
                          certificate.public_key, wanted);
    return CLO_OK;
}

clo_status clo_ledger_check(clo_ledger *ledger, const clo_release *release, clo_error *err)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    uint8_t key[CLO_PUBLIC_KEY_BYTES];
    clo_certificate certificate;
    question q = { .release = release, .certificate = &certificate };
    CLO_TRY(check_seal(release, &certificate, err));
    CLO_TRY(clo_ledger_describe(ledger, &facts, err));
    if (strcmp(facts.identity, certificate.ledger) != 0)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release was charged to the ledger %.32s, and this ledger is %s",
                          certificate.ledger, facts.identity);
    CLO_TRY(clo_ledger_public_key(ledger, key, err));
    CLO_TRY(clo_release_check(release, key, err));
    if (certificate.charge > facts.charges)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release is charge %llu, but this ledger ends at charge %llu: it is "
                          "an older copy",
                          (unsigned long long)certificate.charge,
                          (unsigned long long)facts.charges);
    CLO_TRY(clo_ledger_find_charge(ledger, certificate.charge, compare, &q, err));
    if (q.wrong)
        return clo_i_fail(err, CLO_SIGNATURE,
                          "the release does not match its charge %llu in this ledger: the %s "
                          "differs",
                          (unsigned long long)certificate.charge, q.wrong);
    return CLO_OK;
}
