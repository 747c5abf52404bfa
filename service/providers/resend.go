package providers

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"mayfly/internal/mail"
	"mayfly/service"
)

var resend = provider{"Resend", bearer, func(w http.ResponseWriter, p problem) {
	names := map[int]string{401: "missing_api_key", 403: "invalid_api_key", 404: "not_found", 413: "validation_error", 422: "validation_error",
		429: "daily_quota_exceeded"}
	answer(w, p.status, map[string]any{"statusCode": p.status, "name": cmp.Or(names[p.status], "application_error"), "message": p.message})
}, resendRoutes}

var resendMessage = layout{
	from: "from", to: "to", cc: "cc", bcc: "bcc", replyTo: "reply_to", subject: "subject", text: "text", html: "html", headers: "headers",
	tags:        map[string]string{"X-Tag": "tags"},
	attachments: "attachments", name: "filename", content: "content", kind: "content_type", id: "content_id",
	refused: []string{"scheduled_at", "template", "topic_id", "attachments.path"},
}

var resendRoutes = map[string]func(*call) error{
	"POST /emails": func(c *call) error {
		id, err := c.sendOne(resendMessage)
		if err == nil {
			answer(c.w, http.StatusOK, map[string]string{"id": id})
		}
		return err
	},
	"POST /emails/batch": func(c *call) error {
		all, err := c.prepareEach(resendMessage, 100)
		if err != nil {
			return err
		}
		ids, err := c.deliverAll(all)
		if err != nil {
			return err
		}
		sent := []map[string]string{}
		for _, id := range ids {
			sent = append(sent, map[string]string{"id": id})
		}
		answer(c.w, http.StatusOK, map[string]any{"data": sent})
		return nil
	},
	"GET /emails/{id}": func(c *call) error {
		if _, err := c.service.Allow(c.r.Context(), c.key); err != nil {
			return err
		}
		inbox, id, _ := strings.Cut(c.r.PathValue("id"), ".")
		m, err := c.service.Message(c.r.Context(), c.key, inbox, id)
		if service.ErrorCode(err) == service.NotFound {
			return problem{http.StatusNotFound, "Email not found"}
		}
		if err != nil {
			return err
		}
		parsed := mail.Parse(m.Raw)
		answer(c.w, http.StatusOK, map[string]any{"object": "email", "id": c.r.PathValue("id"), "from": m.From, "to": []string{m.To}, "subject": m.Subject,
			"created_at": m.ReceivedAt.Format(time.RFC3339), "text": parsed.Text, "html": parsed.HTML, "last_event": "delivered"})
		return nil
	},
}

// bearer returns the key of a request that has it as a token (RFC 6750).
func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
