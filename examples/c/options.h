/* The command lines of the examples: `--name value` or `--name=value`, and one plain argument. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
  int argc, next;
  char **argv;
  const char *name;  /* the option being read, with its dashes; NULL for a plain argument */
  const char *value; /* the plain argument, or what followed `=` */
  char buffer[64];
} options;

void options_start(options *o, int argc, char **argv);
/* The next option or plain argument; false at the end. */
bool options_next(options *o);
/* Is it this one? */
bool option_is(const options *o, const char *name);
/* Its value; ends the program if there is none. */
const char *option_text(options *o);
/* Its value as a number from `low` to `high`; ends the program if it is not. */
uint64_t option_number(options *o, uint64_t low, uint64_t high);
/* For options that take no value. */
void option_flag(const options *o);
/* The last branch of every reader. */
void option_unknown(const options *o);

#endif
