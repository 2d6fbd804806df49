#!/usr/bin/env bash
# Hadoop YARN 3.4.2, the Fair Scheduler: the fair shares of queues that all want more (MB of
# memory).
#
# Guess: the fair shares of queues add up to the cluster at most, less what is lost by rounding
# down; where minimum shares ask for more than there is, they are scaled to what there is.
# Seen: three queues have 3334 MB each of 10000, and 10002 in all: shares end above the cluster
# where they do not come out even. Two queues with a minimum of 80 of 100 have a share of 80 each,
# 160 in all, and a third one without a minimum has none.
. "$(dirname "$0")/lib-yarn.sh"
java_says 'of 10000: 3334 3334 3334, in all 10002
of 100: 80 80 0, in all 160' <<'JAVA'
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.policies.ComputeFairShares;

public class Finding {
    /** A queue of weight 1 without a maximum. */
    static Schedulable queue(long minimum) {
        Resource[] share = {Resource.newInstance(0, 0)};
        return (Schedulable) Proxy.newProxyInstance(
            Finding.class.getClassLoader(), new Class[] {Schedulable.class},
            (self, called, with) -> {
                switch (called.getName()) {
                    case "getMinShare": return Resource.newInstance(minimum, 0);
                    case "getMaxShare": return Resource.newInstance(Integer.MAX_VALUE, 0);
                    case "getWeight": return 1f;
                    case "getFairShare": return share[0];
                    case "setFairShare": share[0] = (Resource) with[0]; return null;
                    default: throw new UnsupportedOperationException(called.getName());
                }
            });
    }

    static void shares(long cluster, long... minimums) {
        List<Schedulable> queues = new ArrayList<>();
        for (long minimum : minimums) {
            queues.add(queue(minimum));
        }
        ComputeFairShares.computeShares(queues, Resource.newInstance(cluster, 0), "memory-mb");
        long all = 0;
        StringBuilder line = new StringBuilder("of " + cluster + ":");
        for (Schedulable queue : queues) {
            long share = queue.getFairShare().getMemorySize();
            all += share;
            line.append(" ").append(share);
        }
        System.out.println(line + ", in all " + all);
    }

    public static void main(String[] words) {
        shares(10000, 0, 0, 0);
        shares(100, 80, 80, 0);
    }
}
JAVA
