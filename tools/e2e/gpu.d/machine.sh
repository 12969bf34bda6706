# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Read by `enter` in the new root, before it turns into /: the GPU's device nodes and the driver's files.
cp -a /dev/nvidia* dev/
mkdir -p ".$E2E_DRIVER"
mount --rbind "$E2E_DRIVER" ".$E2E_DRIVER"
