/* main_one_process.c - where the command begins, in one process.  (On several ranks it begins in
 * mpi/main_mpi.c.) */
#include "cli.h"

int main(int argc, char **argv)
{
    cli_error err = { .hint = "" };
    cli_keep_no_core();
    cli_outlive_limits();
    cli_fit_environment(argv);
    clo_status status = cli_start_ranks(argv, &err);
    if (status == CLO_OK) status = cli_dispatch(argc, (const char **)argv, &err);
    if (status != CLO_OK) {
        fflush(stdout);
        if (argc >= 2) cli_print_error(&err);
    }
    return cli_exit_code(status, &err);
}
