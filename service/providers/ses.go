package providers

import (
	"cmp"
	"net/http"
	"strings"
)

// The key is the ID of the access key. A signature proves nothing here: its secret is not known.
var ses = provider{"SES", func(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(credential, "/")
	return key
}, func(w http.ResponseWriter, p problem) {
	names := map[int]string{401: "UnrecognizedClientException", 403: "AccountSuspendedException", 404: "NotFoundException", 413: "BadRequestException",
		422: "BadRequestException", 429: "LimitExceededException"}
	w.Header().Set("X-Amzn-Errortype", cmp.Or(names[p.status], "InternalServiceErrorException"))
	switch p.status {
	case 401:
		p.status = http.StatusForbidden
	case 422, 413:
		p.status = http.StatusBadRequest
	}
	answer(w, p.status, map[string]string{"message": p.message})
}, sesRoutes}

var sesMessage = layout{
	from: "FromEmailAddress", to: "Destination.ToAddresses", cc: "Destination.CcAddresses", bcc: "Destination.BccAddresses", replyTo: "ReplyToAddresses",
	subject: "Content.Simple.Subject.Data", text: "Content.Simple.Body.Text.Data", html: "Content.Simple.Body.Html.Data", headers: "Content.Simple.Headers",
	tags:        map[string]string{"X-SES-Message-Tags": "EmailTags"},
	attachments: "Content.Simple.Attachments", name: "FileName", content: "RawContent", kind: "ContentType", id: "ContentId", disposition: "ContentDisposition",
	refused: []string{"Content.Template", "ListManagementOptions"},
}

var sesRoutes = map[string]func(*call) error{"POST /v2/email/outbound-emails": func(c *call) error {
	in, err := c.json()
	if err != nil {
		return err
	}
	r := reader{in: in}
	e := &email{}
	if raw := r.text("Content.Raw.Data"); raw != "" {
		content, err := decoded("Raw", raw)
		if err != nil {
			return err
		}
		if e, err = fromRaw(content); err != nil {
			return err
		}
		if to, cc, bcc := r.texts(sesMessage.to), r.texts(sesMessage.cc), r.texts(sesMessage.bcc); len(to)+len(cc)+len(bcc) > 0 {
			err = e.address(cmp.Or(r.text(sesMessage.from), e.from.String()), to, cc, bcc, nil)
		}
		if err := cmp.Or(err, r.err); err != nil {
			return err
		}
	} else if e, err = sesMessage.read(in); err != nil {
		return err
	}
	id, err := c.send(e, nil)
	if err == nil {
		answer(c.w, http.StatusOK, map[string]string{"MessageId": id})
	}
	return err
}}
