/* json.c - writes JSON with two blanks a level and keys in the order they are given. */
#include "cli.h"
#include <math.h>

cli_json cli_json_begin(FILE *out)
{
    cli_json json = { .out = out, .depth = 0, .filled = false };
    cli_json_open(&json, NULL, '{');
    return json;
}

void cli_json_end(cli_json *json)
{
    cli_json_close(json, '}');
    fputc('\n', json->out);
}

static void quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(out, "\\u%04x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

static void new_line(const cli_json *json)
{
    fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

/* Everything that comes before a value: the comma, the line, the key. */
static void lead_in(cli_json *json, const char *key)
{
    if (json->filled) fputc(',', json->out);
    if (json->depth > 0) new_line(json);
    json->filled = true;
    if (key) {
        quote(json->out, key);
        fputs(": ", json->out);
    }
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    lead_in(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->filled = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (json->filled) new_line(json);
    fputc(bracket, json->out);
    json->filled = true;
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    lead_in(json, key);
    if (text)
        quote(json->out, text);
    else
        fputs("null", json->out);
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    lead_in(json, key);
    fputs(isfinite(value) ? cli_number(value).text : "null", json->out);
}

void cli_json_whole(cli_json *json, const char *key, uint64_t value)
{
    lead_in(json, key);
    fprintf(json->out, "%llu", (unsigned long long)value);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    lead_in(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_loss(cli_json *json, const char *key, clo_loss loss)
{
    cli_json_open(json, key, '{');
    cli_json_number(json, "epsilon", loss.epsilon);
    cli_json_number(json, "delta", loss.delta);
    cli_json_close(json, '}');
}
