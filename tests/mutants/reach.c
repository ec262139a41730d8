/*
 * reach.c - notes which functions a program enters, for tests/mutants/reach.py.
 *
 * Linked into a program whose library was compiled with -finstrument-functions.  A byte of a shared
 * file stands for each byte of the program's text, so that nothing is lost where a child is killed
 * or a program ends without its exit handlers.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start, etext;
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#define QUIET __attribute__((no_instrument_function))

static char *volatile entered;

QUIET __attribute__((constructor)) static void open_map(void)
{
    const char *const path = getenv("REACH_FILE");
    const long size = &etext - &__executable_start;
    const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, size)) return;
    char *const map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED) entered = map;
}

QUIET void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (entered) entered[(char *)function - &__executable_start] = 1;
}

QUIET void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}
