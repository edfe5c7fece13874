// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"slices"
)

// Partition says which community each node is in.
type Partition struct {
	// Labels holds the community of each node. Communities are numbered from 0,
	// the largest first, equally large ones by their smallest node.
	Labels []int32
	// Communities is their number.
	Communities int
	// Quality of the partition, by the options' measure and resolution.
	Quality float64
	// Passes is how many passes were run.
	Passes int
	// Stable reports whether the last pass changed nothing, so that no node has
	// a better community.
	Stable bool
}

// Members returns the nodes of each community in ascending order. All lists
// share one array.
func (p Partition) Members() [][]int32 {
	return membersOf(p.Labels, p.Communities)
}

func membersOf(labels []int32, count int) [][]int32 {
	sizes := make([]int, count)
	for _, c := range labels {
		sizes[c]++
	}
	all := make([]int32, len(labels))
	members := make([][]int32, count)
	for c, size := range sizes {
		members[c], all = all[:0:size], all[size:]
	}
	for u, c := range labels {
		members[c] = append(members[c], int32(u))
	}
	return members
}

// canonical renumbers communities by descending size, then by their smallest
// node, and returns how many there are. Labels are below their number.
func canonical(labels []int32) int {
	type community struct{ label, size, first int32 }
	comms := make([]community, len(labels))
	for u, c := range labels {
		if comms[c].size == 0 {
			comms[c] = community{c, 0, int32(u)}
		}
		comms[c].size++
	}
	comms = slices.DeleteFunc(comms, func(c community) bool { return c.size == 0 })
	slices.SortFunc(comms, func(a, b community) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	numbers := make([]int32, len(labels))
	for i, c := range comms {
		numbers[c.label] = int32(i)
	}
	for u, c := range labels {
		labels[u] = numbers[c]
	}
	return len(comms)
}

func singletons(labels []int32) {
	for u := range labels {
		labels[u] = int32(u)
	}
}

// isolate gives each node without arcs a community of its own: to be elsewhere
// makes no difference to modularity, but its community would not be connected.
func isolate[W weight](net *network[W], labels []int32) {
	sizes := make([]int32, len(labels))
	for _, c := range labels {
		sizes[c]++
	}
	unused := int32(0)
	for u, c := range labels {
		if len(net.row(int32(u))) > 0 || sizes[c] == 1 {
			continue
		}
		for sizes[unused] > 0 {
			unused++
		}
		sizes[c]--
		labels[u] = unused
		sizes[unused] = 1
	}
}
