package api_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
)

// The whole life of an inbox.
func Example() {
	service := apitest.New(nil, apitest.Options{}) // in your program: a real service
	server := httptest.NewServer(service)
	defer server.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := api.New(server.URL, apitest.Key, api.Options{})
	if err != nil {
		log.Fatal(err)
	}
	inbox, err := c.CreateInbox(ctx, api.CreateInbox{Username: "signup-test", TTL: 600})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(inbox.Email)

	// Here your program has a mail sent to inbox.Email.
	if _, err := service.Deliver(inbox.Email, apitest.Mail{From: "no-reply@acme.example", Subject: "Your code", Text: "482 913"}); err != nil {
		log.Fatal(err)
	}

	list, err := c.Messages(ctx, inbox.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, summary := range list.Messages {
		message, err := c.Message(ctx, inbox.ID, summary.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(message.From, "|", message.Subject, "|", message.Text)
	}
	if err := c.DeleteInbox(ctx, inbox.ID); err != nil {
		log.Fatal(err)
	}
	_, err = c.Inbox(ctx, inbox.ID)
	fmt.Println(errors.Is(err, api.ErrNotFound))
	// Output:
	// signup-test@apitest.example
	// no-reply@acme.example | Your code | 482 913
	// true
}

// A service without long polls is asked again after a while.
func ExampleClient_PollMessages() {
	service := apitest.New(nil, apitest.Options{Extensions: true})
	c := service.Client(api.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	inbox, err := c.CreateInbox(ctx, api.CreateInbox{})
	if err != nil {
		log.Fatal(err)
	}
	go service.Deliver(inbox.Email, apitest.Mail{Subject: "Hello"})

	p := api.Poll{Wait: 25 * time.Second}
	for {
		list, err := c.PollMessages(ctx, inbox.ID, p)
		switch {
		case errors.Is(err, api.ErrNotModified):
		case errors.Is(err, api.ErrUnsupported):
			p.Wait = 0
			time.Sleep(5 * time.Second)
		case err != nil:
			log.Fatal(err)
		case len(list.Messages) > 0:
			fmt.Println(list.Messages[0].Subject)
			return
		default:
			p.ETag = list.ETag
		}
	}
	// Output: Hello
}

func ExampleError() {
	service := apitest.New(nil, apitest.Options{})
	c := service.Client(api.Options{})
	_, err := c.Inbox(context.Background(), "inbox_unknown")
	fmt.Println(err)

	var e *api.Error
	fmt.Println(errors.Is(err, api.ErrNotFound), errors.As(err, &e) && e.Status == 404)
	// Output:
	// get the inbox: No such inbox (404)
	// true true
}
