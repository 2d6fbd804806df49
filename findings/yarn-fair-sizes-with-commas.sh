#!/usr/bin/env bash
# Hadoop YARN 3.4.2, Fair Scheduler: resources in the allocation file (minResources, maxResources),
# as the file's loader reads them.
#
# Guess: `10,240 mb, 4 vcores` is 10,240 MB or refused; a resource that is not named is 0 or
# refused; what is named twice, or above 100 %, is refused.
# Seen: it is 240 MB: what stands before the comma is passed over. Parts of a unit are cut, so
# 1.9 vcores are 1. `memory-mb=2048` alone gives -1 vcores where no other value is said,
# of `vcores=4,vcores=8` the last counts, and 150% is half more than the cluster has.
. "$(dirname "$0")/lib-yarn.sh"
java_says '10240 mb, 4 vcores: <memory:10240, vCores:4>
10,240 mb, 4 vcores: <memory:240, vCores:4>
1024.9 mb, 1.9 vcores: <memory:1024, vCores:1>
memory-mb=2048: <memory:2048, vCores:-1>
vcores=4,vcores=8,memory-mb=2048: <memory:2048, vCores:8>
150%: <memory:150000, vCores:150>
2 gb, 4 vcores: refused
memory-mb=2g,vcores=4: refused' <<'JAVA'
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.AllocationConfigurationException;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairSchedulerConfiguration;

public class Finding {
    public static void main(String[] words) {
        Resource cluster = Resource.newInstance(100_000, 100);
        for (String text : new String[] {
            "10240 mb, 4 vcores", "10,240 mb, 4 vcores", "1024.9 mb, 1.9 vcores",
            "memory-mb=2048", "vcores=4,vcores=8,memory-mb=2048", "150%", "2 gb, 4 vcores",
            "memory-mb=2g,vcores=4"}) {
            Object read;
            try {
                read = FairSchedulerConfiguration.parseResourceConfigValue(text)
                    .getResource(cluster);
            } catch (AllocationConfigurationException why) {
                read = "refused";
            }
            System.out.println(text + ": " + read);
        }
    }
}
JAVA
