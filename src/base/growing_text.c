/* growing_text.c - a text that grows as it is written, for reports that are wanted in memory. */
#include "base/base.h"
#include <string.h>

bool clo_i_growing_write(void *growing, const char *bytes, size_t count)
{
    clo_i_growing *const to = growing;
    if (to->room - to->length < count) {
        size_t room = 0;
        if (!clo_i_add(2 * to->room, count, &room) ||
            clo_i_resize(&to->bytes, to->room, room, 1, NULL))
            return false;
        to->room = room;
    }
    memcpy(to->bytes + to->length, bytes, count);
    to->length += count;
    return true;
}
