// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda_standin/standin.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace ckpt::standin {

namespace {

std::string state_file() {
  const char* name = std::getenv("CKPT_STANDIN_STATE");
  return name != nullptr ? name : "/nonexistent";
}

Line parse(const std::string& text) {
  std::istringstream words(text);
  Line line;
  words >> line.kind;
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) line.fields[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return line;
}

std::string read_all(int fd) {
  std::string text;
  char block[4096];
  ssize_t size = 0;
  while ((size = ::read(fd, block, sizeof block)) > 0) text.append(block, static_cast<std::size_t>(size));
  return text;
}

}  // namespace

std::uint64_t Line::number(const std::string& key) const {
  const auto found = fields.find(key);
  return found == fields.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string Line::text(const std::string& key) const {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string() : found->second;
}

State::State() : fd_(::open(state_file().c_str(), O_RDWR | O_CLOEXEC)) {
  if (fd_ < 0) return;
  ::flock(fd_, LOCK_EX);
  std::istringstream text(read_all(fd_));
  std::string line;
  while (std::getline(text, line))
    if (!line.empty()) lines_.push_back(parse(line));
}

State::~State() {
  if (fd_ < 0) return;
  std::string text;
  for (const Line& line : lines_) {
    text += line.kind;
    for (const auto& [key, value] : line.fields) text += ' ' + key + '=' + value;
    text += '\n';
  }
  if (::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(fd_, static_cast<off_t>(text.size())) != 0)
    std::abort();
  ::close(fd_);
}

std::vector<Line*> State::all(const std::string& kind) {
  std::vector<Line*> found;
  for (Line& line : lines_)
    if (line.kind == kind) found.push_back(&line);
  return found;
}

Line* State::process(int pid) {
  for (Line* line : all("process")) {
    if (line->text("pid") != std::to_string(pid) && line->text("tid") != std::to_string(pid)) continue;
    // What was begun finishes without its caller.
    if (line->number("until") != 0 && line->number("until") <= now_ms()) {
      line->fields["state"] = line->text("next");
      line->fields.erase("until");
      line->fields.erase("next");
    }
    return line;
  }
  return nullptr;
}

Line* State::gpu(const std::string& uuid) {
  for (Line* line : all("gpu"))
    if (line->text("uuid") == uuid) return line;
  return nullptr;
}

const Line* State::driver() {
  const auto found = all("driver");
  return found.empty() ? nullptr : found.front();
}

std::uint64_t State::delay_of(const std::string& op) {
  for (const Line* line : all("delay"))
    if (line->text("op") == op) return line->number("ms");
  return 0;
}

std::string State::fault_of(const std::string& op, int pid) {
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    if (line->kind != "fault" || line->text("op") != op || line->text("pid") != std::to_string(pid)) continue;
    if (line->number("skip") > 0) {
      line->set("skip", line->number("skip") - 1);
      return {};
    }
    const std::string action = line->text("do");
    lines_.erase(line);
    return action;
  }
  return {};
}

void State::remove_process(int pid) {
  lines_.erase(std::remove_if(
                   lines_.begin(), lines_.end(),
                   [&](const Line& line) { return line.kind == "process" && line.text("pid") == std::to_string(pid); }),
               lines_.end());
}

void log_call(const std::string& op, int pid) {
  const int fd = ::open((state_file() + ".log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const std::string line = op + ' ' + std::to_string(pid) + '\n';
  (void)!::write(fd, line.data(), line.size());
  ::close(fd);
}

std::uint64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

void sleep_ms(std::uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void hang() {
  for (;;) sleep_ms(1000);
}

std::string uuid_text(const cuda::Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t index = 0; index < uuid.bytes.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += kDigits[uuid.bytes[index] >> 4];
    text += kDigits[uuid.bytes[index] & 15];
  }
  return text;
}

}  // namespace ckpt::standin
