// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cuda/nvml.h"
#include "cuda/packet.h"

namespace ckpt::cuda {

namespace {

void send_answer(int socket, const AnswerHead& head, std::string_view text) {
  std::string packet(sizeof head, '\0');
  std::memcpy(packet.data(), &head, sizeof head);
  packet += text.substr(0, kPacketBytes - sizeof head);
  (void)!::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
}

void answer(int socket, Driver& driver, const Libraries& libraries, std::string packet) {
  RequestHead head;
  std::memcpy(&head, packet.data(), sizeof head);
  std::vector<Pair> pairs(head.pair_count);
  if (!pairs.empty()) std::memcpy(pairs.data(), packet.data() + sizeof head, pairs.size() * sizeof(Pair));
  AnswerHead reply;
  reply.id = head.id;
  std::string text;
  const auto start = std::chrono::steady_clock::now();
  if (head.op == Op::devices)
    text = read_nvml(libraries.libcuda, libraries.libnvml);
  else if (head.op == Op::restore)
    reply.result = driver.restore(static_cast<int>(head.pid), pairs);
  else
    reply.result = driver.call(head.op, static_cast<int>(head.pid), head.timeout_ms, reply.value);
  reply.elapsed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  send_answer(socket, reply, text);
}

bool well_formed(const std::string& packet) {
  RequestHead head;
  if (packet.size() < sizeof head) return false;
  std::memcpy(&head, packet.data(), sizeof head);
  return head.pair_count <= kMostPairs && packet.size() == sizeof head + head.pair_count * sizeof(Pair);
}

}  // namespace

void serve(int socket, const Libraries& libraries) {
  // A device map speaks of every GPU, so none may be hidden from this process.
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ::unsetenv("CUDA_DEVICE_ORDER");
  // Never destroyed: threads that hang in the driver still use it when the process leaves.
  auto* driver = new Driver(libraries.libcuda);
  AnswerHead greeting;
  greeting.id = kGreeting;
  greeting.value = static_cast<std::int32_t>(driver->api_version());
  greeting.result = driver->can_checkpoint() ? kSuccess : kNoSymbol;
  send_answer(socket, greeting, driver->failure());
  std::string packet(kPacketBytes, '\0');
  for (;;) {
    const ssize_t size = ::recv(socket, packet.data(), packet.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) ::_exit(0);
    std::string request = packet.substr(0, static_cast<std::size_t>(size));
    if (!well_formed(request)) ::_exit(3);
    std::thread([socket, driver, &libraries, request = std::move(request)]() mutable {
      answer(socket, *driver, libraries, std::move(request));
    }).detach();
  }
}

}  // namespace ckpt::cuda
