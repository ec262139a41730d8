/*
 * replay.c - runs a fuzz target over files that are there, for builds without libFuzzer: every test
 * run replays the corpus, so that what was once found stays found.
 *
 *   replay_NAME FOLDER_OR_FILE...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int replay_file(const char *path, size_t *files)
{
    FILE *const file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "replay: %s cannot be read\n", path);
        return 1;
    }
    const long size = ftell(file);
    rewind(file);
    /* The exact size, so that a sanitizer sees a read behind it. */
    uint8_t *const bytes = malloc(size > 0 ? (size_t)size : 1);
    const size_t count = bytes && size > 0 ? fread(bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    if (!bytes || count != (size_t)size) {
        fprintf(stderr, "replay: %s cannot be read\n", path);
        free(bytes);
        return 1;
    }
    (void)LLVMFuzzerTestOneInput(bytes, count);
    free(bytes);
    ++*files;
    return 0;
}

static int replay_folder(const char *path, size_t *files)
{
    struct dirent **entries;
    int failed = 0;
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "replay: %s cannot be read\n", path);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') failed |= replay_file(file, files);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    size_t files = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat facts;
        const int folder = stat(argv[i], &facts) == 0 && S_ISDIR(facts.st_mode);
        failed |= folder ? replay_folder(argv[i], &files) : replay_file(argv[i], &files);
    }
    printf("%zu files replayed\n", files);
    return failed || files == 0; /* an empty corpus tests nothing */
}
