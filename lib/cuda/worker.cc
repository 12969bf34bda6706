// SPDX-License-Identifier: Apache-2.0
#include "cuda/worker.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "ckpt/error.h"
#include "cuda/packet.h"

namespace ckpt::cuda {

namespace {

using Clock = std::chrono::steady_clock;

// dlopen of a driver on a cold disk takes seconds; more than this is a driver that hangs.
constexpr Milliseconds kGreetingLimit{60'000};

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::io, {}, what + ": " + std::strerror(errno)); }

// The worker must neither outlive its parent nor stop at the terminal's interrupt, which the parent answers.
[[noreturn]] void become_worker(int socket, pid_t parent, const Libraries& libraries) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  // Handlers of the program it was forked from are not for a driver's crash.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, SIG_DFL);
  serve(socket, libraries);
}

// False when nothing came in time; a signal is no reason to come back early.
bool wait_readable(int socket, std::optional<Clock::time_point> until) {
  for (;;) {
    int limit = -1;
    if (until) {
      const auto left = std::chrono::ceil<Milliseconds>(*until - Clock::now()).count();
      limit = static_cast<int>(std::clamp<long long>(left, 0, 1'000'000));
    }
    pollfd watched{socket, POLLIN, 0};
    const int ready = ::poll(&watched, 1, limit);
    if (ready > 0) return true;
    if (ready == 0 && until && Clock::now() >= *until) return false;
    if (ready < 0 && errno != EINTR) fail("cannot wait for the worker process");
  }
}

struct Packet {
  AnswerHead head;
  std::string text;
};

// Nothing when the worker is gone.
std::optional<Packet> receive(int socket) {
  std::string bytes(kPacketBytes, '\0');
  ssize_t size = 0;
  do size = ::recv(socket, bytes.data(), bytes.size(), 0);
  while (size < 0 && errno == EINTR);
  Packet packet;
  if (size < static_cast<ssize_t>(sizeof packet.head)) return std::nullopt;
  std::memcpy(&packet.head, bytes.data(), sizeof packet.head);
  packet.text = bytes.substr(sizeof packet.head, static_cast<std::size_t>(size) - sizeof packet.head);
  return packet;
}

bool send_call(int socket, std::uint32_t id, const Call& call, const std::vector<Pair>& pairs) {
  RequestHead head;
  head.id = id;
  head.op = call.op;
  head.pid = call.pid;
  head.timeout_ms = call.timeout_ms;
  head.pair_count = call.op == Op::restore ? static_cast<std::uint32_t>(pairs.size()) : 0;
  std::string packet(sizeof head, '\0');
  std::memcpy(packet.data(), &head, sizeof head);
  if (head.pair_count > 0) packet.append(reinterpret_cast<const char*>(pairs.data()), pairs.size() * sizeof(Pair));
  ssize_t sent = 0;
  do sent = ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

// The calls of one run(): which are under way, until when.
class Batch {
 public:
  Batch(int socket, const std::vector<Call>& calls, const std::vector<Pair>& pairs)
      : socket_(socket), calls_(calls), pairs_(pairs), answers_(calls.size()), until_(calls.size()) {}

  /// False when calls were given up, so that the worker has to go.
  bool run(std::size_t jobs) {
    bool alive = true;
    while (alive && (next_ < calls_.size() || !flying_.empty())) {
      while (alive && next_ < calls_.size() && flying_.size() < jobs) alive = launch();
      if (alive && !flying_.empty()) alive = collect();
    }
    return alive && !overdue_;
  }
  std::vector<Answer> take() { return std::move(answers_); }

 private:
  bool launch() {
    const std::size_t index = next_++;
    if (calls_[index].deadline.count() > 0) until_[index] = Clock::now() + calls_[index].deadline;
    flying_.push_back(index);
    return send_call(socket_, static_cast<std::uint32_t>(index), calls_[index], pairs_);
  }

  // One answer, or the first deadline. Past it a call counts as given up; the others may still arrive, but no further
  // one is begun.
  bool collect() {
    std::optional<Clock::time_point> first;
    for (const std::size_t index : flying_)
      if (until_[index] && (!first || *until_[index] < *first)) first = until_[index];
    if (!wait_readable(socket_, first)) {
      give_up();
      return true;
    }
    const std::optional<Packet> packet = receive(socket_);
    if (!packet) return false;
    const auto found = std::find(flying_.begin(), flying_.end(), packet->head.id);
    if (found == flying_.end()) return true;
    Answer& answer = answers_[packet->head.id];
    answer = {true, packet->head.result, packet->head.value, packet->head.elapsed_ms, packet->text};
    flying_.erase(found);
    return true;
  }

  void give_up() {
    const auto now = Clock::now();
    for (auto index = flying_.begin(); index != flying_.end();) {
      if (!until_[*index] || *until_[*index] > now) {
        ++index;
        continue;
      }
      answers_[*index].elapsed_ms = static_cast<double>(calls_[*index].deadline.count());
      index = flying_.erase(index);
      overdue_ = true;
    }
    if (overdue_) next_ = calls_.size();
  }

  int socket_;
  const std::vector<Call>& calls_;
  const std::vector<Pair>& pairs_;
  std::vector<Answer> answers_;
  std::vector<std::optional<Clock::time_point>> until_;
  std::vector<std::size_t> flying_;
  std::size_t next_ = 0;
  bool overdue_ = false;
};

}  // namespace

void Worker::start() {
  if (child_ > 0) return;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot make a socket pair");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    become_worker(ends[1], parent, libraries_);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail("cannot fork the worker process");
  }
  child_ = child;
  socket_ = ends[0];
  read_greeting();
}

void Worker::read_greeting() {
  std::optional<Packet> greeting;
  if (wait_readable(socket_, Clock::now() + kGreetingLimit)) greeting = receive(socket_);
  const std::string hint = "the NVIDIA driver's library can be named with --libcuda PATH";
  const Where where{libraries_.libcuda, {}, {}, {}};
  std::string trouble;
  if (!greeting)
    trouble = "the driver brought the worker process down while it was loaded";
  else if (!greeting->text.empty())
    trouble = "cannot load the CUDA driver: " + greeting->text;
  if (!trouble.empty()) {
    stop();
    throw Error(ErrorCode::unsupported, where, trouble, hint);
  }
  api_version_ = static_cast<std::uint32_t>(greeting->head.value);
  if (greeting->head.result == kSuccess && api_version_ >= kFirstWithCheckpoint) return;
  stop();
  throw Error(ErrorCode::unsupported, where,
              "this driver (CUDA " + std::to_string(api_version_ / 1000) + "." +
                  std::to_string(api_version_ % 1000 / 10) + ") has no checkpoint functions",
              "they came with driver 570, CUDA 12.8");
}

void Worker::stop() noexcept {
  if (socket_ >= 0) ::close(socket_);
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  socket_ = -1;
  child_ = -1;
}

std::uint32_t Worker::api_version() {
  start();
  return api_version_;
}

std::vector<Answer> Worker::run(const std::vector<Call>& calls, unsigned jobs, const std::vector<Pair>& pairs) {
  if (calls.empty()) return {};
  if (pairs.size() > kMostPairs)
    throw Error(ErrorCode::limit_exceeded, {}, "a device map of more than " + std::to_string(kMostPairs) + " pairs");
  start();
  // Bounded, so that neither the socket's queue nor the threads pile up.
  constexpr std::size_t kMostAtOnce = 1024;
  Batch batch(socket_, calls, pairs);
  if (!batch.run(jobs == 0 ? kMostAtOnce : std::min<std::size_t>(jobs, kMostAtOnce))) stop();
  return batch.take();
}

}  // namespace ckpt::cuda
