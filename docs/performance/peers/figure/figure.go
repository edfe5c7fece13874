// Package figure is what programs measure beside other programs, as .ci/peers keeps it.
package figure

import (
	"encoding/json"
	"fmt"
)

// Figure is one measurement of one program in one round. The first line of a file is
// the machine, with Date and Machine alone.
type Figure struct {
	Date    string  `json:"date,omitempty"`
	Machine string  `json:"machine,omitempty"`
	Set     string  `json:"set,omitempty"`   // what was worked on: "36,521 chunks"
	What    string  `json:"what,omitempty"`  // what was measured: "whole question, p99"
	Who     string  `json:"who,omitempty"`   // Us, or the peer with its version
	Unit    string  `json:"unit,omitempty"`  // "µs", "CPU s", "MB/s": rates end in /s, and more is better
	Value   float64 `json:"value,omitempty"` // in Unit
	Round   int     `json:"round,omitempty"`
	// Plain figures, such as a recall or a modularity, are shown beside each other without a ratio.
	Plain bool `json:"plain,omitempty"`
}

// Us is the name under which figures of this library stand.
const Us = "wildgraph"

// Show prints the figure with what was measured; without a unit it is plain.
func (f Figure) Show(what string, value float64, unit string) {
	f.What, f.Value, f.Unit, f.Plain = what, value, unit, unit == ""
	line, _ := json.Marshal(f) // texts and numbers
	fmt.Println(string(line))
}
