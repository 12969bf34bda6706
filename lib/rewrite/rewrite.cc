// SPDX-License-Identifier: Apache-2.0
#include "ckpt/rewrite.h"

#include "archive/rewrite_archive.h"
#include "base/atomic_file.h"
#include "checkpoint/impl.h"
#include "rewrite/apply_plan.h"
#include "rewrite/ctr_index.h"

namespace ckpt {

namespace {

// Of an image only what is a single checkpoint layer can become an archive again.
void require_writable(const Checkpoint& checkpoint) {
  if (checkpoint.form() == "ctr-index")
    throw Error(ErrorCode::unsupported, Where{checkpoint.name(), {}, {}, {}},
                "a checkpoint index of `ctr` is written to a file, not to a stream");
  if (checkpoint.layers().size() > 1)
    throw Error(ErrorCode::unsupported, Where{checkpoint.name(), {}, {}, {}},
                "a checkpoint image of several layers cannot become one archive",
                "--oci or --oci-archive with --delta adds a layer to it");
}

bool is_written(Compression compression) {
  return compression == Compression::none || compression == Compression::gzip || compression == Compression::zstd;
}

WriteOptions write_options(const Checkpoint& checkpoint, const Plan& plan, const RewriteOptions& options) {
  WriteOptions write;
  const Compression input = checkpoint.archive().compression();
  // Podman and CRI-O unpack what they import, containerd reads a bare tar (engines.md 2.6).
  const Compression instead = plan.engine == Engine::podman ? Compression::zstd : Compression::none;
  const bool kept = is_written(input) && plan.engine != Engine::containerd;
  write.compression = options.compression.value_or(kept ? input : instead);
  if (!is_written(write.compression))
    throw Error(ErrorCode::unsupported, {},
                std::string(to_string(write.compression)) + " is read but not written; choose none, gzip or zstd");
  write.level = options.level;
  write.progress = options.progress;
  return write;
}

RewriteReport report_of(const Checkpoint& checkpoint, const ArchiveEdits& edits, Compression written) {
  RewriteReport report;
  const Compression input = checkpoint.archive().compression();
  report.compression = written;
  report.compression_changed = written != input;
  report.members = checkpoint.archive().members().size() + edits.added.size();
  report.members_changed =
      edits.replaced.size() + edits.added.size() + edits.removed.size() + edits.prefixed.size();
  return report;
}

}  // namespace

RewriteReport rewrite_to_file(const Checkpoint& checkpoint, const Plan& plan, const std::string& output,
                              const RewriteOptions& options) {
  if (checkpoint.form() == "ctr-index") return rewrite_ctr_index(checkpoint, plan, output);
  require_writable(checkpoint);
  const WriteOptions write = write_options(checkpoint, plan, options);
  const ArchiveEdits edits = apply_plan(checkpoint, plan);
  AtomicFile file(output);
  const auto written = rewrite_archive(checkpoint.archive(), edits, write, file);
  ArchiveOptions open;
  open.limits = checkpoint.impl().limits;
  verify_archive(Archive::open(file.temporary_path(), open), written, checkpoint.archive(), edits,
                 options.verify == VerifyLevel::full ? Verify::full : Verify::edited);
  file.commit();
  return report_of(checkpoint, edits, write.compression);
}

RewriteReport rewrite_to_stream(const Checkpoint& checkpoint, const Plan& plan, int fd, const RewriteOptions& options) {
  require_writable(checkpoint);
  const WriteOptions write = write_options(checkpoint, plan, options);
  const ArchiveEdits edits = apply_plan(checkpoint, plan);
  FdSink sink(fd, "standard output");
  rewrite_archive(checkpoint.archive(), edits, write, sink);
  return report_of(checkpoint, edits, write.compression);
}

}  // namespace ckpt
