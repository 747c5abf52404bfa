// Sbom writes the modules that a Go binary was made of to a CycloneDX 1.6 document. It reads what the Go
// command recorded in the binary, so the same binary gives the same document.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{Component: componentOf("application", &info.Main)}}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			d.Metadata.Timestamp = s.Value
		}
		d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"go:" + s.Key, s.Value})
	}
	d.Components = []component{componentOf("library", &debug.Module{Path: "std", Version: info.GoVersion})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, componentOf("library", m))
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func componentOf(kind string, m *debug.Module) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, URL: "pkg:golang/" + m.Path + "@" + m.Version}
	if m.Sum != "" { // the hash of go.sum: of a list of hashes, so it is no hash in CycloneDX's sense
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
