// SPDX-License-Identifier: Apache-2.0

// Package bench is the command line of the benchmark. Other programs add their systems to it.
//
//	func main() {
//		bench.Main(bench.System{Name: "mine", New: newMine})
//	}
//
// has every flag of examples/wildgraphbench, and a row "mine" in its tables.
package bench
