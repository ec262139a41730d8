/*
 * json_writer.c - writes JSON through a callback: two blanks a level, keys in the order they are
 * given, numbers in the shortest form that reads back as the same double.
 */
#include "report/report.h"
#include <stdio.h>
#include <string.h>

void clo_i_write_text(clo_writer *writer, const char *text)
{
    if (!writer->failed && !writer->write(writer->user, text, strlen(text))) writer->failed = true;
}

void clo_i_write_format(clo_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_i_write_text(writer, text);
}

void clo_i_write_double(clo_writer *writer, double value)
{
    char text[32];
    clo_i_format_double(value + 0.0, text); /* 0, and not -0, which not every reader keeps */
    clo_i_write_text(writer, text);
}

/* Column names and labels are the only texts from outside: escaped byte by byte. */
void clo_i_json_string(clo_writer *writer, const char *text)
{
    clo_i_write_text(writer, "\"");
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            clo_i_write_format(writer, "\\%c", byte);
        else if (byte < 0x20)
            clo_i_write_format(writer, "\\u%04x", byte);
        else
            clo_i_write_format(writer, "%c", byte);
    }
    clo_i_write_text(writer, "\"");
}

void clo_i_json_line(clo_writer *writer)
{
    clo_i_write_text(writer, "\n");
    for (int i = 0; i < writer->depth; i++) clo_i_write_text(writer, "  ");
}

void clo_i_json_key(clo_writer *writer, const char *key)
{
    if (writer->filled) clo_i_write_text(writer, ",");
    if (writer->depth > 0) clo_i_json_line(writer);
    writer->filled = true;
    if (!key) return;
    clo_i_json_string(writer, key);
    clo_i_write_text(writer, ": ");
}

void clo_i_json_open(clo_writer *writer, const char *key, char bracket)
{
    clo_i_json_key(writer, key);
    clo_i_write_format(writer, "%c", bracket);
    writer->depth++;
    writer->filled = false;
}

void clo_i_json_close(clo_writer *writer, char bracket)
{
    writer->depth--;
    writer->filled = true;
    clo_i_json_line(writer);
    clo_i_write_format(writer, "%c", bracket);
}

void clo_i_json_text(clo_writer *writer, const char *key, const char *text)
{
    clo_i_json_key(writer, key);
    clo_i_json_string(writer, text);
}

void clo_i_json_number(clo_writer *writer, const char *key, double value)
{
    clo_i_json_key(writer, key);
    clo_i_write_double(writer, value);
}

void clo_i_json_count(clo_writer *writer, const char *key, uint64_t value)
{
    clo_i_json_key(writer, key);
    clo_i_write_format(writer, "%llu", (unsigned long long)value);
}

void clo_i_json_bool(clo_writer *writer, const char *key, bool value)
{
    clo_i_json_key(writer, key);
    clo_i_write_text(writer, value ? "true" : "false");
}
