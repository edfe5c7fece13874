// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package text

func lowerBlocks(lower []byte, s string, runs, wide []uint64) { lowerEights(lower, s, runs, wide) }
