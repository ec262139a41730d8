/*
 * data_files.c - the files that the setting `data` names: one, several, each on a line of its own,
 * or those that a pattern finds; and how much memory a run may take over them.
 */
#include "job/job.h"
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which ----------------------------------------------------------------- */

typedef struct file_list {
    char **paths;
    size_t count, room;
} file_list;

static void clear_files(file_list *files)
{
    for (size_t i = 0; i < files->count; i++) clo_i_free(files->paths[i]);
    clo_i_free(files->paths);
    *files = (file_list){ .paths = NULL };
}

static clo_status add(file_list *files, const char *path, clo_error *err)
{
    if (files->count == files->room) {
        const size_t room = 2 * files->room + 4;
        CLO_TRY(clo_i_resize(&files->paths, files->room, room, sizeof *files->paths, err));
        files->room = room;
    }
    CLO_TRY(clo_i_copy_text(path, &files->paths[files->count], err));
    files->count++;
    return CLO_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their bytes, which is the same in every locale. */
static clo_status add_pattern(file_list *files, const char *pattern, clo_error *err)
{
    glob_t found;
    clo_status status = CLO_OK;
    const int failed = glob(pattern, GLOB_NOSORT | GLOB_ERR, NULL, &found);
    if (failed == GLOB_NOSPACE) return clo_i_fail(err, CLO_MEMORY, "out of memory");
    if (failed) return clo_i_fail(err, CLO_IO, "no file matches '%.200s'", pattern);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_bytes);
    for (size_t i = 0; i < found.gl_pathc && !status; i++)
        status = add(files, found.gl_pathv[i], err);
    globfree(&found);
    return status;
}

/* A file that is there is what its name says, also where that looks like a pattern. */
static clo_status add_line(file_list *files, const char *line, clo_error *err)
{
    if (strpbrk(line, "*?[") && access(line, F_OK) != 0) return add_pattern(files, line, err);
    return add(files, line, err);
}

static clo_status add_lines(file_list *files, char *text, clo_error *err)
{
    for (char *next; text; text = next) {
        next = strchr(text, '\n');
        if (next) *next++ = 0;
        if (text[0]) CLO_TRY(add_line(files, text, err));
    }
    return CLO_OK;
}

static clo_status refuse_input(const file_list *files, clo_error *err)
{
    for (size_t i = 0; files->count > 1 && i < files->count; i++)
        if (strcmp(files->paths[i], "-") == 0)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "standard input cannot be combined with files: "
                              "write it to a file first");
    return CLO_OK;
}

/* The files that `data` names, in order; at least one. */
static clo_status files_of(const clo_job *job, file_list *out, clo_error *err)
{
    const char *const text = clo_i_job_value(job, CLO_SET_DATA);
    file_list files = { .paths = NULL };
    char *copy = NULL;
    CLO_TRY(clo_i_copy_text(text ? text : "", &copy, err));
    clo_status status =
        access(copy, F_OK) == 0 ? add(&files, copy, err) : add_lines(&files, copy, err);
    clo_i_free(copy);
    if (!status && files.count == 0)
        status = clo_i_job_fail(job, err, CLO_ARGUMENT, "no file was given");
    if (!status) status = refuse_input(&files, err);
    if (status)
        clear_files(&files);
    else
        *out = files;
    return status;
}

/* ---- memory ---------------------------------------------------------------- */

static double unit_of(char letter)
{
    static const char letters[] = "KMGT";
    const char *const at = letter ? strchr(letters, letter) : NULL;
    return at ? ldexp(1, 10 * (int)(at - letters + 1)) : 0;
}

clo_status clo_i_job_memory(const clo_job *job, uint64_t *out, clo_error *err)
{
    const char *const text = clo_i_job_value(job, CLO_SET_MEMORY);
    const size_t length = text ? strlen(text) : 0;
    const double unit = length ? unit_of(text[length - 1]) : 0;
    double value = 0;
    *out = 0;
    if (!text && clo_i_job_value(job, CLO_SET_CACHE))
        return clo_i_job_fail(job, err, CLO_ARGUMENT, "@cache needs @memory: give both");
    if (!text) return CLO_OK;
    if (!clo_i_scan_decimal(text, length - (unit > 0), &value) ||
        value * (unit > 0 ? unit : 1) < 1 || value * (unit > 0 ? unit : 1) > 0x1p62)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@memory must be a number of bytes such as 512M or 2G, not '%s'",
                              text);
    *out = (uint64_t)(value * (unit > 0 ? unit : 1));
    if (job->table)
        return clo_i_job_fail(job, err, CLO_ARGUMENT,
                              "@memory is for files, and these data are already in memory: leave "
                              "it out");
    if (job->spec.unit && clo_i_job_ranks(job) > 1 && clo_i_job_has_own_rows(job))
        return clo_i_job_fail(
            job, err, CLO_UNSUPPORTED,
            "@memory and @unit need one file that all ranks read, not one file per rank");
    return CLO_OK;
}

/* ---- reading --------------------------------------------------------------- */

clo_status clo_i_job_read_files(const clo_job *job, const clo_read_options *options,
                                clo_table **out, clo_error *err)
{
    file_list files = { .paths = NULL };
    uint64_t memory = 0;
    CLO_TRY(clo_i_job_memory(job, &memory, err));
    CLO_TRY(files_of(job, &files, err));
    const char *const *const paths = (const char *const *)files.paths;
    const clo_status status = memory ? clo_table_scan(paths, files.count, options, memory, out, err)
                                     : clo_table_read_files(paths, files.count, options, out, err);
    clear_files(&files);
    return status;
}

clo_status clo_i_job_known_place(clo_job *job, clo_error *err)
{
    file_list files = { .paths = NULL };
    clo_status status = CLO_OK;
    char path[PATH_MAX];
    if (!clo_i_job_value(job, CLO_SET_DATA)) return CLO_OK;
    CLO_TRY(files_of(job, &files, err));
    for (size_t i = 0; i < files.count && !status && !job->known_as[0]; i++)
        if (strcmp(files.paths[i], "-") != 0 && realpath(files.paths[i], path))
            status = clo_ledger_known_at(job->ledger, job->dataset, path, job->known_as,
                                         sizeof job->known_as, err);
    clear_files(&files);
    return status;
}
