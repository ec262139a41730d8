/*
 * ledger_code.c - for whom a parcel is (ledger.T18).
 *
 * A parcel that two machines could unpack would be two ledgers with two caps.  So the machine that
 * is to have the ledger draws a pair of keys first.  The public one, with a checksum, is the code
 * that the steward brings to the sending machine, which seals the ledger's key for it.  The secret
 * one stays in codes/ of the user's configuration until the ledger is here.
 *
 * The checksum is there because nobody could unpack what was sealed for a mistyped code.
 */
#include "ledger/ledger_internal.h"
#include "base/key.h"
#include <cloister/steward.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHECKSUM = 4, CODE = LEDGER_RECEIVER + CHECKSUM };
_Static_assert(CLO_MOVE_CODE == 2 * CODE, "a code is written in hexadecimal digits");
_Static_assert(LEDGER_RECEIVER == crypto_box_PUBLICKEYBYTES, "of X25519");
_Static_assert(LEDGER_KEY == crypto_box_SEEDBYTES, "a key is a seed");
_Static_assert(LEDGER_SEAL_TAG == crypto_box_MACBYTES, "of Poly1305");

/* Of a pair of keys that is used for one message, so that one nonce is enough. */
static const uint8_t nonce[crypto_box_NONCEBYTES];

static void set_checksum(uint8_t code[CODE])
{
    static const char purpose[] = "cloister ledger move code";
    uint8_t hash[LEDGER_HASH];
    crypto_generichash(hash, sizeof hash, code, LEDGER_RECEIVER, (const uint8_t *)purpose,
                       sizeof purpose - 1);
    memcpy(code + LEDGER_RECEIVER, hash, CHECKSUM);
}

static clo_status find_path(const uint8_t receiver[LEDGER_RECEIVER], char path[PATH_MAX],
                            clo_error *err)
{
    char name[64] = "codes/";
    sodium_bin2hex(name + strlen(name), LEDGER_RECEIVER + 1, receiver, LEDGER_RECEIVER / 2);
    return clo_i_config_path(name, path, err);
}

/* ---- where the ledger goes to ------------------------------------------------------------ */

clo_status clo_ledger_move_code(char code[CLO_MOVE_CODE + 1], clo_error *err)
{
    clo_i_key seed;
    uint8_t bytes[LEDGER_KEY], secret[crypto_box_SECRETKEYBYTES], drawn[CODE];
    char path[PATH_MAX];
    if (!clo_i_key_draw(CLO_KEY_CODE, bytes, sizeof bytes))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a code");
    clo_i_key_take(CLO_KEY_CODE, bytes, sizeof bytes);
    clo_i_key_set(&seed, bytes);
    crypto_box_seed_keypair(drawn, secret, bytes);
    set_checksum(drawn);
    clo_status status = find_path(drawn, path, err);
    if (!status) status = clo_i_key_put(path, &seed, err);
    if (!status) sodium_bin2hex(code, CLO_MOVE_CODE + 1, drawn, sizeof drawn);
    clo_i_wipe(&seed, sizeof seed);
    clo_i_wipe(bytes, sizeof bytes);
    clo_i_wipe(secret, sizeof secret);
    return status;
}

clo_status clo_i_code_open(const clo_i_sealed_key *sealed, const char *folder, clo_i_key *key,
                           clo_error *err)
{
    clo_i_key seed = { .known = false };
    uint8_t receiver[LEDGER_RECEIVER], secret[crypto_box_SECRETKEYBYTES], bytes[LEDGER_KEY];
    char path[PATH_MAX];
    CLO_TRY(find_path(sealed->receiver, path, err));
    CLO_TRY(clo_i_key_read(path, &seed, err));
    if (!seed.known)
        return clo_i_fail(err, CLO_LEDGER,
                          "the folder %.160s was made for another machine, or was already "
                          "unpacked: only the machine that made the code can unpack it, once",
                          folder);
    crypto_box_seed_keypair(receiver, secret, seed.bytes);
    const bool right = crypto_box_open_easy(bytes, sealed->box, sizeof sealed->box, nonce,
                                            sealed->once, secret) == 0;
    if (right) clo_i_key_set(key, bytes);
    clo_i_wipe(&seed, sizeof seed);
    clo_i_wipe(secret, sizeof secret);
    clo_i_wipe(bytes, sizeof bytes);
    return right ? CLO_OK
                 : clo_i_fail(err, CLO_LEDGER,
                              "the key in the folder %.160s is damaged: copy the folder again from "
                              "the machine that made it",
                              folder);
}

void clo_i_code_forget(const uint8_t receiver[LEDGER_RECEIVER])
{
    char path[PATH_MAX];
    if (find_path(receiver, path, NULL) == CLO_OK) unlink(path);
}

/* ---- where it comes from ----------------------------------------------------------------- */

clo_status clo_i_code_parse(const char *text, uint8_t receiver[LEDGER_RECEIVER], clo_error *err)
{
    uint8_t code[CODE], same[CODE];
    size_t length = 0;
    bool right = text && strlen(text) == CLO_MOVE_CODE &&
                 sodium_hex2bin(code, sizeof code, text, CLO_MOVE_CODE, NULL, &length, NULL) == 0 &&
                 length == sizeof code;
    if (right) {
        memcpy(same, code, sizeof same);
        set_checksum(same);
        right = memcmp(same, code, sizeof same) == 0;
    }
    if (!right)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "this is not a code of a machine, or a digit is wrong: copy all %d "
                          "digits from the new machine",
                          CLO_MOVE_CODE);
    memcpy(receiver, code, LEDGER_RECEIVER);
    return CLO_OK;
}

clo_status clo_i_code_seal(const clo_i_key *key, const uint8_t receiver[LEDGER_RECEIVER],
                           clo_i_sealed_key *sealed, clo_error *err)
{
    uint8_t seed[LEDGER_KEY], secret[crypto_box_SECRETKEYBYTES];
    if (!clo_i_key_draw(CLO_KEY_PARCEL, seed, sizeof seed))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a parcel");
    clo_i_key_take(CLO_KEY_PARCEL, seed, sizeof seed);
    memcpy(sealed->receiver, receiver, LEDGER_RECEIVER);
    crypto_box_seed_keypair(sealed->once, secret, seed);
    const bool right =
        crypto_box_easy(sealed->box, key->bytes, LEDGER_KEY, nonce, receiver, secret) == 0;
    clo_i_wipe(seed, sizeof seed);
    clo_i_wipe(secret, sizeof secret);
    return right ? CLO_OK : clo_i_fail(err, CLO_ARGUMENT, "this is not a code of a machine");
}
