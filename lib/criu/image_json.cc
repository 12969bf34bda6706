// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "ckpt/image.h"
#include "criu/base64.h"
#include "criu/extra_json.h"
#include "criu/image.h"
#include "criu/message_json.h"
#include "criu/wire.h"

namespace ckpt {

namespace {

using criu::Entry;
using criu::Extra;
using criu::ImageKind;

constexpr std::uint32_t kCommonHead = 0x54564319;
constexpr std::uint32_t kServiceHead = 0x55105940;

bool has_chunks(const ImageKind& kind, const Entry& entry, const Where& where) {
  return kind.extra == Extra::ghost && criu::last_varint(entry.payload, 9, where).value_or(0) != 0;
}

void append_u32(std::string& out, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

void append_sized(std::string& out, std::string_view message) {
  append_u32(out, message.size());
  out += message;
}

const google::protobuf::Descriptor& entry_type(const ImageKind& kind, std::size_t index) {
  return criu::message_type(index == 0 && *kind.head_message != '\0' ? kind.head_message : kind.message);
}

/// One image to JSON.
class ImageWriter {
 public:
  ImageWriter(const criu::Image& image, ImageStyle style, const Limits& limits)
      : image_(image), decoder_(style, limits) {}

  Json document() {
    Json entries = Json::array();
    for (std::size_t i = 0; i < image_.entries().size(); ++i) add(entries, i);
    Json document = Json::object();
    document.append_member("magic", image_.kind().name);
    if (!has_head() && std::strcmp(image_.kind().name, "INVENTORY") != 0) document.append_member("_head", "none");
    document.append_member("entries", std::move(entries));
    if (!image_.trailing().empty()) document.append_member("_trailing", criu::to_base64(image_.trailing()));
    return document;
  }

 private:
  bool has_head() const {
    std::string common;
    append_u32(common, kCommonHead);
    std::string service;
    append_u32(service, kServiceHead);
    const std::string_view first = std::string_view(image_.bytes()).substr(0, 4);
    return first == common || first == service;
  }

  void add(Json& entries, std::size_t index) {
    const Entry& entry = image_.entries()[index];
    const Where where = image_.where(index);
    Json object = decoder_.decode(entry.payload, entry_type(image_.kind(), index), where);
    if (has_chunks(image_.kind(), entry, where)) {
      entries.push(std::move(object));
      add_chunks(entries, entry, where);
      return;
    }
    Json extra = criu::decode_extra(image_.kind(), entry, decoder_, where);
    const bool same = criu::encode_extra(image_.kind(), extra, "extra", where) == entry.extra;
    if (!extra.is_null()) object.append_member("extra", std::move(extra));
    if (!same) object.append_member("_extra", criu::to_base64(entry.extra));
    entries.push(std::move(object));
  }

  void add_chunks(Json& entries, const Entry& entry, const Where& where) {
    for (Cursor cursor(entry.extra, where); !cursor.at_end();) {
      const std::string_view message = cursor.bytes(cursor.u32());
      Json chunk = decoder_.decode(message, criu::message_type("ghost_chunk_entry"), where);
      const std::uint64_t length = criu::last_varint(message, 1, where).value_or(0);
      entries.push(std::move(chunk.append_member("extra", criu::to_base64(cursor.bytes(length)))));
    }
  }

  const criu::Image& image_;
  criu::MessageDecoder decoder_;
};

const ImageKind& kind_named(const Json& document, const Where& where) {
  const std::string& name = document["magic"].as_string();
  const auto& kinds = criu::all_kinds();
  // crit spells some names otherwise: kinds that share a magic with another.
  const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const ImageKind& kind) { return name == kind.name; });
  if (known != kinds.end()) return *known;
  if (name.empty()) throw Error(ErrorCode::corrupt, where, "magic: the name of an image type is wanted");
  throw Error(ErrorCode::unsupported, where, "magic: no image type " + name);
}

/// JSON to one image.
class ImageReader {
 public:
  ImageReader(const Json& document, const Where& where)
      : document_(document), where_(where), kind_(kind_named(document, where)) {}

  std::string bytes() {
    for (const auto& [key, value] : document_.members())
      if (key != "magic" && key != "entries" && key != "_head" && key != "_trailing")
        throw Error(ErrorCode::corrupt, where_, key + ": no part of an image");
    if (!document_["entries"].is_array()) throw Error(ErrorCode::corrupt, where_, "entries: a list is wanted");
    std::string out = head();
    const Json& entries = document_["entries"];
    for (std::size_t i = 0; i < entries.size(); ++i) append(out, entries[i], i);
    if (const Json* trailing = document_.find("_trailing")) out += criu::bytes_of(*trailing, "_trailing", where_);
    return out;
  }

 private:
  std::string head() const {
    std::string out;
    const std::string_view name = kind_.name;
    const bool service = name == "STATS" || name == "IRMAP_CACHE";
    if (name != "INVENTORY" && document_["_head"].as_string() != "none")
      append_u32(out, service ? kServiceHead : kCommonHead);
    append_u32(out, kind_.magic);
    return out;
  }

  void append(std::string& out, const Json& entry, std::size_t index) {
    const std::string path = "entries[" + std::to_string(index) + "]";
    const bool chunk = kind_.extra == Extra::ghost && index > 0;
    const auto& type = chunk ? criu::message_type("ghost_chunk_entry") : entry_type(kind_, index);
    const std::string message = criu::encode_message(entry, type, path, where_);
    append_sized(out, message);
    const std::string extra = criu::encode_extra(kind_, entry["extra"], path + ".extra", where_);
    out += noted_extra(entry, message, extra, path);
  }

  // Bytes that "extra" cannot spell (padding that is not zero) stay while "extra" is as it was decoded.
  std::string noted_extra(const Json& entry, std::string_view message, const std::string& extra,
                          const std::string& path) const {
    const Json* noted = entry.find("_extra");
    if (noted == nullptr) return extra;
    std::string bytes = criu::bytes_of(*noted, path + "._extra", where_);
    const Limits limits;
    criu::MessageDecoder decoder(ImageStyle::plain, limits);
    std::string framed;
    append_sized(framed, message);
    const std::string whole = head() + framed + bytes;
    const criu::Image image = criu::Image::parse(whole, where_);
    const Json decoded = criu::decode_extra(kind_, image.entries().at(0), decoder, where_);
    return criu::encode_extra(kind_, decoded, path, where_) == extra ? bytes : extra;
  }

  const Json& document_;
  const Where& where_;
  const ImageKind& kind_;
};

struct Meaning {
  std::string_view prefix;
  std::string_view meaning;
};

constexpr std::array<Meaning, 20> kMeanings = {{
    {"pages-", "memory pages without entries; `ckpt-inspect memory` reads them"},
    {"tmpfs-", "a tmpfs packed as a gzipped tar; `ckpt-inspect cat` writes it"},
    {"amdgpu-kfd-", "state of AMD GPUs, written by CRIU's amdgpu plugin without framing"},
    {"amdgpu-renderD-", "state of an AMD render node, written by CRIU's amdgpu plugin without framing"},
    {"amdgpu-pages-", "memory of an AMD GPU, written by CRIU's amdgpu plugin"},
    {"amdgpu-", "a file of CRIU's amdgpu plugin without framing"},
    {"gpu-cs-", "a GPU command stream without framing"},
    {"iptables-", "text of iptables-save"},
    {"ip6tables-", "text of ip6tables-save"},
    {"nftables-", "text of `nft list ruleset`"},
    {"ifaddr-", "what `ip address save` wrote"},
    {"route6-", "what `ip -6 route save` wrote"},
    {"route-", "what `ip route save` wrote"},
    {"rule-", "what `ip rule save` wrote"},
    {"netns-ct-", "connection tracking entries as netlink messages"},
    {"netns-exp-", "connection tracking expectations as netlink messages"},
    {"descriptors.json", "the runtime's list of standard descriptors, JSON text"},
    {"dump.log", "CRIU's log"},
    {"restore.log", "CRIU's log"},
    {"parent", "a link to the images of an earlier pre-dump"},
}};

}  // namespace

bool looks_like_image(std::string_view beginning) noexcept {
  if (beginning.size() < 4) return false;
  std::uint32_t first = 0;
  for (std::size_t i = 4; i-- > 0;) first = first << 8 | static_cast<unsigned char>(beginning[i]);
  return first == kCommonHead || first == kServiceHead || criu::find_kind(first) != nullptr;
}

std::string raw_image_meaning(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  for (const Meaning& meaning : kMeanings)
    if (name.substr(0, meaning.prefix.size()) == meaning.prefix) return std::string(meaning.meaning);
  return {};
}

Json decode_image(std::string bytes, const Where& where, ImageStyle style, const Limits& limits) {
  const std::string meaning = raw_image_meaning(where.member.empty() ? where.file : where.member);
  if (!looks_like_image(std::string_view(bytes).substr(0, 4)) && !meaning.empty())
    throw Error(ErrorCode::unsupported, where, "no image with entries: " + meaning);
  return ImageWriter(criu::Image::parse(std::move(bytes), where, limits), style, limits).document();
}

std::string encode_image(const Json& document, const std::string& file, const Limits& limits) {
  const Where where{file, {}, {}, {}};
  if (!document.is_object()) throw Error(ErrorCode::corrupt, where, "an object with magic and entries is wanted");
  std::string bytes = ImageReader(document, where).bytes();
  const criu::Image image = criu::Image::parse(bytes, where, limits);
  const bool ghost = image.kind().extra == Extra::ghost;
  if (!ghost && image.entries().size() != document["entries"].size())
    throw Error(
        ErrorCode::corrupt, where,
        "entries: lengths in the messages do not agree with the extra bytes, or an image of one entry has more");
  return bytes;
}

}  // namespace ckpt
