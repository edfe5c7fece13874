// SPDX-License-Identifier: Apache-2.0

// Package path finds paths through a graph whose arcs are more or less like a
// question, as the fourth route of Youtu-GraphRAG does (arXiv 2508.19855, equation
// 10): depth first from the nodes that a question names, up to five edges. The
// paper has no order, no score and no bound beside the depth; here each is stated.
package path
