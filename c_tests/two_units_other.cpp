// The other of two translation units that include the header; see two_units.c.
#include "vyre/vyre.h"

extern "C" int other_unit(vyre_backend_desc desc);

int other_unit(vyre_backend_desc desc) {
  return desc.struct_size == sizeof(vyre_backend_desc) ? static_cast<int>(vyre_abi_version()) : -1;
}
