/* What the generated module is compiled with: the public headers, as any caller has them. */
#include <cloister/cloister.h>
#include <omp.h>

/* The OpenMP runtime of gcc does not live through a fork: a child that asks for its threads waits
 * for ever.  With one it asks for none. */
static void cloister_one_thread(void)
{
    omp_set_num_threads(1);
}
