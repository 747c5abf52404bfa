// Image writes an OCI image layout of Mayfly for the systems of some programs, without a container
// engine, a base image or a registry:
//
//	go -C packaging/image run . --out DIR --source URL PROGRAM…
//
// Each PROGRAM is a static binary of Mayfly for Linux. It says itself what it was built for and from.
// The same programs give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	out := flag.String("out", "", "new `directory` for the layout")
	source := flag.String("source", "", "`URL` of the source, for the label")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: go -C packaging/image run . --out DIR --source URL PROGRAM…")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *out == "" || *source == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	digest, err := write(*out, *source, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

// write makes a layout of an index with an image for each program, and returns the digest of the index.
func write(dir, source string, programs []string) (v1.Hash, error) {
	index := v1.ImageIndex(empty.Index)
	for _, program := range programs {
		image, platform, err := imageOf(program, source)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("build an image of %s: %w", program, err)
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

// user is the one the service runs as, and the owner of its directory: the user that images without a
// distribution use for this.
const user = 65532

// imageOf makes an image of a program, with what the Dockerfile gives it.
func imageOf(program, source string) (v1.Image, *v1.Platform, error) {
	b, err := readBuild(program)
	if err != nil {
		return nil, nil, err
	}
	image, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: b.platform.OS, Architecture: b.platform.Architecture, Created: v1.Time{Time: b.time}, Config: b.config(source),
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, nil, err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, nil, err
	}
	// What does not change from release to release comes first, so that it is fetched once.
	system, err := layerOf(systemFiles())
	if err != nil {
		return nil, nil, err
	}
	app, err := layerOf(fstest.MapFS{"mayfly": {Mode: 0o755, Data: binary}})
	if err != nil {
		return nil, nil, err
	}
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: system, History: v1.History{Created: v1.Time{Time: b.time}, CreatedBy: "certificates, user, /data"}},
		mutate.Addendum{Layer: app, History: v1.History{Created: v1.Time{Time: b.time}, CreatedBy: "/mayfly"}},
	)
	return image, b.platform, err
}

// build is what a program says about itself.
type build struct {
	version, revision string
	// time is that of the commit, to the second.
	time     time.Time
	platform *v1.Platform
}

func readBuild(program string) (*build, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if setting["GOOS"] != "linux" || setting["CGO_ENABLED"] != "0" {
		return nil, errors.New("not a static program for Linux: build it with GOOS=linux CGO_ENABLED=0")
	}
	b := &build{
		version: strings.Trim(info.Main.Version, "()"), revision: setting["vcs.revision"],
		time:     time.Unix(0, 0).UTC(),
		platform: &v1.Platform{OS: "linux", Architecture: setting["GOARCH"]},
	}
	if committed := setting["vcs.time"]; committed != "" {
		if b.time, err = time.Parse(time.RFC3339, committed); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// config is how an image of the program is run.
func (b *build) config(source string) v1.Config {
	c := v1.Config{
		User:         "65532:65532",
		WorkingDir:   "/",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"2525/tcp": {}, "8425/tcp": {}},
		StopSignal:   "SIGTERM",
		Env:          []string{"MAYFLY_SERVE_STORE=/data", "MAYFLY_SERVE_HTTP=:8425", "MAYFLY_SERVE_SMTP=:2525"},
		Entrypoint:   []string{"/mayfly", "serve"},
		// OCI's configuration has no health check. Docker reads its own from the same place.
		Healthcheck: &v1.HealthConfig{
			Test:        []string{"CMD", "/mayfly", "health"},
			Interval:    10 * time.Second,
			Timeout:     6 * time.Second,
			StartPeriod: 10 * time.Second,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Mayfly",
			"org.opencontainers.image.description": "Temporary email inboxes: the service, with SMTP and REST",
			"org.opencontainers.image.licenses":    "MIT",
			"org.opencontainers.image.version":     b.version,
			"org.opencontainers.image.created":     b.time.Format(time.RFC3339),
			"org.opencontainers.image.source":      source,
		},
	}
	if b.revision != "" {
		c.Labels["org.opencontainers.image.revision"] = b.revision
	}
	return c
}

func systemFiles() fstest.MapFS {
	return fstest.MapFS{
		"etc":                               {Mode: fs.ModeDir | 0o755},
		"etc/group":                         {Mode: 0o644, Data: []byte("mayfly:x:65532:\n")},
		"etc/passwd":                        {Mode: 0o644, Data: []byte("mayfly:x:65532:65532::/data:/\n")},
		"etc/ssl":                           {Mode: fs.ModeDir | 0o755},
		"etc/ssl/certs":                     {Mode: fs.ModeDir | 0o755},
		"etc/ssl/certs/ca-certificates.crt": {Mode: 0o644, Data: certificates()},
		"tmp":                               {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"data":                              {Mode: fs.ModeDir | 0o700, Sys: &tar.Header{Uid: user, Gid: user}},
	}
}

// certificates are Mozilla's roots of the web, as PEM. A root that is trusted with conditions is left
// out: PEM cannot state them.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}

// layerOf makes a layer of files. They have no time, so that a layer changes only if a file does.
func layerOf(files fs.FS) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := errors.Join(w.AddFS(files), w.Close()); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}
