/*
 * openblas_room.c - whether there is room for OpenBLAS, seen before it is loaded.
 *
 * While it is loaded OpenBLAS maps a large buffer for each thread, and where a limit of address
 * space (ulimit -v, LimitAS=) refuses one, it tries again without end.  So this is run before the
 * constructors of all libraries: the linker's .preinit_array, which a program alone can have.
 * Where there is room for fewer threads the command starts again with so many; where there is none
 * it ends with the exit code of "out of memory".
 */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_THREADS = 128, OUT_OF_MEMORY = 8, TWICE = 2 }; /* when it is loaded, when called */
static const size_t BUFFER = (size_t)128 << 20;            /* of one thread */
static const size_t REST = (size_t)24 << 20; /* what a command without data needs beside it */
/* What must be left for a run of a few thousand rows before a further thread is worth it. */
static const size_t DATA = (size_t)128 << 20;
static const char *const NAMES[] = { "OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS=" };
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

static bool is_limited(void)
{
    struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY }, data = space;
    (void)getrlimit(RLIMIT_AS, &space);
    (void)getrlimit(RLIMIT_DATA, &data);
    return space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

static bool has_room(size_t bytes)
{
    void *const room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

static bool is_named(const char *variable)
{
    for (int i = 0; i < NAME_COUNT; i++)
        if (strncmp(variable, NAMES[i], strlen(NAMES[i])) == 0) return true;
    return false;
}

/* How many buffers OpenBLAS will map, or more: the fewest a variable asks for, or one a core. */
static long threads_asked(char **environment)
{
    long fewest = sysconf(_SC_NPROCESSORS_CONF);
    for (char **v = environment; *v; v++) {
        const long asked = is_named(*v) ? strtol(strchr(*v, '=') + 1, NULL, 10) : 0;
        if (asked > 0 && asked < fewest) fewest = asked;
    }
    return fewest < 1 ? 1 : fewest > MOST_THREADS ? MOST_THREADS : fewest;
}

/* Starts the command again with so many threads; it comes back where that cannot be done. */
static void start_with(long threads, char **argv, char **environment)
{
    char said[NAME_COUNT][48];
    size_t count = 0, kept = 0;
    while (environment[count]) count++;
    char **const with = calloc(count + NAME_COUNT + 1, sizeof *with);
    if (!with) return;
    for (size_t i = 0; i < count; i++)
        if (!is_named(environment[i])) with[kept++] = environment[i];
    for (int i = 0; i < NAME_COUNT; i++) {
        snprintf(said[i], sizeof said[i], "%s%ld", NAMES[i], threads);
        with[kept++] = said[i];
    }
    execve("/proc/self/exe", argv, with);
    free(with);
}

static void look_for_room(int argc, char **argv, char **environment)
{
    static const char none[] =
        "cloister: the limit of address space (ulimit -v) is too low: a command needs 400 MB, and "
        "memory for its data\n";
    (void)argc;
    if (!is_limited()) return;
    const long asked = threads_asked(environment);
    long threads = asked;
    while (threads > 1 && !has_room((size_t)threads * TWICE * BUFFER + REST + DATA)) threads /= 2;
    if (threads < asked) start_with(threads, argv, environment);
    if (threads == asked && has_room((size_t)threads * TWICE * BUFFER + REST)) return;
    (void)!write(STDERR_FILENO, none, sizeof none - 1);
    _exit(OUT_OF_MEMORY);
}

typedef void early(int argc, char **argv, char **environment);
__attribute__((section(".preinit_array"), used)) static early *const before_all = look_for_room;
