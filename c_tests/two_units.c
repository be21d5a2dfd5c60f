/* One of two translation units that include the header; see two_units_other.cpp. */
#include "vyre/vyre.h"

int other_unit(vyre_backend_desc desc);

int main(void) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  return other_unit(desc) == VYRE_ABI_VERSION ? 0 : 1;
}
