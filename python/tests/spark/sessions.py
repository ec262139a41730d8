"""Sessions of Spark, small ones, whose every file can be looked at."""
import os
import sys
from contextlib import contextmanager
from pathlib import Path

#: Sessions are short: most of what the JVM compiles well would not be used again.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
COMMON = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.openCostInBytes": str(1 << 30),  # each file is a partition
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # What is stored is not compressed, so that a search of it is a search of its bytes.
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    "spark.rdd.compress": "false",
    "spark.broadcast.compress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}


@contextmanager
def session(scratch, master="local[2]", remote=False, **settings):
    """A session whose every file is below `scratch`."""
    from pyspark.sql import SparkSession

    for name in ("temporary", "local", "events"):
        (scratch / name).mkdir(exist_ok=True)
    before = dict(os.environ)
    os.environ.update(TMPDIR=str(scratch / "temporary"), PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.remote(master) if remote else SparkSession.builder.master(master)
    options = {**COMMON, "spark.local.dir": str(scratch / "local"),
               "spark.eventLog.dir": f"file://{scratch / 'events'}",
               "spark.driver.extraJavaOptions":
                   f"{QUICK} -Djava.io.tmpdir={scratch / 'temporary'}",
               "spark.executor.extraJavaOptions": QUICK, **settings}
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
        os.environ.clear()
        os.environ.update(before)


def everything_in(folder):
    """The bytes of every file below, by name; links and sockets aside."""
    for path in Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path, path.read_bytes()
