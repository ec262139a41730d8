/*
 * writer.c - writes text and JSON through a callback: two blanks a level, keys in the order they
 * are given, numbers in the shortest form that reads back as the same double.
 */
#include "base/utf8.h"
#include <cloister/output.h>
#include <stdio.h>
#include <string.h>

void clo_writer_text(clo_writer *writer, const char *text)
{
    if (!writer->failed && !writer->write(writer->user, text, strlen(text))) writer->failed = true;
}

void clo_i_writer_format(clo_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_writer_text(writer, text);
}

void clo_writer_number(clo_writer *writer, double value)
{
    char text[32];
    clo_number_text(value + 0.0, text); /* 0, and not -0, which not every reader keeps */
    clo_writer_text(writer, text);
}

/* A text may come from outside: escaped byte by byte, and UTF-8 whatever it was. */
void clo_json_string(clo_writer *writer, const char *text)
{
    const bool utf8 = clo_i_is_utf8(text);
    char character[CLO_UTF8_BYTES];
    clo_writer_text(writer, "\"");
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            clo_i_writer_format(writer, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            clo_i_writer_format(writer, "\\u%04x", byte);
        else if (utf8) {
            clo_i_writer_format(writer, "%c", byte);
        } else {
            clo_i_utf8_of_byte(byte, character);
            clo_writer_text(writer, character);
        }
    }
    clo_writer_text(writer, "\"");
}

void clo_json_line(clo_writer *writer)
{
    clo_writer_text(writer, "\n");
    for (int i = 0; i < writer->depth; i++) clo_writer_text(writer, "  ");
}

void clo_json_key(clo_writer *writer, const char *key)
{
    if (writer->filled) clo_writer_text(writer, ",");
    if (writer->depth > 0) clo_json_line(writer);
    writer->filled = true;
    if (!key) return;
    clo_json_string(writer, key);
    clo_writer_text(writer, ": ");
}

void clo_json_open(clo_writer *writer, const char *key, char bracket)
{
    clo_json_key(writer, key);
    clo_i_writer_format(writer, "%c", bracket);
    writer->depth++;
    writer->filled = false;
}

void clo_json_close(clo_writer *writer, char bracket)
{
    writer->depth--;
    if (writer->filled) clo_json_line(writer);
    writer->filled = true;
    clo_i_writer_format(writer, "%c", bracket);
}

void clo_json_text(clo_writer *writer, const char *key, const char *text)
{
    clo_json_key(writer, key);
    if (text)
        clo_json_string(writer, text);
    else
        clo_writer_text(writer, "null");
}

void clo_json_number(clo_writer *writer, const char *key, double value)
{
    clo_json_key(writer, key);
    clo_writer_number(writer, value);
}

void clo_json_count(clo_writer *writer, const char *key, uint64_t value)
{
    clo_json_key(writer, key);
    clo_i_writer_format(writer, "%llu", (unsigned long long)value);
}

void clo_json_bool(clo_writer *writer, const char *key, bool value)
{
    clo_json_key(writer, key);
    clo_writer_text(writer, value ? "true" : "false");
}
