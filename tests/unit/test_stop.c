/* A signal ends the command in order, or a second later, or at once; and not at all while there is
 * something to lose (cli/stop.c). */
#include "../../cli/cli.h"
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All whose default is to end the process, but for those of its own faults. */
static int caught[128];
static int count_caught(void)
{
    static const int others[] = { SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU,   SIGUSR1,
                                  SIGUSR2, SIGPROF, SIGVTALRM, SIGPOLL, SIGSTKFLT, SIGPWR };
    int count = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) caught[count++] = others[i];
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) caught[count++] = number;
    return count;
}

bool cli_can_redraw(void)
{
    return false;
}

const clo_comm *cli_comm(void)
{
    return NULL;
}

/* How a child that does this ends, and what it says. */
static int end_of(void (*work)(void), char *said, size_t size)
{
    int ends[2], status = 0;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = count_caught(); i-- > 0;) signal(caught[i], SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        work();
        _exit(99);
    }
    close(ends[1]);
    for (ssize_t got; used + 1 < size && (got = read(ends[0], said + used, size - used - 1)) > 0;)
        used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Some call that does not look at the flag. */
static void go_on_for(double seconds)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (usleep(1000), now.tv_sec < end.tv_sec);
}

static void begin(void)
{
    cli_stop_catch(false);
    cli_stop_words("stopped: %s", "nothing was spent");
}

static void is_deaf(void)
{
    begin();
    raise(SIGTERM);
    go_on_for(10);
}

static void a_step_that_hears_nothing_is_ended_with_words(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(is_deaf, said, sizeof said), 128 + SIGTERM);
    assert_string_equal(said, "cloister: stopped: nothing was spent\n");
}

static void hears_a_strange_alarm(void)
{
    begin();
    raise(SIGALRM);
    go_on_for(10);
}

static void an_alarm_of_somebody_else_is_a_stop(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(hears_a_strange_alarm, said, sizeof said), 128 + SIGALRM);
    assert_string_equal(said, "cloister: stopped: nothing was spent\n");
}

static void is_stopped_twice(void)
{
    begin();
    raise(SIGINT);
    raise(SIGINT);
}

static void a_second_signal_ends_at_once(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(is_stopped_twice, said, sizeof said), 128 + SIGINT);
}

static void is_held(void)
{
    begin();
    cli_stop_hold();
    const int count = count_caught();
    for (int i = 0; i < count; i++) {
        raise(caught[i]);
        raise(caught[i]);
    }
    raise(SIGALRM); /* of a stop that came right before */
    go_on_for(2);
    _exit(cli_interrupted() == caught[count - 1] ? 7 : 8);
}

static void nothing_ends_what_is_held(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(is_held, said, sizeof said), 7);
    assert_string_equal(said, "");
}

static void is_held_and_let_go(void)
{
    begin();
    cli_stop_hold();
    raise(SIGHUP);
    cli_stop_usual(); /* the bar is gone, and it is still held */
    raise(SIGHUP);
    cli_stop_words("fetch it");
    cli_stop_release();
    go_on_for(10);
}

static void what_was_held_is_heard_afterwards(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(is_held_and_let_go, said, sizeof said), 128 + SIGHUP);
    assert_string_equal(said, "cloister: fetch it\n");
}

static void is_forgiven(void)
{
    begin();
    cli_stop_hold();
    raise(SIGTERM);
    const bool was = cli_stop_forgive();
    cli_stop_release();
    go_on_for(2);
    _exit(was && !cli_stop_forgive() ? 7 : 8);
}

static void what_is_forgiven_stops_nothing(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(is_forgiven, said, sizeof said), 7);
}

static void was_told_to_ignore_it(void)
{
    signal(SIGHUP, SIG_IGN); /* nohup */
    begin();
    raise(SIGHUP);
    _exit(cli_interrupted() ? 8 : 7);
}

static void what_is_ignored_stays_ignored(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(was_told_to_ignore_it, said, sizeof said), 7);
}

static void waits_for_input(void)
{
    int ends[2];
    char byte;
    begin();
    cli_stop_catch(true);
    if (pipe(ends) != 0 || fork() == 0) { /* the signal comes while it reads */
        sleep(1);
        kill(getppid(), SIGTERM);
        _exit(0);
    }
    _exit(read(ends[0], &byte, 1) < 0 && errno == EINTR ? 7 : 8);
}

static void a_signal_ends_a_wait_for_input(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(end_of(waits_for_input, said, sizeof said), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_hears_nothing_is_ended_with_words),
        cmocka_unit_test(an_alarm_of_somebody_else_is_a_stop),
        cmocka_unit_test(a_second_signal_ends_at_once),
        cmocka_unit_test(nothing_ends_what_is_held),
        cmocka_unit_test(what_was_held_is_heard_afterwards),
        cmocka_unit_test(what_is_forgiven_stops_nothing),
        cmocka_unit_test(what_is_ignored_stays_ignored),
        cmocka_unit_test(a_signal_ends_a_wait_for_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
