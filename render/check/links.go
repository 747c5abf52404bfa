package check

import (
	"net/netip"
	"strings"

	"mayfly/render/doc"
)

func links(in Input, r *report) {
	for _, p := range []struct {
		name string
		doc  *doc.Document
	}{{"HTML", in.HTML.Doc}, {"text", in.Text.Doc}} {
		if p.doc == nil {
			continue
		}
		for i := range p.doc.Links {
			link(&p.doc.Links[i], p.name, r)
		}
	}
}

func link(l *doc.Link, where string, r *report) {
	url, at := cut(l.URL), textIn(where, l.URL)
	scheme, _, found := strings.Cut(strings.ToLower(l.URL), ":")
	switch {
	case len(unreplaced(l.URL)) > 0: // reported as a placeholder
	case l.Blocked && (!found || strings.ContainsAny(scheme, "/?#.")):
		r.addAt(at, "link-relative", Error, where, "%q is relative: links in a message must be absolute", url)
	case l.Blocked && (scheme == "http" || scheme == "https"):
		r.addAt(at, "link-no-host", Error, where, "%q has no host", url)
	case l.Blocked && (scheme == "javascript" || scheme == "data" || scheme == "vbscript" || scheme == "file"):
		r.addAt(at, "link-scheme", Error, where, "%q is a link that mail programs remove or warn about", url)
	case l.Host == "":
	case private(l.Host):
		r.addAt(at, "link-private", Error, where, "%q leads to %s, which recipients cannot reach", url, l.Host)
	case scheme == "http" && !strings.EqualFold(l.URL, "http://"+l.Text): // a link that we made of "www.…"
		r.addAt(at, "link-http", Warning, where, "%q is not encrypted: use https", url)
	}
	if l.Host != "" && strings.ContainsAny(l.URL, " \t") {
		r.addAt(at, "link-spaces", Warning, where, "%q has spaces: encode them as %%20", url)
	}
	if strings.HasPrefix(l.Warning, "says ") {
		r.addAt(at, "link-differs", Warning, where, "A link %s: readers and spam filters take that for phishing", l.Warning)
	}
}

// private reports whether a host exists only on the sender's machine or network.
func private(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast()
	}
	if host == "localhost" || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range [...]string{".localhost", ".local", ".internal", ".lan", ".intranet", ".localdomain"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
