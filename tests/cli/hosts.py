#!/usr/bin/env python3
"""Ranks on two hosts, which are two network namespaces with a cable between them.

Each host has a name, an address and processes of its own; nothing but the cable joins them, and
Open MPI is told to use no shared memory.  Who may not make namespaces skips these tests.

usage: hosts.py CLOISTER MPIRUN
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ranks import ASKED, BALL, END_WITHIN, LONG, SAME, Failed, Place, demand, words_for

# The words are Open MPI's: it calls "agent HOST COMMAND..." to start its daemon on a host.
AGENT = """#!/bin/sh
host=$1; shift
exec ip netns exec {prefix}${{host##*.}} unshare --uts sh -c "hostname {prefix}${{host##*.}}; $*"
"""


class Hosts:
    """Hosts 1 and 2 of a network that ends with this process."""

    def __init__(self):
        self.prefix = f"clo{os.getpid()}h"
        self.network = f"10.{os.getpid() // 250 % 250}.{os.getpid() % 250}"

    def name(self, host):
        return f"{self.prefix}{host}"

    def address(self, host):
        return f"{self.network}.{host}"

    def make(self):
        ends = [f"{self.prefix}v{host}" for host in (1, 2)]
        for host in (1, 2):
            ip("netns", "add", self.name(host))
        ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for host, end in zip((1, 2), ends):
            ip("link", "set", end, "netns", self.name(host), "name", "cable")
            ip("-n", self.name(host), "addr", "add", self.address(host) + "/24", "dev", "cable")
            ip("-n", self.name(host), "link", "set", "cable", "up")
            ip("-n", self.name(host), "link", "set", "lo", "up")

    def remove(self):
        for host in (1, 2):
            self.kill(host)
            subprocess.run(["ip", "netns", "del", self.name(host)], capture_output=True,
                           check=False)

    def processes(self, host):
        found = subprocess.run(["ip", "netns", "pids", self.name(host)], capture_output=True,
                               text=True, check=False)
        return [int(word) for word in found.stdout.split()]

    def kill(self, host):
        """All that runs on it; some end by themselves when the first are gone."""
        for process in self.processes(host):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def ip(*words):
    subprocess.run(["ip", *words], capture_output=True, check=True)


class Far(Place):
    """A place whose ranks are on both hosts in turn; rank 0 is on the first."""

    def __init__(self, folder, command, mpirun, hosts):
        super().__init__(folder, command, mpirun)
        self.hosts = hosts
        agent = self.folder / "agent"
        agent.write_text(AGENT.format(prefix=hosts.prefix))
        agent.chmod(0o700)
        self.environment.update(
            OMPI_MCA_plm_rsh_agent=str(agent), OMPI_MCA_btl="tcp,self", OMPI_MCA_pml="ob1",
            OMPI_MCA_btl_tcp_if_include="cable", OMPI_MCA_oob_tcp_if_include="cable",
            OMPI_MCA_rmaps_base_mapping_policy="node")

    def words(self, count, *words):
        addresses = ",".join(f"{self.hosts.address(host)}:{count}" for host in (1, 2))
        first = self.hosts.name(1)
        return ["ip", "netns", "exec", first, "unshare", "--uts", "sh", "-c",
                f'hostname {first}; exec "$@"', "sh", self.mpirun, "-n", str(count), "--host",
                addresses, self.command, *words]

    def ranks(self, count, *words, extra=None):
        return self.call(self.words(count, *words), extra=extra or {})


# ---- the tests ----------------------------------------------------------------------------------

def ranks_are_on_both_hosts(place):
    names = place.call([*place.words(4, "version")[:-2], "hostname"]).stdout.decode().split()
    demand(sorted(names) == sorted([place.hosts.name(1), place.hosts.name(2)] * 2), names)


def two_hosts_give_the_bytes_of_one_process(place):
    for method, path in (("kmeans/local", "all.csv"), ("kmeans/highdim", "all.csv"),
                         ("subspaces/moments", "all.csv"), ("kmeans/lloyd", "part-{rank}.csv")):
        expected = place.alone(*words_for(method, SAME[method], "all.csv"))
        ended = place.ranks(2, *words_for(method, SAME[method], path))
        demand(ended.returncode == 0, method, ended.stderr.decode())
        demand(ended.stdout == expected, method, "has other bytes on two hosts")


def a_host_that_dies_ends_the_run_which_stays_charged(place):
    books = place.ledger("lost.ledger")
    with subprocess.Popen(
            place.words(2, "run", *ASKED["sums"], "large.npy", *BALL, *books, "-o", "lost.json"),
            cwd=place.folder, env=place.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as run:
        while place.charges(books[1]) == 0:
            if run.poll() is not None:
                raise Failed(f"ended too early: {run.stderr.read().decode()}")
            time.sleep(0.05)
        place.hosts.kill(2)
        started = time.monotonic()
        out, err = run.communicate(timeout=LONG)
    took = time.monotonic() - started
    demand(took < END_WITHIN or took < place.end_within(), "took", took)
    demand(run.returncode != 0 and out == b"", "went on", err.decode())
    demand(not (place.folder / "lost.json").exists(), "a release")
    demand(place.charges(books[1]) == 1, "no charge")


def main():
    command, mpirun = sys.argv[1:3]
    tests = [ranks_are_on_both_hosts, two_hosts_give_the_bytes_of_one_process,
             a_host_that_dies_ends_the_run_which_stays_charged]
    hosts, failed = Hosts(), False
    try:
        hosts.make()
    except (OSError, subprocess.CalledProcessError):
        if shutil.which("ip"):
            hosts.remove()
        print("1..1\nok 1 - two hosts # SKIP no network namespaces may be made here")
        return 0
    print(f"1..{len(tests)}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Far(folder, os.path.abspath(command), mpirun, hosts)
            for number, test in enumerate(tests, 1):
                trouble = ""
                try:
                    test(place)
                except (Failed, subprocess.TimeoutExpired) as error:
                    trouble = str(error)
                failed = failed or bool(trouble)
                name = test.__name__.replace("_", " ")
                print(f"{'not ok' if trouble else 'ok'} {number} - {name}", flush=True)
                for line in trouble.splitlines():
                    print(f"# {line}", flush=True)
    finally:
        hosts.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
