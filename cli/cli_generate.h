/* cli_generate.h - what the files of cloister generate share. */
#ifndef CLO_CLI_GENERATE_H
#define CLO_CLI_GENERATE_H

#include "cli.h"

typedef enum cli_model { CLI_SUBSPACES, CLI_MIXTURE, CLI_SPARSE } cli_model;

/* The settings of all models; each uses its own. */
typedef struct cli_settings {
    cli_model model;
    size_t rows, cols, clusters, dim, entries, stray;
    double noise, spread, inner, decay, shortest, outliers;
    bool noise_whole;
    double *shares;  /* or NULL; ours */
    size_t *dims;    /* or NULL; ours */
    clo_matrix from; /* the truth that is given; rows 0: none; ours */
} cli_settings;

cli_settings cli_settings_default(cli_model model);
/* Reads what --from names and takes the sizes that it has. */
clo_status cli_settings_take_truth(const cli_args *args, cli_settings *settings, cli_error *err);
/* Makes the data of a dense model; the caller frees them, whatever comes of it.  offsets: a point
 * of each subspace; NULL: not wanted. */
clo_status cli_generate_dense(const cli_settings *settings, clo_rng *rng, double **records,
                              uint32_t **labels, double **truth, double **offsets, cli_error *err);
/* Makes the data and writes every file that was asked for. */
clo_status cli_generate_and_write(const cli_args *args, const cli_settings *settings, clo_rng *rng,
                                  cli_error *err);
/* Draws rows from the release that --from names, and writes them; of the settings, rows and noise
 * count. */
clo_status cli_generate_from_release(const cli_args *args, cli_settings *settings, clo_rng *rng,
                                     cli_error *err);

#endif
