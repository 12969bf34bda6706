// SPDX-License-Identifier: Apache-2.0
#include "ckpt/checkpoint.h"

#include "checkpoint/impl.h"

namespace ckpt {

Checkpoint::Checkpoint(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Checkpoint Checkpoint::open(const std::string& path, const CheckpointOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->name = path;
  impl->limits = options.limits;
  open_sources(*impl, path, options);
  load_documents(*impl);
  load_images(*impl);
  detect_engine(*impl);
  join_mounts(*impl);
  attach_uses(*impl);
  collect_devices(*impl);
  collect_gpu_signs(*impl);
  collect_facts(*impl);
  return Checkpoint(std::move(impl));
}

Located Checkpoint::Impl::find(std::string_view member) const {
  for (const Archive& layer : layers)
    if (const Member* found = layer.find(member)) return {&layer, found};
  return {};
}

std::optional<std::string> Checkpoint::Impl::read(const std::string& member) const {
  const Located found = find(member);
  if (!found) return std::nullopt;
  // An engine that extracts the archive would follow a link here; to read on without would be to misread it.
  if (found.member->type != MemberType::file)
    throw Error(ErrorCode::corrupt, where(member),
                std::string("is a ") + to_string(found.member->type) + ", not a regular file");
  return found.archive->read(*found.member);
}

void Checkpoint::Impl::guard(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    problems.push_back(error);
  }
}

const std::string& Checkpoint::name() const noexcept { return impl_->name; }
const Archive& Checkpoint::archive() const noexcept { return impl_->layers.front(); }
const std::vector<Archive>& Checkpoint::layers() const noexcept { return impl_->layers; }
const std::string& Checkpoint::form() const noexcept { return impl_->form; }
const std::string& Checkpoint::image_prefix() const noexcept { return impl_->image_prefix; }
Engine Checkpoint::engine() const noexcept { return impl_->engine; }
Runtime Checkpoint::runtime() const noexcept { return impl_->runtime; }
const ContainerFacts& Checkpoint::facts() const noexcept { return impl_->facts; }
const CheckpointSizes& Checkpoint::sizes() const noexcept { return impl_->sizes; }
const std::string& Checkpoint::criu_at_least() const noexcept { return impl_->criu_at_least; }
const std::string& Checkpoint::criu_version() const noexcept { return impl_->criu_version; }
const std::optional<std::vector<std::string>>& Checkpoint::criu_plugins() const noexcept { return impl_->criu_plugins; }
const std::vector<std::string>& Checkpoint::requested_devices() const noexcept { return impl_->requested_devices; }
bool Checkpoint::has_record() const noexcept { return impl_->has_record; }
const std::vector<Mount>& Checkpoint::mounts() const noexcept { return impl_->mounts; }
const std::vector<UnusedSpecMount>& Checkpoint::unused_spec_mounts() const noexcept {
  return impl_->unused_spec_mounts;
}
const std::vector<DeviceEntry>& Checkpoint::devices() const noexcept { return impl_->devices; }
const std::vector<Process>& Checkpoint::processes() const noexcept { return impl_->processes; }
const GpuReport& Checkpoint::gpu() const noexcept { return impl_->gpu; }
const std::optional<std::string>& Checkpoint::spec_text() const noexcept { return impl_->spec_text; }
const std::optional<std::string>& Checkpoint::config_text() const noexcept { return impl_->config_text; }
const std::vector<Error>& Checkpoint::problems() const noexcept { return impl_->problems; }

}  // namespace ckpt
