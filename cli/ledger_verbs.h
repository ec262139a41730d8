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
    int name_width;      /* of the longest data set's name, for the tables */
    bool composes, zcdp; /* what the note under a list explains */
} cli_ledger_request;

clo_status cli_ledger_check(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_key(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_acts(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_backup(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_restore(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_move(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_rekey(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_adopt(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_lower(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_close(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_expire(cli_ledger_request *r, cli_error *err);
clo_status cli_ledger_join(cli_ledger_request *r, cli_error *err);
/* A clo_act as an object; user: a clo_writer. */
bool cli_ledger_put_act(void *user, const clo_act *act);

#endif
