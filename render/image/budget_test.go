package image

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"testing"
	"time"
)

func TestDecodingEndsWhenTheTimeIsOver(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&deadlineReader{bytes.NewReader(b.Bytes()), time.Now().Add(-time.Second)}); !errors.Is(err, errSlow) {
		t.Errorf("a decoder that is late: %v", err)
	}
	if _, err := Decode(bytes.NewReader(b.Bytes()), &Budget{time: maxTime}); !errors.Is(err, ErrBudget) {
		t.Errorf("a mail whose time is over: %v", err)
	}
}
