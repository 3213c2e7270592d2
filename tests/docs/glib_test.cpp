// The page's way to carry a client on GLib.
#include <glib-unix.h>

#include "docs/carried.h"

namespace redlock::test {
namespace {

GSource* attach(uv_loop_t* loop) {
#include "GLib.inc"
  return &source->base;
}

class AsyncOnGlib : public FiveMasters {};

TEST_F(AsyncOnGlib, IsCarriedAsThePageSays) {
  Carried carried(options());
  GSource* const source = attach(carried.loop());
  while (g_source_is_destroyed(source) == FALSE) g_main_context_iteration(nullptr, TRUE);
  g_source_unref(source);
  carried.expect_all_went_well();
}

}  // namespace
}  // namespace redlock::test
