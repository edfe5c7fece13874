// SPDX-License-Identifier: Apache-2.0

package perception

import "context"

// FromLabels is ByMembers from a partition in place of k-means.
func FromLabels(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options, labels []int32) (Partition, error) {
	m, err := newMerger(ctx, vectors, dim, triples, o)
	if err != nil {
		return Partition{}, err
	}
	if err := m.byMembers(labels); err != nil {
		return Partition{}, err
	}
	return m.partition(), nil
}
