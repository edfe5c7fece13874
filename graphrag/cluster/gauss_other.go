// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package cluster

// There are no kernels for mixtures but those in plain Go here.

func fastScore(_, _ *lanes, _, _ []lanes, _, _ []float64, _ float64) bool { return false }

func fastNear([]uint16, []lanes, *lanes) bool { return false }

func (*members) fastAdd([]float64) bool { return false }

func (*members) fastSpread(_, _ []float64) bool { return false }
