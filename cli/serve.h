/* serve.h - what the files of 'cloister serve' share. */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli.h"
#include <sys/types.h>

enum { SERVE_LOG = 1024, SERVE_NAME = 201 };

/* A run of its own process.  Its file in memory holds the log, and from SERVE_LOG on the answer. */
typedef struct serve_worker {
    pid_t process; /* 0: none */
    int file;      /* -1: none */
} serve_worker;

/* The worker's process answers the message and ends; what it has open besides is closed in it. */
clo_status serve_worker_start(const clo_policy *policy, const char *analyst, const char *message,
                              size_t length, void (*close_others)(void *user), void *user,
                              serve_worker *out, cli_error *err);
/* The same for the preparation of the policy: waits for its end. */
clo_status serve_prepare(const clo_policy *policy, cli_error *err);

/* Serves until it is told to stop.  From the word that it serves on, it stops in order. */
clo_status serve_loop(const clo_policy *policy, const char *path, int listener, cli_error *err);
/* A socket at this path, for everybody on this machine; *lock keeps a second broker away. */
clo_status serve_listen(const char *path, int *listener, int *lock, cli_error *err);

#endif
