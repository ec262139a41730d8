/* json.c - one object of JSON on a stream. */
#include "cli.h"

clo_writer cli_json_begin(FILE *out)
{
    clo_writer json = { .write = cli_stream_write, .user = out };
    clo_json_open(&json, NULL, '{');
    return json;
}

void cli_json_end(clo_writer *json)
{
    clo_json_close(json, '}');
    clo_writer_text(json, "\n");
}

void cli_json_loss(clo_writer *json, const char *key, clo_loss loss)
{
    clo_json_open(json, key, '{');
    clo_json_number(json, "epsilon", loss.epsilon);
    clo_json_number(json, "delta", loss.delta);
    clo_json_close(json, '}');
}
