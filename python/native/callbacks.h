/* What the library calls back; cloister/_native.py has their bodies. */
extern "Python" bool cloister_progress(void *user, double done);
extern "Python" bool cloister_write(void *user, const char *bytes, size_t count);
extern "Python" bool cloister_account(void *user, const clo_account *account);
extern "Python" clo_status cloister_fold(void *user, const void *task, size_t bytes,
                                         int64_t *totals, size_t count);
extern "Python" clo_status cloister_solve(void *user, const void *task, size_t bytes,
                                          const uint32_t *block_of, uint64_t slots, int64_t *totals,
                                          size_t count);
extern "Python" bool cloister_charge(void *user, const clo_charge *charge);

/* Of prelude.c. */
static void cloister_one_thread(void);
extern "Python" bool cloister_finding(void *user, const clo_audit_finding *finding);
