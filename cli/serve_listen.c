/* serve_listen.c - the broker's socket: one broker a path, and one that was killed leaves no trace
 * that stands in the way. */
#include "serve.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOCK_TRIES = 250, TRY_MICROSECONDS = 20000 };

/* A worker has the lock's file from its broker.  Of one that was killed, it dies too, but a moment
 * later, when the disk has what it was writing: so the lock is worth a wait of five seconds, as a
 * ledger is. */
static bool lock_soon(int file)
{
    for (int tries = 1; flock(file, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (tries == LOCK_TRIES) return false;
        usleep(TRY_MICROSECONDS);
    }
    return true;
}

/* Held as long as the broker lives, and let go by the kernel when it dies. */
static clo_status lock_path(const char *path, int *out, cli_error *err)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s.lock", path);
    const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return cli_fail(err, CLO_IO, "%.200s cannot be written: %m", name);
    if (!lock_soon(file)) {
        close(file);
        return cli_fail(err, CLO_IO, "another broker already serves %.200s", path);
    }
    *out = file;
    return CLO_OK;
}

static clo_status clear_path(const char *path, cli_error *err)
{
    struct stat facts;
    if (lstat(path, &facts) != 0) return CLO_OK;
    if (!S_ISSOCK(facts.st_mode) || facts.st_uid != geteuid())
        return cli_fail(err, CLO_IO, "%.200s is not a socket: choose another --socket", path);
    unlink(path); /* of a broker that was killed */
    return CLO_OK;
}

clo_status serve_listen(const char *path, int *listener, int *lock, cli_error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path)
        return cli_fail(err, CLO_ARGUMENT, "the path of a socket must be shorter than %zu bytes",
                        sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    clo_status status = lock_path(path, lock, err);
    if (status == CLO_OK) status = clear_path(path, err);
    if (status != CLO_OK) return status;
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Everybody may connect: who they are is the kernel's word, and what they may, the policy's.
     * The mode comes with the bind: a chmod afterwards would follow a link that somebody has put
     * there in between. */
    const mode_t before = umask(0111);
    const bool bound =
        file >= 0 && bind(file, (const struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    if (!bound || listen(file, 128) != 0) {
        if (file >= 0) close(file);
        return cli_fail(err, CLO_IO, "no socket at %.200s: %m", path);
    }
    *listener = file;
    return CLO_OK;
}
