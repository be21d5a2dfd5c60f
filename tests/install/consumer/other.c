/* The second translation unit that includes the header: nothing in it may be defined twice. */
#include <string.h>
#include <vyre/vyre.h>

int other_check(void);

/* Is the library the one that the header was made for? */
int other_check(void) {
  return strcmp(vyre_version_string(), CONSUMER_EXPECTS_VERSION) == 0 && vyre_version_number() == VYRE_VERSION_NUMBER;
}
