/* fuzz_solution.c - the file of a solution may come from anywhere: any bytes are refused with a
 * sentence, or read into a solution whose parts fit together, which is written again to bytes that
 * read the same. */
#include "exercise.h"
#include <cloister/cloister.h>

typedef struct text {
    uint8_t *bytes;
    size_t length;
} text;

static bool append(void *user, const char *bytes, size_t count)
{
    text *const t = user;
    uint8_t *const grown = realloc(t->bytes, t->length + count + 1);
    if (!grown) return false;
    memcpy(grown + t->length, bytes, count);
    t->bytes = grown;
    t->length += count;
    return true;
}

static clo_solution *read_back(const uint8_t *bytes, size_t count)
{
    const bytes_file file = bytes_file_open(bytes, count);
    clo_solution *solution = NULL;
    clo_error err = { .status = CLO_OK };
    const clo_status status = clo_solution_read(file.path, &solution, &err);
    bytes_file_close(file);
    if (status) MUST(!solution && err.status == status && err.message[0]);
    return solution;
}

static void look_at(const clo_solution *solution)
{
    const size_t clusters = clo_solution_clusters(solution), cols = clo_solution_cols(solution);
    const clo_matrix offsets = clo_solution_offsets(solution);
    MUST(clusters > 0 && clo_solution_solver(solution) && !clo_solution_labels(solution));
    if (offsets.data) MUST(offsets.rows == clusters && offsets.cols == cols);
    for (size_t c = 0; c < clusters; c++) {
        const clo_matrix basis = clo_solution_basis(solution, c);
        if (clo_solution_dim(solution, c) > 0)
            MUST(basis.rows == cols && basis.cols == clo_solution_dim(solution, c));
        for (size_t i = 0; basis.data && i < basis.rows * basis.cols; i++)
            MUST(isfinite(((const double *)basis.data)[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    clo_solution *const first = read_back(bytes, count);
    text once = { 0 }, twice = { 0 };
    if (!first) return 0;
    look_at(first);
    MUST(!clo_solution_write(first, append, &once, NULL));
    clo_solution *const second = read_back(once.bytes, once.length);
    MUST(second);
    MUST(!clo_solution_write(second, append, &twice, NULL));
    MUST(once.length == twice.length && memcmp(once.bytes, twice.bytes, once.length) == 0);
    free(once.bytes);
    free(twice.bytes);
    clo_solution_free(first);
    clo_solution_free(second);
    return 0;
}
