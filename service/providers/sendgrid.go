package providers

import (
	"fmt"
	"maps"
	"net/http"
)

var sendGrid = provider{"SendGrid", bearer, func(w http.ResponseWriter, p problem) {
	if p.status == http.StatusUnprocessableEntity {
		p.status = http.StatusBadRequest
	}
	answer(w, p.status, map[string]any{"errors": []map[string]any{{"message": p.message, "field": nil, "help": nil}}})
}, sendGridRoutes}

var sendGridMessage = layout{
	from: "from", to: "to", cc: "cc", bcc: "bcc", replyTo: "reply_to", subject: "subject", text: "content.text/plain", html: "content.text/html", headers: "headers",
	tags:        map[string]string{"X-Category": "categories"},
	attachments: "attachments", name: "filename", content: "content", kind: "type", id: "content_id", disposition: "disposition",
	refused: []string{"template_id", "send_at", "batch_id", "asm", "mail_settings.sandbox_mode.enable", "substitutions", "dynamic_template_data"},
}

// Each personalization is a message, which has what all have in common and what is its own.
var sendGridRoutes = map[string]func(*call) error{"POST /v3/mail/send": func(c *call) error {
	v, err := c.json()
	if err != nil {
		return err
	}
	common, _ := v.(map[string]any)
	all := reader{in: common}
	list := all.list("personalizations")
	if len(list) == 0 {
		return invalid("The field personalizations is missing")
	}
	content := map[string]any{}
	for _, part := range all.list("content") {
		p := reader{in: part}
		kind := p.text("type")
		if kind != "text/plain" && kind != "text/html" {
			return unsupported(fmt.Sprintf("content of the type %.100q", kind))
		}
		content[kind] = p.text("value")
	}
	common["content"] = content
	if used(common["reply_to_list"]) {
		common["reply_to"] = common["reply_to_list"]
	}
	var mails []prepared
	size := 0
	for _, own := range list {
		in := maps.Clone(common)
		headers := map[string]any{}
		for _, level := range []any{common, own} {
			fields, _ := level.(map[string]any)
			maps.Copy(in, fields)
			more, _ := fields["headers"].(map[string]any)
			maps.Copy(headers, more)
		}
		in["headers"] = headers
		e, err := sendGridMessage.read(in)
		if err != nil {
			return err
		}
		if size += e.size(); int64(size) > 4*c.MaxMessageBytes {
			return problem{http.StatusRequestEntityTooLarge, "The messages of all personalizations are too large together"}
		}
		mails = append(mails, c.prepare(e, nil))
	}
	if all.err != nil {
		return all.err
	}
	ids, err := c.deliverAll(mails)
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Message-Id", ids[len(ids)-1])
	c.w.WriteHeader(http.StatusAccepted)
	return nil
}}
