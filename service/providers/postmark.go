package providers

import (
	"errors"
	"net/http"
	"time"
)

var postmark = provider{"Postmark", func(r *http.Request) string { return r.Header.Get("X-Postmark-Server-Token") }, func(w http.ResponseWriter, p problem) {
	answer(w, p.status, postmarkProblem(p))
}, postmarkRoutes}

// postmarkProblem is an error as Postmark has it, with a code of its own.
func postmarkProblem(p problem) map[string]any {
	code, ok := map[int]int{401: 10, 403: 10, 422: 300, 413: 300, 503: 100}[p.status]
	if !ok {
		code = p.status
	}
	return map[string]any{"ErrorCode": code, "Message": p.message}
}

var postmarkMessage = layout{
	from: "From", to: "To", cc: "Cc", bcc: "Bcc", replyTo: "ReplyTo", subject: "Subject", text: "TextBody", html: "HtmlBody", headers: "Headers",
	tags:        map[string]string{"X-PM-Tag": "Tag"},
	metadata:    "Metadata",
	attachments: "Attachments", name: "Name", content: "Content", kind: "ContentType", id: "ContentID",
	refused: []string{"TemplateId", "TemplateAlias"},
}

func postmarkSent(c *call, id string) map[string]any {
	return map[string]any{"ErrorCode": 0, "Message": "OK", "MessageID": id, "SubmittedAt": c.begun.UTC().Format(time.RFC3339Nano)}
}

func postmarkTemplates(*call) error { return unsupported("A template") }

var postmarkRoutes = map[string]func(*call) error{
	"POST /email": func(c *call) error {
		id, err := c.sendOne(postmarkMessage)
		if err == nil {
			answer(c.w, http.StatusOK, postmarkSent(c, id))
		}
		return err
	},
	"POST /email/batch": func(c *call) error {
		all, err := c.prepareEach(postmarkMessage, 500)
		if err != nil {
			return err
		}
		results := []map[string]any{}
		for _, message := range all {
			id, err := c.deliver(message)
			p, ok := errors.AsType[problem](err)
			switch {
			case ok: // others are sent all the same
				results = append(results, postmarkProblem(p))
			case err != nil:
				return err
			default:
				results = append(results, postmarkSent(c, id))
			}
		}
		answer(c.w, http.StatusOK, results)
		return nil
	},
	"POST /email/withTemplate":       postmarkTemplates,
	"POST /email/batchWithTemplates": postmarkTemplates,
}
