// SPDX-License-Identifier: Apache-2.0
// A stand-in for a driver library. It holds no driver code: a version string and padding, so that each version has a
// size and a GNU build-id of its own, which is all that a mount or a restore ever looks at.
#ifndef DRIVER_VERSION
#error "build with -DDRIVER_VERSION=\"...\" -DDRIVER_PADDING=N"
#endif

const char driver_version[] = DRIVER_VERSION;
const char driver_padding[DRIVER_PADDING] = {1};

int driver_answer(void) { return driver_version[0] + driver_padding[0]; }
