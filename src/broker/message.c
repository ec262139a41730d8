/*
 * message.c - what an analyst sends: a header with its length, and settings.
 *
 * What a stranger may write to a process that can read the data should be as simple as can be: a
 * length that is bounded before anything is allocated, and texts that end with a zero byte.
 * Nothing here is nested, nothing refers to anything, and what is not exactly well formed is
 * refused as a whole.
 */
#include "broker/broker.h"
#include <string.h>

enum { NAME = 64, VALUE = 4096 };
static const uint8_t MAGIC[4] = { 'C', 'L', 'O', '1' };

void clo_message_begin(uint8_t header[CLO_MESSAGE_HEADER], uint32_t length)
{
    memcpy(header, MAGIC, sizeof MAGIC);
    for (int i = 0; i < 4; i++) header[4 + i] = (uint8_t)(length >> (24 - 8 * i));
}

clo_status clo_message_length(const uint8_t header[CLO_MESSAGE_HEADER], uint32_t most,
                              uint32_t *length, clo_error *err)
{
    uint32_t said = 0;
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return clo_i_fail(err, CLO_FORMAT, "this is not a message of cloister");
    for (int i = 0; i < 4; i++) said = said << 8 | header[4 + i];
    if (said > most)
        return clo_i_fail(err, CLO_FORMAT, "a message may have at most %lu bytes",
                          (unsigned long)most);
    *length = said;
    return CLO_OK;
}

static bool is_name(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && length <= NAME &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

/* UTF-8, the shortest form of each character, none of them a control character. */
static size_t character(const unsigned char *s)
{
    static const uint32_t lowest[] = { 0, 0, 0xa0, 0x800, 0x10000 };
    if (s[0] < 0x80) return s[0] < 0x20 || s[0] == 0x7f ? 0 : 1;
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    uint32_t value = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0; /* also where the text ends */
        value = value << 6 | (s[i] & 0x3f);
    }
    return value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)
               ? 0
               : length;
}

static bool is_value(const char *text)
{
    if (strlen(text) > VALUE) return false;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t length = character(s);
        if (length == 0) return false;
        s += length;
    }
    return true;
}

static clo_status check_setting(const clo_setting *settings, size_t i, clo_error *err)
{
    bool right = is_name(settings[i].name) && is_value(settings[i].value);
    for (size_t j = 0; right && j < i; j++) right = strcmp(settings[i].name, settings[j].name) != 0;
    return right ? CLO_OK
                 : clo_i_fail(err, CLO_FORMAT,
                              "setting %zu of the message is malformed or given twice", i + 1);
}

clo_status clo_message_decode(const char *bytes, size_t length,
                              clo_setting settings[CLO_MESSAGE_SETTINGS], size_t *count,
                              clo_error *err)
{
    size_t found = 0;
    if (length == 0 || length > CLO_MESSAGE_BYTES || bytes[length - 1] != 0)
        return clo_i_fail(err, CLO_FORMAT, "the message is empty, too long or incomplete");
    for (const char *at = bytes, *const end = bytes + length; at < end; found++) {
        if (found == CLO_MESSAGE_SETTINGS)
            return clo_i_fail(err, CLO_FORMAT, "a message may have at most %d settings",
                              CLO_MESSAGE_SETTINGS);
        settings[found].name = at;
        at += strlen(at) + 1;
        if (at >= end) return clo_i_fail(err, CLO_FORMAT, "the last setting has no value");
        settings[found].value = at;
        at += strlen(at) + 1;
        CLO_TRY(check_setting(settings, found, err));
    }
    *count = found;
    return CLO_OK;
}

clo_status clo_message_encode(const clo_setting *settings, size_t count, char *bytes, size_t room,
                              size_t *length, clo_error *err)
{
    size_t used = 0;
    if (count == 0 || count > CLO_MESSAGE_SETTINGS)
        return clo_i_fail(err, CLO_ARGUMENT, "a message has 1 to %d settings",
                          CLO_MESSAGE_SETTINGS);
    for (size_t i = 0; i < count; i++) {
        const char *const texts[] = { settings[i].name, settings[i].value };
        if (check_setting(settings, i, NULL))
            return clo_i_fail(err, CLO_ARGUMENT,
                              "'%.64s' cannot be sent: a value must be one line of at most %d "
                              "bytes of UTF-8, and given once",
                              settings[i].name, VALUE);
        for (int k = 0; k < 2; k++) {
            const size_t size = strlen(texts[k]) + 1;
            if (used + size > room || used + size > CLO_MESSAGE_BYTES)
                return clo_i_fail(err, CLO_ARGUMENT, "the settings are too long for a message");
            memcpy(bytes + used, texts[k], size);
            used += size;
        }
    }
    *length = used;
    return CLO_OK;
}
