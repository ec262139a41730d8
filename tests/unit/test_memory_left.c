/* What memory is left is read where the system says it: of the machine, of every control group that
 * the process is in, and of its own limits; what cannot be read limits nothing. */
#include "check.h"
#include "base/base.h"
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 200, KIB = 1024, WELL = 0 };
static const char GROUPS[] = "sys/fs/cgroup";

/* A /proc and a /sys of our own. */
static char root[] = "/tmp/cloister-left-XXXXXX";

static void make_folder(const char *folder)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int open_root(void **state)
{
    static const char *const folders[] = { "proc",
                                           "proc/self",
                                           "sys",
                                           "sys/fs",
                                           "sys/fs/cgroup",
                                           "sys/fs/cgroup/a",
                                           "sys/fs/cgroup/a/b" };
    (void)state;
    if (!mkdtemp(root)) return 1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) make_folder(folders[i]);
    return 0;
}

static int close_root(void **state)
{
    char command[PATH];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void the_least_of_machine_and_groups_counts(void **state)
{
    (void)state;
    assert_int_equal(clo_i_memory_left(root), UINT64_MAX);
    put("proc", "meminfo", "MemTotal: 900 kB\nMemAvailable:     500 kB\nSwapFree:   100 kB\n");
    assert_int_equal(clo_i_memory_left(root), 600 * KIB);
    put("proc/self", "cgroup", "1:name=systemd:/x\n0::/a/b\n");
    put("sys/fs/cgroup/a/b", "memory.max", "max\n");
    put("sys/fs/cgroup/a/b", "memory.current", "1000\n");
    assert_int_equal(clo_i_memory_left(root), 600 * KIB);
    put("sys/fs/cgroup/a", "memory.max", "300000\n"); /* the one above it */
    put("sys/fs/cgroup/a", "memory.current", "250000\n");
    assert_int_equal(clo_i_memory_left(root), 50000);
    put("sys/fs/cgroup/a", "memory.stat", "anon 7\ninactive_file 20000\n");
    assert_int_equal(clo_i_memory_left(root), 70000);
    put("sys/fs/cgroup/a/b", "memory.max", "900\n"); /* which is used up */
    assert_int_equal(clo_i_memory_left(root), 0);
    put("sys/fs/cgroup/a/b", "memory.max", "max\n");
    put(GROUPS, "memory.max", "60000\n"); /* as a container sees its own */
    put(GROUPS, "memory.current", "0\n");
    assert_int_equal(clo_i_memory_left(root), 60000);
}

/* In a process of its own, which a limit does not leave again. */
static void a_limit_of_addresses_counts(void **state)
{
    int status = 0;
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = { (rlim_t)1 << 50, (rlim_t)1 << 50 };
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
        const uint64_t left = clo_i_memory_left("/nowhere");
        _exit(left < limit.rlim_cur && left > limit.rlim_cur / 2 ? WELL : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == WELL);
}

static void this_machine_says_it(void **state)
{
    (void)state;
    assert_true(clo_i_memory_left("") < UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_machine_and_groups_counts),
        cmocka_unit_test(a_limit_of_addresses_counts),
        cmocka_unit_test(this_machine_says_it),
    };
    return cmocka_run_group_tests(tests, open_root, close_root);
}
