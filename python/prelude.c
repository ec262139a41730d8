/* What the generated module is compiled with: the public headers, as any caller has them. */
#include <cloister/cloister.h>
