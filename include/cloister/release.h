/*
 * release.h - step six: release and report.  A release is public: named arrays and
 * where they come from.  The report code cannot even name the data.
 */
#ifndef CLOISTER_RELEASE_H
#define CLOISTER_RELEASE_H

#include <cloister/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a run gives the world: named arrays and the facts about them. */
typedef struct clo_release clo_release;

enum { CLO_MAX_DIMENSIONS = 3 }; /* of an array */

/* A named array, row-major, in the data's own coordinates and units; borrowed.  Frozen.
 *
 * All are post-processed answers.  Of what is in several families:
 *   centers      k x cols.  Each is moved into the public ball and, with column bounds, into those
 *                (public_fit.T1).  Very long ones are lists: centers_starts, _columns, _values
 *   offsets      k x cols, a point of each flat; it need not be within the bounds
 *   sizes        k noisy numbers of records, none below 0.  Where the number of rows is public
 *                (replace, without a unit) those of centres and affine flats are lowered to at most
 *                that in all (public_fit.T2); records with a missing cell are in none.  Of linear
 *                flats they are energies
 *   radii        k, how far records lie from their centre: in the column's own unit, and with
 *                column bounds in half the width of each column's
 *   distinct_clusters      how many of the clusters stand out of the noise
 *   energies, residuals    none below 0
 *   energy       of subspace/gaussian: the sum of squares of the records along each direction of
 *                the basis, without what the noise added; not below 0
 *   stands_out   1 for each of these directions that stands out of the noise, otherwise 0: of
 *                records that have no energy one does with probability 0.001 at most
 *   signal_dim   how many do
 *   spectrum     the eigenvalues of the noisy matrix that they were told by, largest first, in the
 *                units of energy; what noise added is in them, and some are below 0
 *   noise_edge   the eigenvalue above which a direction stands out
 *   uncertainty  k, how far noise may have moved each, in the data's own units
 * Numbers with noise of a known deviation have the digits that it leaves: two below its first one.
 * Directions keep all, to be orthonormal, and so do points of a projection, what was chosen and not
 * noised, and what the run has learnt for itself.  JSON has the shortest decimals that read back as
 * the same doubles. */
typedef struct clo_array {
    const char *name; /* "centers" */
    const double *data;
    size_t dimensions;
    size_t shape[CLO_MAX_DIMENSIONS];
} clo_array;

/* What a release is asked for here is its own, and lives as long. */
CLO_API size_t clo_release_count(const clo_release *release);
CLO_API clo_array clo_release_at(const clo_release *release, size_t i); /* i below that count */
/* false: there is none of that name, and *out is as it was.  The names of the first schema
 * (weights, widths, told_apart) find the same arrays. */
CLO_API bool clo_release_find(const clo_release *release, const char *name, clo_array *out);
/* How far noise may have moved each coordinate of each released centre: standard deviations in the
 * units of each column, k x cols into `out` (NULL: only to ask).  They follow from the release
 * alone: what the last round's sums were noised with, over the released sizes; infinite where a
 * size is 0.  What earlier rounds left undone is not in it, and a mean that was held back by its
 * noise has moved less.  False, and nothing written, where the release is not of means in all
 * columns (of kmeans/lloyd it is, unless that worked in fewer directions). */
CLO_API bool clo_release_center_noise(const clo_release *release, double *out);
CLO_API size_t clo_release_cols(const clo_release *release);   /* of the data it was made from */
CLO_API uint64_t clo_release_rows(const clo_release *release); /* of those; 0: not public */
/* "age", or NULL where the columns have no names. */
CLO_API const char *clo_release_column_name(const clo_release *release, size_t column);
/* The schema that it was made with, or NULL; borrowed.  Its columns are then the outputs of that:
 * numbers in their own units, and a share of each level ("sex=f"). */
CLO_API const clo_schema *clo_release_schema(const clo_release *release);
CLO_API const char *clo_release_family(const clo_release *release);
CLO_API const char *clo_release_method(const clo_release *release);
CLO_API clo_loss clo_release_loss(const clo_release *release);
/* What it hides: under which relation, and of whom ("patient"; NULL: of a row). */
CLO_API clo_relation clo_release_relation(const clo_release *release);
CLO_API const char *clo_release_unit(const clo_release *release);
/* Its own; 0 where the text of a release that was read is not one of them. */
CLO_API clo_guarantee clo_release_guarantee(const clo_release *release);
/* Together with the release that it was projected on: the weaker of both. */
CLO_API clo_guarantee clo_release_guarantee_together(const clo_release *release);
CLO_API bool
clo_release_is_private(const clo_release *release); /* secure randomness, nothing unsafe */
CLO_API bool clo_release_is_metered(const clo_release *release);
CLO_API const char *
clo_release_statement(const clo_release *release); /* what it means, in a sentence */
/* Public names of the columns, for the report; copied.  CLO_ARGUMENT where count is not that of its
 * columns. */
CLO_API CLO_CHECK clo_status clo_release_name_columns(clo_release *release,
                                                      const char *const *names, size_t count,
                                                      clo_error *err);

/* ---- certificates ----------------------------------------------------------- */

enum { CLO_PUBLIC_KEY_BYTES = 32, CLO_SIGNATURE_BYTES = 64 }; /* of Ed25519 */

/* Which charge of which ledger a release is, and a signature of all of it: docs/release-format.md
 * says which bytes are signed.  Binary texts are hexadecimal. */
typedef struct clo_certificate {
    size_t struct_size; /* the caller's */
    const char *ledger; /* its identity */
    uint64_t charge;    /* its number there */
    const char *dataset;
    int64_t time;           /* of the charge, in seconds since 1970 */
    const char *program;    /* that made it, with its version */
    const char *values;     /* the digest of the arrays alone, clo_release_values_digest */
    const char *public_key; /* by which it is signed */
    const char *signature;  /* "": not yet */
} clo_certificate;

/* False, and nothing written, where it has none.  Texts are the release's. */
CLO_API bool clo_release_certificate(const clo_release *release, clo_certificate *out);
/* Gives it one, in place of any that it had; copied.  The digest of the values is computed.  With a
 * signature, which is checked: CLO_SIGNATURE where it does not fit.  For clo_ledger_certify. */
CLO_API CLO_CHECK clo_status clo_release_certify(clo_release *release,
                                                 const clo_certificate *certificate,
                                                 clo_error *err);
/* BLAKE2b-256 of the arrays' names, shapes and numbers, as 64 hexadecimal digits: the same however
 * the file is laid out (docs/release-format.md). */
CLO_API CLO_CHECK clo_status clo_release_values_digest(const clo_release *release,
                                                       char text[CLO_DIGEST_SIZE], clo_error *err);

/* Whether the release is signed by this key and unchanged.  CLO_SIGNATURE where not, with why.
 * Which ledger and charge it is, its certificate says. */
CLO_API CLO_CHECK clo_status clo_release_check(const clo_release *release,
                                               const uint8_t public_key[CLO_PUBLIC_KEY_BYTES],
                                               clo_error *err);

/* The same of any text that is signed in this way, a release or an export of a ledger: whether the
 * bytes without the signature's line are signed by this key.  CLO_SIGNATURE where not. */
CLO_API CLO_CHECK clo_status clo_signed_check(const char *json, size_t length,
                                              const uint8_t public_key[CLO_PUBLIC_KEY_BYTES],
                                              clo_error *err);

/* What a look at the signature said when the release was read. */
typedef enum clo_seal {
    CLO_SEAL_NONE = 0,  /* it has none */
    CLO_SEAL_WHOLE = 1, /* not a byte was changed since who has that key signed it */
    CLO_SEAL_BROKEN = 2 /* something was */
} clo_seal;
CLO_API clo_seal clo_release_seal(const clo_release *release);

/* For people, or for programs ("cloister.release/2"); wide: for people who want all of it, however
 * long.  Bars: for people at a terminal; centres are a compact table, each number with what noise
 * may have moved it by and a bar that says where it lies between the lowest and the highest of its
 * column; drawn with blocks of Unicode or with plain characters. */
typedef enum clo_report_format {
    CLO_TEXT = 1,
    CLO_JSON = 2,
    CLO_TEXT_WIDE = 3,
    CLO_TEXT_BARS = 4,
    CLO_TEXT_BARS_ASCII = 5
} clo_report_format;

/* Writes the release, piece by piece; CLO_IO where write says that it could not. */
CLO_API CLO_CHECK clo_status clo_report(const clo_release *release, clo_report_format format,
                                        clo_write *write, void *user, clo_error *err);
/* Reads a release in JSON back ("-" is standard input); writing it again gives the same bytes.
 * Those of the first schema are read too.  CLO_IO, or CLO_FORMAT where it is no release. */
CLO_API CLO_CHECK clo_status clo_release_read(const char *path, clo_release **out, clo_error *err);
CLO_API CLO_CHECK clo_status clo_release_parse(const char *json, size_t length, clo_release **out,
                                               clo_error *err);
/* BLAKE2b of the release's JSON, as 64 hexadecimal digits: what `b2sum -l 256` says of the file. */
CLO_API CLO_CHECK clo_status clo_release_digest(const clo_release *release,
                                                char text[CLO_DIGEST_SIZE], clo_error *err);
/* The frame of a subspace that was released before (of the family "subspace"), about its centre
 * where it has one, for clo_domain_project.  It holds copies: the release may be freed.
 * CLO_ARGUMENT where the release has no subspace. */
CLO_API CLO_CHECK clo_status clo_frame_of_release(const clo_release *subspace, clo_frame **out,
                                                  clo_error *err);
CLO_API void clo_release_free(clo_release *release);

#ifdef __cplusplus
}
#endif
#endif
