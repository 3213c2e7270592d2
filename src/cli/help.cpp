// One text per command and one for the program; docs/man/redlock.1 says the same at more length.
#include "cli/help.h"

namespace redlock::cli {

namespace {

constexpr std::string_view kProgram = R"(redlock: a lock over several independent Redis masters

usage: redlock [OPTIONS] COMMAND ...

commands:
  run      [OPTIONS] NAME -- CMD [ARG...]   run CMD while holding the lock
  acquire  [OPTIONS] NAME                   take the lock for --ttl and print its token
  extend   [--ttl D] NAME TOKEN             let the lock live for --ttl from now
  release  NAME TOKEN                       give the lock back
  inspect  NAME ...                         show what every node says about a lock
  status   [--watch[=D]]                    show how the nodes are, and whether enough of them vote
  doctor   [--lock-user NAME]               find what is wrong with the nodes, and what to do
  init     [--force] [--reconfigure]        mark the nodes of a new deployment ready to vote
  break    [--yes] [--now] NAME             end a lock, whoever holds it
  config                                    show the settings that hold, and where each comes from
  completion SHELL                          print the completion script for bash, zsh or fish

options, before or after the command:
  --nodes URL,URL,...     the masters: redis://[user[:password]@]host[:port][/db], rediss://... for TLS,
                          unix:///path, or redis+sentinel://host,host,.../master-name for one that Sentinels
                          know (default: the environment variable REDLOCK_NODES)
  --password-file FILE    the password for URLs without one, in the first line of FILE
                          (default: the environment variable REDLOCK_PASSWORD)
  --tls-ca FILE           PEM file of the authority that vouches for the nodes (default: the system's)
  --tls-cert FILE, --tls-key FILE
                          our certificate and its key, where the nodes ask for one
  --tls-server-name NAME  the name in the nodes' certificates, where it is not the URL's host
  --tls-no-verify         trust any certificate: whoever is on the way can pass for a node, read the
                          password, and give or take any lock
                          (defaults: REDLOCK_TLS_CA, _CERT, _KEY and _SERVER_NAME in the environment)
  --prefix P              stands before every name in Redis (default: lock:)
  --max-ttl D             the longest ttl that anybody may use (default: 30s)
  --connect-timeout D     time for a connection and its handshake (default: 1s)
  --node-timeout D        the least that a node may take to answer (default: 50ms)
  --config FILE           settings from FILE: lines like nodes = redis://..., named as the options are
                          (default: REDLOCK_CONFIG, ~/.config/redlock/redlock.conf, /etc/redlock/redlock.conf;
                          the environment counts more than the file, the command line more than both)
  --deployment NAME       by which the clients of these nodes know each other (default: REDLOCK_DEPLOYMENT,
                          or else "default"); all must say the same, and the same --max-ttl
  --guard-grace D         how much longer a node with replicas settles: its min-replicas-max-lag and 2s
                          (default: REDLOCK_GUARD_GRACE, or else 12s)
  --no-guard              nodes vote that may have forgotten a lock: two can hold one then
  --no-line               wait by trying again and again, and stand in no line on the nodes
  --json                  results and errors as one line of JSON on standard output
  -v, --verbose           log on standard error; -vv: more
  -q, --quiet             say nothing but errors
  --color WHEN            auto, always or never (default: auto)
  --version, -h, --help

Durations: 250ms 10s 2m 1h.

exit codes:
  0 done, and the command's own from run   1 release, break: nothing there   1, 2 doctor: warnings, errors
  64 usage   65 inspect: a fault; init: refused   69 no quorum, nodes that still settle, or too slow
  70 internal   75 held by somebody else   76 lease lost   77 not permitted
  126, 127 the command could not be started, was not found   128+N ended by signal N

example:
  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3
  redlock run --wait 30s nightly-report -- make report
)";

constexpr std::string_view kRun = R"(usage: redlock run [OPTIONS] NAME -- CMD [ARG...]

Waits for the lock, runs CMD while holding it, gives it back, and exits as CMD did. CMD finds REDLOCK_NAME and
REDLOCK_TOKEN in its environment. If the lease is lost, CMD's process group gets TERM and then KILL, so that
nothing of it runs when somebody else can have the lock; the exit code is 76 then.

  --ttl D                   how long the lock outlives a crashed holder; extended meanwhile (default: 10s)
  --wait D                  wait at most D for it (default: until interrupted)
  --try                     do not wait
  --max-hold D              end CMD when the lock was held for D
  --fence                   give CMD a fencing token, REDLOCK_FENCE: a number larger than any earlier holder's
  --grace D                 time between TERM and KILL (default: a tenth of ttl)
  --conflict-exit-code N    exit code when somebody else holds the lock (default: 75)

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kAcquire = R"(usage: redlock acquire [OPTIONS] NAME

Takes the lock, prints its token and exits; the lock lives for --ttl unless it is extended or released.

  --ttl D     how long it lives (default: 10s)
  --wait D    wait at most D for it (default: until interrupted)
  --try       do not wait
  --fence     print a fencing token behind the token: a number larger than any earlier holder's

  token=$(redlock acquire --ttl 30s deploy) && { ./deploy; redlock release deploy "$token"; }

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kExtend = R"(usage: redlock extend [--ttl D] NAME TOKEN

Lets the lock live for --ttl from now (default: 10s); never shortens it. Exits with 76 if TOKEN does not hold
it.

  --ttl D     how long it lives (default: 10s)

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kRelease = R"(usage: redlock release NAME TOKEN

Gives the lock back. Exits with 1 if TOKEN did not hold it any more.

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kInspect = R"(usage: redlock inspect NAME ...

Shows per node the state, owner and time left of each lock, and what a majority makes of it. Exits with 65 if
it finds a fault: a key that never expires or is no lock, or votes that are split for good.

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kStatus = R"(usage: redlock status [--watch[=D]]

Shows the nodes: what they run, what the guard makes of them, how far their clocks and they themselves are
away, and how many locks they keep. Exits with 0 if enough of them vote, with 69 if not.

  ready         its votes count              unmarked    new or emptied: redlock init, or it will settle
  settling      they will, when every lock   changed     restarted or promoted: the next client makes it
                that it may have forgotten               settle
                is over                      evicting    may drop locks: set maxmemory-policy noeviction
  mismatched    of another deployment        replica     no master, no vote
  same server   twice in the list            refused, unreachable    could not be asked

  CLOCK is the node's less ours; columns that find no room on a narrow terminal are left out.
  --watch[=D]   again every D (default: 2s), until ^C

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kDoctor = R"(usage: redlock doctor [--lock-user NAME]

Looks for what makes locks fail or unsafe: nodes that do not vote, replicas, eviction, persistence, clocks,
access, rights, keys, versions. Says of each finding what it means and what to do. Reads only. Exits with 0 if
there is nothing, or notes alone; with 1 for warnings, with 2 for errors.

  --lock-user NAME   look at the rights of this user, where doctor asks as another one (default: the same).
                     What doctor needs to look is in docs/acl.md; what it may not look at is a note

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kInit =
    R"(usage: redlock init [--force | --force-node NODE ... | --reconfigure] [--yes]

Marks all nodes ready to vote, once, when a deployment is new and no lock was ever given on it. Refuses, and
writes nothing, unless every node answers, is a master, does not evict keys and has no mark. Without it, a new
node is made to settle by the first client: locks come when --max-ttl has passed. Never run it at boot: a node
that forgot its locks in a crash would vote at once, and two could hold one lock.

  --force             mark all nodes, whatever they say. You assert that nobody was given a lock on any of
                      them for --max-ttl
  --force-node NODE   the same for one node, by its URL or as tables name it; may be repeated. The others are
                      left as they are
  --reconfigure       the number of nodes, --max-ttl or --deployment changes: write the new ones to all nodes,
                      which then settle, so that old clients are refused before new ones are served
  -y, --yes           do not ask before forcing (without a terminal there is nobody to ask)

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kBreak = R"(usage: redlock break [--yes] [--now] NAME

Ends the lock on every node, whoever holds it. Shows whom it will hit and asks; then takes the lock from its
holder, who is told by his next extension, waits for as long as he may still believe to have it, and gives it
free. Keys that never expire and keys that are no locks are ended as well. Exits with 1 if nobody had it.

  -y, --yes   do not ask (without a terminal there is nobody to ask)
  --now       do not wait. Only when the holder is known to be dead: one that is alive would go on as if it
              had the lock, and set its keys again

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kConfig = R"(usage: redlock config

Shows every setting that holds, and where it comes from: the command line, the environment, the settings file
(which one, and which line), or the default. Passwords are shown as ***.

`redlock --help` lists the options that all commands have, and the exit codes.
)";

constexpr std::string_view kCompletion = R"(usage: redlock completion SHELL

Prints a script that completes commands and options in SHELL, which is bash, zsh or fish.

  source <(redlock completion bash)                     # in ~/.bashrc
  source <(redlock completion zsh)                      # in ~/.zshrc, behind compinit
  redlock completion fish > ~/.config/fish/completions/redlock.fish

`redlock --help` lists the options that all commands have, and the exit codes.
)";

}  // namespace

std::string_view help(std::string_view command) {
  if (command == "run") return kRun;
  if (command == "acquire") return kAcquire;
  if (command == "extend") return kExtend;
  if (command == "release") return kRelease;
  if (command == "inspect") return kInspect;
  if (command == "init") return kInit;
  if (command == "doctor") return kDoctor;
  if (command == "status") return kStatus;
  if (command == "break") return kBreak;
  if (command == "config") return kConfig;
  if (command == "completion") return kCompletion;
  return kProgram;
}

}  // namespace redlock::cli
