// SPDX-License-Identifier: Apache-2.0

// Package extract finds entities and triples in chunks.
package extract
