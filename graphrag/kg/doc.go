// SPDX-License-Identifier: Apache-2.0

// Package kg is the knowledge graph: entities, relations and attributes with
// the chunks that say so.
package kg
