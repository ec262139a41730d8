/*
 * release_digest.c - the hash of a release's JSON: by it a later release names the one that it
 * builds on.
 */
#include "report/report.h"
#include <sodium.h>

static bool absorb(void *user, const char *bytes, size_t count)
{
    return crypto_generichash_update(user, (const uint8_t *)bytes, count) == 0;
}

clo_status clo_release_digest(const clo_release *release, char text[CLO_DIGEST_SIZE],
                              clo_error *err)
{
    crypto_generichash_state state;
    uint8_t hash[(CLO_DIGEST_SIZE - 1) / 2];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    CLO_TRY(clo_report(release, CLO_JSON, absorb, &state, err));
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(text, CLO_DIGEST_SIZE, hash, sizeof hash);
    return CLO_OK;
}
