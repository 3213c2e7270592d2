// Commands to calls of the client, and its callbacks to answers. Every call that was taken from the mailbox
// is in `waiting_` until it is answered, so that whatever happens to the client no thread waits for ever;
// whoever is left when the loop ends gets `closed` or `unknown`.
#include "blocking/loop_side.h"

#include <string>
#include <utility>

#include "uv/configure.h"

namespace redlock::detail {
namespace {

template <class T>
void link(T*& head, T& item) {
  item.previous = nullptr;
  item.following = head;
  if (head != nullptr) head->previous = &item;
  head = &item;
}

template <class T>
void unlink(T*& head, T& item) {
  (item.previous != nullptr ? item.previous->following : head) = item.following;
  if (item.following != nullptr) item.following->previous = item.previous;
}

}  // namespace

Error closed_error() {
  return Error{ErrorCode::closed, "the lock manager is gone or belongs to another process", {}, {}};
}

LoopSide::LoopSide(std::unique_ptr<uv::Engine> engine, Mailbox& mailbox, const ClientOptions& options)
    : engine_(std::move(engine)),
      mailbox_(mailbox),
      farewell_(uv::farewell(options)),
      warnings_(warnings(options)) {}

LoopSide::~LoopSide() {
  stop_listening();
  engine_->close();
}

int LoopSide::listen() {
  const int status = uv_poll_init(engine_->loop(), &poll_, mailbox_.descriptor());
  if (status != 0) return status;
  poll_.data = this;
  listening_ = true;
  return uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) noexcept {
    auto* self = static_cast<LoopSide*>(poll->data);
    if (!self->closing_) self->execute(self->mailbox_.take());
  });
}

void LoopSide::stop_listening() {
  if (!listening_) return;
  listening_ = false;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
}

void LoopSide::run() {
  if (engine_->log()) {
    for (const auto& line : warnings_) engine_->log()(LogLevel::warning, line);
  }
  engine_->start();
  engine_->run_until([this] { return closing_; });
  // Idle as well: what a lease that was given up had sent should reach every node that answers, not only the
  // majority that granted it.
  engine_->run_until([this] { return engine_->client().quiet() && engine_->host().idle(); }, farewell_);
  stop_listening();
  engine_->close();
  while (waiting_ != nullptr) fail(*waiting_, closed_error());
}

void LoopSide::execute(Command* oldest) {
  while (oldest != nullptr) {
    Command* const next = oldest->next;  // the command may be gone after it was executed
    execute_one(*oldest);
    oldest = next;
  }
}

void LoopSide::execute_one(Command& command) {
  // Held here until the end, since the command itself may live inside its lease.
  const std::shared_ptr<LeaseState> lease =
      command.kind == Command::Kind::acquire ? command.lease : std::move(command.lease);
  Call* const call = command.call;
  if (call != nullptr) expect(*call);
  if (closing_) {
    if (call != nullptr) fail(*call, closed_error());
    return;
  }
  switch (command.kind) {
    case Command::Kind::acquire:
      acquire(*call, lease);
      break;
    case Command::Kind::cancel:
      // The acquire came before it through the same mailbox. If it is over already, nothing happens.
      engine_->client().cancel(lease->call);
      break;
    case Command::Kind::extend:
      extend(*call, lease);
      break;
    case Command::Kind::release:
      release(call, *lease);
      break;
    case Command::Kind::detach:
      let_go(*lease);
      engine_->client().detach(lease->call);
      break;
    case Command::Kind::shut_down:
      shut_down();
      break;
  }
}

void LoopSide::acquire(Call& call, const std::shared_ptr<LeaseState>& lease) {
  client::LeaseEvents events;
  events.extended = [lease](core::Instant until) { lease->set_valid_until(until); };
  events.lost = [this, lease](const Error&) {
    let_go(*lease);
    lease->end();
  };
  auto done = [this, &call](expected<client::Granted, Error> result) {
    granted(call, *call.command.lease, std::move(result));
  };
  client::Client& client = engine_->client();
  auto started =
      call.adopted
          ? client.adopt(lease->name, call.adopted->token, client::to_fencing(call.adopted->fencing_token),
                         *call.options, std::move(done), std::move(events))
          : client.acquire(lease->name, *call.options, std::move(done), std::move(events));
  if (started) {
    lease->call = *started;
  } else {
    fail(call, std::move(started.error()));
  }
}

void LoopSide::granted(Call& call, LeaseState& lease, expected<client::Granted, Error> result) {
  if (!result) return fail(call, std::move(result.error()));
  lease.call = result->call;
  lease.token = result->token;
  lease.fencing = client::from_fencing(result->fencing);
  lease.reports = std::move(result->nodes);
  lease.set_valid_until(result->valid_until);
  hold(lease);
  answer(call);
}

void LoopSide::extend(Call& call, const std::shared_ptr<LeaseState>& lease) {
  auto started = engine_->client().extend(lease->call, call.ttl,
                                          [this, &call, lease](expected<core::Instant, Error> until) {
                                            if (!until) return fail(call, std::move(until.error()));
                                            lease->set_valid_until(*until);
                                            call.valid_until = *until;
                                            answer(call);
                                          });
  if (!started) fail(call, std::move(started.error()));
}

void LoopSide::release(Call* call, LeaseState& lease) {
  let_go(lease);
  client::ReleaseCallback done;
  if (call != nullptr) {
    done = [this, call](Released result, const client::Reports&) {
      call->released = result;
      answer(*call);
    };
  }
  engine_->client().release(lease.call, std::move(done));
}

// The holders are told first: from the releases on, somebody else may get their locks.
void LoopSide::shut_down() {
  closing_ = true;
  while (leases_ != nullptr) {
    LeaseState& lease = *leases_;
    let_go(lease);
    lease.end();
  }
  engine_->client().close();
  execute(mailbox_.close());
}

void LoopSide::expect(Call& call) {
  link(waiting_, call);
}

void LoopSide::answer(Call& call) {
  unlink(waiting_, call);
  call.answer();
}

void LoopSide::fail(Call& call, Error error) {
  call.error = std::move(error);
  answer(call);
}

void LoopSide::hold(LeaseState& lease) {
  lease.held = true;
  link(leases_, lease);
}

void LoopSide::let_go(LeaseState& lease) {
  if (!lease.held) return;
  lease.held = false;
  unlink(leases_, lease);
}

}  // namespace redlock::detail
