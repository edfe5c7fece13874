// SPDX-License-Identifier: Apache-2.0

// Package journal writes and reads journals, which are append-only, checksummed, crash-safe files of records,
// and reads the JSON lines of other programs.
//
// A [Journal] exists so that no result is paid for twice: when [Journal.Append] returns nil the record is on disk
// (fsync), and survives a crash, a kill or a full disk. The access pattern is append and full scan; for
// look-ups, build a map while scanning.
//
// # Format
//
// All integers are little endian.
//
//	file    magic "WGJRNL\x00" | version u8 | header | record…
//	header  len u32 | crc32c u32 | JSON of Header
//	record  len u32 | crc32c u32 | kind u8 | seq u64 | payload (len bytes)
//
// The checksum of a record covers its length, kind, sequence number and payload; sequence numbers start at 1
// and have no gaps. The top bit of len marks a firm record: all records before it were on disk when it was
// written.
//
// # Rules
//
//   - One process at a time: the open file is locked exclusively, and the lock dies with the process. A second [Open]
//     gets [ErrLocked]. A program that keeps the state of a folder in a journal has thereby locked the folder.
//   - Concurrent appends share one fsync (group commit).
//   - A failed write or fsync is final for the handle: a second fsync may report success for pages that were thrown
//     away. Open the file again.
//   - A bad record with no firm one after it belongs to a write that was never acknowledged, of which a power cut left
//     some sectors: it is cut off with the rest of the file and reported by [Journal.Recovered].
//   - A bad record with a firm one after it is damage. Open refuses with [ErrCorrupt]; [Repair] copies the whole
//     records and lists the lost ones, [Verify] only looks. The program examples/maker (journal) does both.
//   - A file that is removed or replaced while it is open is noticed at the next sync, which ends the handle with
//     [ErrGone]: nothing is acknowledged into a file without a name.
//   - Everything that Open shows is on disk: records that a process wrote and did not sync before it died are written
//     again and synced.
//   - A journal knows its schema and configuration; opening it with others gives a [*MismatchError].
//
// # JSON lines
//
// [ReadLines] accepts one value per line, a JSON array, or values over several lines, with limits and with the line
// number in every error. It skips a byte order mark and refuses invalid UTF-8, objects with a repeated key, and keys
// that differ from the expected ones in case only: a reader could only guess the intended value.
package journal
