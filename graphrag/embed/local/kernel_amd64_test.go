// SPDX-License-Identifier: Apache-2.0

package local

import "golang.org/x/sys/cpu"

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels {
	sets := map[string]kernels{"portable": portable(), "fastest": fastest()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets["AVX2"] = kernels{multiply: multiplyAVX2, gelu: geluWide, softmax: softmaxWide, normalize: normalizeWide}
	}
	return sets
}
