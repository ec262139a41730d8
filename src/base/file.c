/*
 * file.c - a file that is there whole or not at all.
 *
 * It is written without a name, or under a hidden one beside its place where the system knows no
 * nameless files, and gets its name when it is whole and on the disk.  So a write that fails or is
 * killed leaves no half of a file behind a good name.
 *
 * A process that is killed may leave the hidden name.  Whoever has the file locks it, so that the
 * next one to write into that folder can tell what nobody has any more, and removes it.
 */
#include "base/base.h"
#include <cloister/output.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define HIDDEN_END ".cloister-part" /* of a hidden name, after the process that writes */
/* The buffer may be held through all of a run. */
enum { BUFFER_BYTES = 1 << 16, MOST_TURNS = 100 };

struct clo_file {
    const char *shown; /* for messages */
    char *name;        /* as the caller gave it */
    char *target;      /* the name that it gets; NULL: it is written to as it is */
    char *folder;      /* where that is */
    char *temporary;   /* its name until then; NULL: it has none */
    int file;
    int failure; /* errno of the first write that failed */
    char *buffer;
    size_t used;
};

static clo_status cannot_write(const clo_file *file, int number, clo_error *err)
{
    return clo_i_fail(err, CLO_IO, "%s cannot be written: %s", file->shown, strerror(number));
}

/* ---- names ------------------------------------------------------------------------------ */

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static clo_status find_folder(clo_file *file, clo_error *err)
{
    const char *const last = last_part(file->target);
    if (last == file->target) return clo_i_copy_text(".", &file->folder, err);
    CLO_TRY(clo_i_copy_text(file->target, &file->folder, err));
    file->folder[last - file->target - (last - file->target > 1)] = 0; /* "/" stays */
    return CLO_OK;
}

/* turn: where a killed process has left the name of an earlier one, with the same number. */
static clo_status temporary_name(const clo_file *file, int turn, char **out, clo_error *err)
{
    const char *const last = last_part(file->target);
    const size_t size = strlen(file->folder) + strlen(last) + 64;
    char *name = NULL, number[12] = "";
    CLO_TRY(clo_i_alloc(size, 1, &name, err));
    if (turn > 0) snprintf(number, sizeof number, ".%d", turn);
    snprintf(name, size, "%s/.%.*s%s.%ld" HIDDEN_END, file->folder, NAME_MAX - 48, last, number,
             (long)getpid());
    *out = name;
    return CLO_OK;
}

/* ---- what a killed process has left ------------------------------------------------------- */

/* Of a process that is not there, and no longer locked: a lock goes with its process, also one on
 * another machine that shares the folder.  A system without locks keeps the file. */
static bool is_left(int folder, const char *name)
{
    const size_t length = strlen(name), end = sizeof HIDDEN_END - 1;
    struct stat facts;
    if (name[0] != '.' || length < end + 3 || strcmp(name + length - end, HIDDEN_END) != 0)
        return false;
    const char *digits = name + length - end;
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    const long process = strtol(digits, NULL, 10);
    if (process <= 0 || process > INT_MAX) return false;
    /* In a new container each process has the number of one that is gone. */
    if (process != getpid() && (kill((pid_t)process, 0) == 0 || errno != ESRCH)) return false;
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    const bool left = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                      facts.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return left;
}

static void remove_left(const char *path)
{
    DIR *const folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_left(dirfd(folder), entry->d_name)) (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
}

/* ---- opening ---------------------------------------------------------------------------- */

static int open_nameless(const clo_file *file)
{
#ifdef O_TMPFILE
    /* Without /proc the file could not be given a name later. */
    if (access("/proc/self/fd", X_OK) == 0)
        return open(file->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
    (void)file;
    return -1;
}

static clo_status open_beside(clo_file *file, clo_error *err)
{
    int number = EEXIST;
    for (int turn = 0; turn < MOST_TURNS && number == EEXIST; turn++) {
        CLO_TRY(temporary_name(file, turn, &file->temporary, err));
        file->file = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->file >= 0) return CLO_OK;
        number = errno;
        clo_i_free(file->temporary);
        file->temporary = NULL;
    }
    return cannot_write(file, number, err);
}

/* A link that somebody else has put there leads where they want. */
static clo_status check_link(const clo_file *file, clo_error *err)
{
    struct stat link;
    if (lstat(file->name, &link) != 0 || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
        return CLO_OK;
    return clo_i_fail(err, CLO_IO,
                      "%s cannot be written: it is a link that belongs to another user",
                      file->shown);
}

/* Whether the path lies in the folder of the ledgers' key and anchors; both resolved. */
static bool is_of_the_key(const char *path)
{
    const char *const config = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    const bool named = config && config[0] == '/';
    char folder[PATH_MAX], resolved[PATH_MAX];
    if (!named && !(home && home[0] == '/')) return false;
    if (snprintf(folder, sizeof folder, "%s%s/cloister", named ? config : home,
                 named ? "" : "/.config") >= (int)sizeof folder ||
        !realpath(folder, resolved))
        return false;
    const size_t length = strlen(resolved);
    return strncmp(path, resolved, length) == 0 && path[length] == '/';
}

/* By what SQLite's header says: "CLOL" is the application. */
static bool is_a_ledger(const char *path)
{
    char header[72] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    const bool whole = read(file, header, sizeof header) == (ssize_t)sizeof header;
    close(file);
    return whole && memcmp(header, "SQLite format 3", 16) == 0 &&
           memcmp(header + 68, "CLOL", 4) == 0;
}

static bool cut_end(char *path, const char *const *ends, size_t count)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < count; i++) {
        const size_t end = strlen(ends[i]);
        if (length <= end || strcmp(path + length - end, ends[i]) != 0) continue;
        path[length - end] = 0;
        return true;
    }
    return false;
}

/* SQLite's own files beside a ledger: a journal that is changed or put there is played back.  And
 * the drafts of a ledger, which a steward's command makes anew. */
static bool is_beside_a_ledger(const char *path)
{
    static const char *const sqlite[] = { "-journal", "-wal", "-shm" };
    static const char *const drafts[] = { ".rekeying", ".restoring" };
    char ledger[PATH_MAX + NAME_MAX + 2];
    snprintf(ledger, sizeof ledger, "%s", path);
    if (cut_end(ledger, sqlite, sizeof sqlite / sizeof *sqlite) && is_a_ledger(ledger)) return true;
    return cut_end(ledger, drafts, sizeof drafts / sizeof *drafts) && is_a_ledger(ledger);
}

/* Nothing that is written goes over what a cap rests on, whatever names and links lead there. */
static clo_status check_target(const clo_file *file, clo_error *err)
{
    char whole[PATH_MAX + NAME_MAX + 2], folder[PATH_MAX];
    if (!realpath(file->folder, folder)) return CLO_OK; /* opening will say why */
    snprintf(whole, sizeof whole, "%s/%.*s", folder, NAME_MAX, last_part(file->target));
    if (is_of_the_key(whole))
        return clo_i_fail(err, CLO_IO,
                          "%s cannot be written: the key and the anchors of the ledger are in "
                          "this folder",
                          file->shown);
    if (is_a_ledger(whole))
        return clo_i_fail(err, CLO_IO, "%s cannot be written: it is a ledger", file->shown);
    if (is_beside_a_ledger(whole))
        return clo_i_fail(err, CLO_IO, "%s cannot be written: it is a part of a ledger",
                          file->shown);
    return CLO_OK;
}

static clo_status open_path(clo_file *file, clo_error *err)
{
    struct stat facts;
    char resolved[PATH_MAX];
    if (strlen(last_part(file->name)) > NAME_MAX) return cannot_write(file, ENAMETOOLONG, err);
    CLO_TRY(check_link(file, err));
    const bool exists = stat(file->name, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) return cannot_write(file, EISDIR, err);
    if (exists && !S_ISREG(facts.st_mode)) {
        file->file = open(file->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return file->file >= 0 ? CLO_OK : cannot_write(file, errno, err);
    }
    /* Renaming would get past a file's own write protection. */
    if (exists && (!realpath(file->name, resolved) || access(resolved, W_OK) != 0))
        return cannot_write(file, errno, err);
    CLO_TRY(clo_i_copy_text(exists ? resolved : file->name, &file->target, err));
    CLO_TRY(find_folder(file, err));
    CLO_TRY(check_target(file, err));
    remove_left(file->folder);
    file->file = open_nameless(file);
    if (file->file < 0) CLO_TRY(open_beside(file, err));
    (void)!flock(file->file, LOCK_EX | LOCK_NB); /* while it has a hidden name, somebody has it */
    return CLO_OK;
}

clo_status clo_file_open(const char *path, clo_file **out, clo_error *err)
{
    clo_file *made = NULL;
    if (!path || !path[0])
        return clo_i_fail(err, CLO_ARGUMENT, "no file was given: the name is empty");
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    const bool standard = strcmp(path, "-") == 0;
    made->file = standard ? STDOUT_FILENO : -1;
    clo_status status = clo_i_copy_text(path, &made->name, err);
    if (!status) status = clo_i_alloc_unset(BUFFER_BYTES, 1, &made->buffer, err);
    made->shown = standard ? "standard output" : made->name;
    if (!status && !standard) status = open_path(made, err);
    if (status)
        clo_file_close(made);
    else
        *out = made;
    return status;
}

/* ---- writing ---------------------------------------------------------------------------- */

static bool put(clo_file *file, const char *bytes, size_t count)
{
    while (count > 0 && !file->failure) {
        const ssize_t written = write(file->file, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            file->failure = errno;
        } else {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return !file->failure;
}

static bool flush(clo_file *file)
{
    const size_t count = file->used;
    file->used = 0;
    return put(file, file->buffer, count);
}

bool clo_file_write(void *user, const char *bytes, size_t count)
{
    clo_file *const file = user;
    if (count > BUFFER_BYTES - file->used && !flush(file)) return false;
    if (count > BUFFER_BYTES) return put(file, bytes, count);
    if (count) memcpy(file->buffer + file->used, bytes, count);
    file->used += count;
    return !file->failure;
}

/* Of a disk that can say so: where it cannot, others may take the room. */
static bool has_room(const clo_file *file, uint64_t bytes)
{
    struct statvfs disk;
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    if (fallocate(file->file, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0) return true;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return false;
    if (fstatvfs(file->file, &disk) != 0 || disk.f_blocks == 0) return true;
    errno = ENOSPC;
    return bytes <= (uint64_t)disk.f_bavail * disk.f_frsize;
}

clo_status clo_file_reserve(clo_file *file, uint64_t bytes, clo_error *err)
{
    if (!file->target || bytes == 0 || bytes > INT64_MAX) return CLO_OK;
    return has_room(file, bytes) ? CLO_OK : cannot_write(file, errno, err);
}

/* Gives the nameless file a hidden name, from which it can be renamed over an older one. */
static clo_status give_name(clo_file *file, clo_error *err)
{
    char self[64], *name = NULL;
    int number = EEXIST;
    if (file->temporary) return CLO_OK;
    snprintf(self, sizeof self, "/proc/self/fd/%d", file->file);
    for (int turn = 0; turn < MOST_TURNS && number == EEXIST; turn++) {
        CLO_TRY(temporary_name(file, turn, &name, err));
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            file->temporary = name;
            return CLO_OK;
        }
        number = errno;
        clo_i_free(name);
    }
    return cannot_write(file, number, err);
}

/* The new name must survive a power cut as well as the bytes do. */
static void sync_folder(const clo_file *file)
{
    const int folder = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)fsync(folder);
    close(folder);
}

clo_status clo_file_commit(clo_file *file, clo_error *err)
{
    if (!flush(file)) return cannot_write(file, file->failure, err);
    if (!file->target) return CLO_OK;
    const off_t end = lseek(file->file, 0, SEEK_CUR);
    if (end > 0) (void)!ftruncate(file->file, end); /* gives back what was reserved */
    /* A ledger may have been made there since. */
    CLO_TRY(check_target(file, err));
    if (fsync(file->file) != 0) return cannot_write(file, errno, err);
    CLO_TRY(give_name(file, err));
    if (rename(file->temporary, file->target) != 0) return cannot_write(file, errno, err);
    clo_i_free(file->temporary);
    file->temporary = NULL;
    sync_folder(file);
    return CLO_OK;
}

void clo_file_close(clo_file *file)
{
    if (!file) return;
    if (file->file > STDOUT_FILENO) close(file->file);
    if (file->temporary) (void)unlink(file->temporary);
    clo_i_wipe_free(file->buffer, file->buffer ? BUFFER_BYTES : 0);
    clo_i_free(file->temporary);
    clo_i_free(file->folder);
    clo_i_free(file->target);
    clo_i_free(file->name);
    clo_i_free(file);
}
