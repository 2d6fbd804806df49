#!/usr/bin/env bash
# Kubernetes 1.36.3 and 1.37.2 (k8s.io/component-helpers 0.36.3 and 0.37.2): what a pod asks for
# while it is resized in place. Needs Go 1.26; the first run builds for a minute or two.
#
# Guess: PodRequests, by which kube-scheduler counts, gives one pod one amount in both versions.
# Seen: a pod of two containers that hold 1 and 3 cores and are to be 3 and 1 asks for 6 cores by
# 0.36.3, the largest of each container, and for 4 by 0.37.2, the largest of the sums. So a pod that
# changes nothing but who of the two has more counts half as much again until 1.36.
. "$(dirname "$0")/lib.sh"
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

func cpu(cores string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}
}

func main() {
	pod := &corev1.Pod{}
	for _, one := range []struct{ name, wants, has string }{{"a", "3", "1"}, {"b", "1", "3"}} {
		wants := corev1.ResourceRequirements{Requests: cpu(one.wants)}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: one.name, Resources: wants})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: one.name, AllocatedResources: cpu(one.has),
			Resources: &corev1.ResourceRequirements{Requests: cpu(one.has)},
		})
	}
	sum := helpers.PodRequests(pod, helpers.PodResourcesOptions{UseStatusResources: true})
	fmt.Println(sum.Cpu().String())
}
GO
asks() { # a version of the modules
  rm -f go.mod go.sum
  printf 'module example.org/finding\n\ngo 1.26.0\n' >go.mod
  for module in api apimachinery component-helpers; do
    printf '\nrequire k8s.io/%s v%s\n' "$module" "$1" >>go.mod
  done
  go mod tidy >tidy.log 2>&1 || { cat tidy.log >&2; exit 1; }
  go run .
}
compare 'by 0.36.3: 6 cores
by 0.37.2: 4 cores' "$(for version in 0.36.3 0.37.2; do echo "by $version: $(asks "$version") cores"; done)"
