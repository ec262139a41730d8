/* run_through_broker.c - cloister run --via: the same options, sent to a broker; the release comes
 * back. */
#include "cli.h"
#include <string.h>

typedef struct message {
    clo_setting settings[CLO_MESSAGE_SETTINGS];
    size_t count;
} message;

static clo_status add(message *m, const char *name, const char *value, cli_error *err)
{
    if (m->count == CLO_MESSAGE_SETTINGS)
        return cli_fail(err, CLO_ARGUMENT, "a broker takes at most %d options",
                        CLO_MESSAGE_SETTINGS);
    m->settings[m->count++] = (clo_setting){ .name = name, .value = value };
    return CLO_OK;
}

/* Every option that is a setting or a parameter; what is not an analyst's to say, the broker says.
 * */
static clo_status gather(const cli_args *args, message *m, cli_error *err)
{
    const clo_param *params[CLI_MAX_PARAMETERS];
    const size_t count = cli_parameters(cli_args_entry(args)->command, params, CLI_MAX_PARAMETERS);
    clo_status status = add(m, "mechanism", cli_word(args, 0), err);
    const clo_setting_info *setting;
    for (size_t i = 0; (setting = clo_job_setting(i)) && status == CLO_OK; i++) {
        const char *const value = cli_setting_value(args, setting);
        if (value) status = add(m, setting->name, value, err);
    }
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        const char *const value = cli_value(args, params[i]->name);
        if (value) status = add(m, params[i]->name, value, err);
    }
    return status;
}

static clo_status deliver(const cli_args *args, const char *bytes, size_t length, clo_file *file,
                          cli_error *err)
{
    clo_release *release = NULL;
    clo_status status = CLO_OK;
    if (file || cli_given(args, "json")) {
        clo_write *const to = file ? clo_file_write : cli_stream_write;
        if (!to(file ? (void *)file : stdout, bytes, length))
            return file ? cli_fail(err, CLO_IO, "the release could not be written")
                        : cli_flush(stdout, err);
        return file ? clo_file_commit(file, &err->error) : CLO_OK;
    }
    status = clo_release_parse(bytes, length, &release, &err->error);
    if (status == CLO_OK)
        status =
            clo_report(release, cli_text_format(stdout), cli_stream_write, stdout, &err->error);
    clo_release_free(release);
    return status;
}

clo_status cli_run_via(const cli_args *args, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    message m = { .count = 0 };
    clo_file *file = NULL;
    char *bytes = NULL;
    size_t length = 0;
    clo_status status = cli_check_words(args, 1, 1,
                                        "a family, such as kmeans, and no file: the broker has the "
                                        "data",
                                        err);
    if (status == CLO_OK && cli_given(args, "dry-run"))
        status = cli_fail(err, CLO_ARGUMENT,
                          "a broker makes no dry run: use 'cloister plan', "
                          "which is free");
    if (status == CLO_OK) status = gather(args, &m, err);
    /* With a token it may be the same release again. */
    if (status == CLO_OK && !cli_given(args, "token")) status = cli_keep_release(args, err);
    if (status == CLO_OK && output && strcmp(output, "-") != 0)
        status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK)
        status = clo_broker_ask(cli_value(args, "via"), m.settings, m.count, &bytes, &length,
                                &err->error);
    if (status == CLO_OK) status = deliver(args, bytes, length, file, err);
    if (status == CLO_OK) status = cli_flush(stdout, err);
    clo_broker_bytes_free(bytes);
    clo_file_close(file);
    return status;
}
