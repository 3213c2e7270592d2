// What users of the shared library can call carries REDLOCK_API; whatever else is in it stays inside, so that
// no symbol of ours, hiredis or OpenSSL gets in the way of another's. See docs/versioning.md.
#pragma once

#define REDLOCK_API __attribute__((visibility("default")))
