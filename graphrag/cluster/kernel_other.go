// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package cluster

// fastest returns the kernels in plain Go: there are no others here.
func fastest() kernels { return portable() }
