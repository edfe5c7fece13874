// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package vector

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels {
	k := portable()
	k.codesPay = true // to test the codes everywhere
	return map[string]kernels{"portable": k}
}
