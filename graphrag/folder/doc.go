// SPDX-License-Identifier: Apache-2.0

// Package folder answers questions over a folder of files, and keeps its index on disk.
//
// [Open] reads the files (package load), and indexes what has changed since the last time, judged by the
// content of each file, not by its date. [Folder.Refresh] does the same while questions are answered.
//
// The index is a generation: a folder with the parsed form of each file, the saved system, and a manifest. A
// new generation is written to a new folder, and one rename makes it the current one, so that a process killed
// at any moment leaves the old index or the new one. An index that is damaged, or of another version or other
// settings, is rebuilt, and [Change.Rebuilt] gives the reason.
//
// Evidence is restored before it is read ([Files.Reader]): systems search in cut and cleaned text, but readers
// get the original lines of the file, with their headings and table headers. So every quote has a place in a
// file: [Files.Sources].
package folder
