/* mechanism.c - which mechanisms there are: the rows of table.def. */
#include "plan/mechanism.h"
#include <stdio.h>
#include <string.h>

#define MECHANISM(family, method, small)                                                           \
    extern const clo_mechanism clo_i_mechanism_##family##_##method;
#include "mechanism/table.def"
#undef MECHANISM

static const clo_mechanism *const table[] = {
#define MECHANISM(family, method, small) &clo_i_mechanism_##family##_##method,
#include "mechanism/table.def"
#undef MECHANISM
};

size_t clo_mechanism_count(void)
{
    return sizeof table / sizeof *table;
}

const clo_mechanism *clo_mechanism_at(size_t i)
{
    return i < clo_mechanism_count() ? table[i] : NULL;
}

/* What people also call a family. */
static const struct {
    const char *family, *alias;
} aliases[] = { { "subspace", "pca" }, { "subspaces", "subspace-clusters" } };

const char *clo_mechanism_alias(const clo_mechanism *mechanism)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].family, mechanism->family) == 0) return aliases[i].alias;
    return NULL;
}

static bool is_called(const char *called, const char *name, size_t length)
{
    return called && strncmp(called, name, length) == 0 && !called[length];
}

const clo_mechanism *clo_mechanism_find(const char *name)
{
    const char *const slash = strchr(name, '/');
    const size_t length = slash ? (size_t)(slash - name) : strlen(name);
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = table[i];
        if (!is_called(m->family, name, length) && !is_called(clo_mechanism_alias(m), name, length))
            continue;
        if (!slash || strcmp(m->method, slash + 1) == 0) return m;
    }
    return NULL;
}

/* Earlier versions planned with these; their releases are still read. */
static const struct {
    const char *name, *advice;
} retired[] = {
#define RETIRED(name)                                                                              \
    {                                                                                              \
        name,                                                                                      \
            name " was retired in 0.2: leave the method out, and cloister chooses a more accurate" \
                 " one"                                                                            \
    }
    RETIRED("kmeans/moments"),
    RETIRED("kmeans/tree"),
    RETIRED("kmeans/variates"),
};

const char *clo_mechanism_retired(const char *name)
{
    for (size_t i = 0; i < sizeof retired / sizeof *retired; i++)
        if (strcmp(retired[i].name, name) == 0) return retired[i].advice;
    return NULL;
}

const char *clo_mechanism_family(const clo_mechanism *mechanism)
{
    return mechanism->family;
}

const char *clo_mechanism_method(const clo_mechanism *mechanism)
{
    return mechanism->method;
}

const char *clo_mechanism_summary(const clo_mechanism *mechanism)
{
    return mechanism->summary;
}

const char *clo_mechanism_proof(const clo_mechanism *mechanism)
{
    return mechanism->proof;
}

clo_guarantee clo_mechanism_guarantee(const clo_mechanism *mechanism)
{
    return mechanism->guarantee;
}

bool clo_mechanism_is_research(const clo_mechanism *mechanism)
{
    return mechanism->is_research;
}

const clo_param *clo_mechanism_params(const clo_mechanism *mechanism, size_t *count)
{
    *count = mechanism->param_count;
    return mechanism->params;
}

const char *clo_guarantee_name(clo_guarantee guarantee)
{
    switch (guarantee) {
    case CLO_EXACT:
        return "exact";
    case CLO_IDEALIZED:
        return "idealized";
    case CLO_ASYMPTOTIC:
        return "asymptotic";
    }
    return "?";
}

clo_status clo_params_new(const clo_mechanism *mechanism, clo_params **out, clo_error *err)
{
    char name[64];
    if (!mechanism) return clo_i_fail(err, CLO_ARGUMENT, "there is no such mechanism");
    snprintf(name, sizeof name, "%s/%s", mechanism->family, mechanism->method);
    return clo_i_params_new(mechanism, name, mechanism->params, mechanism->param_count, out, err);
}
