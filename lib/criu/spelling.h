// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/json.h"

namespace ckpt::criu {

/// How `crit decode --pretty` spells a number (the options of CRIU's images/opts.proto); none: as a number.
enum class Spelling {
  none,
  hex,
  ip,
  dev,
  odev,
  prot,
  map_flags,
  vma_status,
  file_flags,
  page_flags,
  seals,
  task_state,
  socket
};

Spelling spelling_of(const google::protobuf::FieldDescriptor& field);
/// True for the bytes that crit writes as quoted-printable text, pretty or not: names of unix sockets.
bool is_quoted_printable(const google::protobuf::FieldDescriptor& field);

/// The pretty form of one number; a plain number when it has none.
Json spell(const google::protobuf::FieldDescriptor& field, Spelling spelling, std::uint64_t value);
/// The number behind either form: a JSON integer, "0x1f", "8:1", "PROT_READ | PROT_WRITE", "TCP".
std::optional<std::uint64_t> number_of(const google::protobuf::FieldDescriptor& field, const Json& value);

/// An IP address of one or four words in network byte order; absent for another number of words.
std::optional<std::string> spell_address(const std::vector<std::uint32_t>& words);
std::optional<std::vector<std::uint32_t>> address_words(const std::string& text);

}  // namespace ckpt::criu
