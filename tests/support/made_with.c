/*
 * made_with.c - what the last digits of a release depend on: the compiler of this build, the C
 * library, OpenBLAS and the kernels that it took.  Tests ask it whether this machine is one of
 * those of golden/releases/reference.txt, on which every digit is held (tests/support/digits.py).
 */
#include <cblas.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
static const char COMPILER[] = "clang";
enum { MAJOR = __clang_major__ };
#else
static const char COMPILER[] = "gcc";
enum { MAJOR = __GNUC__ };
#endif

int main(void)
{
    char version[64] = "?";
    sscanf(openblas_get_config(), "OpenBLAS %63s", version);
    printf("%s %d, glibc %s, OpenBLAS %s %s\n", COMPILER, MAJOR, gnu_get_libc_version(), version,
           openblas_get_corename());
    return 0;
}
