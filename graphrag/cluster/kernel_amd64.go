// SPDX-License-Identifier: Apache-2.0

package cluster

// fastest returns the best kernels this processor can run.
func fastest() kernels { return portable() }
