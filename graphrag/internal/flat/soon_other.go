// SPDX-License-Identifier: Apache-2.0

//go:build !unix || aix || solaris

package flat

// Soon does nothing on this system.
func Soon[T any]([]T) {}

func scattered([]byte) {}
