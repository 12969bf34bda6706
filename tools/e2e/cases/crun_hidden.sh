# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As hidden_keys, with crun, which runs no hooks in a restore: they need no decision.
# shellcheck disable=SC2034 # read by what it sources
RUNTIME=crun
# shellcheck source=cases/hidden_keys.sh
. "$E2E_DIR/cases/hidden_keys.sh"
