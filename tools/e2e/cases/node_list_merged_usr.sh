# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As node_list, with an image whose /lib is a link to usr/lib: a list made from CDI paths alone would miss its firmware.
# shellcheck disable=SC2034 # read by what it sources
MERGED_USR=yes
# shellcheck source=cases/node_list.sh
. "$E2E_DIR/cases/node_list.sh"
