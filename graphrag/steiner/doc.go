// SPDX-License-Identifier: Apache-2.0

// Package steiner finds prize-collecting Steiner trees.
package steiner
