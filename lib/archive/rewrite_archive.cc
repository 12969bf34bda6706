// SPDX-License-Identifier: Apache-2.0
#include "archive/rewrite_archive.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "archive/codec.h"
#include "archive/impl.h"
#include "archive/sha256.h"
#include "archive/tar_header.h"
#include "base/paths.h"

namespace ckpt {

namespace {

constexpr std::size_t kCopyBlock = 1U << 20;
constexpr std::uint64_t kMaxHeaderBytes = 8U << 20;
constexpr std::uint64_t kMaxTail = 1U << 20;  // GNU tar fills up to 10 KiB; what is more is not worth keeping

/// The bytes of the uncompressed tar, front to back.
class RawTar {
 public:
  explicit RawTar(const Archive::Impl& archive) : archive_(archive), block_(kCopyBlock) {
    if (archive_.random_access()) return;
    stream_ = std::make_unique<TarStream>(*archive_.source, TarStream::Form::raw);
    if (stream_->next() == nullptr) stream_->fail("nothing to decompress");
  }

  /// Hands the bytes [begin, end) to `sink`. Runs must come in rising order; between them is skipped.
  void run(std::uint64_t begin, std::uint64_t end, const std::function<void(std::string_view)>& sink) {
    if (!stream_) return run_seekable(begin, end, sink);
    while (position_ < begin) position_ += read(begin - position_);
    while (position_ < end) {
      const std::size_t got = read(end - position_);
      position_ += got;
      sink({block_.data(), got});
    }
  }

  /// How many zero bytes stand behind `begin`. A stream is read to its very end, so that its checksums are looked at.
  std::uint64_t zeros_behind(std::uint64_t begin) {
    std::uint64_t zeros = 0;
    bool only_zeros = true;
    const auto count = [&](std::string_view piece) {
      if (!only_zeros) return;
      const std::size_t other = piece.find_first_not_of('\0');
      only_zeros = other == std::string_view::npos;
      zeros += std::min(other, piece.size());
    };
    if (stream_) {
      run(begin, begin, {});
      while (const std::size_t got = stream_->read_raw(block_.data(), block_.size())) count({block_.data(), got});
    } else {
      const std::uint64_t length = archive_.source->length();
      if (begin < length) run_seekable(begin, std::min(length, begin + kMaxTail), count);
    }
    return std::min(zeros, kMaxTail);
  }

 private:
  void run_seekable(std::uint64_t begin, std::uint64_t end, const std::function<void(std::string_view)>& sink) {
    while (begin < end) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(block_.size(), end - begin));
      archive_.source->read_exactly(begin, block_.data(), step, {});
      sink({block_.data(), step});
      begin += step;
    }
  }

  std::size_t read(std::uint64_t wanted) {
    const std::size_t got =
        stream_->read_raw(block_.data(), static_cast<std::size_t>(std::min<std::uint64_t>(block_.size(), wanted)));
    if (got == 0) throw Error(ErrorCode::corrupt, Where{archive_.name, {}, {}, position_}, "the archive ends here");
    return got;
  }

  const Archive::Impl& archive_;
  std::vector<char> block_;
  std::unique_ptr<TarStream> stream_;
  std::uint64_t position_ = 0;
};

/// Writes members one after the other and notes what was written.
class Writer {
 public:
  Writer(const Archive& in, const WriteOptions& options, ByteSink& out)
      : in_(in), options_(options), sink_(out, options.compression, options.level) {
    const auto& members = in.members();
    total_ = in.is_directory()
                 ? std::accumulate(members.begin(), members.end(), std::uint64_t{0},
                                   [](std::uint64_t sum, const Member& member) { return sum + member.size; })
             : members.empty() ? 0
                               : members.back().end_offset;
  }

  std::vector<WrittenMember> run(const ArchiveEdits& edits) {
    require_possible(edits);
    std::unique_ptr<RawTar> raw;
    if (!in_.is_directory()) {
      if (!in_.impl()->source->seekable()) refuse(ErrorCode::unsupported, {}, "a pipe must be spooled to be rewritten");
      raw = std::make_unique<RawTar>(*in_.impl());
    }
    for (std::size_t i = 0; i < in_.members().size(); ++i) {
      if (edits.removed.count(i) == 0) {
        const auto replaced = edits.replaced.find(i);
        const std::string* bytes = replaced == edits.replaced.end() ? nullptr : &replaced->second;
        const auto prefixed = edits.prefixed.find(i);
        if (prefixed != edits.prefixed.end())
          write_prefixed(raw.get(), in_.members()[i], prefixed->second);
        else if (raw)
          copy_tar_member(*raw, in_.members()[i], bytes);
        else
          write_file_member(in_.members()[i], bytes);
      }
      for (const NewMember& added : edits.added)
        if (added.after == i) write_new(added);
    }
    write_end(raw.get());
    if (raw) in_.impl()->source->require_unchanged();
    sink_.finish();
    return std::move(written_);
  }

 private:
  [[noreturn]] void refuse(ErrorCode code, const std::string& member, const std::string& detail) const {
    throw Error(code, Where{in_.name(), member, {}, {}}, detail);
  }

  void require_possible(const ArchiveEdits& edits) const {
    const auto require_index = [&](std::size_t index) {
      if (index >= in_.members().size())
        refuse(ErrorCode::internal, {}, "an edit is of member " + std::to_string(index) + ", which is not there");
    };
    for (const auto& [index, bytes] : edits.replaced) {
      require_index(index);
      const Member& member = in_.members()[index];
      if (member.type != MemberType::file)
        refuse(ErrorCode::unsupported, member.name,
               std::string("a ") + to_string(member.type) + " cannot be given other content");
    }
    for (const std::size_t index : edits.removed) require_index(index);
    for (const auto& [index, bytes] : edits.prefixed) {
      require_index(index);
      const Member& member = in_.members()[index];
      if (member.type != MemberType::file || member.sparse || edits.replaced.count(index) != 0)
        refuse(ErrorCode::unsupported, member.name, "cannot be given content before its own");
    }
    for (const NewMember& added : edits.added) {
      require_index(added.after);
      if (!is_safe_name(added.name)) refuse(ErrorCode::invalid_argument, added.name, "not a name for a new member");
    }
  }

  // At least the two zero blocks that end a tar, and as much filling as the input has.
  void write_end(RawTar* raw) {
    const std::uint64_t end = in_.members().empty() ? 0 : in_.members().back().end_offset;
    const std::uint64_t zeros = raw == nullptr ? 0 : raw->zeros_behind(end) / kTarBlock * kTarBlock;
    put(std::string(static_cast<std::size_t>(std::max<std::uint64_t>(zeros, 2 * kTarBlock)), '\0'));
  }

  void put(std::string_view bytes) {
    sink_.write(bytes);
    if (options_.tap) options_.tap(bytes);
    done_ += bytes.size();
    if (options_.progress) options_.progress(std::min(done_, total_), total_);
  }

  void begin(const Member& member, std::uint64_t size) {
    written_.push_back({member.name, size, {}});
    digest_ = std::make_unique<Sha256>();
  }

  void body(std::string_view bytes) {
    digest_->add(bytes);
    put(bytes);
  }

  void end(std::uint64_t size) {
    const std::size_t rest = static_cast<std::size_t>(size % kTarBlock);
    if (rest != 0) put(std::string(kTarBlock - rest, '\0'));
    written_.back().sha256 = digest_->finish();
  }

  void copy_tar_member(RawTar& raw, const Member& member, const std::string* replacement) {
    if (member.data_offset - member.header_offset > kMaxHeaderBytes)
      refuse(ErrorCode::limit_exceeded, member.name, "its headers are too large");
    std::string header;
    raw.run(member.header_offset, member.data_offset, [&](std::string_view piece) { header += piece; });
    const auto block = find_header_block(header);
    if (replacement != nullptr) return write_replaced(member, std::move(header), *replacement);
    if (block && tar_type(header, *block) == 'S') return write_expanded(member, header);
    begin(member, member.size);
    put(header);
    // What is stored is copied as it is; the digest is of the content, without the padding.
    std::uint64_t left = member.sparse ? member.end_offset - member.data_offset : member.size;
    raw.run(member.data_offset, member.end_offset, [&](std::string_view piece) {
      const auto content = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      digest_->add(piece.substr(0, content));
      left -= content;
      put(piece);
    });
    written_.back().sha256 = digest_->finish();
  }

  void write_replaced(const Member& member, std::string header, const std::string& bytes) {
    begin(member, bytes.size());
    put_header(member, std::move(header), bytes.size());
    body(bytes);
    end(bytes.size());
  }

  // Blocks of a stream come once, so its content is taken from there and not asked for again.
  void write_prefixed(RawTar* raw, const Member& member, const std::string& prefix) {
    const std::uint64_t size = member.size + prefix.size();
    std::string header;
    if (raw != nullptr)
      raw->run(member.header_offset, member.data_offset, [&](std::string_view piece) { header += piece; });
    begin(member, size);
    put_header(member, std::move(header), size);
    body(prefix);
    const auto copy = [&](std::string_view piece) { body(piece); };
    if (raw != nullptr)
      raw->run(member.data_offset, member.data_offset + member.size, copy);
    else
      in_.stream(member, copy);
    end(size);
  }

  // The member's own header with another size; made anew where an extension header has a say in it.
  void put_header(const Member& member, std::string header, std::uint64_t size) {
    if (header.empty()) return put(make_header(entry_for(member, size).get()));
    const auto block = find_header_block(header);
    const bool simple = block && *block + kTarBlock == header.size() && tar_type(header, *block) != 'S' &&
                        !member.sparse && !has_pax_size(header);
    if (!simple) return put(make_header(entry_of_header(header, size, in_.impl()->where(member)).get()));
    set_tar_number(header, *block, kTarSize, size);
    set_tar_checksum(header, *block);
    put(header);
  }

  void write_expanded(const Member& member, const std::string& header) {
    begin(member, member.size);
    put(make_header(entry_of_header(header, member.size, in_.impl()->where(member)).get()));
    in_.stream(member, [&](std::string_view piece) { body(piece); });
    end(member.size);
  }

  void write_file_member(const Member& member, const std::string* replacement) {
    if (member.type == MemberType::other) return;  // a socket: tar has no place for it
    const std::uint64_t size = replacement != nullptr ? replacement->size() : member.size;
    begin(member, size);
    put(make_header(entry_for(member, size).get()));
    if (replacement != nullptr)
      body(*replacement);
    else if (member.type == MemberType::file)
      in_.stream(member, [&](std::string_view piece) { body(piece); });
    end(member.type == MemberType::file ? size : 0);
  }

  void write_new(const NewMember& added) {
    Member member;
    member.name = added.name;
    member.mode = 0600;
    member.mtime = in_.members()[added.after].mtime;
    begin(member, added.bytes.size());
    put(make_header(entry_for(member, added.bytes.size()).get()));
    body(added.bytes);
    end(added.bytes.size());
  }

  const Archive& in_;
  const WriteOptions& options_;
  CompressingSink sink_;
  std::unique_ptr<Sha256> digest_;
  std::vector<WrittenMember> written_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::string placeholder_blocks(const std::vector<Placeholder>& placeholders, std::int64_t mtime) {
  std::string blocks;
  for (const Placeholder& placeholder : placeholders) {
    Member member;
    member.name = placeholder.name;
    member.type = placeholder.type;
    member.mode = placeholder.type == MemberType::directory ? 0755 : 0644;
    member.mtime = mtime;
    blocks += make_header(entry_for(member, 0).get());
  }
  return blocks;
}

std::string write_changes(const std::vector<ChangedMember>& changes, const std::vector<const Member*>& directories) {
  std::string tar;
  for (const Member* directory : directories) tar += make_header(entry_for(*directory, 0).get());
  for (const ChangedMember& change : changes) {
    Member member;
    if (change.was != nullptr) member = *change.was;
    if (change.was == nullptr) member.mode = 0600;
    member.name = change.name;
    member.type = MemberType::file;
    tar += make_header(entry_for(member, change.bytes.size()).get()) + change.bytes;
    tar.append((kTarBlock - tar.size() % kTarBlock) % kTarBlock, '\0');
  }
  return tar + std::string(2 * kTarBlock, '\0');
}

std::vector<WrittenMember> rewrite_archive(const Archive& in, const ArchiveEdits& edits, const WriteOptions& options,
                                           ByteSink& out) {
  return Writer(in, options, out).run(edits);
}

}  // namespace ckpt
