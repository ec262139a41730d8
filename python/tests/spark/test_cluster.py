"""A cluster of two hosts: workers that die, tasks that run twice.

The hosts are two addresses of this machine: Spark runs no second copy of a task on the host of the
first, so that local-cluster[...], where all is one host, would never speculate.
"""
import os
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from same_bytes import BALL, alone, check_blocks
from sessions import QUICK, session

from cloister import distributed

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "10ms",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
}


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def started(stack, folder, kind, host, *words):
    """A daemon of a standalone cluster, which ends with the stack."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m",
                   "SPARK_DAEMON_JAVA_OPTS": QUICK, "SPARK_LOCAL_IP": host}
    with open(folder / f"{kind.rpartition('.')[2]}-{host}.log", "wb") as log:
        daemon = subprocess.Popen(
            [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", "--host", host,
             "--webui-port", "0", *words], env=environment, stdout=log, stderr=log)
    stack.callback(daemon.wait, 60)
    stack.callback(daemon.terminate)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("cluster"), str(free_port())
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        started(stack, folder, "master.Master", "127.0.0.1", "--port", port)
        for host in ("127.0.0.2", "127.0.0.3"):
            started(stack, folder, "worker.Worker", host, "--cores", "1", "--memory", "600m",
                    "--work-dir", str(folder / host), master)
        yield stack.enter_context(session(folder, master, **SPECULATION))


def troubled(notes):
    """Rows as they are, of workers that die or are slow when they are tried for the first time."""
    def rows(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        stage, part, attempt = task.stageId(), task.partitionId(), task.attemptNumber()
        open(os.path.join(notes, f"{stage}-{part}-{attempt}"), "w").close()
        for batch in batches:
            yield batch.slice(0, batch.num_rows // 2)
            if part == 0 and attempt == 0:
                os.kill(os.getpid(), signal.SIGKILL)  # half of the rows are on their way
            for _ in range(1800 if part == 1 and attempt == 0 else 0):
                time.sleep(0.1)  # until there is a second copy
                if os.path.exists(os.path.join(notes, f"{stage}-{part}-1")):
                    break
            yield batch.slice(batch.num_rows // 2)
    return rows


def test_killed_workers_and_speculation_do_not_show(spark, frame, files, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    people = spark.read.parquet(str(files))
    weak = people.mapInArrow(troubled(str(notes)), people.schema)
    made = distributed.run("kmeans/lloyd", weak, clusters=2, rounds=1, **BALL)
    assert made.to_json() == alone("kmeans/lloyd", frame, clusters=2, rounds=1)
    check_tries(notes)


def test_killed_workers_and_speculation_do_not_show_in_blocks(spark, files, tmp_path):
    """Of which parts are dealt, and solved from what was dealt, perhaps twice."""
    people = spark.read.parquet(str(files))
    notes = tmp_path / "notes"
    notes.mkdir()
    check_blocks("kmeans/aggregate", people.mapInArrow(troubled(str(notes)), people.schema))
    check_tries(notes)


def check_tries(notes):
    tried = [note.name.split("-") for note in notes.iterdir()]
    for part in ("0", "1"):  # killed and done again; slow and done twice
        assert max(int(attempt) for _, of, attempt in tried if of == part) >= 1
