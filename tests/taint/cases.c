/*
 * cases.c - many cases of the information-flow test in one start of valgrind, which takes as long
 * as a case does.  Each runs in a child of its own, from main() on: a case sees no other's memory,
 * and memcheck, which tells of an error once a process, has forgotten in it what others did.  With
 * --xml-file=%p.xml each child has a report.
 *
 * The first case is for warming up: it runs here, before the first child, so that its code need not
 * be translated again for each of them.  Nothing is reported of it.  No thread is started for it:
 * children would wait for one that they do not have.
 *
 * usage: cases FILE     a case a line, its words parted by tabs: `leak`, or the command, and what
 *                       it is given.  stdout: for each but the first its process and exit code.
 *                       What a case says is in PROCESS.out and PROCESS.err.
 */
#include "cases.h"
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

enum { MOST_WORDS = 64, FAILED = 99, THREADS = 2 };

static int run_case(char *line)
{
    char *words[MOST_WORDS + 1] = { NULL };
    int count = 0;
    for (char *word = strtok(line, "\t"); word && count < MOST_WORDS; word = strtok(NULL, "\t"))
        words[count++] = word;
    if (count == 0 || count == MOST_WORDS) return FAILED;
    return strcmp(words[0], "leak") == 0 ? leak_main(count, words) : command_main(count, words);
}

/* What goes to `stream` goes to the file from now on. */
static void send_to(FILE *stream, const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, fileno(stream)) < 0 || close(file)) _exit(FAILED);
}

static int run_child(char *line)
{
    char path[64];
    snprintf(path, sizeof path, "%d.out", (int)getpid());
    send_to(stdout, path);
    snprintf(path, sizeof path, "%d.err", (int)getpid());
    send_to(stderr, path);
    omp_set_num_threads(THREADS);
    return run_case(line);
}

/* Runs it here, unseen and unheard. */
static int warm_up(char *line)
{
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    send_to(stdout, "/dev/null");
    send_to(stderr, "/dev/null");
    omp_set_num_threads(1);
    VALGRIND_DISABLE_ERROR_REPORTING;
    const int code = run_case(line);
    fflush(stdout);
    VALGRIND_ENABLE_ERROR_REPORTING;
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) return FAILED;
    return close(out) || close(err) ? FAILED : code;
}

/* All of the file at once: a child that ends moves the place where its parent would read on. */
static char *contents(const char *path)
{
    FILE *const file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file || getdelim(&text, &room, 0, file) < 0 || fclose(file)) exit(FAILED);
    return text;
}

int main(int count, char **words)
{
    char *rest = NULL, *line;
    if (count != 2) return FAILED;
    char *const text = contents(words[1]);
    line = strtok_r(text, "\n", &rest);
    if (!line || warm_up(line)) return FAILED;
    while ((line = strtok_r(NULL, "\n", &rest))) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) exit(run_child(line));
        if (child < 0 || waitpid(child, &status, 0) != child) return FAILED;
        printf("%d %d\n", (int)child, WIFEXITED(status) ? WEXITSTATUS(status) : FAILED);
        fflush(stdout);
    }
    free(text);
    return 0;
}
