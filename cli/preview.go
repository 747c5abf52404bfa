package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/render"
)

// maxFile is the size of the largest file that preview reads, in bytes.
const maxFile = 64 << 20

func (a *app) previewCommand() *cobra.Command {
	var f *viewFlags
	p := &preview{app: a}
	cmd := &cobra.Command{
		Use:   "preview FILE...",
		Short: "Render mails and templates from files",
		Long: "Render local files as the application shows a message: .eml, .html, .txt and .md, or standard input as - with --type.\n\n" +
			"Several files are rendered in parallel and printed in order. A file that cannot be read is reported, the others are still rendered, and the exit status is 1.",
		Example: `mayfly preview signup.html
mayfly preview mail.eml --view checks
mjml signup.mjml -s | mayfly preview - --type html --width 60
mayfly preview --json mails/*.eml | jq -r .code
mayfly preview mail.eml --images auto
mayfly preview mail.eml --explain`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := p.check(args); err != nil {
				return err
			}
			p.viewFlags, p.theme, p.several = f, f.theme(cmd.Context(), a), len(args) > 1
			return p.run(cmd.Context(), args)
		},
	}
	cmd.Args = atLeastOne("a file to render")
	f = a.viewFlags(cmd)
	f.imagesFlag(a, cmd)
	cmd.Flags().StringVar(&p.kind, "type", "", "`type` of the files: html, eml, txt or md (default: by their names)")
	cmd.Flags().BoolVar(&p.explain, "explain", false, "show the codes and links that were considered, with scores and reasons")
	a.completeFlag(cmd, "type", cobra.FixedCompletions([]cobra.Completion{"html", "eml", "txt", "md"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// preview renders files.
type preview struct {
	app *app
	*viewFlags
	kind    string // of every file; "" to go by their names
	explain bool
	theme   render.Theme
	several bool
}

func (p *preview) check(files []string) error {
	switch p.kind {
	case "", "html", "eml", "txt", "md":
	default:
		return usagef("--type %q: want html, eml, txt or md", p.kind)
	}
	stdin := 0
	for _, file := range files {
		if file == "-" {
			stdin++
		}
	}
	switch {
	case stdin > 1:
		return usagef("standard input can be read only once")
	case stdin == 1 && p.kind == "":
		return usagef("standard input needs --type html, eml, txt or md")
	}
	return nil
}

// rendered is what one file gave.
type rendered struct {
	file string
	text []byte
	err  error
}

func (p *preview) run(ctx context.Context, files []string) error {
	failed := false
	for r := range inOrder(ctx, files, p.render) {
		if r.err != nil {
			failed = true
			fmt.Fprintln(p.app.env.Stderr, errorLine(r.err))
			continue
		}
		if p.several && !p.json {
			fmt.Fprintf(p.app.env.Stdout, "==> %s <==\n", render.Clean(r.file))
		}
		if _, err := p.app.env.Stdout.Write(r.text); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed {
		return quiet{statusError}
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
	m := message.File(file, kind, content)
	if p.explain {
		err = explain(&out, m.Mail())
	} else {
		err = p.print(p.app, &out, m, p.theme)
	}
	return rendered{file, out.Bytes(), err}
}

// read reads a file, or standard input, within the bound.
func (p *preview) read(file string) (string, error) {
	var content strings.Builder
	var in io.Reader = p.app.env.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			content.Grow(int(min(info.Size(), maxFile)) + 1)
		}
	}
	_, err := io.Copy(&content, io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case content.Len() > maxFile:
		return "", fmt.Errorf("%s: larger than %d MB", file, maxFile>>20)
	}
	return content.String(), nil
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
	return "", &failure{statusError, fmt.Errorf("%s: the name does not say what kind of file it is", file), "use --type html, eml, txt or md"}
}
