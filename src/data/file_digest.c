/*
 * file_digest.c - the digest of a file's bytes, as a table that is read from it would have it, for
 * whoever declares the file and reads nothing of it.
 */
#include "data/formats.h"

enum { WINDOW = 1 << 16 };

static clo_status digest_all(clo_i_source *source, clo_error *err)
{
    CLO_TRY(clo_i_source_digest(source, err));
    CLO_TRY(clo_i_source_fill(source, CLO_HEADER_BYTES, err));
    CLO_TRY(clo_i_source_unpack(source, err));
    do {
        source->start = source->end; /* its bytes are in the digest */
        CLO_TRY(clo_i_source_fill(source, WINDOW, err));
    } while (source->end > source->start);
    return CLO_OK;
}

clo_status clo_file_digest(const char *path, uint8_t out[CLO_DIGEST_BYTES], clo_error *err)
{
    clo_i_source source;
    CLO_TRY(clo_i_source_open(path, NULL, &source, err));
    const clo_status status = digest_all(&source, err);
    if (status == CLO_OK) crypto_generichash_final(&source.digest, out, CLO_DIGEST_BYTES);
    clo_i_source_close(&source);
    return status;
}
