// Facts first, judgement after; see doctor_facts.h.
#include "admin/doctor_facts.h"
#include "admin/one_shot.h"
#include "redlock/guard_admin.h"

namespace redlock::admin {

expected<std::vector<Finding>, Error> doctor(const ClientOptions& options, const DoctorOptions& call) {
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  return judge(options, gather_facts(options, *shot, call));
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "?";
}

}  // namespace redlock::admin
