package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mayfly/internal/browser"
	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/find"
)

func (a *app) previewCommand() *cobra.Command {
	var f *viewFlags
	p := &preview{app: a}
	cmd := &cobra.Command{
		Use:   "preview FILE...",
		Short: "Render messages and templates from files",
		Long: "Render local .eml, .html, .txt and .md files as the application shows a message. Use - with --type to read standard input.\n\n" +
			"Several files are rendered in parallel and printed in order. A file that cannot be read is reported, the others are still rendered, and the exit status is 1.",
		Example: `mayfly preview signup.html
mayfly preview mail.eml --view checks --fail-on warning
mjml signup.mjml -s | mayfly preview - --type html --width 60
mayfly preview --json mails/*.eml | jq -r .code
mayfly preview mail.eml --images auto
mayfly preview mail.eml --explain
mayfly preview --screenshot mail.png --phone --dark signup.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			switch stdin := slices.Index(args, "-"); {
			case stdin < 0:
			case slices.Contains(args[stdin+1:], "-"):
				return usagef("standard input can be read only once")
			case p.kind == "":
				return usagef("standard input needs --type html, eml, txt or md")
			}
			p.viewFlags, p.theme, p.several = f, f.theme(cmd.Context(), a), len(args) > 1
			return p.run(cmd.Context(), args)
		},
	}
	cmd.Args = atLeastOne("a file to render")
	f = a.viewFlags(cmd)
	f.imagesFlag(cmd)
	f.failOnFlag(cmd)
	formatFlag(cmd, &f.format, findingsFormat)
	p.screenshotFlags.add(cmd)
	choiceFlag(cmd, cmd.Flags(), &p.kind, "type", "", "`type` of the files: html, eml, txt or md (default: by their names)", "html", "eml", "txt", "md")
	cmd.Flags().BoolVar(&p.explain, "explain", false, "show every candidate code and link, with its score and the reasons")
	return cmd
}

// preview renders files.
type preview struct {
	app *app
	*viewFlags
	screenshotFlags
	kind    string // of every file; "" to go by their names
	explain bool
	theme   render.Theme
	several bool
}

// rendered is the output for one file.
type rendered struct {
	file    string
	message *message.Message // nil if it could not be read
	text    []byte
	err     error
}

func (p *preview) run(ctx context.Context, files []string) error {
	failed, ended, n := false, true, 0 // ended: a line
	var all []examined
	for r := range inOrder(ctx, files, p.render) {
		if p.several {
			n++
		}
		if p.picture != "" && r.message != nil {
			r.err = cmp.Or(p.take(ctx, p.app, nil, r.message, n), r.err)
		}
		if errors.Is(r.err, browser.ErrNone) {
			return browser.ErrNone // of the others, too
		}
		if r.err != nil {
			failed = true
			fmt.Fprintln(p.app.env.Stderr, errorLine(r.err))
		}
		if r.message != nil && p.format != "text" {
			all = append(all, examine(r.message))
		}
		if len(r.text) == 0 {
			continue
		}
		if p.several && !p.json {
			if !ended {
				fmt.Fprintln(p.app.env.Stdout)
			}
			ended = r.text[len(r.text)-1] == '\n'
			fmt.Fprintf(p.app.env.Stdout, "==> %s <==\n", render.Clean(r.file))
		}
		if _, err := p.app.env.Stdout.Write(r.text); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if p.format != "text" {
		if err := writeFindings(p.app.env.Stdout, p.format, all...); err != nil {
			return err
		}
	}
	if failed {
		return reportedError{statusError}
	}
	return nil
}

func (p *preview) render(file string) rendered {
	content, err := p.read(file)
	if err != nil {
		return rendered{file: file, err: err}
	}
	kind, err := p.kindOf(file)
	if err != nil {
		return rendered{file: file, err: err}
	}
	var out bytes.Buffer
	m := message.File(file, kind, string(content))
	m.Rules = p.app.rules()
	m.Rules.DKIMKey = p.key
	switch {
	case p.explain:
		err = explain(&out, m.Mail())
	case p.picture == "" && p.format == "text":
		err = p.print(p.app, &out, m, p.theme)
	}
	if err == nil {
		err = p.verdict(m)
	}
	return rendered{file, m, out.Bytes(), err}
}

// maxPreview is how large a message in a file may be, in bytes.
const maxPreview = 256 << 20

// read reads a file, or standard input.
func (p *preview) read(file string) ([]byte, error) {
	if file == "-" {
		return files.ReadAll(p.app.env.Stdin, maxPreview)
	}
	return files.ReadNamed(file, maxPreview)
}

func (p *preview) kindOf(file string) (string, error) {
	if p.kind != "" {
		return p.kind, nil
	}
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".eml", ".mime", ".raw":
		return "eml", nil
	case ".html", ".htm", ".xhtml":
		return "html", nil
	case ".txt", ".text":
		return "txt", nil
	case ".md", ".markdown":
		return "md", nil
	}
	return "", &failure{statusError, fmt.Errorf("%s: unknown type of file", file), "use --type html, eml, txt or md"}
}

// explain writes the candidates for the code and the link of a message, best first, with their scores
// and reasons.
func explain(w io.Writer, mail *render.Mail) error {
	var out strings.Builder
	found := mail.Find()
	candidate := func(chosen bool, value string, score float64, reasons []find.Reason) {
		mark := " "
		if chosen {
			mark = "*"
		}
		fmt.Fprintf(&out, "%s %6.2f  %s\n", mark, score, render.Clean(value))
		for _, reason := range reasons {
			fmt.Fprintf(&out, "          %s\n", render.Clean(reason.String()))
		}
	}
	out.WriteString(heading("codes", len(found.Codes), found.CodeOK))
	for n, c := range found.Codes {
		candidate(n == 0 && found.CodeOK, c.Value, c.Score, c.Reasons)
	}
	out.WriteString(heading("links", len(found.Links), found.LinkOK))
	for n, l := range found.Links {
		candidate(n == 0 && found.LinkOK, l.URL, l.Score, l.Reasons)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func heading(what string, candidates int, chosen bool) string {
	switch {
	case candidates == 0:
		return what + ": no candidate\n"
	case !chosen:
		return what + ": none is good enough\n"
	}
	return what + ":\n"
}

// inOrder runs work on items in parallel and yields the results in the order of the items, with
// only a few in memory at a time. It stops early when ctx ends or the consumer stops.
func inOrder[T, R any](ctx context.Context, items []T, work func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		pending := make(chan chan R, runtime.GOMAXPROCS(0))
		running.Go(func() {
			defer close(pending)
			for _, item := range items {
				result := make(chan R, 1)
				select {
				case pending <- result:
				case <-ctx.Done():
					return
				}
				running.Go(func() { result <- work(item) })
			}
		})
		for result := range pending {
			if r := <-result; ctx.Err() != nil || !yield(r) {
				return
			}
		}
	}
}
