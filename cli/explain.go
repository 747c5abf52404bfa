package cli

import (
	"fmt"
	"io"
	"strings"

	"mayfly/render"
	"mayfly/render/find"
)

// explain writes the candidates for the code and the link of a mail, best first, with their scores
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
