#!/usr/bin/env bash
# Kueue 0.17.0 (sigs.k8s.io/kueue), admission fair sharing: what a LocalQueue has used. Needs Go
# 1.26; the first run builds for a minute or two.
#
# Guess: with usageHalfLifeTime 7 days and the default usageSamplingInterval of 5 minutes the use
# of a queue that holds n GPUs all the time comes close to n, so queues that hold 1, 2 and 8 GPUs
# stand as 1 to 2 to 8.
# Seen: at each sampling both summands are cut to thousandths of a unit. Of one sample 0.034 %
# counts: of 1 or 2 GPUs (or cores) nothing is left, also as the penalty at an admission, so who
# holds 2 GPUs for months stands where he stands who never had one. Of 8 GPUs 2.9 are counted.
. "$(dirname "$0")/lib.sh"
cd "$folder"
cat >go.mod <<'MOD'
module example.org/finding

go 1.26.0

require sigs.k8s.io/kueue v0.17.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
)

const gpu = "nvidia.com/gpu"

func main() {
	halfLife, sampling := 7*24*time.Hour, 5*time.Minute
	settings := &config.AdmissionFairSharing{
		UsageHalfLifeTime:     metav1.Duration{Duration: halfLife},
		UsageSamplingInterval: metav1.Duration{Duration: sampling},
	}
	for _, gpus := range []int64{1, 2, 4, 8, 64} {
		held := corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)}
		penalty := afs.CalculateEntryPenalty(held, settings)[gpu]
		used := corev1.ResourceList{}
		for range 10 * int(halfLife/sampling) {
			used = afs.CalculateDecayedConsumed(used, held, sampling.Seconds(), halfLife.Seconds())
		}
		all := used[gpu]
		fmt.Printf("%d for 10 weeks: %.3f used, penalty %.3f\n", gpus,
			all.AsApproximateFloat64(), penalty.AsApproximateFloat64())
	}
}
GO
go mod tidy >tidy.log 2>&1 || { cat tidy.log >&2; exit 1; }
go build -o finding .
compare '1 for 10 weeks: 0.000 used, penalty 0.000
2 for 10 weeks: 0.000 used, penalty 0.000
4 for 10 weeks: 0.001 used, penalty 0.001
8 for 10 weeks: 2.909 used, penalty 0.002
64 for 10 weeks: 61.089 used, penalty 0.022' "$(./finding)"
