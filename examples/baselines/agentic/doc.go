// SPDX-License-Identifier: Apache-2.0

// Package agentic puts systems into the hands of an agent: a model that searches again and
// again, and answers from what it read and cited (Do We Still Need GraphRAG, arXiv
// 2604.09666). [Around] wraps any system of the registry.
//
// Two systems beside it have no index. The agent of [NewFiles] finds lines by patterns and
// reads on from there (Is Grep All You Need, arXiv 2605.15184); [NewContext] puts all pages
// that fit into the prompt, in a fixed order, so that a provider keeps the beginning of it.
package agentic
