# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs and reads their solutions. Needs only the standard library."""
import array
import os
import pathlib
import re
import subprocess
import sys
import threading


def solution(name):
    """The entries of a Vec in PETSc's binary format."""
    numbers = array.array("d")
    numbers.frombytes(pathlib.Path(name).read_bytes()[8:])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def run(words, limit, folder=None):
    """(whether the run succeeded, CPU seconds). Programs may write files into their working folder."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_MCA_ess_singleton_isolated="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=folder)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode == 0, usage.ru_utime + usage.ru_stime


def seconds_of_start(words, small, limit, log):
    """Seconds of two steps on the grid of the options `small`: mostly of work that libraries do once. None if
    the run fails."""
    ok, _ = run(words + small.split() + ["-log_view", f":{log}", "-ts_max_steps", "2"], limit)
    return seconds_of_steps(log) if ok else None


def seconds_of_steps(log):
    """Seconds of TSStep in the output of -log_view."""
    return float(re.search(r"^TSStep +\d+ +[\d.]+ +([\d.e+-]+)", pathlib.Path(log).read_text(), re.M).group(1))
