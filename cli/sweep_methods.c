/* sweep_methods.c - the words of cloister sweep: methods with their settings, and seeds. */
#include "cli_sweep.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 64, MOST_WAYS = 10000, MOST_SEEDS = 1000000 };

/* "rounds" and "8|16" of "rounds=8|16"; the texts are ours. */
typedef struct choice {
    char *name, *values;
} choice;

typedef struct choices {
    choice at[MOST_SETTINGS];
    size_t count;
} choices;

static char *copy_part(const char *text, size_t length)
{
    char *const out = cli_alloc(length + 1, 1);
    memcpy(out, text, length);
    return out;
}

static void free_choices(choices *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->at[i].name);
        free(all->at[i].values);
    }
}

static choice *find_choice(choices *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].name, name) == 0) return &all->at[i];
    return NULL;
}

static bool solver_takes(const clo_solver *solver, const char *name)
{
    size_t count;
    const clo_param *const rows = clo_solver_params(solver, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return true;
    return false;
}

/* "a=1,b=2|3"; a later value takes the place of an earlier one. */
static clo_status read_choices(const char *text, const clo_solver *only, choices *all,
                               cli_error *err)
{
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        const char *const equals = memchr(text, '=', length);
        if (!equals || equals == text || equals == text + length - 1)
            return cli_fail(err, CLO_ARGUMENT,
                            "'%.*s' must be SETTING=VALUE, or SETTING=VALUE|VALUE for several",
                            (int)length, text);
        char *const name = copy_part(text, (size_t)(equals - text));
        char *const values = copy_part(equals + 1, (size_t)(text + length - equals - 1));
        choice *const old = find_choice(all, name);
        if (old) {
            free(old->values);
            old->values = values;
            free(name);
        } else if (all->count == MOST_SETTINGS || (only && !solver_takes(only, name))) {
            free(name);
            free(values);
            if (all->count == MOST_SETTINGS)
                return cli_fail(err, CLO_ARGUMENT, "at most %d settings can be given",
                                (int)MOST_SETTINGS);
        } else {
            all->at[all->count++] = (choice){ name, values };
        }
        text += length + (text[length] == ',');
    }
    return CLO_OK;
}

static size_t count_values(const char *values)
{
    size_t count = 1;
    for (; *values; values++) count += *values == '|';
    return count;
}

static char *value_at(const char *values, size_t i)
{
    for (; i > 0; i--) values = strchr(values, '|') + 1;
    return copy_part(values, strcspn(values, "|"));
}

static void add_way(cli_ways *ways, const char *name, const clo_solver *solver, const choices *all,
                    size_t number)
{
    if (ways->count == ways->room) {
        const size_t room = 2 * ways->room + 8;
        cli_way *const grown = cli_alloc(room, sizeof *grown);
        if (ways->count) memcpy(grown, ways->at, ways->count * sizeof *grown);
        free(ways->at);
        ways->at = grown;
        ways->room = room;
    }
    cli_way *const way = &ways->at[ways->count++];
    *way = (cli_way){ .name = cli_copy(name), .solver = solver, .count = all->count };
    way->settings = cli_alloc(all->count, sizeof *way->settings);
    for (size_t i = 0; i < all->count; i++) {
        const size_t values = count_values(all->at[i].values);
        way->settings[i] =
            (cli_pair){ cli_copy(all->at[i].name), value_at(all->at[i].values, number % values) };
        number /= values;
    }
}

static clo_status check_name(const char *name, const clo_solver **solver, cli_error *err)
{
    const clo_mechanism *unused;
    if (strncmp(name, "solve/", 6) == 0) return cli_solver(name + 6, solver, err);
    return cli_mechanism(name, NULL, &unused, err);
}

clo_status cli_ways_add(cli_ways *ways, const char *word, const char *common, cli_error *err)
{
    const size_t length = strcspn(word, ":");
    char *const name = copy_part(word, length);
    const clo_solver *solver = NULL;
    choices all = { .count = 0 };
    size_t product = 1;
    clo_status status = check_name(name, &solver, err);
    if (status == CLO_OK) status = read_choices(common, solver, &all, err);
    if (status == CLO_OK && word[length]) status = read_choices(word + length + 1, NULL, &all, err);
    for (size_t i = 0; i < all.count && product <= MOST_WAYS; i++)
        product *= count_values(all.at[i].values);
    if (status == CLO_OK && product > MOST_WAYS)
        status = cli_fail(err, CLO_ARGUMENT, "'%s' stands for more than %d ways to run it", name,
                          (int)MOST_WAYS);
    for (size_t i = 0; i < product && status == CLO_OK; i++) add_way(ways, name, solver, &all, i);
    free_choices(&all);
    free(name);
    return status;
}

void cli_ways_free(cli_ways *ways)
{
    for (size_t i = 0; i < ways->count; i++) {
        for (size_t j = 0; j < ways->at[i].count; j++) {
            free(ways->at[i].settings[j].name);
            free(ways->at[i].settings[j].value);
        }
        free(ways->at[i].settings);
        free(ways->at[i].name);
    }
    free(ways->at);
    *ways = (cli_ways){ NULL, 0, 0 };
}

const char *cli_way_setting(const cli_way *way, const char *name)
{
    for (size_t i = 0; i < way->count; i++)
        if (strcmp(way->settings[i].name, name) == 0) return way->settings[i].value;
    return NULL;
}

/* ---- seeds ---------------------------------------------------------------------------------- */

static clo_status read_seed(const char *text, size_t length, uint64_t *out, cli_error *err)
{
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return cli_parse_whole("each entry of --seeds", word, 0, UINT32_MAX, out, err);
}

clo_status cli_seeds_parse(const char *text, uint64_t **out, size_t *count, cli_error *err)
{
    size_t room = 0;
    uint64_t *seeds = NULL;
    *count = 0;
    for (const char *at = text; at;) {
        const size_t length = strcspn(at, ","), first = strcspn(at, "-,");
        const bool range = first < length;
        uint64_t low, high;
        clo_status status = read_seed(at, first, &low, err);
        high = low;
        if (status == CLO_OK && range)
            status = read_seed(at + first + 1, length - first - 1, &high, err);
        if (status == CLO_OK && (high < low || high - low >= MOST_SEEDS))
            status = cli_fail(err, CLO_ARGUMENT,
                              "--seeds must be numbers or ranges such as 1-10, not '%s'", text);
        if (status != CLO_OK) {
            free(seeds);
            return status;
        }
        room += (size_t)(high - low) + 1;
        uint64_t *const grown = cli_alloc(room, sizeof *grown);
        if (*count) memcpy(grown, seeds, *count * sizeof *grown);
        free(seeds);
        seeds = grown;
        for (uint64_t seed = low; seed <= high; seed++) seeds[(*count)++] = seed;
        at = at[length] ? at + length + 1 : NULL;
    }
    *out = seeds;
    return CLO_OK;
}
