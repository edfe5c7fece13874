// SPDX-License-Identifier: Apache-2.0

// Package flat keeps flat arrays in files that are used in place: mapped into
// memory, so that an index opens at once and may be larger than memory.
//
// A folder has one file for each large array and one for all small ones, and a manifest with the kind and version
// of what it is, the length of each file and the checksums of its blocks, a checksum of itself, and whatever else
// its owner wants to know. The manifest is written last, after all else is on disk: a folder without one is not
// whole. [View] checks every byte, [Lazy] leaves that to the reader.
//
// Arrays are of fixed-size values without pointers, little-endian, as they are in
// the memory of the machines this runs on; others are refused.
package flat
