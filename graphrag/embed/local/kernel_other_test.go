// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package local

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels { return map[string]kernels{"portable": portable()} }
