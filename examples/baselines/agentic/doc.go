// SPDX-License-Identifier: Apache-2.0

// Package agentic searches with an agent: a model that searches repeatedly, and answers from the
// passages that it read and cited (Do We Still Need GraphRAG, arXiv 2604.09666). [Around] wraps
// any system of the registry.
//
// Two more systems have no index. The agent of [NewFiles] finds lines by patterns and reads the
// text around them (Is Grep All You Need, arXiv 2605.15184); [NewContext] puts all pages that fit
// into the prompt, in a fixed order, so that a provider can cache the prompt's beginning.
package agentic
