// SPDX-License-Identifier: Apache-2.0
// Any bytes are a log; in whatever pieces they come, the same is made of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ckpt/explain.h"

using namespace ckpt;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

Explanation explain(std::string_view text, std::size_t step) {
  LogExplainer explainer("fuzz");
  while (!text.empty()) {
    explainer.feed(text.substr(0, step));
    text.remove_prefix(std::min(step, text.size()));
  }
  return explainer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Explanation whole = explain(text, size + 1);
  const Explanation pieces = explain(text, size == 0 ? 1 : 1 + data[0] % 16);
  require(whole.cause.has_value() == pieces.cause.has_value());
  require(whole.related.size() == pieces.related.size());
  require(whole.last_errors.size() == pieces.last_errors.size());
  require(whole.last_errors.size() <= LogExplainer::kLastErrors);
  if (!whole.cause) return 0;
  require(whole.cause->line.text == pieces.cause->line.text);
  require(whole.cause->line.text.size() <= LogExplainer::kMaxLineBytes);
  for (const std::string& command : whole.cause->commands) require(command.find('\n') == std::string::npos);
  for (const std::string& line : whole.cause->conf_lines) require(line.find_first_of("\n\r\"#") == std::string::npos);
  return 0;
}
