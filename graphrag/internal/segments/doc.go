// SPDX-License-Identifier: Apache-2.0

// Package segments divides an index of chunks that come and go into parts, so that the cost of a change is
// proportional to the changed chunks.
package segments
