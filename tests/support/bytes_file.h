/*
 * bytes_file.h - bytes as a file that a reader can open by its path, without a trace on the disk.
 */
#ifndef CLO_TEST_BYTES_FILE_H
#define CLO_TEST_BYTES_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct bytes_file {
    int file;
    char path[40];
} bytes_file;

static inline bytes_file bytes_file_open(const void *bytes, size_t count)
{
    bytes_file f = { .file = memfd_create("bytes", 0) };
    const char *at = bytes;
    if (f.file < 0) abort();
    while (count > 0) {
        const ssize_t put = write(f.file, at, count);
        if (put <= 0) abort();
        at += put;
        count -= (size_t)put;
    }
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.file);
    return f;
}

static inline void bytes_file_close(bytes_file f)
{
    close(f.file);
}

#endif
