//go:build !linux

package server

func limitMemory(int64) {}
