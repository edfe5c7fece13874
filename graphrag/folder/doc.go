// SPDX-License-Identifier: Apache-2.0

// Package folder answers questions over a folder of files, and keeps its index on disk.
//
// [Open] reads the files (package load), and indexes what has changed since the last time: by the content of each file,
// not by its date. [Folder.Refresh] does the same while questions are answered.
//
// The index is a generation: a folder with what was parsed of each file, the saved system, and a manifest. A new
// one is written aside, and one rename makes it the current one, so that a process that is killed at any moment
// leaves the old index or the new one. An index of another version, of other settings or with damage is rebuilt,
// and [Change.Rebuilt] gives the reason.
//
// Evidence is restored before it is read ([Files.Reader]): systems search in cut and cleaned text, and readers get the
// lines of the file, with their headings and headers of tables. So every quote has its place: [Files.Sources].
package folder
