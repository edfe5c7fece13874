// SPDX-License-Identifier: Apache-2.0

// Package zeroshot asks the model without any retrieval: what it knows by
// itself, the ground every other system stands on.
package zeroshot
