/*
 * race.c - the control of the build with ThreadSanitizer: threads that share numbers as they should
 * (clean), and threads that do not (race).  The first must be clean, or archer is not there to tell
 * TSan what OpenMP does; the second must be found, or nothing would be.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, NUMBERS = 1000, TIMES = 50 };

/* Regions, loops, reductions, atomics, critical sections and barriers, one after the other. */
static long share_well(void)
{
    static long numbers[NUMBERS];
    long sum = 0, atomic = 0, guarded = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for num_threads(THREADS) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < NUMBERS; i++) sum += numbers[i]++;
#pragma omp parallel num_threads(THREADS)
        {
#pragma omp atomic
            atomic++;
#pragma omp critical
            guarded++;
#pragma omp barrier
#pragma omp for
            for (int i = 0; i < NUMBERS; i++) numbers[NUMBERS - 1 - i]++;
        }
    }
    return sum + atomic + guarded;
}

static long share_badly(void)
{
    volatile long sum = 0;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < NUMBERS; i++) sum = sum + 1;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    printf("%ld\n", strcmp(argv[1], "race") == 0 ? share_badly() : share_well());
    return 0;
}
