// SPDX-License-Identifier: Apache-2.0

package flat

// SyncDir does nothing: a rename is durable with the file.
func SyncDir(string) error { return nil }
