// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels {
	sets := map[string]kernels{"portable": portable(), "fastest": fastest()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets["AVX2"] = kernels{dot: dotAVX2, dotCodes: dotCodesAVX2, reach: reachRows, differ: differRows}
	}
	for name, k := range sets {
		k.codesPay = true // to test the codes everywhere
		sets[name] = k
	}
	return sets
}
