/* ledger_verbs.h - what the files of 'cloister ledger' share. */
#ifndef CLI_LEDGER_VERBS_H
#define CLI_LEDGER_VERBS_H

#include "cli.h"

typedef struct cli_ledger_request {
    const cli_args *args;
    const char *path;
    const char *dataset; /* NULL: all */
    clo_ledger *ledger;
    clo_writer json;
    uint64_t seen;
    int name_width; /* of the longest data set's name, for the tables */
} cli_ledger_request;

clo_status cli_ledger_check(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_key(cli_ledger_request *r, cli_error *err);

#endif
