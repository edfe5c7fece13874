// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"embed"

	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)
