// SPDX-License-Identifier: Apache-2.0

// Package bench is the command line of the benchmark: a program of one's own adds its
// systems to it.
//
//	func main() {
//		bench.Main(bench.System{Name: "mine", New: newMine})
//	}
//
// has every flag of examples/wildgraphbench, and a row "mine" in its tables.
package bench
