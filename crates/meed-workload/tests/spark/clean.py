"""Lines of an event log without what tells whose they are, and without what no reader looks at."""
import json
import sys

EMPTY = {"JVM Information", "Hadoop Properties", "System Properties", "Metrics Properties",
         "Classpath Entries", "Properties", "Log Urls", "Task Metrics", "Task Executor Metrics"}
GONE = {"Accumulables", "RDD Info", "Details", "Stack Trace", "Full Stack Trace", "Accumulator Updates"}
SETTINGS = {"spark.master", "spark.submit.deployMode", "spark.executor.memory", "spark.executor.cores",
            "spark.driver.memory", "spark.dynamicAllocation.enabled", "spark.yarn.queue",
            "spark.dynamicAllocation.executorIdleTimeout", "spark.dynamicAllocation.maxExecutors",
            "spark.executor.resource.gpu.amount", "spark.task.resource.gpu.amount"}
FIXED = {"Host": "localhost", "User": "ann", "Stage Name": "stage", "Description": "an exception",
         "Failure Reason": "Job aborted", "Message": "an exception", "Loss Reason": "lost"}


def clean(value):
    if isinstance(value, dict):
        return {key: {} if key in EMPTY
                else {k: v for k, v in inner.items() if k in SETTINGS} if key == "Spark Properties"
                else FIXED[key] if key in FIXED and isinstance(inner, str)
                else clean(inner)
                for key, inner in value.items() if key not in GONE}
    return [clean(inner) for inner in value] if isinstance(value, list) else value


for line in sys.stdin:
    try:
        event = json.loads(line)
    except ValueError:
        continue
    print(json.dumps(clean(event), separators=(",", ":")))
