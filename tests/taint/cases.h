/* cases.h - the two programs that cases.c can run a case of. */
#ifndef CLO_TEST_CASES_H
#define CLO_TEST_CASES_H

int command_main(int count, char **words); /* cli/main_one_process.c */
int leak_main(int count, char **words);    /* leak.c */

#endif
