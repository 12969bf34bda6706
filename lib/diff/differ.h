// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/compare.h"

namespace ckpt {

/// One item of a list that is paired by name.
struct Keyed {
  std::string key;
  Json value;            ///< an object is compared member by member
  std::string added_by;  ///< see Difference
};

enum class Confidence { open, confidential };

/// Pairs the items of two lists and appends what differs. The second of two items with one name is "NAME (2)".
void pair_up(std::vector<Difference>& out, const std::string& section, std::vector<Keyed> a, std::vector<Keyed> b,
             Confidence confidence = Confidence::open);

/// All sections of two runtime specs.
void diff_specs(std::vector<Difference>& out, const Json& a, const Json& b);
/// The sections that only checkpoints have.
void diff_checkpoints(std::vector<Difference>& out, const Checkpoint& a, const Checkpoint& b);

// Who puts such a thing into a container, "" when it may be anybody.
std::string who_mounts(const std::string& destination);
std::string who_mounts(const Mount& mount);
std::string who_makes_node(const std::string& path);
std::string who_hooks(const std::string& program);
std::string who_sets(const std::string& variable, const std::string& value);
std::string who_annotates(const std::string& key);

}  // namespace ckpt
