// SPDX-License-Identifier: Apache-2.0
// Edits of any document change what they name and nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "document/json_text.h"

using ckpt::Json;
using ckpt::JsonText;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void collect(const Json& value, const std::string& pointer, std::vector<std::string>& into) {
  if (into.size() >= 32) return;
  into.push_back(pointer);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    collect(value.items()[i], pointer + "/" + std::to_string(i), into);
  for (const auto& [key, member] : value.members()) {
    if (value.find(key) == &member) collect(member, pointer + "/" + ckpt::json_pointer_token(key), into);
  }
}

void edit(const JsonText& document, const std::string& pointer) {
  const Json old = *document.value().at_pointer(pointer);
  const JsonText replaced = document.replace(pointer, Json::parse(R"({"k":["x"]})"));
  require(replaced.value().at_pointer(pointer)->size() == 1);
  require(replaced.replace(pointer, old).value() == document.value());
  if (old.is_array()) {
    const JsonText appended = document.append(pointer, Json(1));
    require(appended.value().at_pointer(pointer)->size() == old.size() + 1);
    const JsonText removed = appended.remove(pointer + "/" + std::to_string(old.size()));
    require(removed.value() == document.value());
    require(removed.text() == document.text() || old.size() == 0);
  }
  if (pointer.empty()) return;
  const std::string parent = pointer.substr(0, pointer.rfind('/'));
  const std::size_t siblings = document.value().at_pointer(parent)->size();
  require(document.remove(pointer).value().at_pointer(parent)->size() == siblings - 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  ckpt::Limits limits;
  limits.max_document_nodes = 1000;
  limits.max_nesting = 20;
  std::vector<std::string> pointers;
  try {
    const JsonText document = JsonText::parse(std::move(text), {}, {}, limits);
    collect(document.value(), {}, pointers);
    for (const std::string& pointer : pointers) {
      try {
        edit(document, pointer);
      } catch (const ckpt::Error& error) {
        require(error.code() == ckpt::ErrorCode::limit_exceeded);
      }
    }
  } catch (const ckpt::Error&) {
  }
  return 0;
}
