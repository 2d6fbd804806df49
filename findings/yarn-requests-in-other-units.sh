#!/usr/bin/env bash
# Hadoop YARN 3.4.2, resource types with units: a cluster counts `scratch` in Gi
# (yarn.resource-types.scratch.units), and clients ask in units of their own.
#
# Guess: where a request is no whole number of Gi it is rounded up, or refused.
# Seen: it is rounded down where the ResourceManager reads it. Who asks for 1536 Mi is given, and
# charged, 1 Gi; who asks for 999 M or for 1 G is given none, and scratch is not in his request
# any more. Nothing is said.
. "$(dirname "$0")/lib-yarn.sh"
java_says '1536 Mi: 1 Gi
999 M: 0 Gi
1 G: 0 Gi
1 T: 931 Gi' <<'JAVA'
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceInformation;
import org.apache.hadoop.yarn.api.records.impl.pb.ProtoUtils;
import org.apache.hadoop.yarn.api.records.impl.pb.ResourcePBImpl;
import org.apache.hadoop.yarn.util.resource.ResourceUtils;

public class Finding {
    public static void main(String[] words) throws Exception {
        Configuration cluster = new Configuration(false);
        cluster.set("yarn.resource-types", "scratch");
        cluster.set("yarn.resource-types.scratch.units", "Gi");
        ResourceUtils.resetResourceTypes(cluster);
        for (String asked : new String[] {"1536 Mi", "999 M", "1 G", "1 T"}) {
            String[] parts = asked.split(" ");
            Resource request = Resource.newInstance(1024, 1);
            request.setResourceInformation("scratch", ResourceInformation.newInstance(
                "scratch", parts[1], Long.parseLong(parts[0])));
            Resource read = new ResourcePBImpl(ProtoUtils.convertToProtoFormat(request));
            ResourceInformation scratch = read.getResourceInformation("scratch");
            System.out.println(asked + ": " + scratch.getValue() + " " + scratch.getUnits());
        }
    }
}
JAVA
