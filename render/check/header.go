package check

import (
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/render/doc"
)

// Bounds on how far the Date may be from the time of receipt.
const (
	oldDate    = time.Hour
	futureDate = 5 * time.Minute
)

// values returns the values of all header fields with a name.
func values(in Input, name string) []string {
	var all []string
	for _, f := range in.Fields {
		if strings.EqualFold(f.Name, name) {
			all = append(all, strings.TrimSpace(f.Value))
		}
	}
	return all
}

func value(in Input, name string) string {
	if all := values(in, name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// malformed passes on what is wrong with the form of the message.
func malformed(in Input, r *report) {
	for _, d := range in.Defects {
		r.add("malformed", Warning, "", "%s", d)
	}
}

// header checks the fields that every message needs (RFC 5322, 3.6).
func header(in Input, r *report) {
	if in.Fields == nil {
		return
	}
	switch from := values(in, "From"); {
	case len(from) == 0 || from[0] == "":
		r.add("from-missing", Error, "header", "There is no From: servers refuse such mail")
	case len(from) > 1:
		r.add("from-several", Error, "header", "There are %d From fields: servers refuse such mail", len(from))
	}
	if value(in, "Message-ID") == "" {
		r.add("message-id-missing", Warning, "header", "There is no Message-ID: spam filters object, and replies are not threaded")
	}
	date := value(in, "Date")
	if date == "" {
		r.add("date-missing", Error, "header", "There is no Date")
		return
	}
	sent, err := mail.ParseDate(date)
	if err != nil {
		r.add("date-invalid", Error, "header", "The Date cannot be read: %q", cut(date))
		return
	}
	zone, offset := sent.Zone()
	unknown := offset == 0 && sent.Location() != time.Local && zone != "" && zone != "UTC" && zone != "GMT" && zone != "UT" // such as CET: no offset is meant by it
	if in.ReceivedAt.IsZero() || unknown {
		return
	}
	if late := in.ReceivedAt.Sub(sent); late > oldDate || late < -futureDate {
		r.add("date-off", Warning, "header", "The Date is %s off the time of receipt: check the sender's clock and time zone", inWords(late.Abs()))
	}
}

// inWords says a duration of minutes, hours or days.
func inWords(d time.Duration) string {
	switch {
	case d < time.Hour:
		return english.Plural(int(d.Round(time.Minute)/time.Minute), "minute", "")
	case d < 48*time.Hour:
		return english.Plural(int(d.Round(time.Hour)/time.Hour), "hour", "")
	}
	return english.Plural(int(d/(24*time.Hour)), "day", "")
}

// authentication reports checks that failed on the way (RFC 8601).
func authentication(in Input, r *report) {
	for _, v := range values(in, "Authentication-Results") {
		for part := range strings.SplitSeq(v, ";") {
			method, rest, ok := strings.Cut(strings.TrimSpace(part), "=")
			result, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			switch method = strings.ToLower(strings.TrimSpace(method)); method {
			case "spf", "dkim", "dmarc":
				if ok && !strings.EqualFold(result, "pass") {
					level := Warning
					if strings.EqualFold(result, "fail") {
						level = Error
					}
					r.add("authentication", level, "header", "%s: %s", strings.ToUpper(method), cut(result))
				}
			}
		}
	}
}

// bulk checks that a mailing can be unsubscribed from (RFC 2369, RFC 8058).
func bulk(in Input, r *report) {
	if in.Fields == nil {
		return
	}
	precedence := strings.ToLower(value(in, "Precedence"))
	mailing := precedence == "bulk" || precedence == "list" || value(in, "List-Id") != "" || value(in, "Feedback-ID") != "" && offersUnsubscribe(in)
	unsubscribe := value(in, "List-Unsubscribe")
	switch {
	case unsubscribe == "" && !mailing && offersUnsubscribe(in):
		r.add("unsubscribe-missing", Warning, "header", "The body has a link to unsubscribe, the header no List-Unsubscribe: Gmail and Yahoo want it from bulk senders")
	case unsubscribe == "" && mailing:
		r.add("unsubscribe-missing", Warning, "header", "A mailing without List-Unsubscribe: Gmail and Yahoo want it from bulk senders")
	case unsubscribe != "" && value(in, "List-Unsubscribe-Post") == "":
		r.add("unsubscribe-one-click", Note, "header", "List-Unsubscribe without List-Unsubscribe-Post: there is no one-click unsubscribe (RFC 8058)")
	}
}

// offersUnsubscribe reports whether the body has a link to unsubscribe.
func offersUnsubscribe(in Input) bool {
	if in.HTML.Doc == nil {
		return false
	}
	return slices.ContainsFunc(in.HTML.Doc.Links, func(l doc.Link) bool {
		return strings.Contains(strings.ToLower(l.Text+" "+l.URL), "unsubscribe")
	})
}
