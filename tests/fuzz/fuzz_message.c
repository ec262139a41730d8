/* fuzz_message.c - what an analyst sends, and what a steward writes: any bytes are refused or
 * read; a message that was read is written again to the same bytes, and what the policy allows of
 * it never holds a setting that is the steward's. */
#include "broker/broker.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char POLICY[] = "[broker]\nledger = /nowhere/ledger.db\n[dataset people]\ndata = "
                             "/nowhere/people.csv\nfamilies = kmeans subspace\nnorm = "
                             "1\nepsilon-at-most = 0.5\n[analyst a]\npeople = 1:1e-6\n";

static void check_permit(const clo_policy *policy, const clo_setting *settings, size_t count)
{
    clo_i_permit permit;
    if (clo_i_permit_check(policy, "a", settings, count, &permit, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        const clo_setting_info *row;
        for (size_t k = 0; (row = clo_job_setting(k)); k++)
            if (strcmp(row->name, settings[i].name) == 0 && !row->analyst) abort();
        if (strcmp(settings[i].name, "epsilon") == 0 && strtod(settings[i].value, NULL) > 0.5)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    clo_setting settings[CLO_MESSAGE_SETTINGS];
    clo_policy *policy = NULL;
    uint32_t said = 0;
    size_t count = 0, length = 0;
    if (clo_policy_parse((const char *)bytes, size, &policy, NULL) == CLO_OK)
        clo_policy_free(policy);
    if (size >= CLO_MESSAGE_HEADER &&
        clo_message_length(bytes, CLO_MESSAGE_BYTES, &said, NULL) == CLO_OK &&
        said > CLO_MESSAGE_BYTES)
        abort();
    char *const copy = malloc(size ? size : 1), *const again = malloc(CLO_MESSAGE_BYTES);
    if (!copy || !again) abort();
    if (size) memcpy(copy, bytes, size);
    if (clo_message_decode(copy, size, settings, &count, NULL) == CLO_OK) {
        if (clo_message_encode(settings, count, again, CLO_MESSAGE_BYTES, &length, NULL) ||
            length != size || memcmp(again, bytes, size) != 0)
            abort();
        if (clo_policy_parse(POLICY, sizeof POLICY - 1, &policy, NULL)) abort();
        check_permit(policy, settings, count);
        clo_policy_free(policy);
    }
    free(copy);
    free(again);
    return 0;
}
