// SPDX-License-Identifier: Apache-2.0

// Package storetest holds a store to what package store promises.
package storetest
