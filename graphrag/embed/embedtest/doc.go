// SPDX-License-Identifier: Apache-2.0

// Package embedtest checks that an embedder keeps the rules of [embed.Embedder]: shape, order,
// batches, concurrency, cancellation and hostile texts. It is for tests of any embedder;
// [WriteBERT] makes a small model for them.
package embedtest
