// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package local

// fastest returns the kernels in plain Go, the only ones on this platform.
func fastest() kernels { return portable() }
