/* cli_sweep.h - what the files of cloister sweep share. */
#ifndef CLO_CLI_SWEEP_H
#define CLO_CLI_SWEEP_H

#include "cli.h"

/* ---- what is run (sweep_methods.c) ----------------------------------------------------------- */

typedef struct cli_pair {
    char *name, *value;
} cli_pair;

/* A mechanism or a solver with its settings. */
typedef struct cli_way {
    char *name;               /* "kmeans/lloyd"; of a solver "solve/ssc" */
    const clo_solver *solver; /* NULL: a mechanism or a family */
    cli_pair *settings;
    size_t count;
} cli_way;

typedef struct cli_ways {
    cli_way *at;
    size_t count, room;
} cli_ways;

/* Adds what a word stands for, "NAME[:SETTING=VALUE|VALUE,...]": one way for each choice of values.
 * common: settings of all, or NULL; those of the word take their place, and a solver gets those
 * that it has. */
clo_status cli_ways_add(cli_ways *ways, const char *word, const char *common, cli_error *err);
void cli_ways_free(cli_ways *ways);
const char *cli_way_setting(const cli_way *way, const char *name); /* NULL: not set */
/* "1-10" or "1,5,9": whole numbers; the caller frees them. */
clo_status cli_seeds_parse(const char *text, uint64_t **out, size_t *count, cli_error *err);

/* ---- on what (sweep_data.c) ----------------------------------------------------------------- */

/* A table and what is known of it: a file's, or a seed's. */
typedef struct cli_sample {
    clo_table *table;
    double *records, *made; /* of generated data: they and their truth */
    clo_matrix truth;
    uint32_t *labels;
    size_t clusters; /* true ones; 0: as many as are found */
} cli_sample;

/* Whether the word is a model ("mixture:rows=1000") and not a file. */
bool cli_is_model(const char *word);
clo_status cli_sample_generate(const char *word, uint64_t seed, cli_sample *out, cli_error *err);
clo_status cli_sample_read(const cli_args *args, const char *path, cli_sample *out, cli_error *err);
void cli_sample_free(cli_sample *sample);

/* ---- and into which file (sweep_file.c) ----------------------------------------------------- */

typedef struct cli_rows cli_rows;

/* Opens a file of rows, or begins one: "-" is standard output.  A last line without an end, which a
 * killed program may leave, is taken away.  CLO_FORMAT where the file begins otherwise. */
clo_status cli_rows_open(const char *path, const char *header, size_t key_fields, cli_rows **out,
                         cli_error *err);
void cli_rows_close(cli_rows *rows);
size_t cli_rows_before(const cli_rows *rows);             /* how many were there */
bool cli_rows_has(const cli_rows *rows, const char *key); /* the first fields, as written */
clo_status cli_rows_append(cli_rows *rows, const cli_bytes *line, cli_error *err);
/* One field and, before all but the first, a comma. */
void cli_csv_field(cli_bytes *line, const char *text);
void cli_csv_number(cli_bytes *line, double value); /* nothing where it is not finite */

#endif
