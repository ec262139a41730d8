/*
 * noisy_queries.h - every query of src/query/table.def, with the forms in which its noise is looked
 * at.  A query without an array of forms does not compile; one whose answers hold no noisy numbers
 * says what holds it instead.
 */
#ifndef CLO_TEST_NOISY_QUERIES_H
#define CLO_TEST_NOISY_QUERIES_H

#include "noisy_blocks.h"
#include "noisy_draws.h"
#include "noisy_sums.h"

/* name, prepare, ask, traits; asks, clusters, columns */
static const noisy_form forms_gaussian_sum[] = {
    { "columns", prepare_gaussian_sum, ask_cluster_sum, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_gaussian_sum, ask_cluster_sum, 0, 40, 683, 11, NULL },
    { "lens", prepare_gaussian_sum, ask_cluster_sum, LENS, 24, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_laplace_sum[] = {
    { "columns", prepare_laplace_sum, ask_cluster_sum, LAPLACE, 40, 3, 2775, NULL },
    { "clusters", prepare_laplace_sum, ask_cluster_sum, LAPLACE, 40, 683, 11, NULL },
    { "lens", prepare_laplace_sum, ask_cluster_sum, LAPLACE | LENS, 24, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_sparse_sum[] = {
    { "normal", prepare_sparse_gaussian, ask_sparse_sum, 0, 40, 3, 2775, NULL },
    { "Laplace", prepare_sparse_laplace, ask_sparse_sum, LAPLACE, 40, 3, 2775, NULL },
    { "clusters", prepare_sparse_gaussian, ask_sparse_sum, 0, 40, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_peel[] = {
    { "values", prepare_peel, ask_peel, LAPLACE, 16, 3, 2776, NULL },
    { "clusters", prepare_peel, ask_peel, LAPLACE, 40, 683, 11, NULL },
    { "choices", prepare_peel_choice, ask_peel_choice, LAPLACE | COARSE | SINGLY, 4, 3, 0, NULL },
    { 0 },
};
static const noisy_form forms_gaussian_step[] = {
    { "columns", prepare_gaussian_step, ask_gaussian_step, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_gaussian_step, ask_gaussian_step, 0, 40, 683, 11, NULL },
    { "lens", prepare_gaussian_step, ask_gaussian_step, LENS, 24, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_local_sum[] = {
    { "columns", prepare_local_gaussian, ask_local_sum, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_local_gaussian, ask_local_sum, 0, 40, 683, 11, NULL },
    { "Laplace", prepare_local_laplace, ask_local_sum, LAPLACE, 40, 683, 11, NULL },
    { "lens", prepare_local_gaussian, ask_local_sum, LENS, 24, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_cross_moment[] = {
    { "columns", prepare_cross, ask_cross_moment, 0, 40, 9, 924, NULL },
    { "clusters", prepare_cross, ask_cross_moment, 0, 40, 683, 11, NULL },
    { "lens", prepare_cross, ask_cross_moment, LENS, 24, 683, 11, NULL },
    { 0 },
};
static const noisy_form forms_gaussian_gram[] = {
    { "columns", prepare_gram, ask_gram, 0, 40, 3, 80, NULL },
    { "clusters", prepare_gram, ask_gram, 0, 40, 80, 15, NULL },
    { "wide", prepare_gram, ask_gram, 0, 24, 1, 130, NULL },
    { "lens", prepare_gram, ask_gram, LENS, 24, 3, 80, NULL },
    { 0 },
};
static const noisy_form forms_local_gram[] = {
    { "matrix", prepare_local_gram, ask_local_gram, 0, 40, 1, 130, NULL },
    { "lens", prepare_local_gram, ask_local_gram, LENS, 24, 1, 130, NULL },
    { 0 },
};
static const noisy_form forms_gaussian_moment[] = {
    { "tensor", prepare_plain_moment, ask_moment, 0, 32, 1, 24, NULL },
    { "less traces", prepare_even_moment, ask_moment, 0, 32, 1, 24, NULL },
    { "lens", prepare_plain_moment, ask_moment, LENS, 16, 1, 22, NULL },
    { 0 },
};
static const noisy_form forms_gaussian_moment3[] = {
    { "tensor", prepare_moment3, ask_moment3, 0, 32, 1, 44, NULL },
    { "lens", prepare_moment3, ask_moment3, LENS, 24, 1, 36, NULL },
    { 0 },
};
static const noisy_form forms_count[] = {
    { "counts", prepare_count, ask_count, SINGLY, 8, 1, 1, NULL },
    { 0 },
};
static const noisy_form forms_cell_counts[] = {
    { "normal", prepare_gaussian_cells, ask_cells, 0, 40, 1, 2, NULL },
    { "Laplace", prepare_laplace_cells, ask_cells, LAPLACE, 40, 1, 2, NULL },
    { 0 },
};
static const noisy_form forms_choose_flats[] = {
    { "choices", prepare_choose_flats, ask_choose_flats, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};
static const noisy_form forms_choose_centers[] = {
    { "choices", prepare_choose_centers, ask_choose_centers, LAPLACE | COARSE | SINGLY, 4, 0, 0,
      NULL },
    { 0 },
};
static const noisy_form forms_quantile[] = {
    { "choices", prepare_quantile, ask_quantile, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};
static const noisy_form forms_seed[] = {
    { "choices", prepare_seed, ask_seed, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};
static const noisy_form forms_partition[] = {
    { "corners", prepare_partition, ask_partition, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};
static const noisy_form forms_aggregate[] = {
    { "centres", prepare_centers, ask_centers, 0, 24, 3, 2775, NULL },
    { "lines", prepare_lines, ask_lines, COARSE, 512, 3, 0, NULL },
    { 0 },
};
static const noisy_form forms_histogram[] = {
    { "sizes", prepare_histogram, ask_histogram, LAPLACE | COARSE, 96, 0, 0, NULL },
    { 0 },
};
static const noisy_form forms_gibbs[] = {
    { .held_by = "a Markov chain adds noise to nothing; the law of what it draws: test_gibbs.c" },
    { 0 },
};
static const noisy_form forms_gapmax[] = {
    { .held_by = "one draw decides whether there is an answer; its law: test_gapmax.c" },
    { 0 },
};

typedef struct noisy_query {
    const char *name;
    const noisy_form *forms;
} noisy_query;

static const noisy_query noisy_queries[] = {
#define QUERY(name) { #name, forms_##name },
#include "query/table.def"
#undef QUERY
};

enum { NOISY_QUERIES = sizeof noisy_queries / sizeof *noisy_queries };

static inline unsigned noisy_count(void)
{
    unsigned count = 0;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *f = noisy_queries[q].forms; f->name; f++) count++;
    return count;
}

#endif
