// SPDX-License-Identifier: Apache-2.0
#include "diff/differ.h"

#include <map>

namespace ckpt {

namespace {

// Names made unique, in order.
void number_repeats(std::vector<Keyed>& items) {
  std::map<std::string, std::size_t> seen;
  for (Keyed& item : items) {
    const std::size_t count = ++seen[item.key];
    if (count > 1) item.key += " (" + std::to_string(count) + ")";
  }
}

std::map<std::string, const Keyed*> index_of(const std::vector<Keyed>& items) {
  std::map<std::string, const Keyed*> index;
  for (const Keyed& item : items) index.emplace(item.key, &item);
  return index;
}

/// Appends the differences of one section.
class Section {
 public:
  Section(std::vector<Difference>& out, const std::string& name, Confidence confidence)
      : out_(out), name_(name), confidential_(confidence == Confidence::confidential) {}

  void removed(const Keyed& item) { add(Difference::Change::removed, item, {}, item.value, {}); }
  void added(const Keyed& item) { add(Difference::Change::added, item, {}, {}, item.value); }

  void both(const Keyed& a, const Keyed& b) {
    if (a.value == b.value) return;
    if (!a.value.is_object() || !b.value.is_object()) return add(Difference::Change::changed, a, {}, a.value, b.value);
    for (const auto& [key, value] : a.value.members())
      if (value != b.value[key]) add(Difference::Change::changed, a, key, value, b.value[key]);
    for (const auto& [key, value] : b.value.members())
      if (a.value.find(key) == nullptr && !value.is_null()) add(Difference::Change::changed, a, key, {}, value);
  }

 private:
  void add(Difference::Change change, const Keyed& item, const std::string& field, Json before, Json after = {}) {
    out_.push_back({name_, change, item.key, field, std::move(before), std::move(after), item.added_by, confidential_});
  }

  std::vector<Difference>& out_;
  const std::string& name_;
  bool confidential_;
};

}  // namespace

const char* to_string(Difference::Change change) noexcept {
  if (change == Difference::Change::added) return "added";
  return change == Difference::Change::removed ? "removed" : "changed";
}

void pair_up(std::vector<Difference>& out, const std::string& section, std::vector<Keyed> a, std::vector<Keyed> b,
             Confidence confidence) {
  number_repeats(a);
  number_repeats(b);
  const auto in_a = index_of(a);
  const auto in_b = index_of(b);
  Section result(out, section, confidence);
  for (const Keyed& item : a) {
    const auto other = in_b.find(item.key);
    if (other == in_b.end())
      result.removed(item);
    else
      result.both(item, *other->second);
  }
  for (const Keyed& item : b)
    if (in_a.count(item.key) == 0) result.added(item);
}

}  // namespace ckpt
