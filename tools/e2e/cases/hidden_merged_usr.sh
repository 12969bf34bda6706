# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As hidden_auto, with an image whose /lib is a link to usr/lib.
# shellcheck disable=SC2034 # read by what it sources
MERGED_USR=yes
# shellcheck source=cases/hidden_auto.sh
. "$E2E_DIR/cases/hidden_auto.sh"
