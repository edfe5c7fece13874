// SPDX-License-Identifier: Apache-2.0

// Package flat stores flat arrays in files that are mapped into memory, so that an index opens at once and may
// be larger than memory.
//
// A folder has one file for each large array and one for all small ones. Its manifest contains the kind and
// version of the content, the length of each array and the checksums of its blocks, a checksum of the manifest,
// and any metadata of the caller. The manifest is written last, after all arrays are on disk: a folder without
// one is incomplete. [View] checks every byte, [Lazy] leaves the checks to the reader.
//
// Arrays consist of fixed-size values without pointers, stored as in the memory of little-endian machines;
// other machines cannot open a folder.
package flat
