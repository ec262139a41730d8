/*
 * memory_left.c - how much memory the process can still have: what the machine has left, what the
 * control groups that it is in allow, and what is left of its own limits.
 *
 * The system gives out more addresses than there is memory, and ends a process that uses them.  So
 * what a run is known to need is compared with this before it is charged.  What cannot be read
 * limits nothing.
 */
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 4096, LINE = 512, KIB = 1024 };

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t beyond(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* The number behind the word that begins a line; an empty word: the first of the file. */
static bool read_number(const char *path, const char *word, uint64_t *out)
{
    char line[LINE], *end;
    bool found = false;
    FILE *const file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, word, strlen(word)) != 0) continue;
        const unsigned long long number = strtoull(line + strlen(word), &end, 10);
        found = end != line + strlen(word); /* and not "max" */
        *out = number;
    }
    if (file) (void)fclose(file);
    return found;
}

static bool number_at(const char *root, const char *folder, const char *name, const char *word,
                      uint64_t *out)
{
    char path[PATH];
    const int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    return length > 0 && (size_t)length < sizeof path && read_number(path, word, out);
}

static uint64_t machine_left(const char *root)
{
    uint64_t available = 0, swap = 0;
    if (!number_at(root, "/proc", "meminfo", "MemAvailable:", &available)) return UINT64_MAX;
    (void)number_at(root, "/proc", "meminfo", "SwapFree:", &swap);
    return (available + swap) * KIB;
}

/* Of a group, where pages of files count that can be had back. */
static uint64_t group_left(const char *root, const char *folder)
{
    uint64_t limit, used, files = 0;
    if (!number_at(root, folder, "memory.max", "", &limit)) return UINT64_MAX;
    if (!number_at(root, folder, "memory.current", "", &used)) return UINT64_MAX;
    (void)number_at(root, folder, "memory.stat", "inactive_file ", &files);
    return beyond(limit, beyond(used, files));
}

/* The line "0::/a/b" names the group; those above it hold, too. */
static uint64_t groups_left(const char *root)
{
    static const char at[] = "/sys/fs/cgroup";
    char path[PATH], line[PATH - sizeof at], folder[PATH];
    uint64_t left = UINT64_MAX;
    const int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) found = strncmp(line, "0::/", 4) == 0;
    if (file) (void)fclose(file);
    if (!found) return left;
    line[strcspn(line, "\n")] = 0;
    (void)snprintf(folder, sizeof folder, "%s%s", at, line + 3);
    for (char *end; (end = strrchr(folder, '/')) && end >= folder + strlen(at); *end = 0)
        left = less(left, group_left(root, folder));
    return less(left, group_left(root, at));
}

/* Addresses, which are pages of the process as the system counts them. */
static uint64_t own_left(void)
{
    struct rlimit space, data;
    uint64_t left = UINT64_MAX, used = 0;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        read_number("/proc/self/status", "VmSize:", &used))
        left = beyond(space.rlim_cur, used * KIB);
    if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY &&
        read_number("/proc/self/status", "VmData:", &used))
        left = less(left, beyond(data.rlim_cur, used * KIB));
    return left;
}

uint64_t clo_i_memory_left(const char *root)
{
    return less(own_left(), less(machine_left(root), groups_left(root)));
}
