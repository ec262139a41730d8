"""What programs that measure runs on ranks share: how these are started, and what they took."""
import os
import resource

# Rank after rank on whatever cores there are, one thread each.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}


def cpu(who):
    """Seconds of the processor, user and system, of RUSAGE_SELF or of RUSAGE_CHILDREN."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
