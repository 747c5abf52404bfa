// Image writes an OCI image layout of Mayfly for the systems of some programs, without a container
// engine, a base image or a registry:
//
//	go -C packaging/image run . --out DIR PROGRAM…
//
// Each PROGRAM is a static binary of Mayfly for Linux. It says itself what it was built for and from.
// The same programs give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func main() {
	out := flag.String("out", "", "new `folder` for the layout")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: go -C packaging/image run . --out DIR PROGRAM…")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	digest, err := write(*out, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

// write makes a layout of an index with an image for each program, and returns the digest of the index.
func write(dir string, programs []string) (v1.Hash, error) {
	index := v1.ImageIndex(empty.Index)
	for _, program := range programs {
		image, platform, err := imageOf(program)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("make an image of %s: %w", program, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	digest, err := index.Digest()
	if err != nil {
		return v1.Hash{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return v1.Hash{}, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return v1.Hash{}, err
	}
	// A layout names what is in it in an index of its own: the images are reached through theirs, which
	// is what is pushed.
	if _, err := layout.Write(dir, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index})); err != nil {
		return v1.Hash{}, fmt.Errorf("write the layout: %w", err)
	}
	return digest, nil
}
