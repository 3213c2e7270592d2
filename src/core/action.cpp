// Actions as text; see action.h.
#include "core/action.h"

#include <ostream>

namespace redlock::core {
namespace {

const char* name_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::send:
      return "send";
    case ActionKind::want_attempt:
      return "want_attempt";
    case ActionKind::granted:
      return "granted";
    case ActionKind::failed:
      return "failed";
    case ActionKind::extended:
      return "extended";
    case ActionKind::extend_failed:
      return "extend_failed";
    case ActionKind::renewed:
      return "renewed";
    case ActionKind::lost:
      return "lost";
    case ActionKind::clean:
      return "clean";
    case ActionKind::released:
      return "released";
  }
  return "?";
}

const char* name_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::acquire:
      return "acquire";
    case RequestKind::extend:
      return "extend";
    case RequestKind::release:
      return "release";
    case RequestKind::undo:
      return "undo";
    case RequestKind::raise:
      return "raise";
    case RequestKind::enter:
      return "enter";
    case RequestKind::leave:
      return "leave";
    case RequestKind::withdraw:
      return "withdraw";
  }
  return "?";
}

const char* name_of(ReplyKind kind) {
  switch (kind) {
    case ReplyKind::granted:
      return "granted";
    case ReplyKind::held:
      return "held";
    case ReplyKind::missing:
      return "missing";
    case ReplyKind::failed:
      return "failed";
    case ReplyKind::unknown:
      return "unknown";
  }
  return "?";
}

void print_nodes(std::ostream& out, NodeSet nodes) {
  out << '{';
  const char* comma = "";
  nodes.each([&](Node node) {
    out << comma << index(node);
    comma = ",";
  });
  out << '}';
}

}  // namespace

Action send_action(NodeSet nodes, Round round, const Request& request) {
  Action action;
  action.kind = ActionKind::send;
  action.nodes = nodes;
  action.round = round;
  action.request = request;
  return action;
}

std::ostream& operator<<(std::ostream& out, const Request& request) {
  out << name_of(request.kind) << " token=" << request.token.low;
  if (request.ttl.count() != 0) out << " ttl=" << request.ttl.count() << "ms";
  if (request.heal) out << " heal";
  if (request.want_time_left) out << " time_left";
  if (request.fencing != kNoFencing) out << " fencing=" << request.fencing;
  if (request.kind == RequestKind::enter) {
    out << " renewal=" << static_cast<std::uint32_t>(request.renewal);
    if (request.arrival != kNoArrival) out << " arrival=" << request.arrival;
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  out << name_of(reply.kind);
  if (reply.cause != Cause::none) out << '(' << to_string(reply.cause) << ')';
  if (reply.time_left != kNoTimeLeft) out << " left=" << reply.time_left.count() << "ms";
  if (reply.fencing != kNoFencing) out << " fencing=" << reply.fencing;
  if (reply.arrival != kNoArrival) out << " arrival=" << reply.arrival << " rank=" << reply.rank;
  if (reply.after) out << " after";
  return out;
}

std::ostream& operator<<(std::ostream& out, const Action& action) {
  out << name_of(action.kind);
  switch (action.kind) {
    case ActionKind::send:
      out << ' ';
      print_nodes(out, action.nodes);
      return out << " round=" << static_cast<std::uint32_t>(action.round) << ' ' << action.request;
    case ActionKind::granted:
    case ActionKind::extended:
    case ActionKind::renewed:
      return out << " until=" << action.end.boot.count() << "us";
    case ActionKind::failed:
    case ActionKind::extend_failed:
    case ActionKind::lost:
      return out << ' ' << to_string(action.error);
    case ActionKind::clean:
      out << ' ' << name_of(action.request.kind) << " token=" << action.request.token.low << " touched=";
      print_nodes(out, action.trail.touched());
      out << " broken=";
      print_nodes(out, action.trail.broken());
      return out;
    case ActionKind::released:
      return out << ' ' << to_string(action.result);
    case ActionKind::want_attempt:
      break;
  }
  return out;
}

}  // namespace redlock::core
