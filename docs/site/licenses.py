# SPDX-License-Identifier: BSD-2-Clause
"""A hook of MkDocs: a site contains scripts and styles of its theme, whose license has to be with them."""

import importlib.metadata
import pathlib
import shutil


def on_post_build(config):
    for file in importlib.metadata.files("mkdocs-material"):
        if file.match("*.dist-info/licenses/LICENSE"):
            shutil.copy(file.locate(), pathlib.Path(config.site_dir, "assets", "LICENSE.mkdocs-material.txt"))
            return
    raise RuntimeError("mkdocs-material has no license file")
