// SPDX-License-Identifier: Apache-2.0
#include "archive/rewrite_archive.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "archive/codec.h"
#include "archive/impl.h"
#include "archive/tar_header.h"

namespace ckpt {

namespace {

constexpr std::size_t kCopyBlock = 1U << 20;
constexpr std::uint64_t kMaxHeaderBytes = 8U << 20;

/// The bytes of the uncompressed tar, front to back.
class RawTar {
 public:
  explicit RawTar(const Archive::Impl& archive) : archive_(archive) {
    if (archive_.random_access()) return;
    stream_ = std::make_unique<TarStream>(*archive_.source, TarStream::Form::raw);
    if (stream_->next() == nullptr) stream_->fail("nothing to decompress");
  }

  /// Hands the bytes [begin, end) to `sink`. Runs must come in rising order; between them is skipped.
  void run(std::uint64_t begin, std::uint64_t end, const std::function<void(std::string_view)>& sink) {
    block_.resize(kCopyBlock);
    if (!stream_) return run_seekable(begin, end, sink);
    while (position_ < begin) position_ += read(begin - position_);
    while (position_ < end) {
      const std::size_t got = read(end - position_);
      position_ += got;
      sink({block_.data(), got});
    }
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
  std::unique_ptr<TarStream> stream_;
  std::vector<char> block_;
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
    std::unique_ptr<RawTar> raw;
    if (!in_.is_directory()) {
      if (!in_.impl()->source->seekable())
        throw Error(ErrorCode::unsupported, Where{in_.name(), {}, {}, {}}, "a pipe must be spooled to be rewritten");
      raw = std::make_unique<RawTar>(*in_.impl());
    }
    for (std::size_t i = 0; i < in_.members().size(); ++i) {
      if (edits.removed.count(i) == 0) {
        const auto replaced = edits.replaced.find(i);
        const std::string* bytes = replaced == edits.replaced.end() ? nullptr : &replaced->second;
        if (raw)
          copy_tar_member(*raw, in_.members()[i], bytes);
        else
          write_file_member(in_.members()[i], bytes);
      }
      for (const NewMember& added : edits.added)
        if (added.after == i) write_new(added);
    }
    if (raw) in_.impl()->source->require_unchanged();
    put(std::string(2 * kTarBlock, '\0'));
    sink_.finish();
    return std::move(written_);
  }

 private:
  void put(std::string_view bytes) {
    sink_.write(bytes);
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
      throw Error(ErrorCode::limit_exceeded, Where{in_.name(), member.name, {}, {}}, "its headers are too large");
    std::string header;
    raw.run(member.header_offset, member.data_offset, [&](std::string_view piece) { header += piece; });
    const auto block = find_header_block(header);
    const bool gnu_sparse = block && tar_type(header, *block) == 'S';
    if (replacement != nullptr) return write_replaced(member, std::move(header), *replacement);
    if (gnu_sparse) return write_expanded(member);
    begin(member, member.size);
    put(header);
    // What is stored is copied as it is; the digest is of the content, without the padding.
    std::uint64_t left = member.sparse ? member.end_offset - member.data_offset : member.size;
    raw.run(member.data_offset, std::max(member.data_offset, stored_end(member)), [&](std::string_view piece) {
      const auto content = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      digest_->add(piece.substr(0, content));
      left -= content;
      put(piece);
    });
    pad_after(member);
    written_.back().sha256 = digest_->finish();
  }

  // The last member's padding may be missing in the file; it is there in the copy.
  std::uint64_t stored_end(const Member& member) const {
    const Archive::Impl& impl = *in_.impl();
    return impl.random_access() ? std::min(member.end_offset, impl.source->length()) : member.end_offset;
  }

  void pad_after(const Member& member) {
    const std::uint64_t missing = member.end_offset - std::min(member.end_offset, stored_end(member));
    if (missing > 0) put(std::string(static_cast<std::size_t>(missing), '\0'));
  }

  void write_replaced(const Member& member, std::string header, const std::string& bytes) {
    begin(member, bytes.size());
    const auto block = find_header_block(header);
    const bool simple = block && *block + kTarBlock == header.size() && !member.sparse && !has_pax_size(header);
    if (simple) {
      set_tar_number(header, *block, kTarSize, bytes.size());
      set_tar_checksum(header, *block);
      put(header);
    } else {
      put(make_header(entry_for(member, bytes.size()).get()));
    }
    body(bytes);
    end(bytes.size());
  }

  void write_expanded(const Member& member) {
    begin(member, member.size);
    put(make_header(entry_for(member, member.size).get()));
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

std::vector<WrittenMember> rewrite_archive(const Archive& in, const ArchiveEdits& edits, const WriteOptions& options,
                                           ByteSink& out) {
  return Writer(in, options, out).run(edits);
}

}  // namespace ckpt
