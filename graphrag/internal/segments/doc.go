// SPDX-License-Identifier: Apache-2.0

// Package segments divides an index of chunks into parts, so that the cost of adding and removing chunks is
// proportional to their number.
package segments
