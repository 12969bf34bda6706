# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As cdi_moved, with crun.
# shellcheck disable=SC2034 # read by what it sources
RUNTIME=crun
# shellcheck source=cases/cdi_moved.sh
. "$E2E_DIR/cases/cdi_moved.sh"
