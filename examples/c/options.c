#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

void options_start(options *o, int argc, char **argv) {
  memset(o, 0, sizeof *o);
  o->argc = argc;
  o->argv = argv;
  o->next = 1;
}

bool options_next(options *o) {
  if (o->next >= o->argc) return false;
  const char *argument = o->argv[o->next++];
  o->name = o->value = NULL;
  if (argument[0] != '-' || argument[1] == '\0') {
    o->value = argument;
    return true;
  }
  const char *equals = strchr(argument, '=');
  if (!equals) {
    o->name = argument;
    return true;
  }
  const size_t length = (size_t)(equals - argument);
  if (length >= sizeof o->buffer) fail_usage("%s is not an option", argument);
  memcpy(o->buffer, argument, length);
  o->buffer[length] = '\0';
  o->name = o->buffer;
  o->value = equals + 1;
  return true;
}

bool option_is(const options *o, const char *name) { return o->name && strcmp(o->name, name) == 0; }

const char *option_text(options *o) {
  if (!o->value) {
    if (o->next >= o->argc) fail_usage("%s needs a value", o->name);
    o->value = o->argv[o->next++];
  }
  return o->value;
}

uint64_t option_number(options *o, uint64_t low, uint64_t high) {
  const char *text = option_text(o);
  char *end = NULL;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  /* strtoull takes a sign and leading blanks; a count has neither. */
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < low || number > high)
    fail_usage("%s wants a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"", o->name, low, high, text);
  return number;
}

void option_flag(const options *o) {
  if (o->value) fail_usage("%s takes no value", o->name);
}

void option_unknown(const options *o) {
  if (o->name) fail_usage("%s is not an option", o->name);
  fail_usage("\"%s\" was not expected", o->value);
}
