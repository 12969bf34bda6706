#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cdi.py SPEC|- DRIVER NEW

A CDI specification on standard output, as JSON, for driver files below NEW that belong below DRIVER in the container.
SPEC is one for DRIVER, JSON or YAML; its hooks are dropped. "-" makes one of the files below DRIVER and the nodes /dev/nvidia*.
"""

import glob
import json
import os
import re
import stat
import sys

FILES = r"(lib(cuda|nvidia-ml|nvidia-ptxjitcompiler|nvidia-nvvm|nvidia-gpucomp|nvidia-opencl|cudadebugger)\.so\.\d+\.\d[\d.]*|nvidia-smi)$"


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text)
    except ValueError:
        import yaml  # only where a YAML specification was given
        return yaml.safe_load(text)


def nodes():
    for path in sorted(glob.glob("/dev/nvidia*")):
        if stat.S_ISCHR(os.stat(path).st_mode):
            yield {"path": path}


def make(driver):
    mounts = []
    for folder, _, names in sorted(os.walk(driver)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if re.match(FILES, name) and not os.path.islink(path):
                mounts.append({"hostPath": path, "containerPath": path, "options": ["ro", "nosuid", "nodev", "bind"]})
    if not any("libcuda.so" in mount["hostPath"] for mount in mounts):
        sys.exit(f"no libcuda.so.VERSION below {driver}")
    return {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu",
            "devices": [{"name": "all", "containerEdits": {"deviceNodes": list(nodes())}}],
            "containerEdits": {"mounts": mounts}}


def edits_of(spec):
    yield spec.get("containerEdits", {})
    for device in spec["devices"]:
        yield device.get("containerEdits", {})


def main(source, driver, new):
    spec = make(driver) if source == "-" else load(source)
    for edits in edits_of(spec):
        edits.pop("hooks", None)
        for mount in edits.get("mounts") or []:
            path = mount["hostPath"]
            if path == driver or path.startswith(driver + "/"):
                mount["hostPath"] = new + path[len(driver):]
    json.dump(spec, sys.stdout, indent=1)
    print()


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2].rstrip("/"), sys.argv[3].rstrip("/"))
