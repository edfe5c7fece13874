// SPDX-License-Identifier: Apache-2.0

package cluster

import "golang.org/x/sys/cpu"

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels {
	sets := map[string]kernels{"portable": portable()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets["AVX2"] = fastest()
	}
	return sets
}
