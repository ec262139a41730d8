/* client.c - the analyst's side: one message out, one answer in, over a socket of this machine. */
#include "broker/broker.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void clo_broker_bytes_free(char *bytes)
{
    clo_i_free(bytes);
}

static clo_status fail(const char *what, const char *path, clo_error *err)
{
    char why[128];
    return clo_i_fail(err, CLO_IO, "%s %.160s: %s", what, path, strerror_r(errno, why, sizeof why));
}

static clo_status dial(const char *path, int *out, clo_error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (!path || !path[0] || strlen(path) >= sizeof address.sun_path)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a socket must have 1 to %zu bytes",
                          sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return fail("cannot make a socket for", path, err);
    if (connect(file, (const struct sockaddr *)&address, sizeof address) != 0) {
        const clo_status status = fail("no broker answers at", path, err);
        close(file);
        return status;
    }
    *out = file;
    return CLO_OK;
}

static bool put(int file, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t done = send(file, at, count, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        count -= (size_t)done;
    }
    return true;
}

static bool get(int file, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        const ssize_t done = recv(file, at, count, 0);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ECONNRESET;
        if (done <= 0) return false;
        at += done;
        count -= (size_t)done;
    }
    return true;
}

/* The first four bytes are the status, the rest the release or a sentence. */
static clo_status take_answer(int file, const char *path, char **bytes, size_t *length,
                              clo_error *err)
{
    uint8_t header[CLO_MESSAGE_HEADER], code[4];
    uint32_t size = 0, status = 0;
    char *text = NULL;
    if (!get(file, header, sizeof header))
        return fail("the broker closed the connection without an answer:", path, err);
    CLO_TRY(clo_message_length(header, CLO_ANSWER_BYTES, &size, err));
    if (size < sizeof code)
        return clo_i_fail(err, CLO_FORMAT,
                          "the answer of the broker is "
                          "incomplete");
    if (!get(file, code, sizeof code))
        return fail("the answer of the broker is incomplete:", path, err);
    for (int i = 0; i < 4; i++) status = status << 8 | code[i];
    CLO_TRY(clo_i_alloc(size - sizeof code + 1, 1, &text, err));
    if (!get(file, text, size - sizeof code)) {
        clo_i_free(text);
        return fail("the answer of the broker is incomplete:", path, err);
    }
    if (status == CLO_OK) {
        *bytes = text;
        *length = size - sizeof code;
        return CLO_OK;
    }
    for (char *c = text; *c; c++) /* whoever answers, it is one line */
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    const clo_status said = clo_i_fail(err, (clo_status)status, "%.480s", text);
    clo_i_free(text);
    return said;
}

clo_status clo_broker_ask(const char *path, const clo_setting *settings, size_t count, char **bytes,
                          size_t *length, clo_error *err)
{
    uint8_t header[CLO_MESSAGE_HEADER];
    char *message = NULL;
    size_t size = 0;
    int file = -1;
    CLO_TRY(clo_i_alloc(CLO_MESSAGE_BYTES, 1, &message, err));
    clo_status status = clo_message_encode(settings, count, message, CLO_MESSAGE_BYTES, &size, err);
    if (!status) status = dial(path, &file, err);
    if (!status) {
        clo_message_begin(header, (uint32_t)size);
        /* Who is refused early hears why all the same. */
        (void)!(put(file, header, sizeof header) && put(file, message, size));
        status = take_answer(file, path, bytes, length, err);
    }
    if (file >= 0) close(file);
    clo_i_free(message);
    return status;
}
