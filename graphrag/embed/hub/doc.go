// SPDX-License-Identifier: Apache-2.0

// Package hub opens a sentence encoder by its name. The first time it is fetched from the
// Hugging Face Hub, from then on it is read from the user's cache.
//
//	minilm                 sentence-transformers/all-MiniLM-L6-v2, 91 MB, Apache-2.0
//	bge-small              BAAI/bge-small-en-v1.5, 134 MB, MIT
//	e5-small               intfloat/e5-small-v2, 134 MB, MIT
//	hf:ORG/NAME@REVISION   any other that package local reads; REVISION is a commit
//	file:DIR, DIR          a folder, which without the prefix must hold a config.json
//	auto                   the first of these three that the cache holds, or none
//	none                   no encoder
//
// Weights and vocabulary of the first three are pinned to one commit, with the size and SHA-256 in this
// package. It adds the small files that say how vectors are made: pooling, length and prompts, as the
// models' cards have them. Of an hf: model the sums are recorded at the first fetch, in sums.json. Whenever
// a model of the cache is opened, its files are compared with their sums.
//
// A server is not trusted. Files are bounded; a web page in place of a file is refused; redirects lead only to
// huggingface.co, hf.co and hosts below these, or to the host of [Options].Endpoint, by https. An interrupted
// download of a file with a known sum is resumed, also by a later process. One process fetches while others wait.
// A folder gets its name when all of its files are whole. Errors say what to put where by hand.
package hub
