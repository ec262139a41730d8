/*
 * decompress.h - compressed bytes as they would lie in a plain file: gzip and zstd.
 */
#ifndef CLO_DECOMPRESS_H
#define CLO_DECOMPRESS_H

#include "base/base.h"

/* What these bytes are the beginning of; NULL: nothing that can be unpacked. */
const char *clo_i_packed_kind(const char *bytes, size_t count);

typedef struct clo_i_unpacker clo_i_unpacker;

/* kind: as clo_i_packed_kind gave it.  most_log: a zstd window of 2^most_log bytes is the largest
 * that is taken; 0: the usual. */
CLO_CHECK clo_status clo_i_unpacker_new(const char *kind, int most_log, clo_i_unpacker **out,
                                        clo_error *err);
void clo_i_unpacker_free(clo_i_unpacker *unpacker);              /* wipes what it has held */
const char *clo_i_unpacker_kind(const clo_i_unpacker *unpacker); /* "gzip", "zstd" */
/* Unpacks from `from` to `to` until one of them is used up, and moves both; `name` is the file's.
 * CLO_FORMAT where the bytes are damaged. */
CLO_CHECK clo_status clo_i_unpack(clo_i_unpacker *unpacker, const char *name, const char **from,
                                  const char *from_end, char **to, char *to_end, clo_error *err);
/* Whether the bytes so far are whole: nothing need follow. */
bool clo_i_unpacker_is_whole(const clo_i_unpacker *unpacker);

#endif
