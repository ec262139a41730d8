/*
 * mechanism.h - step three: plan.  Which mechanisms there are, what they can be
 * told, and what a run of one would do and cost.  Nothing here sees data.
 */
#ifndef CLOISTER_MECHANISM_H
#define CLOISTER_MECHANISM_H

#include <cloister/domain.h>
#include <cloister/params.h>
#include <cloister/privacy.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A way to learn something of the records, privately: the library's, never freed. */
typedef struct clo_mechanism clo_mechanism;

/* Mechanisms are part of the library: nobody frees one, and their texts live as long. */
CLO_API size_t clo_mechanism_count(void);
CLO_API const clo_mechanism *clo_mechanism_at(size_t i); /* NULL: there are not so many */
/* "kmeans/lloyd", or a family alone for its default method, by its own name or its alias; NULL:
 * none. */
CLO_API const clo_mechanism *clo_mechanism_find(const char *name);
/* Of a method that only earlier versions had, such as "kmeans/tree": what to do instead, as a
 * sentence.  NULL: it was never one, or still is.  Releases of these methods are still read. */
CLO_API const char *clo_mechanism_retired(const char *name);
CLO_API const char *clo_mechanism_family(const clo_mechanism *mechanism); /* "kmeans" */
/* What people also call the family: "pca" is subspace, "subspace-clusters" is subspaces; NULL:
 * nothing else. */
CLO_API const char *clo_mechanism_alias(const clo_mechanism *mechanism);
CLO_API const char *clo_mechanism_method(const clo_mechanism *mechanism); /* "lloyd" */
CLO_API const char *clo_mechanism_summary(const clo_mechanism *mechanism);
CLO_API const char *
clo_mechanism_proof(const clo_mechanism *mechanism); /* "proofs/kmeans_lloyd.md" */
/* The weakest that a plan of it can have; clo_plan_guarantee says that of one plan. */
CLO_API clo_guarantee clo_mechanism_guarantee(const clo_mechanism *mechanism);
/* Whether it is there to compare with: on nearly all data another method of its family is more
 * accurate, or has a stronger guarantee. */
CLO_API bool clo_mechanism_is_research(const clo_mechanism *mechanism);
CLO_API const clo_param *clo_mechanism_params(const clo_mechanism *mechanism, size_t *count);

/* The parameters of a mechanism, at their presets; CLO_ARGUMENT where it is NULL. */
CLO_API CLO_CHECK clo_status clo_params_new(const clo_mechanism *mechanism, clo_params **out,
                                            clo_error *err);

/* What a run will ask, with how much noise, and what it costs: public. */
typedef struct clo_plan clo_plan;

/* Fixes everything that does not depend on the data: the queries, their noise, the number of
 * rounds, the cost.  Parameters and domain are copied.  accept is the weakest guarantee the caller
 * takes: CLO_ARGUMENT for a plan with a weaker one.  CLO_DOMAIN where the domain cannot be used at
 * all; CLO_ARGUMENT or CLO_UNSUPPORTED, with the reason, where the mechanism cannot serve it at
 * this budget. */
CLO_API CLO_CHECK clo_status clo_plan_new(const clo_params *params, const clo_domain *domain,
                                          clo_loss budget, clo_guarantee accept, clo_plan **out,
                                          clo_error *err);
/* How a query reads the rows, and so where it can be asked: a public fact of a plan. */
typedef enum clo_reading {
    CLO_READING_SUM = 1,    /* as sums, by threads, ranks or other machines that hold the rows */
    CLO_READING_BLOCKS = 2, /* block by block, and then something of what the blocks gave: by
                               threads, or by ranks without units (clo_run_options.all_rows) */
    CLO_READING_WHOLE = 3   /* all of them, in one process */
} clo_reading;
CLO_API const char *clo_reading_name(clo_reading reading); /* "sum" ... */

/* A parameter of a mechanism, or a setting of a job (job.h), by name, as text.  Frozen: callers
 * have arrays of them. */
typedef struct clo_setting {
    const char *name;
    const char *value;
} clo_setting;

/* Plans with that method of the family that promises the least error (clo_plan_predict) for these
 * settings, this domain and this budget: public quantities alone decide.  A method that does not
 * have one of the settings, cannot serve the domain or the budget, or whose guarantee is weaker
 * than accept, is no candidate.  Where there is none, the failure is that of the first method, in
 * the family's order, that took all of the settings; of the first that has them where a value is
 * out of range for each; and otherwise it names the settings that no method has, or none has
 * together.  Without a public number of rows they are compared at 10000.  A method that presumes
 * something of the data which was not stated comes last, and so does one that is there to compare
 * with. */
CLO_API CLO_CHECK clo_status clo_plan_auto(const char *family, const clo_setting *settings,
                                           size_t count, const clo_domain *domain, clo_loss budget,
                                           clo_guarantee accept, clo_plan **out, clo_error *err);
/* The same among those plans alone whose reading is at most `most`: with CLO_READING_SUM those that
 * any who hold rows can serve, with CLO_READING_BLOCKS also those that ranks can
 * (clo_plan_reading). */
CLO_API CLO_CHECK clo_status clo_plan_auto_among(clo_reading most, const char *family,
                                                 const clo_setting *settings, size_t count,
                                                 const clo_domain *domain, clo_loss budget,
                                                 clo_guarantee accept, clo_plan **out,
                                                 clo_error *err);
/* A hash of all that decides what a plan asks and with what noise: plans with the same one are the
 * same to a run. */
enum { CLO_PLAN_DIGEST_BYTES = 32 };
CLO_API void clo_plan_digest(const clo_plan *plan, uint8_t out[CLO_PLAN_DIGEST_BYTES]);
/* Why clo_plan_auto took this method, in a sentence; NULL where there was nothing to choose. */
CLO_API const char *clo_plan_reason(const clo_plan *plan);
CLO_API const clo_mechanism *clo_plan_mechanism(const clo_plan *plan);
/* Of the i-th parameter of its mechanism; NaN where it has not so many. */
CLO_API double clo_plan_value(const clo_plan *plan, size_t i);
/* The same by name: as a number (of a choice its index), and as a text ("8", "0.5", "columns").
 * CLO_ARGUMENT where the mechanism has no parameter of the name. */
CLO_API CLO_CHECK clo_status clo_plan_value_of(const clo_plan *plan, const char *name,
                                               double *value, clo_error *err);
CLO_API CLO_CHECK clo_status clo_plan_value_text(const clo_plan *plan, const char *name,
                                                 char text[CLO_VALUE_SIZE], clo_error *err);
CLO_API clo_guarantee clo_plan_guarantee(const clo_plan *plan);
CLO_API clo_loss clo_plan_budget(const clo_plan *plan); /* as asked for: what is charged */
CLO_API clo_price clo_plan_price(const clo_plan *plan); /* at most the budget */
/* Bytes that a run needs whatever the data: public.  What follows the number of rows comes on top
 * (clo_workspace_for_run).  threads 0: as OpenMP says. */
CLO_API size_t clo_plan_workspace(const clo_plan *plan, int threads);

/* One line of a plan: a query that a run will ask. */
typedef struct clo_plan_line {
    size_t struct_size;
    const char *query; /* "gaussian_sum" */
    const char *label; /* "sums and counts of a round" */
    clo_event event;   /* what all of its asks cost */
    double noise;      /* standard deviation in the data's own units (of a sum, a squared sum,
                           a count …), or 0 where the query draws no such noise */
    double share;      /* of what all lines cost, in 0 … 1; to be shown, not to be counted with */
    clo_reading reading;
} clo_plan_line;

/* How many there are, with those of what is learnt first. */
CLO_API size_t clo_plan_line_count(const clo_plan *plan);
/* The i-th of its lines, i below the count; texts are the plan's.  get writes into the caller's
 * struct of `size` bytes, and no further. */
CLO_API void clo_plan_line_get(const clo_plan *plan, size_t i, clo_plan_line *out, size_t size);
static inline clo_plan_line clo_plan_line_at(const clo_plan *plan, size_t i)
{
    clo_plan_line line;
    clo_plan_line_get(plan, i, &line, sizeof line);
    return line;
}
/* The largest of its lines: a plan whose reading is not CLO_READING_SUM runs on one rank. */
CLO_API clo_reading clo_plan_reading(const clo_plan *plan);
/* What error to expect with that many rows (at least 1), and in words what the number is, a text
 * that nobody frees; CLO_UNSUPPORTED where the mechanism has no prediction.  Public: it knows the
 * noise, not the data. */
CLO_API CLO_CHECK clo_status clo_plan_predict(const clo_plan *plan, double rows, double *error,
                                              const char **meaning, clo_error *err);
/* Between which errors it is where it depends on how far the records reach in what is looked for,
 * on how narrow clusters are (kmeans/local), or on how near to their subspaces records lie
 * (subspaces/moments), which no public number says: clo_plan_predict then
 * goes by what is usual.  Where it is stated, as the parameter `reach` of the family subspace, both
 * are that one error, as they are of all other methods. */
CLO_API CLO_CHECK clo_status clo_plan_predict_range(const clo_plan *plan, double rows,
                                                    double *least, double *most, clo_error *err);
/* t = rows mu / (rows_per_unit clusters sqrt(coordinates)): how well a plan is fed, mu being that
 * of its Gaussian queries together.  NaN where there is no such number. */
CLO_API double clo_plan_feed(const clo_plan *plan, double rows);
/* Under a schema: a sentence where the public number of rows is small for so many clusters and
 * coordinates, with what to ask for instead; false where there is nothing to say. */
CLO_API CLO_CHECK bool clo_plan_schema_text(const clo_plan *plan, char *text, size_t size);
/* The same in the units of each column, of which there are clo_domain_columns: by how much a
 * released centre is off, a standard deviation.  CLO_UNSUPPORTED where the error is none of points,
 * or where the domain is projected. */
CLO_API CLO_CHECK clo_status clo_plan_predict_columns(const clo_plan *plan, double rows,
                                                      double *errors, clo_error *err);
/* From which error on noise hides what is looked for; infinite where that cannot be said.  And
 * whether that many rows are so few: such a run spends its budget on noise. */
CLO_API double clo_plan_hidden_from(const clo_plan *plan);
CLO_API bool clo_plan_hidden(const clo_plan *plan, double rows);

/* What would be enough, each with the rest as it is; rounded to two digits; 0: nothing is. */
typedef struct clo_needs {
    size_t struct_size;
    double epsilon;    /* at least so much, up to 100 */
    double rows;       /* at least so many */
    uint64_t clusters; /* at most so many */
} clo_needs;

/* For an error of at most `error` with that many rows, in the plan's own method.  get writes into
 * the caller's struct of `size` bytes, and no further.  Plans are made on the way, so this may take
 * a second. */
CLO_API CLO_CHECK clo_status clo_plan_needs_get(const clo_plan *plan, double rows, double error,
                                                clo_needs *out, size_t size, clo_error *err);
/* Whether noise hides what is looked for in the public number of rows, and if so a sentence that
 * says it, and what would help ("noise hides 10 clusters in 1797 rows at epsilon 0.3: that needs
 * ..."): at most `size` bytes with its end.  false, and "", where it does not, or the number of
 * rows is not public. */
CLO_API bool clo_plan_hidden_text(const clo_plan *plan, char *text, size_t size);
/* The domain it was made for, a copy of the plan's own; borrowed. */
CLO_API const clo_domain *clo_plan_domain(const clo_plan *plan);
/* The plan as a JSON object of the schema "cloister.plan/1", with the prediction where the number
 * of rows is public.  All of it is public.  Its last bytes are "\n}\n", so that a caller can put
 * members of its own in before them. */
CLO_API CLO_CHECK clo_status clo_plan_json(const clo_plan *plan, clo_write *write, void *user,
                                           clo_error *err);
CLO_API void clo_plan_free(clo_plan *plan);

/* What a run is to learn of the domain itself, privately and out of the same budget, before the
 * mechanism asks: a norm that holds most records, the middle that they lie about, or both.  The
 * domain's own norm is then the largest one thinkable, which must be public. */
typedef struct clo_learning {
    size_t struct_size;
    bool norm;           /* a quantile of the records' norms */
    bool center;         /* their mean; not with column bounds, which have a middle, nor a frame */
    double norm_share;   /* of the budget's epsilon, 0 … 1; half of it a quantile where there are
                             two: one for the mean, one about it */
    double center_share; /* of the budget, 0 … 1 */
    double quantile;     /* the share of the records that the norm should hold */
    double norm_about;   /* without `norm`: the public norm about the centre; 0: the domain's */
} clo_learning;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_learning_init(clo_learning *learning, size_t size);
static inline clo_learning clo_learning_default(void)
{
    clo_learning learning;
    clo_learning_init(&learning, sizeof learning);
    return learning;
}
/* What is left of the budget for the mechanism's own plan, whatever the plan is.  Composition often
 * allows a little more. */
CLO_API CLO_CHECK clo_status clo_learning_rest(const clo_learning *learning, clo_loss budget,
                                               clo_loss *out, clo_error *err);
/* Puts the learning before a plan that was made, in whatever way, for a generous domain and a part
 * of the budget: one plan, one charge of the whole budget, one run.  The release is of the domain
 * that was learnt, and holds it as the arrays "learnt_norm" and "learnt_center".  On failure the
 * plan is as it was: CLO_BUDGET where both together cost more than the budget, which a plan with
 * clo_learning_rest never does; CLO_UNSUPPORTED where the mechanism's queries themselves depend on
 * the norm; CLO_ARGUMENT where the plan learns something already. */
CLO_API CLO_CHECK clo_status clo_plan_learn(clo_plan *plan, const clo_learning *learning,
                                            clo_loss budget, clo_error *err);
/* What the plan learns first; NULL: nothing.  The plan's. */
CLO_API const clo_learning *clo_plan_learning(const clo_plan *plan);

/* What public numbers say beforehand about the norm, or the bounds, that a plan asks the data for.
 * Whatever the data, they hold half of the rows but for a chance of one in a million (a share of
 * less than 0.75 that was asked for: a quarter less than that); too few rows give the widest ones
 * allowed, never one that clips everything. */
typedef struct clo_outlook {
    size_t struct_size;
    bool columns;          /* of columns, or a radius */
    double epsilon;        /* of one of its asks: the one that needs the most rows */
    double rows;           /* the public number of rows; 0: not public */
    double rows_needed;    /* with so many, something narrower than the widest is told, where the
                               rows lie so, but for one time in twenty */
    bool told;             /* whether there are so many */
    double confidence;     /* 0.99: with that probability, over all asks together, ... */
    double share_out;      /* ... this share of the rows is left out at most, ... */
    double rows_out;       /* ... and so many more */
    double epsilon_needed; /* of the whole budget, for these rows, rounded up to two digits;
                               0: they are not public */
    double share_needed;   /* the norm_share that would do, too; 0: none that leaves half of
                               the epsilon to the mechanism, or none is learnt */
} clo_outlook;

/* False: the plan asks for no norm and no bounds. */
CLO_API bool clo_plan_outlook_get(const clo_plan *plan, clo_outlook *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
