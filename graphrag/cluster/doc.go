// SPDX-License-Identifier: Apache-2.0

// Package cluster groups vectors.
package cluster
