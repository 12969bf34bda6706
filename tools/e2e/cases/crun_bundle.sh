# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# crun without an engine: an image directory, a bundle, mounts that only a hook knew, and a list for the target.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
RUNTIME=crun
# shellcheck source=runtime.sh
. "$E2E_DIR/runtime.sh"

machine_start unified
hidden_mounts_moved
